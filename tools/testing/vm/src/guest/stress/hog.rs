// SPDX-License-Identifier: GPL-2.0

//! Takes memory away until little is left.

use crate::guest::paths::{self, SCRATCH};
use crate::guest::{exec, procfs};
use crate::settings::MIB;
use anyhow::{Context, Result};
use rustix::fs::{fallocate, FallocateFlags};
use std::fs::File;

/// What is left to others.
const LEFT: u64 = 96 * MIB;

/// How much is taken at a time.
const STEP: u64 = 16 * MIB;

/// A file in memory that holds as much of it as there is, until it is dropped.
#[derive(Debug)]
pub struct Hog {
    file: Option<File>,
    folder: String,
}

impl Hog {
    /// Makes it, empty.
    pub fn new() -> Result<Self> {
        let folder = format!("{SCRATCH}/hog");
        paths::create(&folder)?;
        exec::step("mount", &["-t", "tmpfs", "-o", "size=100%", "hog", &folder])?;
        let path = format!("{folder}/memory");
        let file = File::create(&path).with_context(|| format!("cannot create {path}"))?;
        Ok(Self { file: Some(file), folder })
    }

    /// Takes memory until there is little.
    pub fn grow(&self) -> Result<u64> {
        let file = self.file.as_ref().context("the hog has no file")?;
        let mut size = 0;
        while procfs::memory("MemAvailable")? > LEFT {
            let taken = fallocate(file, FallocateFlags::empty(), size, STEP);
            taken.context("cannot take memory")?;
            size += STEP;
        }
        Ok(size)
    }

    /// Gives everything back.
    pub fn shrink(&self) -> Result<()> {
        let file = self.file.as_ref().context("the hog has no file")?;
        file.set_len(0).context("cannot give memory back")
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        self.file = None;
        let _ = exec::step("umount", &[&self.folder]);
    }
}
