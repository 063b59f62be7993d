// SPDX-License-Identifier: GPL-2.0

//! The exported file system: ext4 on a RAM disk.

use crate::guest::paths::{self, EXPORT};
use crate::guest::{exec, rpc};
use anyhow::{ensure, Result};
use std::path::Path;

const DISK: &str = "/dev/ram0";

/// Makes and mounts the file system.
pub fn make() -> Result<()> {
    let found = Path::new(DISK).exists();
    ensure!(found, "the guest has no {DISK}: set CONFIG_BLK_DEV_RAM");
    let now = "lazy_itable_init=0,lazy_journal_init=0";
    exec::step("mkfs.ext4", &["-q", "-F", "-E", now, DISK])?;
    exec::step("mount", &["-t", "ext4", DISK, EXPORT]).map(drop)
}

/// Exports it to everybody who comes with one of these kinds of protection,
/// with colons between; the programs of [`rpc`] must run.
pub fn export(security: &str) -> Result<()> {
    rpc::check()?;
    let options = format!("rw,no_root_squash,insecure,fsid=0,sync,no_subtree_check,sec={security}");
    exec::step("exportfs", &["-i", "-o", &options, &format!("*:{EXPORT}")]).map(drop)
}

/// Withdraws and unmounts it; fails if somebody still uses it.
pub fn drop_it() -> Result<()> {
    exec::step("exportfs", &["-u", &format!("*:{EXPORT}")])?;
    exec::step("exportfs", &["-f"])?;
    exec::step("umount", &[EXPORT])?;
    ensure!(!paths::is_mounted(EXPORT), "the exported file system is still mounted");
    Ok(())
}

/// Writes everything back and forgets the clean page cache.
///
/// Only that: `2` and `3` call the shrinkers, too, and what the server keeps
/// for reuse would be gone before it is measured.
pub fn forget_cached() -> Result<()> {
    exec::step("sync", &[])?;
    paths::write("/proc/sys/vm/drop_caches", "1")
}
