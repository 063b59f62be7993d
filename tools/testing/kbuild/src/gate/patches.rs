// SPDX-License-Identifier: GPL-2.0

//! Checks of the series as it would be sent.

use super::none;
use crate::cache::Cache;
use crate::exec;
use crate::flavour::Flavour;
use crate::format_patch;
use crate::series::Series;
use crate::tally::Tally;
use crate::tree::{self, Origins};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Checks of checkpatch that cannot hold here.
const IGNORED: [&str; 9] = [
    // The submitter signs off, with git format-patch -s.
    "MISSING_SIGN_OFF",
    "NO_AUTHOR_SIGN_OFF",
    // New files lie in folders whose maintainers are listed already.
    "FILE_PATH_CHANGES",
    // The source is a package without history.
    "UNKNOWN_COMMIT_ID",
    // Rust has no means to export a symbol: C does, away from the function.
    "EXPORT_SYMBOL",
    // TRACE_EVENT() has a style of its own.
    "OPEN_ENDED_LINE",
    "PARENTHESIS_ALIGNMENT",
    // Code that moves stays as it is, and a header as it declares.
    "BRACES",
    "AVOID_EXTERNS",
];

/// Writes the series and checks it.
pub fn run(cache: &Cache, origins: &Origins, tally: &mut Tally) -> Result<()> {
    let folder = match format_patch::write(cache, origins) {
        Ok((folder, _)) => folder,
        Err(err) => {
            tally.fail("series", format!("{err:#}"));
            return Ok(());
        }
    };
    tally.pass("series");
    let tree = tree::prepare(cache, origins, &Flavour::ours().tree)?;
    tally.result("checkpatch", checkpatch(&tree.dir, &folder));
    let series = origins.series(&Flavour::ours().tree)?;
    tally.result("kernel-doc", kernel_doc(&tree.dir, &series));
    tally.result("names of Rust files", names(&tree.dir, &series));
    Ok(())
}

fn checkpatch(tree: &Path, folder: &Path) -> Result<()> {
    let mut complaints = Vec::new();
    for patch in format_patch::patches(folder)? {
        let mut perl = Command::new("perl");
        perl.args(["scripts/checkpatch.pl", "--strict", "--terse", "--show-types", "--no-summary"]);
        perl.args(["--ignore", &IGNORED.join(",")]).arg(&patch).current_dir(tree);
        // Its helper needs modules of the distribution's Python.
        perl.env("PATH", "/usr/bin:/bin");
        let output = perl.stdin(Stdio::null()).output().context("cannot run perl")?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let prefix = format!("{}/", folder.display());
        complaints.extend(text.lines().map(|line| line.replace(&prefix, "")));
    }
    none(complaints)
}

/// Comments of new C files.
fn kernel_doc(tree: &Path, series: &Series) -> Result<()> {
    let files = landed(series).filter(|path| has_extension(path, &["c", "h"]));
    let files: Vec<&PathBuf> = files.collect();
    if files.is_empty() {
        return Ok(());
    }
    let mut command = exec::clean("python3");
    command.args(["scripts/kernel-doc", "-none", "-Wall"]).args(files).current_dir(tree);
    super::silent(&mut command)
}

/// In one folder a Rust and a C file of the same stem would be one object.
fn names(tree: &Path, series: &Series) -> Result<()> {
    let rust = landed(series).filter(|path| has_extension(path, &["rs"]));
    let twins = rust.filter(|path| tree.join(path).with_extension("c").exists());
    none(twins.map(|path| format!("{} has the stem of a C file beside it", path.display())))
}

fn landed(series: &Series) -> impl Iterator<Item = &PathBuf> {
    series.landings().map(|(_, added)| &added.to)
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|found| extensions.iter().any(|extension| found == *extension))
}
