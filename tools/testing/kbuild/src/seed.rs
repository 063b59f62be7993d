// SPDX-License-Identifier: GPL-2.0

//! A new build folder begins as a copy of another kernel's.
//!
//! Kernels of one source differ in a few options and files. Kbuild knows which
//! objects depend on an option; those that depend on a file are found by its
//! time, as ever. Only these are built again.

use crate::cache::{self, Cache};
use crate::exec;
use crate::kernel::IMAGE;
use crate::make::Make;
use crate::replay;
use crate::tree::{self, Tree};
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use walkdir::WalkDir;

/// Exists where a build is under way or was interrupted.
pub const RUNNING: &str = ".building";

/// Names the files of the tree that differed from the source when the folder
/// was built.
const CHANGED: &str = ".changed";

/// Fills the build folder of `make`, a folder of `tree`, unless it has been
/// used before or there is nothing to copy. The image is left out.
pub fn seed(cache: &Cache, tree: &Tree, make: &Make) -> Result<()> {
    let build_dir = &make.build_dir;
    if build_dir.join(".config").is_file() {
        return Ok(());
    }
    let rust = make.toolchain.rust.is_some();
    if let Some((_, from)) = donor(&tree.dir, rust)? {
        return copy(&from, build_dir);
    }
    // A user's tree may change where no patch does.
    if tree.source.follows {
        return Ok(());
    }
    let siblings = tree.siblings(cache)?;
    let mut donors = Vec::new();
    for (path, _) in &siblings {
        donors.extend(donor(path, rust)?);
    }
    let Some((_, from)) = donors.into_iter().max() else { return Ok(()) };
    let mut differing: BTreeSet<PathBuf> = tree.changed.iter().cloned().collect();
    differing.extend(changed(&from)?.unwrap_or_default());
    tree.renew(&differing)?;
    copy(&from, build_dir)
}

/// Notes in `build_dir` what it was built of, so that folders of other trees
/// may begin as its copy.
pub fn note(tree: &Tree, build_dir: &Path) -> Result<()> {
    let text = serde_json::to_vec_pretty(&tree.changed).context("cannot write a list")?;
    tree::replace(&build_dir.join(CHANGED), &text, None)
}

fn copy(from: &Path, build_dir: &Path) -> Result<()> {
    let partial = build_dir.with_extension("partial");
    cache::remove(&partial)?;
    let mut copy = exec::clean("cp");
    copy.args(["-a", "--reflink=auto"]).arg(from).arg(&partial);
    let status = copy.status().context("cannot run cp")?;
    anyhow::ensure!(status.success(), "cannot copy {} to {}", from.display(), partial.display());
    cache::remove(&partial.join(IMAGE))?;
    move_commands(&partial, from, build_dir)?;
    cache::remove(build_dir)?;
    fs::rename(&partial, build_dir)
        .with_context(|| format!("cannot create {}", build_dir.display()))
}

/// Makes the commands that kbuild remembers name the folder `to` and its tree
/// where they named `from` and its tree.
///
/// Most paths are relative. Those of objtool are not, and all objects are
/// built again when objtool is.
fn move_commands(folder: &Path, from: &Path, to: &Path) -> Result<()> {
    let name = |path: &Path| path.to_string_lossy().into_owned();
    let tree = |path: &Path| name(path.parent().unwrap_or(path));
    let (old, new) = ((name(from), tree(from)), (name(to), tree(to)));
    for entry in WalkDir::new(folder).into_iter().flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|ext| ext != "cmd") || !entry.file_type().is_file() {
            continue;
        }
        let Ok(text) = fs::read_to_string(path) else { continue };
        if text.contains(&old.1) {
            // By way of what no path has: one may be the beginning of another.
            let text = text.replace(&old.0, "\0b").replace(&old.1, "\0t");
            let text = text.replace("\0b", &new.0).replace("\0t", &new.1);
            tree::replace(path, text.as_bytes(), None)?;
        }
    }
    Ok(())
}

/// How well a build folder suits: one with Rust for another with Rust, which
/// takes longest to build, then the newest.
type Merit = (bool, SystemTime);

