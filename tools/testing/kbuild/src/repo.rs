// SPDX-License-Identifier: GPL-2.0

//! Where the checkout is.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// Names the checkout when the current folder is not inside of it.
pub const VARIABLE: &str = "SUNRPC_RUST_REPO";

/// The root of the checkout: `$SUNRPC_RUST_REPO`, else the nearest folder
/// above the current one that holds the tools.
pub fn root() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        return Ok(PathBuf::from(path));
    }
    let here = std::env::current_dir().context("the current folder is gone")?;
    let found = here.ancestors().find(|folder| is_root(folder));
    found.map(Path::to_path_buf).with_context(|| {
        format!(
            "{} is not in the checkout: run this through its Makefile, or set {VARIABLE}",
            here.display()
        )
    })
}

fn is_root(folder: &Path) -> bool {
    folder.join("tools/testing/kbuild/Cargo.toml").is_file() && folder.join("COPYING").is_file()
}
