// SPDX-License-Identifier: GPL-2.0

//! The folder of one guest: what goes in, what comes out, the logs.
//!
//! It vanishes with its owner, unless it is kept because something failed.

use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// Kept folders are removed after that time.
const KEPT_FOR: Duration = Duration::from_secs(3 * 24 * 3600);

/// The running program, also when a build has replaced its file meanwhile.
const OWN: &str = "/proc/self/exe";
/// Large files that are of no use afterwards.
const INPUTS: [&str; 2] = ["rig", "bzImage"];

/// A folder of its own for each guest.
#[derive(Debug)]
pub struct RunDir {
    folder: TempDir,
}

impl RunDir {
    /// Creates one in `runs`, with copies of the program and the kernel, which
    /// a build may replace while the guest runs.
    pub fn create(runs: &Path, image: &Path) -> Result<Self> {
        fs::create_dir_all(runs).with_context(|| format!("cannot create {}", runs.display()))?;
        remove_old(runs);
        let folder = tempfile::Builder::new().prefix("run-").tempdir_in(runs);
        let folder =
            folder.with_context(|| format!("cannot create a folder in {}", runs.display()))?;
        let this = Self { folder };
        this.copy(Path::new(OWN), "rig")?;
        this.copy(image, "bzImage")?;
        Ok(this)
    }

    /// The folder; the same path in the guest.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Path of the file `name` in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Leaves the folder behind, without the copies, and gives back its path.
    pub fn keep(self) -> PathBuf {
        let path = self.folder.keep();
        for name in INPUTS {
            let _ = fs::remove_file(path.join(name));
        }
        path
    }

    fn copy(&self, from: &Path, name: &str) -> Result<()> {
        let copied = fs::copy(from, self.file(name));
        copied.with_context(|| format!("cannot copy {} for the guest", from.display()))?;
        Ok(())
    }
}

/// A folder that cannot be removed is no reason to fail.
fn remove_old(runs: &Path) {
    let Ok(entries) = fs::read_dir(runs) else {
        return;
    };
    for entry in entries.flatten() {
        let modified = entry.metadata().and_then(|meta| meta.modified());
        if modified.is_ok_and(|time| is_old(time, SystemTime::now())) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_old(modified: SystemTime, now: SystemTime) -> bool {
    now.duration_since(modified).is_ok_and(|age| age > KEPT_FOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_vanishes_unless_kept() {
        let runs = tempfile::tempdir().unwrap();
        let image = runs.path().join("image");
        fs::write(&image, "kernel").unwrap();
        let runs = runs.path().join("runs");
        let first = RunDir::create(&runs, &image).unwrap();
        let second = RunDir::create(&runs, &image).unwrap();
        assert_ne!(first.path(), second.path());
        let gone = first.path().to_owned();
        drop(first);
        assert!(!gone.exists());
        let kept = second.keep();
        assert!(kept.is_dir() && !kept.join("rig").exists());
    }

    #[test]
    fn a_missing_image_is_named() {
        let runs = tempfile::tempdir().unwrap();
        let err = RunDir::create(runs.path(), Path::new("/no/bzImage")).unwrap_err();
        assert_eq!(err.to_string(), "cannot copy /no/bzImage for the guest");
    }

    #[test]
    fn only_old_folders_are_removed() {
        let now = SystemTime::now();
        assert!(is_old(now - Duration::from_secs(4 * 24 * 3600), now));
        assert!(!is_old(now - Duration::from_secs(24 * 3600), now));
        assert!(!is_old(now + Duration::from_secs(60), now));
    }
}