/// The build folder of the tree `tree` that suits best.
fn donor(tree: &Path, rust: bool) -> Result<Option<(Merit, PathBuf)>> {
    let entries = fs::read_dir(tree).with_context(|| format!("cannot read {}", tree.display()))?;
    let folders = entries.flatten().map(|entry| entry.path());
    let known = folders.filter(|path| path.join(CHANGED).is_file());
    Ok(known.filter_map(|path| Some(((has_rust(&path) == rust, built(&path)?), path))).max())
}

fn has_rust(folder: &Path) -> bool {
    let config = fs::read_to_string(folder.join(".config")).unwrap_or_default();
    config.lines().any(|line| line == "CONFIG_RUST=y")
}

/// When a folder was completely built.
fn built(folder: &Path) -> Option<SystemTime> {
    let name = folder.file_name()?.to_str()?;
    let complete =
        name.starts_with("build-") && !name.contains('.') && !folder.join(RUNNING).exists();
    complete.then(|| fs::metadata(folder.join(IMAGE)).ok()?.modified().ok()).flatten()
}

/// What [`note`] wrote.
fn changed(folder: &Path) -> Result<Option<BTreeSet<PathBuf>>> {
    let path = folder.join(CHANGED);
    let parse = |text: Vec<u8>| {
        serde_json::from_slice(&text)
            .with_context(|| format!("{} is damaged: run 'make distclean'", path.display()))
    };
    replay::read(&path)?.map(parse).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(folder: &Path, content: &str) {
        fs::create_dir_all(folder.join(IMAGE).parent().unwrap()).unwrap();
        fs::write(folder.join(IMAGE), "image").unwrap();
        fs::write(folder.join(".config"), content).unwrap();
        fs::write(folder.join(CHANGED), r#"["net/a.c"]"#).unwrap();
    }

    #[test]
    fn a_new_folder_is_a_copy_without_the_image() {
        let tree = tempfile::tempdir().unwrap();
        let (old, new) = (tree.path().join("build-a"), tree.path().join("build-b"));
        build(&old, "one");
        fs::create_dir(&new).unwrap();
        let (_, from) = donor(tree.path(), false).unwrap().unwrap();
        copy(&from, &new).unwrap();
        assert_eq!(fs::read_to_string(new.join(".config")).unwrap(), "one");
        assert!(!new.join(IMAGE).exists() && old.join(IMAGE).exists());
        assert_eq!(changed(&new).unwrap(), Some(BTreeSet::from(["net/a.c".into()])));
    }

    #[test]
    fn commands_move_with_the_folder() {
        let trees = tempfile::tempdir().unwrap();
        let (ours, dma) = (trees.path().join("ours"), trees.path().join("ours-dma"));
        let (old, new) = (ours.join("build-ours"), dma.join("build-ours-dma"));
        build(&old, "");
        fs::create_dir(&dma).unwrap();
        let text = |tree: &Path, build: &Path| {
            format!("gcc -o {}/a.o {}/a.c {}\n", build.display(), tree.display(), tree.display())
        };
        fs::write(old.join(".a.o.cmd"), text(&ours, &old)).unwrap();
        copy(&old, &new).unwrap();
        let moved = fs::read_to_string(new.join(".a.o.cmd")).unwrap();
        assert_eq!(moved, text(&dma, &new));
    }

    #[test]
    fn nothing_incomplete_is_copied() {
        let tree = tempfile::tempdir().unwrap();
        let old = tree.path().join("build-a");
        build(&old, "one");
        build(&tree.path().join("build-c.partial"), "three");
        assert_eq!(donor(tree.path(), false).unwrap().map(|(_, path)| path), Some(old.clone()));
        fs::write(old.join(RUNNING), "").unwrap();
        assert_eq!(donor(tree.path(), false).unwrap(), None);
    }

    #[test]
    fn rust_suits_rust() {
        let tree = tempfile::tempdir().unwrap();
        let (old, new) = (tree.path().join("build-a"), tree.path().join("build-b"));
        build(&old, "CONFIG_RUST=y\n");
        std::thread::sleep(std::time::Duration::from_millis(20));
        build(&new, "# CONFIG_RUST is not set\n");
        assert_eq!(donor(tree.path(), true).unwrap().map(|(_, path)| path), Some(old));
        assert_eq!(donor(tree.path(), false).unwrap().map(|(_, path)| path), Some(new));
    }
}
