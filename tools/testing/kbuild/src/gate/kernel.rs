// SPDX-License-Identifier: GPL-2.0

//! Checks of the Rust code in the kernel, in a build folder of their own, so
//! that clippy and rustc do not take turns in rebuilding each other's
//! objects.

use super::none;
use crate::cache::{self, Cache};
use crate::config::{self, Symbols};
use crate::flavour::Flavour;
use crate::host::Toolchain;
use crate::kernel;
use crate::make::{Make, Warning};
use crate::progress::Meter;
use crate::tally::Tally;
use crate::tree::{self, Origins, Tree};
use anyhow::{Context, Result};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Exists while objects may be there whose warnings were not dealt with.
const UNCHECKED: &str = ".unchecked";

/// Runs the checks.
pub fn run(
    cache: &Cache,
    origins: &Origins,
    toolchain: Toolchain,
    tally: &mut Tally,
) -> Result<()> {
    let flavour = Flavour::ours();
    let tree = tree::prepare(cache, origins, &flavour.tree)?;
    let sources = rust_files(&tree);
    tally.result("kernel: rustfmt", rustfmt(&tree, &sources));
    let make = Make::new(cache, tree.dir.clone(), "gate", toolchain)?;
    let inputs = kernel::inputs(&make.toolchain, &tree)?;
    config::ensure(&make, &config::fragments(&origins.root, &flavour), &inputs, Symbols::All)?;
    tally.result("kernel: clippy", clippy(&make, &sources));
    tally.result("kernel: rustdoc", rustdoc(&make, &sources));
    Ok(())
}

/// The Rust files of the tree that the series adds or edits.
fn rust_files(tree: &Tree) -> Vec<PathBuf> {
    let is_rust = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "rs");
    tree.changed.iter().filter(is_rust).cloned().collect()
}

/// Each file goes through standard input: named as an argument, rustfmt would
/// follow its modules into files of Linux.
fn rustfmt(tree: &Tree, sources: &[PathBuf]) -> Result<()> {
    let mut complaints = Vec::new();
    for path in sources {
        let file = tree.dir.join(path);
        let input = File::open(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let mut command = Command::new("/usr/bin/rustfmt");
        command.arg("--check").arg("--config-path").arg(tree.dir.join(".rustfmt.toml"));
        let output = command.stdin(input).output().context("cannot run rustfmt")?;
        if !output.status.success() || !output.stdout.is_empty() {
            complaints.push(format!("{} is not formatted", path.display()));
        }
    }
    none(complaints)
}

/// Builds the crates that hold the sources with clippy in place of rustc.
fn clippy(make: &Make, sources: &[PathBuf]) -> Result<()> {
    let marker = make.build_dir.join(UNCHECKED);
    if marker.exists() {
        objects(make, sources).iter().try_for_each(|path| cache::remove(path))?;
    }
    fs::write(&marker, "").with_context(|| format!("cannot write {}", marker.display()))?;
    let mut targets = vec!["prepare".to_owned(), "rust/".to_owned()];
    targets.extend(folders(sources));
    let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
    let warnings =
        kernel::make_targets(make, &targets, &["CLIPPY=1".into()], Meter::open("clippy"))?;
    none(ours(&warnings, sources))?;
    cache::remove(&marker)
}

/// Documentation is always made anew, so no warning is missed.
fn rustdoc(make: &Make, sources: &[PathBuf]) -> Result<()> {
    let warnings =
        kernel::make_targets(make, &["rustdoc"], &["CLIPPY=1".into()], Meter::open("rustdoc"))?;
    none(ours(&warnings, sources))
}

fn ours<'a>(warnings: &'a [Warning], sources: &'a [PathBuf]) -> impl Iterator<Item = &'a Warning> {
    warnings.iter().filter(move |warning| sources.iter().any(|path| warning.is_about(path)))
}

/// The objects that a warning in one of the sources would come with.
fn objects(make: &Make, sources: &[PathBuf]) -> Vec<PathBuf> {
    let mut objects = vec![make.build_dir.join("rust/kernel.o")];
    objects.extend(sources.iter().map(|path| make.build_dir.join(path).with_extension("o")));
    objects
}

/// Folders outside of rust/ that hold sources and are built by make.
fn folders(sources: &[PathBuf]) -> Vec<String> {
    let outside = sources.iter().filter(|path| !path.starts_with("rust"));
    let mut folders: Vec<String> = outside.filter_map(|path| built_folder(path)).collect();
    folders.sort();
    folders.dedup();
    folders
}

/// `net/sunrpc/` for all files below it: a folder of modules has no Makefile.
fn built_folder(path: &Path) -> Option<String> {
    let depth = path.components().count().saturating_sub(1).min(2);
    let folder: PathBuf = path.components().take(depth).collect();
    (depth > 0).then(|| format!("{}/", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_built_with_their_subsystem() {
        let sources =
            ["rust/kernel/a.rs", "net/sunrpc/rust/b.rs", "net/sunrpc/c.rs", "fs/nfsd/d.rs"];
        let sources = sources.map(PathBuf::from);
        assert_eq!(folders(&sources), ["fs/nfsd/", "net/sunrpc/"]);
    }

    #[test]
    fn only_warnings_of_our_files_count() {
        let warning =
            |place: &str| Warning { text: "warning: x".into(), place: Some(place.into()) };
        let warnings = [warning("../rust/kernel/a.rs:1:1"), warning("../rust/kernel/lib.rs:1:1")];
        let sources = [PathBuf::from("rust/kernel/a.rs")];
        assert_eq!(ours(&warnings, &sources).count(), 1);
    }
}
