// SPDX-License-Identifier: GPL-2.0

//! Locks between concurrent calls, on files in the cache.
//!
//! The kernel drops a lock when its holder ends in whatever way, so nothing
//! stale is left behind.

use anyhow::{Context, Result};
use rustix::fs::{flock, fstat, stat, FlockOperation};
use rustix::io::Errno;
use std::fs::{self, File};
use std::path::Path;

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Whether several holders may coexist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Any number of shared holders at a time.
    Shared,
    /// One holder, and no shared one.
    Exclusive,
}

/// Takes the lock `path`; when another call holds it, says so on one line,
/// naming it `what`, and waits.
pub fn acquire(path: &Path, mode: Mode, what: &str) -> Result<Lock> {
    loop {
        let file = open(path)?;
        if !try_flock(&file, mode, path)? {
            eprintln!("waiting for another call that uses {what}");
            flock_blocking(&file, mode, path)?;
        }
        if still_there(&file, path) {
            return Ok(Lock { _file: file });
        }
    }
}

/// Takes the lock `path` unless another call holds it.
pub fn attempt(path: &Path, mode: Mode) -> Result<Option<Lock>> {
    let file = open(path)?;
    let taken = try_flock(&file, mode, path)? && still_there(&file, path);
    Ok(taken.then_some(Lock { _file: file }))
}

fn open(path: &Path) -> Result<File> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    options.open(path).with_context(|| format!("cannot open the lock {}", path.display()))
}

fn try_flock(file: &File, mode: Mode, path: &Path) -> Result<bool> {
    let operation = match mode {
        Mode::Shared => FlockOperation::NonBlockingLockShared,
        Mode::Exclusive => FlockOperation::NonBlockingLockExclusive,
    };
    match flock(file, operation) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(err) => Err(err).with_context(|| format!("cannot lock {}", path.display())),
    }
}

fn flock_blocking(file: &File, mode: Mode, path: &Path) -> Result<()> {
    let operation = match mode {
        Mode::Shared => FlockOperation::LockShared,
        Mode::Exclusive => FlockOperation::LockExclusive,
    };
    loop {
        match flock(file, operation) {
            Err(Errno::INTR) => continue,
            result => return result.with_context(|| format!("cannot lock {}", path.display())),
        }
    }
}

/// `distclean` may have removed the file while this call waited for it.
fn still_there(file: &File, path: &Path) -> bool {
    match (fstat(file), stat(path)) {
        (Ok(ours), Ok(named)) => (ours.st_dev, ours.st_ino) == (named.st_dev, named.st_ino),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exclusive_lock_excludes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/lock");
        let held = acquire(&path, Mode::Exclusive, "the test").unwrap();
        assert!(attempt(&path, Mode::Shared).unwrap().is_none());
        drop(held);
        assert!(attempt(&path, Mode::Shared).unwrap().is_some());
    }

    #[test]
    fn a_removed_lock_file_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let file = open(&path).unwrap();
        assert!(still_there(&file, &path));
        fs::remove_file(&path).unwrap();
        assert!(!still_there(&file, &path));
        let _other = open(&path).unwrap();
        assert!(!still_there(&file, &path));
    }
}
