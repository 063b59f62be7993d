// SPDX-License-Identifier: GPL-2.0

//! Builds kernels.

use crate::cache::{self, Cache};
use crate::config::{self, Symbols};
use crate::flavour::Flavour;
use crate::host::{self, Toolchain};
use crate::make::{Make, Warning};
use crate::progress::{clock, Meter};
use crate::replay;
use crate::seed::{self, RUNNING};
use crate::source;
use crate::tree::{self, Origins, Tree};
use anyhow::{Context, Result};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Instant;
use walkdir::WalkDir;

/// Objects of a full build, before one was counted.
const OBJECTS: usize = 1900;

/// MiB that a full and an incremental build take.
const SPACE: (u64, u64) = (2500, 300);

/// The image, from the root of the build folder.
pub const IMAGE: &str = "arch/x86/boot/bzImage";

/// What the image of a build folder was made of.
const STAMP: &str = ".built";

/// A built kernel.
#[derive(Clone, Debug)]
pub struct Built {
    /// The image to boot.
    pub image: PathBuf,
    /// The build folder, with `vmlinux` and `.config`.
    pub build_dir: PathBuf,
    /// The tree it was built from.
    pub src_tree: PathBuf,
}

impl Built {
    fn in_tree(tree: &Path, flavour: &Flavour) -> Self {
        let build_dir = tree.join(format!("build-{flavour}"));
        Self { image: build_dir.join(IMAGE), build_dir, src_tree: tree.to_owned() }
    }
}

/// Builds `flavour`, or what of it is out of date, setting up the machine
/// and getting the source first if need be.
pub fn build(cache: &Cache, origins: &Origins, flavour: &Flavour) -> Result<Built> {
    let (make, tree) = prepare(cache, origins, flavour)?;
    let built = Built::in_tree(&tree.dir, flavour);
    run(cache, &make, flavour, &tree, &built)?;
    Ok(built)
}

/// The kernel `flavour` as an earlier call built it, perhaps from other
/// patches; `None` if there is none.
pub fn existing(cache: &Cache, origins: &Origins, flavour: &Flavour) -> Option<Built> {
    if origins.kdir.is_some() {
        return None;
    }
    let source = source::unpacked(cache)?;
    let tree = cache.trees().join(source.key).join(flavour.tree.to_string());
    let built = Built::in_tree(&tree, flavour);
    let usable = built.image.is_file() && !built.build_dir.join(RUNNING).exists();
    usable.then_some(built)
}

/// A configured build folder in an up-to-date tree.
pub fn prepare(cache: &Cache, origins: &Origins, flavour: &Flavour) -> Result<(Make, Tree)> {
    origins.series(&flavour.tree)?;
    let toolchain = set_up(cache, origins, flavour.rust)?;
    let tree = tree::prepare(cache, origins, &flavour.tree)?;
    let make = Make::new(cache, tree.dir.clone(), &flavour.to_string(), toolchain)?;
    seed::seed(cache, &tree, &make)?;
    let fragments = config::fragments(&origins.root, flavour);
    config::ensure(&make, &fragments, &inputs(&make.toolchain, &tree)?, Symbols::All)?;
    Ok((make, tree))
}

/// Installs programs while the source is fetched: one waits for the
/// processor, the other for the network.
pub fn set_up(cache: &Cache, origins: &Origins, rust: bool) -> Result<Toolchain> {
    host::packages::require(cache, host::packages::BUILD)?;
    std::thread::scope(|scope| {
        let source = scope.spawn(|| source::get(cache, origins.kdir.as_deref()));
        let toolchain = match rust {
            true => host::rust_toolchain(cache),
            false => host::c_toolchain(cache),
        };
        source.join().ok().context("fetching the source ended unexpectedly")??;
        toolchain
    })
}

/// What the configuration depends on besides the fragments.
pub fn inputs(toolchain: &Toolchain, tree: &Tree) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    let is_kconfig = |path: &&PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("Kconfig"))
    };
    for path in tree.changed.iter().filter(is_kconfig) {
        replay::read(&tree.dir.join(path))?.hash(&mut hasher);
    }
    let rust = toolchain.rust.as_ref().map(|rust| rust.release);
    let kconfig = hasher.finish();
    Ok(format!(
        "source {} llvm {} rustc {rust:?} kconfig {kconfig:x}",
        tree.source.key, toolchain.llvm
    ))
}

