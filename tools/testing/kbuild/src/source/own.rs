// SPDX-License-Identifier: GPL-2.0

//! A copy of the user's own tree, which is only read.

use super::{require_space, Source, Version};
use crate::cache::{self, Cache};
use crate::exec;
use anyhow::{ensure, Context, Result};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

/// MiB that a copy may take.
const SPACE: u64 = 2200;

/// What a build leaves in a tree, and the history, are not source.
const EXCLUDED: [&str; 24] = [
    "/.git",
    "*.o",
    "*.a",
    "*.ko",
    "*.mod",
    "*.mod.c",
    ".*.cmd",
    "*.rmeta",
    "*.rlib",
    "/rust/helpers/*.bc",
    ".tmp_*",
    "modules.order",
    "modules.builtin*",
    "Module.symvers",
    "/.config",
    "/.config.old",
    "/vmlinux*",
    "/System.map",
    "/build*",
    "/include/config",
    "/include/generated",
    "/arch/*/include/generated",
    "/rust/*/*_generated.rs",
    "/rust/*_generated.*",
];

/// Brings the copy of `kdir` up to date.
pub fn copy(cache: &Cache, kdir: &Path) -> Result<Source> {
    let kdir =
        kdir.canonicalize().with_context(|| format!("KDIR={} cannot be used", kdir.display()))?;
    let version = Version::of_tree(&kdir)?;
    version.require_base(&format!("KDIR={}", kdir.display()))?;
    ensure!(!kdir.starts_with(cache.root()), "KDIR= names a folder of the cache itself");
    let key = key(&kdir);
    let dir = cache.sources().join(&key);
    let _lock = cache.lock(&format!("source-{key}"), "the copy of KDIR")?;
    if !dir.exists() {
        println!("copying {}", kdir.display());
        require_space(cache.root(), SPACE, "the copy of KDIR")?;
    }
    cache::create_dir(&dir)?;
    let mut rsync = exec::clean("rsync");
    rsync.args(["--archive", "--delete", "--delete-excluded"]);
    rsync.args(EXCLUDED.map(|pattern| format!("--exclude={pattern}")));
    rsync.arg(format!("{}/", kdir.display())).arg(format!("{}/", dir.display()));
    exec::logged("copying KDIR", &mut rsync, &cache.log("source")?)?;
    Ok(Source { dir, version, key, follows: true })
}

/// Distinct for distinct paths; the name helps whoever looks into the cache.
fn key(kdir: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    kdir.hash(&mut hasher);
    let name = kdir.file_name().unwrap_or_default().to_string_lossy();
    let name: String =
        name.chars().filter(|c| c.is_ascii_alphanumeric() || "._-".contains(*c)).collect();
    format!("kdir-{name}-{:08x}", hasher.finish() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_tell_trees_apart() {
        assert_ne!(key(Path::new("/a/linux")), key(Path::new("/b/linux")));
        assert!(key(Path::new("/a/li nux")).starts_with("kdir-linux-"));
    }
}
