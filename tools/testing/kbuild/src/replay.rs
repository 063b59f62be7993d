// SPDX-License-Identifier: GPL-2.0

//! Applies a series in a scratch folder that holds only the files it touches.

use crate::overlay::{self, Pending};
use crate::series::{Series, Step};
use anyhow::{bail, ensure, Context, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Content of each touched file, by path from the root of the tree; `None`
/// where the file does not exist.
pub type Files = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// The states of the touched files, the base first, then one a step.
#[derive(Clone, Debug)]
pub struct Replay {
    /// One more than there are steps.
    pub states: Vec<Files>,
}

impl Replay {
    /// The touched files after all steps.
    pub fn last(&self) -> &Files {
        static NONE: Files = Files::new();
        self.states.last().unwrap_or(&NONE)
    }
}

/// Replays `series` on top of the tree `base`.
///
/// Fails with one line naming the patch and the file if one does not apply.
pub fn replay(base: &Path, series: &Series) -> Result<Replay> {
    let files = read_base(base, series)?;
    replay_from(files, series)
}

/// Like [`replay`], on top of files in memory; those that are not given do
/// not exist.
fn replay_from(base: Files, series: &Series) -> Result<Replay> {
    let scratch = tempfile::Builder::new().prefix("sunrpc-rust-").tempdir();
    let scratch = scratch.context("cannot create a scratch folder")?;
    write_all(scratch.path(), &base)?;
    let paths: Vec<PathBuf> = base.keys().cloned().collect();
    let mut states = vec![base];
    for (number, step) in series.steps.iter().enumerate() {
        apply(scratch.path(), step)?;
        write_all(scratch.path(), &landed(series, number)?)?;
        states.push(read_all(scratch.path(), &paths)?);
    }
    Ok(Replay { states })
}

/// Every path that `series` touches, as it is in `base`.
pub fn read_base(base: &Path, series: &Series) -> Result<Files> {
    let mut paths = Vec::new();
    for step in &series.steps {
        let text = fs::read_to_string(&step.path)
            .with_context(|| format!("cannot read {}", step.path.display()))?;
        paths.extend(touched(&text));
    }
    for (_, added) in series.landings() {
        ensure!(
            !base.join(&added.to).exists() && !paths.contains(&added.to),
            "{} lands as a new file and is in Linux or edited by a patch as well",
            added.to.display()
        );
    }
    paths.extend(series.landings().map(|(_, added)| added.to.clone()));
    read_all(base, &paths)
}

/// The files that have landed by step `number`, as they are in that step.
fn landed(series: &Series, number: usize) -> Result<Files> {
    let later = series.landings().filter(|(step, _)| *step > number);
    let pending: Pending = later.map(|(_, added)| added.to.clone()).collect();
    let mut files = Files::new();
    for (_, added) in series.landings().filter(|(step, _)| *step <= number) {
        let from = series.root.join(&added.from);
        let text =
            fs::read_to_string(&from).with_context(|| format!("cannot read {}", from.display()))?;
        let text = overlay::without_pending(&added.to, &text, &pending);
        files.insert(added.to.clone(), Some(text.into_bytes()));
    }
    Ok(files)
}

/// The paths on both sides of each diff of a patch.
pub fn touched(patch: &str) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for line in patch.lines() {
        let sides = line.strip_prefix("diff --git a/").and_then(|rest| rest.split_once(" b/"));
        if let Some((old, new)) = sides {
            paths.extend([PathBuf::from(old), PathBuf::from(new)]);
        }
    }
    paths.sort();
    paths.dedup();
    paths
}

