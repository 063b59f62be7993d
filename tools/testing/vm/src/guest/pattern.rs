// SPDX-License-Identifier: GPL-2.0

//! Compares the server's backing file with what the client wrote and reads.

use crate::guest::paths::{EXPORT, MOUNT};
use crate::guest::{client, export};
use crate::settings::{IoMode, Session, MIB};
use anyhow::{ensure, Context, Result};
use rustix::fs::OFlags;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use xxhash_rust::xxh3::Xxh3;

const NAME: &str = "pattern";

/// Makes the file end within a page, so that the last READ is short.
const TAIL: u64 = 12345;

/// Writes at least `size` bytes through the mount and compares three digests:
/// of what was written, of the backing file, and of what a fresh mount reads.
/// Gives back the number of bytes compared.
pub fn compare(session: &Session, size: u64, seed: u64) -> Result<u64> {
    let (mount, backing) = (format!("{MOUNT}/{NAME}"), format!("{EXPORT}/{NAME}"));
    let size = size + TAIL;
    let written = write(&mount, size, seed, session.io)?;
    client::unmount()?;
    export::forget_cached()?;
    let stored = digest(&backing, size, IoMode::Buffered)?;
    ensure!(stored == written, "the backing file differs from what the client wrote");
    export::forget_cached()?;
    client::mount(session)?;
    let read = digest(&mount, size, session.io)?;
    ensure!(read == written, "the client reads something else than it wrote");
    fs::remove_file(&mount).with_context(|| format!("cannot remove {mount}"))?;
    Ok(size)
}

fn write(path: &str, size: u64, seed: u64, io: IoMode) -> Result<u128> {
    let mut file = open(path, io, OpenOptions::new().write(true).create(true).truncate(true))?;
    let mut state = Xxh3::new();
    let mut block = vec![0; MIB as usize];
    let mut done = 0;
    while done < size {
        let length = (size - done).min(MIB) as usize;
        fill(&mut block[..length], seed ^ done);
        state.update(&block[..length]);
        file.write_all(&block[..length]).with_context(|| format!("cannot write {path}"))?;
        done += length as u64;
    }
    file.sync_all().with_context(|| format!("cannot write {path}"))?;
    Ok(state.digest128())
}

fn digest(path: &str, size: u64, io: IoMode) -> Result<u128> {
    let mut file = open(path, io, OpenOptions::new().read(true))?;
    let mut state = Xxh3::new();
    let mut block = vec![0; MIB as usize];
    let mut done = 0;
    loop {
        let length = file.read(&mut block).with_context(|| format!("cannot read {path}"))?;
        if length == 0 {
            break;
        }
        state.update(&block[..length]);
        done += length as u64;
    }
    ensure!(done == size, "{path} has {done} bytes instead of {size}");
    Ok(state.digest128())
}

fn open(path: &str, io: IoMode, options: &mut OpenOptions) -> Result<File> {
    if io == IoMode::Direct {
        options.custom_flags(OFlags::DIRECT.bits() as i32);
    }
    options.open(path).with_context(|| format!("cannot open {path}"))
}

/// Xorshift: cheap, and no two blocks alike.
pub fn fill(block: &mut [u8], seed: u64) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for chunk in block.chunks_mut(8) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        chunk.copy_from_slice(&state.to_le_bytes()[..chunk.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_byte_changes_the_digest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let path = path.to_str().unwrap();
        let size = 3 * MIB + TAIL;
        let written = write(path, size, 7, IoMode::Buffered).unwrap();
        assert_eq!(digest(path, size, IoMode::Buffered).unwrap(), written);
        let mut bytes = fs::read(path).unwrap();
        bytes[2_000_000] ^= 1;
        fs::write(path, &bytes).unwrap();
        assert_ne!(digest(path, size, IoMode::Buffered).unwrap(), written);
        fs::write(path, &bytes[1..]).unwrap();
        assert!(digest(path, size, IoMode::Buffered).is_err());
    }

    #[test]
    fn blocks_differ() {
        let block = |seed| {
            let mut block = [0; 37];
            fill(&mut block, seed);
            block
        };
        assert_ne!(block(1), block(MIB));
        assert_eq!(block(5), block(5));
    }
}
