// SPDX-License-Identifier: GPL-2.0

//! `patches/series`: the steps that turn the base into this kernel.
//!
//! ```text
//! # a comment
//! 0001-sunrpc-Add-this.patch
//!     + net/sunrpc/this.c
//!     + Kconfig => net/sunrpc/Kconfig.rust
//! ```
//!
//! A patch is what `git format-patch` writes and edits files that Linux
//! already has; its diff may be empty. The indented lines name the files of
//! the repository that land in that step, with the place where they land if
//! it is another one.

use anyhow::{bail, ensure, Context, Result};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders of the repository whose files land in the kernel.
const LANDING: [&str; 5] = ["Documentation", "fs", "include", "net", "rust"];

/// Files at the top of the repository that land in the kernel.
const LANDING_FILES: [&str; 2] = ["Kbuild", "Kconfig"];

/// A new file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    /// Where it is, from the root of the repository.
    pub from: PathBuf,
    /// Where it lands, from the root of the kernel tree.
    pub to: PathBuf,
}

/// One commit of the series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// File name of the patch.
    pub name: String,
    /// Where the patch is.
    pub path: PathBuf,
    /// Files that land with it.
    pub added: Vec<Added>,
}

/// All steps, in order.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Where the added files are looked for.
    pub root: PathBuf,
    /// The steps.
    pub steps: Vec<Step>,
}

impl Series {
    /// Reads and checks the series of the checkout `root`.
    pub fn of_repository(root: &Path) -> Result<Self> {
        let folder = root.join("patches");
        let list = folder.join("series");
        let text = fs::read_to_string(&list).with_context(|| {
            format!("cannot read {}: the checkout is incomplete", list.display())
        })?;
        let steps = parse(&text, &folder).with_context(|| list.display().to_string())?;
        let series = Self { root: root.to_owned(), steps };
        series.check_files()?;
        series.check_complete()?;
        Ok(series)
    }

    /// A series of all `*.patch` files of a folder in the order of their
    /// names, without added files.
    pub fn of_folder(folder: &Path) -> Result<Self> {
        let mut steps = Vec::new();
        for name in patch_names(folder)? {
            steps.push(Step { path: folder.join(&name), name, added: Vec::new() });
        }
        ensure!(!steps.is_empty(), "{} holds no *.patch file", folder.display());
        Ok(Self { root: folder.to_owned(), steps })
    }

    /// Every file that lands, with the number of its step.
    pub fn landings(&self) -> impl Iterator<Item = (usize, &Added)> {
        let steps = self.steps.iter().enumerate();
        steps.flat_map(|(number, step)| step.added.iter().map(move |added| (number, added)))
    }

    fn check_files(&self) -> Result<()> {
        for step in &self.steps {
            ensure!(step.path.is_file(), "patches/series names {}, which is not there", step.name);
            for added in &step.added {
                let from = self.root.join(&added.from);
                ensure!(
                    from.is_file(),
                    "patches/series names {}, which is not there",
                    added.from.display()
                );
            }
        }
        for name in patch_names(&self.root.join("patches"))? {
            let listed = self.steps.iter().any(|step| step.name == name);
            ensure!(listed, "patches/{name} is not listed in patches/series");
        }
        Ok(())
    }

    /// Every new file lands exactly once.
    fn check_complete(&self) -> Result<()> {
        let mut targets = BTreeSet::new();
        let mut sources = BTreeSet::new();
        for (_, added) in self.landings() {
            ensure!(
                targets.insert(&added.to),
                "patches/series: {} lands twice",
                added.to.display()
            );
            sources.insert(&added.from);
        }
        for file in landing_files(&self.root) {
            ensure!(sources.contains(&file), "{} is not listed in patches/series", file.display());
        }
        Ok(())
    }
}

/// Reads the list; `folder` is where its patches are.
pub fn parse(text: &str, folder: &Path) -> Result<Vec<Step>> {
    let mut steps: Vec<Step> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.split_once('#').map_or(line, |(before, _)| before);
        if line.trim().is_empty() {
            continue;
        }
        parse_line(line, folder, &mut steps).with_context(|| format!("line {}", index + 1))?;
    }
    Ok(steps)
}

