// SPDX-License-Identifier: GPL-2.0

//! Small and large RPCs in random order on one mount.

use crate::guest::pattern;
use crate::guest::stress::random::Random;
use crate::settings::MIB;
use anyhow::{ensure, Context, Result};
use rustix::fs::OFlags;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, OpenOptionsExt};

const BLOCK: usize = 4096;

/// Blocks of the file.
const BLOCKS: usize = (8 * MIB) as usize / BLOCK;

/// Blocks of one READ or WRITE, and how often in so many times.
const SIZES: [(usize, u64); 3] = [(1, 15), (16, 4), (256, 1)];
const TIMES: u64 = 20;

/// Files in the folder that is listed.
const ENTRIES: u64 = 100;

/// A file whose content is known block by block.
pub struct Blocks {
    file: File,
    /// How often each was written.
    generations: Vec<u64>,
    random: Random,
    seed: u64,
}

impl Blocks {
    /// Creates the file, without a cache at the client.
    pub fn create(path: &str, seed: u64) -> Result<Self> {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(true);
        options.custom_flags(OFlags::DIRECT.bits() as i32);
        let file = options.open(path).with_context(|| format!("cannot open {path}"))?;
        let generations = vec![0; BLOCKS];
        let mut this = Self { file, generations, random: Random::new(seed), seed };
        for at in (0..BLOCKS).step_by(256) {
            this.write(at, 256)?;
        }
        Ok(this)
    }

    /// One READ, which is compared, or one WRITE.
    pub fn step(&mut self) -> Result<()> {
        let mut chance = self.random.below(TIMES);
        let mut count = 1;
        for (blocks, times) in SIZES {
            count = blocks;
            if chance < times {
                break;
            }
            chance -= times;
        }
        let at = self.random.below((BLOCKS - count + 1) as u64) as usize;
        match self.random.below(2) {
            0 => self.write(at, count),
            _ => self.read(at, count),
        }
    }

    fn write(&mut self, at: usize, count: usize) -> Result<()> {
        self.generations[at..at + count].iter_mut().for_each(|generation| *generation += 1);
        let written = self.file.write_all_at(&self.content(at, count), (at * BLOCK) as u64);
        written.context("cannot write under a mixed load")
    }

    fn read(&self, at: usize, count: usize) -> Result<()> {
        let mut data = vec![0; count * BLOCK];
        let read = self.file.read_exact_at(&mut data, (at * BLOCK) as u64);
        read.context("cannot read under a mixed load")?;
        let same = data == self.content(at, count);
        ensure!(same, "a read of {count} blocks at block {at} has wrong data");
        Ok(())
    }

    fn content(&self, at: usize, count: usize) -> Vec<u8> {
        let mut data = vec![0; count * BLOCK];
        for (block, at) in data.chunks_mut(BLOCK).zip(at..) {
            pattern::fill(block, self.seed ^ (self.generations[at] << 32 | at as u64));
        }
        data
    }
}

/// Creates the folder that [`look`] lists.
pub fn create_entries(folder: &str) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {folder}"))?;
    for number in 0..ENTRIES {
        let path = format!("{folder}/entry-{number}");
        fs::write(&path, b"x").with_context(|| format!("cannot write {path}"))?;
    }
    Ok(())
}

/// Asks for attributes, and now and then for the whole folder, which has
/// changed since.
pub fn look(folder: &str, random: &mut Random) -> Result<()> {
    let path = format!("{folder}/entry-{}", random.below(ENTRIES));
    if random.below(20) > 0 {
        let length = fs::metadata(&path).with_context(|| format!("cannot stat {path}"))?.len();
        ensure!(length == 1, "{path} has {length} bytes instead of one");
        return Ok(());
    }
    let (extra, list) = (format!("{folder}/extra"), || fs::read_dir(folder).map(Iterator::count));
    fs::write(&extra, b"x").with_context(|| format!("cannot write {extra}"))?;
    let with = list().with_context(|| format!("cannot list {folder}"))? as u64;
    fs::remove_file(&extra).with_context(|| format!("cannot remove {extra}"))?;
    ensure!(with == ENTRIES + 1, "{folder} lists {with} entries instead of {}", ENTRIES + 1);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("f").to_str().unwrap().to_owned();
        create_entries(&folder).unwrap();
        let mut random = Random::new(1);
        (0..60).for_each(|_| look(&folder, &mut random).unwrap());
        fs::remove_file(format!("{folder}/entry-7")).unwrap();
        assert!((0..200).any(|_| look(&folder, &mut random).is_err()));
    }
}
