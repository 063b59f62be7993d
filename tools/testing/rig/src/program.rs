// SPDX-License-Identifier: GPL-2.0

//! Programs of the workspace that are built when they are needed.

use anyhow::{ensure, Context, Result};
use kbuild::repo;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Builds the program `name` of the crate `package` beside this program, and
/// gives back its path.
pub fn build(package: &str, name: &str) -> Result<PathBuf> {
    let own = std::env::current_exe().context("cannot find the running program")?;
    let folder = own.parent().context("the running program has no folder")?;
    let target = folder.parent().context("the running program has no target folder")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--package", package, "--locked", "--target-dir"]);
    command.arg(target).current_dir(repo::root()?.join("tools/testing"));
    let status = command.stdin(Stdio::null()).status().context("cannot run cargo")?;
    ensure!(status.success(), "the program {name} cannot be built");
    Ok(folder.join(name))
}
