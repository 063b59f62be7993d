// SPDX-License-Identifier: GPL-2.0

//! The folder that holds everything downloaded or built.
//!
//! | folder | content |
//! |---|---|
//! | `downloads/` | packages as they were fetched |
//! | `sources/` | pristine unpacked kernel sources |
//! | `trees/` | patched trees, each with its build folders |
//! | `tools/` | programs installed for the builds and guests |
//! | `ccache/` | compiled C objects |
//! | `target/` | the tools of this repository |
//! | `state/` | small facts worth remembering |
//! | `logs/`, `locks/` | what the names say |

use crate::lock::{self, Lock, Mode};
use anyhow::{bail, ensure, Context, Result};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Names the cache folder when the default does not suit.
pub const VARIABLE: &str = "SUNRPC_RUST_CACHE";

const TAG: &str = "CACHEDIR.TAG";
const TAG_TEXT: &str = "Signature: 8a477f597d28d172789f06886806bc55\n\
    # Downloads and build products of sunrpc-rust; `make distclean` removes this folder.\n";

/// The cache folder, in use by this call until dropped.
#[derive(Debug)]
pub struct Cache {
    root: PathBuf,
    _in_use: Lock,
}

impl Cache {
    /// Opens the cache, creating it if it is not there.
    ///
    /// Fails if the folder cannot be written, or holds files that are not of
    /// this project.
    pub fn open() -> Result<Self> {
        Self::open_at(&location()?)
    }

    /// Like [`Cache::open`], with an explicit folder.
    pub fn open_at(root: &Path) -> Result<Self> {
        buildable(root)?;
        fs::create_dir_all(root).with_context(|| {
            format!(
                "cannot create {}: set {VARIABLE} to a folder that can be written",
                root.display()
            )
        })?;
        let root = root.canonicalize().with_context(|| format!("cannot use {}", root.display()))?;
        claim(&root)?;
        let _in_use = lock::acquire(&root.join("locks/cache"), Mode::Shared, "the cache")?;
        claim(&root)?;
        Ok(Self { root, _in_use })
    }

    /// The cache folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Packages as they were fetched.
    pub fn downloads(&self) -> PathBuf {
        self.root.join("downloads")
    }

    /// Pristine kernel sources, one folder a version.
    pub fn sources(&self) -> PathBuf {
        self.root.join("sources")
    }

    /// Patched trees.
    pub fn trees(&self) -> PathBuf {
        self.root.join("trees")
    }

    /// Installed programs.
    pub fn tools(&self) -> PathBuf {
        self.root.join("tools")
    }

    /// Compiled C objects.
    pub fn ccache(&self) -> PathBuf {
        self.root.join("ccache")
    }

    /// Small facts that calls remember for later ones.
    pub fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    /// Path of the log file `name`, whose folder exists.
    pub fn log(&self, name: &str) -> Result<PathBuf> {
        let folder = self.root.join("logs");
        create_dir(&folder)?;
        Ok(folder.join(format!("{name}.log")))
    }

    /// Waits for and takes the exclusive lock `name`; `what` is how the line
    /// that announces the wait calls it.
    pub fn lock(&self, name: &str, what: &str) -> Result<Lock> {
        lock::acquire(&self.root.join("locks").join(name), Mode::Exclusive, what)
    }

    /// Like [`Cache::lock`], without waiting for another holder.
    pub fn try_lock(&self, name: &str) -> Result<Option<Lock>> {
        lock::attempt(&self.root.join("locks").join(name), Mode::Exclusive)
    }
}

/// Where the cache is or would be.
pub fn location() -> Result<PathBuf> {
    let path = locate(|name| env::var_os(name).filter(|value| !value.is_empty()))?;
    std::path::absolute(&path).with_context(|| format!("cannot resolve {}", path.display()))
}

