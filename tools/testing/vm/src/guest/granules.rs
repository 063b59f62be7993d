// SPDX-License-Identifier: GPL-2.0

//! Reads the granules' counters of the guest's kernel.

use crate::granules::Granules;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// One file for each pool of a service; debugfs must be mounted.
const POOLS: &str = "/sys/kernel/debug/sunrpc/svc_granules";

/// Pools of other services have other threads.
const NFSD: &str = "nfsd.";

/// The sum over all pools of nfsd; none in a kernel without granules, or
/// where nfsd does not run.
pub fn read() -> Result<Option<Granules>> {
    if !Path::new(POOLS).is_dir() {
        return Ok(None);
    }
    let mut sum = None;
    for path in entries(POOLS, NFSD)? {
        // A pool may go away meanwhile.
        let Ok(text) = fs::read_to_string(path) else { continue };
        sum = Some(Granules::parse(&text)?.plus(&sum.unwrap_or_default()));
    }
    Ok(sum)
}

/// What in `folder` has a name that begins with `prefix`.
pub fn entries(folder: &str, prefix: &str) -> Result<Vec<PathBuf>> {
    let list = fs::read_dir(folder).with_context(|| format!("cannot list {folder}"))?;
    let names = list.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let is_wanted = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix))
    };
    Ok(names.filter(is_wanted).collect())
}
