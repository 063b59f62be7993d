// SPDX-License-Identifier: GPL-2.0

//! The static gate: formatting, lints, documentation, the form of patches.
//!
//! Each check is one named result.

mod kernel;
mod patches;
mod tools;

use crate::cache::Cache;
use crate::exec;
use crate::host;
use crate::tally::Tally;
use crate::tree::Origins;
use anyhow::{bail, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How many complaints of one check are shown.
const SHOWN: usize = 10;

/// Runs all checks.
pub fn run(cache: &Cache, origins: &Origins, tally: &mut Tally) -> Result<()> {
    host::gate_tools(cache)?;
    let toolchain = crate::kernel::set_up(cache, origins, true)?;
    tools::run(&origins.root, tally)?;
    patches::run(cache, origins, tally)?;
    kernel::run(cache, origins, toolchain, tally)
}

/// Runs `command`; any output or a failure is a complaint, and the error
/// shows the first of them.
fn silent(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output()?;
    let both = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&both);
    if output.status.success() && text.trim().is_empty() {
        return Ok(());
    }
    bail!("{}", first_lines(text.lines()))
}

/// Like [`silent`], where output alone is no complaint.
fn succeeds(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    let both = [output.stdout, output.stderr].concat();
    bail!("{}", first_lines(String::from_utf8_lossy(&both).lines()))
}

/// Fails with the first of some complaints, if there are any.
fn none<T: ToString>(complaints: impl IntoIterator<Item = T>) -> Result<()> {
    let lines: Vec<String> =
        complaints.into_iter().map(|complaint| complaint.to_string()).collect();
    if lines.is_empty() {
        return Ok(());
    }
    bail!("{}", first_lines(lines.iter().map(String::as_str)))
}

fn first_lines<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let lines: Vec<&str> = lines.filter(|line| !line.trim().is_empty()).collect();
    let mut text = lines[..lines.len().min(SHOWN)].join("\n      ");
    if lines.len() > SHOWN {
        text.push_str(&format!("\n      and {} lines more", lines.len() - SHOWN));
    }
    text
}

/// The files of the checkout that are tracked or are about to be, from its
/// root.
fn checkout_files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    let text = exec::output("git ls-files", &mut git)?;
    let paths = text.lines().map(PathBuf::from);
    Ok(paths.filter(|path| root.join(path).is_file()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_are_cut_short() {
        assert!(none(Vec::<String>::new()).is_ok());
        let err = none((0..30).map(|number| format!("line {number}"))).unwrap_err().to_string();
        assert!(err.starts_with("line 0\n") && err.ends_with("and 20 lines more"), "{err}");
    }

    #[test]
    fn output_is_a_complaint_only_where_it_should_be() {
        assert!(silent(Command::new("echo").arg("x")).is_err());
        assert!(succeeds(Command::new("echo").arg("x")).is_ok());
        assert!(succeeds(&mut Command::new("false")).is_err());
    }
}