fn apply(scratch: &Path, step: &Step) -> Result<()> {
    let text = fs::read_to_string(&step.path)
        .with_context(|| format!("cannot read {}", step.path.display()))?;
    if touched(&text).is_empty() {
        return Ok(());
    }
    let mut git = Command::new("git");
    git.args(["apply", "--whitespace=nowarn"]).arg(&step.path).current_dir(scratch);
    // Not in whatever repository the scratch folder may lie.
    git.env("GIT_CEILING_DIRECTORIES", scratch.parent().unwrap_or(scratch)).env("LC_ALL", "C");
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        git.env_remove(name);
    }
    let output = git.stdin(Stdio::null()).output().context("cannot run git")?;
    if !output.status.success() {
        bail!("{}", refusal(&step.name, &String::from_utf8_lossy(&output.stderr)));
    }
    Ok(())
}

/// One line out of git's complaint, naming patch, file and line.
fn refusal(name: &str, stderr: &str) -> String {
    let lines = || stderr.lines().filter_map(|line| line.strip_prefix("error: "));
    let place = lines().find_map(|line| line.strip_prefix("patch failed: "));
    let reason = place.map(str::to_owned).or_else(|| lines().next().map(str::to_owned));
    let reason = reason.unwrap_or_else(|| stderr.trim().replace('\n', " "));
    format!("{name} does not apply to this tree, at {reason}")
}

fn write_all(folder: &Path, files: &Files) -> Result<()> {
    for (path, content) in files {
        let Some(content) = content else { continue };
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            crate::cache::create_dir(parent)?;
        }
        fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn read_all(folder: &Path, paths: &[PathBuf]) -> Result<Files> {
    let mut files = Files::new();
    for path in paths {
        files.insert(path.clone(), read(&folder.join(path))?);
    }
    Ok(files)
}

/// The content of a file, `None` if it does not exist.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(content) => Ok(Some(content)),
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(err) => Err(err).with_context(|| format!("cannot read {}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series;

    const PATCH: &str = "Subject: x\n\n---\ndiff --git a/net/m b/net/m\n--- a/net/m\n+++ b/net/m\n@@ -1,2 +1,3 @@\n one\n+new\n two\n";

    fn series(folder: &Path, list: &str) -> Series {
        fs::write(folder.join("1.patch"), PATCH).unwrap();
        fs::write(folder.join("2.patch"), "Subject: nothing but new files\n\n---\n").unwrap();
        fs::write(folder.join("Kbuild"), "obj-y += a.o\nobj-y += b.o\n").unwrap();
        fs::write(folder.join("b.c"), "int b;\n").unwrap();
        Series { root: folder.to_owned(), steps: series::parse(list, folder).unwrap() }
    }

    fn base(content: &str) -> Files {
        let missing = ["net/Kbuild", "net/b.c"].map(|path| (PathBuf::from(path), None));
        let edited = [(PathBuf::from("net/m"), Some(content.as_bytes().to_vec()))];
        missing.into_iter().chain(edited).collect()
    }

    #[test]
    fn each_step_has_its_state() {
        let folder = tempfile::tempdir().unwrap();
        let list = "1.patch\n + Kbuild => net/Kbuild\n2.patch\n + b.c => net/b.c\n";
        let replay = replay_from(base("one\ntwo\n"), &series(folder.path(), list)).unwrap();
        let content = |step: usize, path: &str| {
            let files: &Files = &replay.states[step];
            files[Path::new(path)].clone().map(|bytes| String::from_utf8(bytes).unwrap())
        };
        assert_eq!(content(0, "net/m").as_deref(), Some("one\ntwo\n"));
        assert_eq!(content(1, "net/m").as_deref(), Some("one\nnew\ntwo\n"));
        assert_eq!(content(1, "net/Kbuild").as_deref(), Some("obj-y += a.o\n"));
        assert_eq!(content(1, "net/b.c"), None);
        assert_eq!(content(2, "net/Kbuild").as_deref(), Some("obj-y += a.o\nobj-y += b.o\n"));
        assert_eq!(content(2, "net/b.c").as_deref(), Some("int b;\n"));
    }

    #[test]
    fn a_patch_that_does_not_apply_is_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let result = replay_from(base("else\n"), &series(folder.path(), "1.patch\n"));
        let err = result.unwrap_err().to_string();
        assert_eq!(err, "1.patch does not apply to this tree, at net/m:1");
    }
}
