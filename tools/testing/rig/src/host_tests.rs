// SPDX-License-Identifier: GPL-2.0

//! Runs the tests of the Cargo workspace, property tests included.

use anyhow::{ensure, Context, Result};
use kbuild::repo;
use kbuild::tally::Tally;
use std::process::{Command, Stdio};

/// The workspace, and the kernel's sources as for pages of 64 KiB.
const RUNS: [(&str, &[&str]); 2] = [
    ("host", &["--workspace"]),
    ("host, 64 KiB pages", &["--package", "host", "--features", "pages-64k"]),
];

/// Records every test; fails if they cannot be built or run.
pub fn run(tally: &mut Tally) -> Result<()> {
    let results = RUNS.map(|(prefix, args)| run_some(tally, prefix, args));
    results.into_iter().collect()
}

fn run_some(tally: &mut Tally, prefix: &str, args: &[&str]) -> Result<()> {
    let folder = repo::root()?.join("tools/testing");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["test", "--locked", "--no-fail-fast"]).args(args).current_dir(folder);
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.context("cannot run cargo")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let before = tally.outcomes().len();
    text.lines().filter_map(result).for_each(|(name, result)| {
        let name = format!("{prefix}: {name}");
        match result {
            "ok" => tally.pass(name),
            "ignored" => tally.skip(name, "it is marked so"),
            _ => tally.fail(name, "see the output below"),
        }
    });
    if !output.status.success() {
        eprint!("{}", failures(&text));
    }
    ensure!(tally.outcomes().len() > before, "cargo test ran no test");
    ensure!(output.status.success(), "cargo test failed");
    Ok(())
}

/// `test module::name ... ok`
fn result(line: &str) -> Option<(&str, &str)> {
    let (name, result) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let word = result.split([',', ' ']).next()?;
    ["ok", "FAILED", "ignored"].contains(&word).then_some((name, word))
}

/// What failed tests printed.
fn failures(text: &str) -> String {
    let start = text.find("\nfailures:\n").unwrap_or(text.len());
    text[start..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_lines_are_understood() {
        assert_eq!(result("test a::b ... ok"), Some(("a::b", "ok")));
        assert_eq!(result("test a::b ... FAILED"), Some(("a::b", "FAILED")));
        assert_eq!(result("test a ... ignored, slow"), Some(("a", "ignored")));
        assert_eq!(result("test f.rs - f (line 3) ... ok"), Some(("f.rs - f (line 3)", "ok")));
        assert_eq!(result("test result: ok. 3 passed; 0 failed"), None);
        assert_eq!(result("running 3 tests"), None);
    }

    #[test]
    fn the_failures_are_cut_out() {
        assert_eq!(failures("x\n\nfailures:\n\n---- a\n"), "\nfailures:\n\n---- a\n");
        assert_eq!(failures("all well\n"), "");
    }
}