fn run(cache: &Cache, make: &Make, flavour: &Flavour, tree: &Tree, built: &Built) -> Result<()> {
    let (full, asked) = (!built.image.is_file(), asked(make, tree)?);
    let stamp = make.build_dir.join(STAMP);
    if !full && asked.is_some() && replay::read(&stamp)? == asked {
        println!("kernel '{flavour}' is up to date");
        return Ok(());
    }
    cache::remove(&stamp)?;
    let started = Instant::now();
    let warnings = make_targets(make, &["bzImage"], &[], meter(cache, make, flavour, full))?;
    seed::note(tree, &make.build_dir)?;
    if full {
        remember(cache, flavour, count(&make.build_dir))?;
    }
    if let Some(asked) = &asked {
        tree::replace(&stamp, asked, None)?;
    }
    println!("kernel '{flavour}' is up to date after {}", clock(started.elapsed()));
    let ours = |warning: &&Warning| tree.changed.iter().any(|path| warning.is_about(path));
    for warning in warnings.iter().filter(ours) {
        println!("note: {warning}");
    }
    Ok(())
}

/// All that an image is made of, where that can be told without make, which
/// takes its time to find that there is nothing to do.
fn asked(make: &Make, tree: &Tree) -> Result<Option<Vec<u8>>> {
    let Some(digest) = tree.digest else { return Ok(None) };
    let config = replay::read(&make.build_dir.join(".config"))?;
    let head = format!("{digest:x} {:?} {}\n", make.toolchain, make.local_version);
    Ok(config.map(|config| [head.into_bytes(), config].concat()))
}

/// Makes `targets` in a build folder that an earlier call may have left in
/// the middle of a build; gives back the warnings.
pub fn make_targets(
    make: &Make,
    targets: &[&str],
    variables: &[String],
    meter: Meter,
) -> Result<Vec<Warning>> {
    let full = !make.build_dir.join("vmlinux.o").is_file();
    let space = if full { SPACE.0 } else { SPACE.1 };
    source::require_space(&make.build_dir, space, "a kernel build")?;
    recover(&make.build_dir)?;
    let marker = make.build_dir.join(RUNNING);
    fs::write(&marker, "").with_context(|| format!("cannot write {}", marker.display()))?;
    let warnings = make.with_progress(targets, variables, meter)?;
    cache::remove(&marker)?;
    Ok(warnings)
}

fn meter(cache: &Cache, make: &Make, flavour: &Flavour, full: bool) -> Meter {
    let title = format!("building kernel '{flavour}'");
    if !full {
        return Meter { title, done: 0, expected: None };
    }
    let remembered = fs::read_to_string(expected_file(cache, flavour)).ok();
    let expected = remembered.and_then(|text| text.trim().parse().ok()).unwrap_or(OBJECTS);
    Meter { title, done: count(&make.build_dir), expected: Some(expected) }
}

fn remember(cache: &Cache, flavour: &Flavour, objects: usize) -> Result<()> {
    tree::replace(&expected_file(cache, flavour), objects.to_string().as_bytes(), None)
}

fn expected_file(cache: &Cache, flavour: &Flavour) -> PathBuf {
    cache.state().join(format!("objects-{flavour}"))
}

fn count(build_dir: &Path) -> usize {
    files(build_dir).filter(|path| path.extension().is_some_and(|ext| ext == "o")).count()
}

fn files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = WalkDir::new(folder).into_iter().flatten();
    entries.filter(|entry| entry.file_type().is_file()).map(|entry| entry.into_path())
}

/// After an interrupted build, removes files that were created and not
/// written; make takes care of the rest.
fn recover(build_dir: &Path) -> Result<()> {
    if !build_dir.join(RUNNING).exists() {
        return Ok(());
    }
    let written = ["o", "a", "cmd", "d", "rmeta", "rlib", "so", "bc"];
    let suspect = |path: &PathBuf| {
        let extension = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        let empty = fs::metadata(path).is_ok_and(|meta| meta.len() == 0);
        empty && written.contains(&extension.as_str())
    };
    files(build_dir).filter(suspect).try_for_each(|path| cache::remove(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_interrupted_build_is_cleaned() {
        let folder = tempfile::tempdir().unwrap();
        let (empty, full) = (folder.path().join("a.o"), folder.path().join("b.o"));
        fs::write(&empty, "").unwrap();
        fs::write(&full, "x").unwrap();
        recover(folder.path()).unwrap();
        assert!(empty.exists());
        fs::write(folder.path().join(RUNNING), "").unwrap();
        recover(folder.path()).unwrap();
        assert!(!empty.exists() && full.exists());
        assert_eq!(count(folder.path()), 1);
    }
}
