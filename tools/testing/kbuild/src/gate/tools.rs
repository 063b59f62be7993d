// SPDX-License-Identifier: GPL-2.0

//! Checks of the tools and of the checkout as a whole.

use super::{checkout_files, none, silent, succeeds};
use crate::tally::Tally;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Lines at the top of a file in which its licence has to be.
const HEAD: usize = 5;

/// Names and extensions of files that have no comments.
const WITHOUT_COMMENTS: [&str; 8] =
    ["COPYING", "json", "lock", "patch", "png", "svg", "txt", "csv"];

/// Runs the checks on the checkout `root`.
pub fn run(root: &Path, tally: &mut Tally) -> Result<()> {
    let files = checkout_files(root)?;
    tally.result("tools: cargo fmt", succeeds(cargo(root).args(["fmt", "--all", "--check"])));
    let mut clippy = cargo(root);
    clippy.args(["clippy", "--quiet", "--workspace", "--all-targets", "--locked"]);
    tally.result("tools: cargo clippy", succeeds(clippy.args(["--", "-D", "warnings"])));
    tally.result("shellcheck", shellcheck(root, &files));
    tally.result("licence lines", licences(root, &files));
    Ok(())
}

fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.current_dir(root.join("tools/testing"));
    command
}

fn shellcheck(root: &Path, files: &[PathBuf]) -> Result<()> {
    let scripts: Vec<&PathBuf> = files.iter().filter(|path| is_script(&root.join(path))).collect();
    let mut command = Command::new("shellcheck");
    silent(command.arg("--format=gcc").args(scripts).current_dir(root))
}

/// By its name or its first line.
fn is_script(path: &Path) -> bool {
    let text = fs::read_to_string(path).unwrap_or_default();
    let first = text.lines().next().unwrap_or_default();
    let interpreter = first.strip_prefix("#!").unwrap_or_default();
    let shells = ["/bin/sh", "/bin/bash", "env bash", "env sh"];
    path.extension().is_some_and(|extension| extension == "sh")
        || shells.iter().any(|shell| interpreter.contains(shell))
}

fn licences(root: &Path, files: &[PathBuf]) -> Result<()> {
    let mut without = Vec::new();
    for path in files.iter().filter(|path| has_comments(path)) {
        let text =
            fs::read(root.join(path)).with_context(|| format!("cannot read {}", path.display()))?;
        if !has_licence(&String::from_utf8_lossy(&text)) {
            without.push(format!("{} has no SPDX-License-Identifier line", path.display()));
        }
    }
    none(without)
}

fn has_comments(path: &Path) -> bool {
    let names = [path.file_name(), path.extension()];
    let known = |name: &str| names.iter().flatten().any(|part| *part == name);
    !WITHOUT_COMMENTS.iter().any(|name| known(name))
}

fn has_licence(text: &str) -> bool {
    text.lines().take(HEAD).any(|line| line.contains("SPDX-License-Identifier: "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences_are_looked_for_where_comments_are() {
        assert!(has_comments(Path::new("a/Makefile")));
        assert!(has_comments(Path::new("patches/series")));
        assert!(!has_comments(Path::new("tools/Cargo.lock")));
        assert!(!has_comments(Path::new("COPYING")));
        assert!(has_licence("#!/bin/sh\n# SPDX-License-Identifier: GPL-2.0\n"));
        assert!(!has_licence("\n\n\n\n\n// SPDX-License-Identifier: GPL-2.0\n"));
    }

    #[test]
    fn scripts_are_known_by_their_first_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        fs::write(&path, "#!/usr/bin/env bash\n").unwrap();
        assert!(is_script(&path));
        fs::write(&path, "#!/usr/bin/python3\n").unwrap();
        assert!(!is_script(&path));
    }
}
