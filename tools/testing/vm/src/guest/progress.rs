// SPDX-License-Identifier: GPL-2.0

//! Tells the outside how far the guest is.

use crate::job;
use anyhow::{Context, Result};
use serde::Serialize;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// The shared folder, as the guest sees it.
#[derive(Clone, Debug)]
pub struct Progress {
    folder: PathBuf,
}

impl Progress {
    /// Starts to signal that the guest is well.
    pub fn start(folder: &Path) -> Result<Self> {
        let this = Self { folder: folder.to_owned() };
        let started = folder.join(job::STARTED);
        fs::write(&started, "").with_context(|| format!("cannot write {}", started.display()))?;
        let alive = folder.join(job::ALIVE);
        thread::spawn(move || beat(&alive));
        Ok(this)
    }

    /// Says one line, and marks it in the kernel's log.
    pub fn say(&self, line: impl AsRef<str>) {
        let line = line.as_ref();
        let _ = fs::write("/dev/kmsg", format!("<6>rig: {line}"));
        // A lost line of progress is no reason to fail.
        let _ = append(&self.folder.join(job::PROGRESS), line);
    }

    /// Hands out the result of one case of a matrix.
    pub fn case(&self, case: &impl Serialize) -> Result<()> {
        let line = serde_json::to_string(case).context("cannot encode JSON")?;
        append(&self.folder.join(job::CASES), &line)
    }

    /// Path of a file in the shared folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

fn beat(path: &Path) {
    for count in 0_u64.. {
        let _ = fs::write(path, count.to_string());
        thread::sleep(Duration::from_secs(2));
    }
}

fn append(path: &Path, line: &str) -> Result<()> {
    let file = OpenOptions::new().create(true).append(true).open(path);
    let mut file = file.with_context(|| format!("cannot open {}", path.display()))?;
    let written = file.write_all(format!("{line}\n").as_bytes());
    written.with_context(|| format!("cannot write {}", path.display()))
}