fn parse_line(line: &str, folder: &Path, steps: &mut Vec<Step>) -> Result<()> {
    if line.starts_with([' ', '\t']) {
        let text = line.trim().strip_prefix("+ ").context("an indented line starts with '+ '")?;
        let step = steps.last_mut().context("a file is named before the first patch")?;
        step.added.push(parse_added(text)?);
        return Ok(());
    }
    let name = line.trim();
    ensure!(name.ends_with(".patch") && !name.contains('/'), "'{name}' is no name of a patch");
    ensure!(steps.iter().all(|step| step.name != name), "{name} is listed twice");
    steps.push(Step { name: name.to_owned(), path: folder.join(name), added: Vec::new() });
    Ok(())
}

fn parse_added(text: &str) -> Result<Added> {
    let (from, to) = text.split_once("=>").unwrap_or((text, text));
    let paths = [from, to].map(|path| PathBuf::from(path.trim()));
    for path in &paths {
        let plain = path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        if !plain || path.as_os_str().is_empty() {
            bail!("'{}' is no path inside the tree", path.display());
        }
    }
    let [from, to] = paths;
    Ok(Added { from, to })
}

fn patch_names(folder: &Path) -> Result<Vec<String>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".patch")).collect();
    names.sort();
    Ok(names)
}

/// The new files of the repository, from its root.
fn landing_files(root: &Path) -> Vec<PathBuf> {
    let tops = LANDING_FILES.iter().map(|name| root.join(name)).filter(|path| path.is_file());
    let folders = LANDING.iter().map(|name| root.join(name));
    let walked = folders.flat_map(|folder| {
        let walk = walkdir::WalkDir::new(folder).into_iter().flatten();
        walk.filter(|entry| entry.file_type().is_file()).map(|entry| entry.into_path())
    });
    let relative =
        tops.chain(walked).filter_map(|path| Some(path.strip_prefix(root).ok()?.to_owned()));
    relative.filter(|path| !is_debris(path)).collect()
}

/// Hidden files and what editors and patch leave behind.
fn is_debris(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.')
        || name.ends_with('~')
        || name.ends_with(".orig")
        || name.ends_with(".rej")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# SPDX\n\n0001-a.patch\n  + net/a.c  # why\n\t+ Kconfig => net/Kconfig.rust\n0002-b.patch\n";

    #[test]
    fn steps_and_files_are_read() {
        let steps = parse(TEXT, Path::new("/p")).unwrap();
        assert_eq!(steps.len(), 2);
        assert_eq!(steps[0].path, Path::new("/p/0001-a.patch"));
        assert_eq!(steps[0].added[0], Added { from: "net/a.c".into(), to: "net/a.c".into() });
        assert_eq!(
            steps[0].added[1],
            Added { from: "Kconfig".into(), to: "net/Kconfig.rust".into() }
        );
        assert!(steps[1].added.is_empty());
    }

    #[test]
    fn mistakes_name_their_line() {
        let error = |text| format!("{:#}", parse(text, Path::new("/p")).unwrap_err());
        assert!(error("  + net/a.c\n").starts_with("line 1: a file is named before"));
        assert!(error("0001-a.patch\n  net/a.c\n").starts_with("line 2: an indented"));
        assert!(error("0001-a.patch\n + ../a.c\n").contains("no path inside"));
        assert!(error("0001-a.patch\n + /etc/a\n").contains("no path inside"));
        assert!(error("0001-a.patch\n0001-a.patch\n").contains("listed twice"));
        assert!(error("0001-a.diff\n").contains("no name of a patch"));
    }

    fn repository(list: &str) -> (tempfile::TempDir, Result<Series>) {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("patches")).unwrap();
        fs::create_dir_all(root.path().join("net")).unwrap();
        fs::write(root.path().join("patches/series"), list).unwrap();
        fs::write(root.path().join("patches/0001-a.patch"), "").unwrap();
        fs::write(root.path().join("net/a.c"), "").unwrap();
        let series = Series::of_repository(root.path());
        (root, series)
    }

    #[test]
    fn every_file_lands_exactly_once() {
        assert!(repository("0001-a.patch\n + net/a.c\n").1.is_ok());
        let error = |text| format!("{:#}", repository(text).1.unwrap_err());
        assert!(error("0001-a.patch\n").contains("net/a.c is not listed"));
        assert!(error("0001-a.patch\n + net/a.c\n + net/a.c\n").contains("lands twice"));
        assert!(
            error("0001-a.patch\n + net/a.c\n + net/b.c\n").contains("net/b.c, which is not there")
        );
        assert!(error("").contains("0001-a.patch is not listed"));
    }
}