fn locate(var: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf> {
    if let Some(path) = var(VARIABLE) {
        return Ok(path.into());
    }
    if let Some(path) = var("XDG_CACHE_HOME") {
        return Ok(Path::new(&path).join("sunrpc-rust"));
    }
    let home = var("HOME")
        .with_context(|| format!("neither HOME nor {VARIABLE} is set: set {VARIABLE}"))?;
    Ok(Path::new(&home).join(".cache/sunrpc-rust"))
}

/// Removes the cache, whatever state it is in, and nothing else; the number
/// of bytes is not counted since most files share their blocks.
pub fn distclean() -> Result<()> {
    let root = location()?;
    if !root.exists() {
        println!("{} is not there, nothing to remove", root.display());
        return Ok(());
    }
    let root = root.canonicalize().with_context(|| format!("cannot use {}", root.display()))?;
    claim(&root)?;
    let _alone = lock::acquire(&root.join("locks/cache"), Mode::Exclusive, "the cache")?;
    remove_all(&root)?;
    println!("removed {}", root.display());
    Ok(())
}

/// Removes the tag last, so that an interrupted removal can be taken up.
fn remove_all(root: &Path) -> Result<()> {
    for name in entries(root)?.iter().filter(|name| name.as_str() != TAG) {
        remove(&root.join(name))?;
    }
    remove(&root.join(TAG))?;
    fs::remove_dir(root).with_context(|| format!("cannot remove {}", root.display()))
}

/// Removes a file or a folder with all that is in it; does not follow links.
pub fn remove(path: &Path) -> Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(err) => Err(err),
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    };
    removed.with_context(|| format!("cannot remove {}", path.display()))
}

/// Creates a folder and those above it.
pub fn create_dir(path: &Path) -> Result<()> {
    fs::create_dir_all(path).with_context(|| format!("cannot create {}", path.display()))
}

/// Marks an empty folder as the cache; refuses one that holds anything else,
/// so that a mistyped variable never makes `distclean` dangerous.
fn claim(root: &Path) -> Result<()> {
    let tag = root.join(TAG);
    if tag.is_file() {
        let text = fs::read_to_string(&tag).unwrap_or_default();
        ensure!(text == TAG_TEXT, refusal(root));
        return Ok(());
    }
    let known = ["target", "locks"];
    if entries(root)?.iter().any(|name| !known.contains(&name.as_str())) {
        bail!(refusal(root));
    }
    fs::write(&tag, TAG_TEXT).with_context(|| format!("cannot write {}", tag.display()))
}

/// The kernel's make takes paths apart at these characters.
fn buildable(root: &Path) -> Result<()> {
    let text = root.to_string_lossy();
    ensure!(
        !text.contains(|c: char| c.is_whitespace() || ":%#$'\"\\".contains(c)),
        "kernels cannot be built below '{text}': set {VARIABLE} to a path without spaces, colons and quotes"
    );
    Ok(())
}

fn refusal(root: &Path) -> String {
    format!(
        "{} holds files that are not of this project: set {VARIABLE} to a folder of its own",
        root.display()
    )
}

fn entries(folder: &Path) -> Result<Vec<String>> {
    let read = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    read.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn located(pairs: &[(&str, &str)]) -> Option<PathBuf> {
        let pairs = pairs.to_vec();
        locate(|name| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.into())).ok()
    }

    #[test]
    fn the_variable_wins_then_xdg_then_home() {
        let all = [(VARIABLE, "/a"), ("XDG_CACHE_HOME", "/b"), ("HOME", "/c")];
        assert_eq!(located(&all), Some("/a".into()));
        assert_eq!(located(&all[1..]), Some("/b/sunrpc-rust".into()));
        assert_eq!(located(&all[2..]), Some("/c/.cache/sunrpc-rust".into()));
        assert_eq!(located(&[]), None);
    }

    #[test]
    fn a_folder_with_foreign_files_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("letter.txt"), "dear").unwrap();
        let err = Cache::open_at(folder.path()).unwrap_err();
        assert!(err.to_string().contains("not of this project"));
        assert_eq!(entries(folder.path()).unwrap(), ["letter.txt"]);
    }

    #[test]
    fn a_path_that_make_cannot_take_is_refused() {
        for name in ["a b", "a:b", "a'b"] {
            assert!(buildable(&Path::new("/tmp").join(name)).is_err(), "{name}");
        }
        assert!(buildable(Path::new("/home/user/.cache/sunrpc-rust_1.0+x")).is_ok());
    }

    #[test]
    fn a_new_folder_is_claimed_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("cache");
        fs::create_dir_all(root.join("target")).unwrap();
        let cache = Cache::open_at(&root).unwrap();
        create_dir(&cache.sources()).unwrap();
        drop(cache);
        remove_all(&root).unwrap();
        assert!(!root.exists());
        assert!(folder.path().exists());
    }
}
