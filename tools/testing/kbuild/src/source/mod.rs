// SPDX-License-Identifier: GPL-2.0

//! The kernel source that the patches are for: the distribution's package,
//! or a copy of the user's own tree.

mod debian;
mod own;
mod version;

pub use debian::unpacked;
pub use version::Version;

use crate::cache::Cache;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// The series the patches are for.
pub const BASE: (u32, u32) = (7, 3);

/// A pristine source tree that nobody writes to.
#[derive(Clone, Debug)]
pub struct Source {
    /// The tree.
    pub dir: PathBuf,
    /// Version of Linux.
    pub version: Version,
    /// A folder name that tells this source from others.
    pub key: String,
    /// Whether the tree follows a user's tree and may change between calls.
    pub follows: bool,
}

/// Gets the source: a copy of `kdir` if given, else the pinned package.
pub fn get(cache: &Cache, kdir: Option<&Path>) -> Result<Source> {
    match kdir {
        Some(kdir) => own::copy(cache, kdir),
        None => debian::get(cache),
    }
}

/// Fails with one line unless the disk that holds `folder` has room for
/// `needed` MiB.
pub fn require_space(folder: &Path, needed: u64, what: &str) -> Result<()> {
    let stat = rustix::fs::statvfs(folder)
        .with_context(|| format!("cannot tell the free space of {}", folder.display()))?;
    let free = stat.f_bavail.saturating_mul(stat.f_frsize) >> 20;
    anyhow::ensure!(
        free >= needed,
        "{what} needs {needed} MiB and {} has {free} MiB free: free some, or set {} to a folder on a larger disk",
        folder.display(),
        crate::cache::VARIABLE
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_space_is_one_clear_line() {
        let folder = tempfile::tempdir().unwrap();
        assert!(require_space(folder.path(), 0, "the test").is_ok());
        let err = require_space(folder.path(), 1 << 40, "the test").unwrap_err().to_string();
        assert!(err.starts_with("the test needs 1099511627776 MiB"), "{err}");
        assert_eq!(err.lines().count(), 1);
    }
}
