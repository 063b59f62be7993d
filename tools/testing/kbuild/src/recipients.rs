// SPDX-License-Identifier: GPL-2.0

//! To whom each patch of the series goes.

use crate::exec;
use crate::format_patch;
use crate::tree;
use anyhow::{ensure, Context, Result};
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// The file beside the patches.
pub const FILE: &str = "recipients.txt";

/// Asks `scripts/get_maintainer.pl` of `tree` about each patch in `folder`,
/// and keeps the answers there.
pub fn write(tree: &Path, folder: &Path) -> Result<()> {
    let mut text = String::new();
    for patch in format_patch::patches(folder)? {
        let name = patch.file_name().unwrap_or_default().to_string_lossy();
        let _ = writeln!(text, "{name}\n{}", ask(tree, &patch)?);
    }
    tree::replace(&folder.join(FILE), text.as_bytes(), None)
}

fn ask(tree: &Path, patch: &Path) -> Result<String> {
    let mut perl = exec::clean("perl");
    // There is no history to look at, and it would name whoever passed by.
    perl.args(["scripts/get_maintainer.pl", "--no-git", "--no-git-fallback"]).arg(patch);
    answer(perl.current_dir(tree))
        .with_context(|| format!("get_maintainer.pl, asked about {}", patch.display()))
}

/// The lines that name somebody, indented.
fn answer(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().context("cannot run perl")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}", complaint.lines().next().unwrap_or("no reason given"));
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<String> = text
        .lines()
        .filter(|line| line.contains('@'))
        .map(|line| format!("    {line}\n"))
        .collect();
    ensure!(!lines.is_empty(), "it names nobody");
    Ok(lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<String> {
        answer(Command::new("sh").args(["-c", script]))
    }

    #[test]
    fn only_addresses_are_kept() {
        let text = shell("echo 'A <a@b> (maintainer)'; echo; echo note").unwrap();
        assert_eq!(text, "    A <a@b> (maintainer)\n");
    }

    #[test]
    fn silence_and_failure_are_errors() {
        assert!(shell("true").is_err());
        let err = shell("echo no tree >&2; exit 1").unwrap_err();
        assert_eq!(err.to_string(), "no tree");
    }
}
