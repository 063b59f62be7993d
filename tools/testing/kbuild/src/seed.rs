// SPDX-License-Identifier: GPL-2.0

//! A new build folder begins as a copy of another kernel's of the same tree.
//!
//! Kernels of one tree differ in a few options, and kbuild knows which objects
//! depend on them. Only those are built again.

use crate::cache;
use crate::exec;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What tells that a build folder is complete, and goes with it.
const IMAGE: &str = "arch/x86/boot/bzImage";

/// Exists where a build is under way or was interrupted.
pub const RUNNING: &str = ".building";

/// Fills `build_dir`, a folder of the tree, unless it has been used before or
/// there is nothing to copy. The image is left out.
pub fn seed(build_dir: &Path) -> Result<()> {
    let Some(from) = donor(build_dir)? else { return Ok(()) };
    let partial = build_dir.with_extension("partial");
    cache::remove(&partial)?;
    let mut copy = exec::clean("cp");
    copy.args(["-a", "--reflink=auto"]).arg(&from).arg(&partial);
    let status = copy.status().context("cannot run cp")?;
    anyhow::ensure!(status.success(), "cannot copy {} to {}", from.display(), partial.display());
    cache::remove(&partial.join(IMAGE))?;
    cache::remove(build_dir)?;
    fs::rename(&partial, build_dir)
        .with_context(|| format!("cannot create {}", build_dir.display()))
}

/// The build folder beside `build_dir` whose image is the newest.
fn donor(build_dir: &Path) -> Result<Option<PathBuf>> {
    if build_dir.join(".config").is_file() {
        return Ok(None);
    }
    let Some(tree) = build_dir.parent() else { return Ok(None) };
    let entries = fs::read_dir(tree).with_context(|| format!("cannot read {}", tree.display()))?;
    let folders = entries.flatten().map(|entry| entry.path());
    Ok(folders.filter_map(|path| Some((built(&path)?, path))).max().map(|(_, path)| path))
}

/// When a folder was completely built.
fn built(folder: &Path) -> Option<SystemTime> {
    let name = folder.file_name()?.to_str()?;
    let complete =
        name.starts_with("build-") && !name.contains('.') && !folder.join(RUNNING).exists();
    complete.then(|| fs::metadata(folder.join(IMAGE)).ok()?.modified().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(folder: &Path, content: &str) {
        fs::create_dir_all(folder.join(IMAGE).parent().unwrap()).unwrap();
        fs::write(folder.join(IMAGE), "image").unwrap();
        fs::write(folder.join(".config"), content).unwrap();
    }

    #[test]
    fn a_new_folder_is_a_copy_without_the_image() {
        let tree = tempfile::tempdir().unwrap();
        let (old, new) = (tree.path().join("build-a"), tree.path().join("build-b"));
        build(&old, "one");
        fs::create_dir(&new).unwrap();
        seed(&new).unwrap();
        assert_eq!(fs::read_to_string(new.join(".config")).unwrap(), "one");
        assert!(!new.join(IMAGE).exists() && old.join(IMAGE).exists());
        fs::write(old.join(".config"), "two").unwrap();
        seed(&new).unwrap();
        assert_eq!(fs::read_to_string(new.join(".config")).unwrap(), "one");
    }

    #[test]
    fn nothing_incomplete_is_copied() {
        let tree = tempfile::tempdir().unwrap();
        let (old, new) = (tree.path().join("build-a"), tree.path().join("build-b"));
        build(&old, "one");
        build(&tree.path().join("build-c.partial"), "three");
        fs::write(old.join(RUNNING), "").unwrap();
        seed(&new).unwrap();
        assert!(!new.join(".config").exists());
    }
}
