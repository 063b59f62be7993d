// SPDX-License-Identifier: GPL-2.0

//! Reads the granules' counters of the guest's kernel.

use crate::granules::Granules;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// One file for each pool of the server; debugfs must be mounted.
const FOLDER: &str = "/sys/kernel/debug/sunrpc/svc_granules";

/// The sum over all pools; none in a kernel without granules.
pub fn read() -> Result<Option<Granules>> {
    let folder = Path::new(FOLDER);
    if !folder.is_dir() {
        return Ok(None);
    }
    let mut sum = Granules::default();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {FOLDER}"))? {
        let path = entry.with_context(|| format!("cannot read {FOLDER}"))?.path();
        let text = fs::read_to_string(&path);
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        sum = sum.plus(&Granules::parse(&text)?);
    }
    Ok(Some(sum))
}
