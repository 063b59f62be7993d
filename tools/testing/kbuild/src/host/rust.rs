// SPDX-License-Identifier: GPL-2.0

//! The matched pair of rustc and clang.
//!
//! `CONFIG_RUST_INLINE_HELPERS` links LLVM bitcode of both compilers, so they
//! have to be built on the same LLVM. Distributions move both with security
//! updates; the version is therefore asked for and not written down.

use super::packages;
use crate::cache::Cache;
use crate::exec;
use anyhow::{bail, ensure, Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The kernel's minimum.
pub const MINIMUM: (u32, u32) = (1, 85);

/// The distribution's compiler; named in full so that no shim on the PATH
/// takes its place.
pub const RUSTC: &str = "/usr/bin/rustc";

/// Sets of packages that give a compiler with its sources, best first.
const SETS: [[&str; 4]; 2] = [
    ["rustc-web", "rust-web-src", "rustfmt-web", "rust-web-clippy"],
    ["rustc", "rust-src", "rustfmt", "rust-clippy"],
];

/// What `rustc -vV` tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Release, major and minor.
    pub release: (u32, u32),
    /// Major version of LLVM.
    pub llvm: u32,
}

/// Makes sure of the compiler with its sources, rustfmt and clippy.
pub fn require(cache: &Cache) -> Result<Version> {
    if usable().is_none() {
        install(cache)?;
    }
    usable().with_context(|| {
        let (major, minor) = MINIMUM;
        format!("{RUSTC} {major}.{minor} or later with its library sources, rustfmt and clippy is missing: install them")
    })
}

/// The version of the installed compiler, if all of it is there.
pub fn usable() -> Option<Version> {
    let version = version()?;
    let programs =
        ["rustfmt", "clippy-driver", "rustdoc"].map(|name| Path::new("/usr/bin").join(name));
    let complete = programs.iter().all(|path| path.is_file()) && has_sources();
    (complete && version.release >= MINIMUM).then_some(version)
}

/// The version of the installed compiler.
pub fn version() -> Option<Version> {
    parse(&exec::output("rustc", Command::new(RUSTC).arg("-vV")).ok()?)
}

fn has_sources() -> bool {
    let Ok(sysroot) = exec::output("rustc", Command::new(RUSTC).args(["--print", "sysroot"]))
    else {
        return false;
    };
    let library = PathBuf::from(sysroot.trim()).join("lib/rustlib/src/rust/library");
    library.join("core/src/lib.rs").is_file()
}

fn install(cache: &Cache) -> Result<()> {
    let set = SETS.iter().find(|set| offered(set));
    let Some(set) = set else {
        let (major, minor) = MINIMUM;
        bail!("no package of rustc {major}.{minor} or later is offered here: install one as {RUSTC}, with its library sources, rustfmt, clippy and the clang of the same LLVM");
    };
    let names = set.map(String::from);
    let _lock = cache.lock("packages", "the package installation")?;
    packages::install(cache, &names)
}

fn offered(set: &[&str; 4]) -> bool {
    let version = packages::candidate(set[0]);
    version.is_some_and(|version| release(&version).is_some_and(|found| found >= MINIMUM))
}

fn parse(text: &str) -> Option<Version> {
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    let release = release(field("release: ")?)?;
    let llvm = field("LLVM version: ")?.split('.').next()?.parse().ok()?;
    Some(Version { release, llvm })
}

/// `1.85.0+dfsg` is (1, 85).
fn release(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// Makes sure of clang, lld and the LLVM tools of version `llvm`, or, when no
/// version is asked for, of the newest; gives back the version.
pub fn require_clang(cache: &Cache, llvm: Option<u32>) -> Result<u32> {
    if let Some(version) = llvm.filter(|version| has_clang(*version)).or_else(|| newest(llvm)) {
        return Ok(version);
    }
    let offered = || packages::numbered("clang-").first().copied();
    let version =
        llvm.or_else(offered).context("no clang is offered here: install clang, lld and llvm")?;
    let names = ["clang-", "lld-", "llvm-"].map(|name| format!("{name}{version}"));
    let mut names = names.to_vec();
    names.push(format!("libclang-{version}-dev"));
    let _lock = cache.lock("packages", "the package installation")?;
    packages::install(cache, &names)?;
    ensure!(has_clang(version), "clang-{version} is installed and still not on the PATH");
    Ok(version)
}

/// The newest complete clang, when none in particular is asked for.
fn newest(asked: Option<u32>) -> Option<u32> {
    if asked.is_some() {
        return None;
    }
    (15..40).rev().find(|version| has_clang(*version))
}

fn has_clang(version: u32) -> bool {
    let programs = ["clang", "ld.lld", "llvm-ar", "llvm-objcopy"];
    programs.iter().all(|name| exec::on_path(&format!("{name}-{version}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read() {
        let text = "rustc 1.96.0\nbinary: rustc\nrelease: 1.96.0\nLLVM version: 22.1.8\n";
        assert_eq!(parse(text), Some(Version { release: (1, 96), llvm: 22 }));
        assert_eq!(parse("release: 1.96.0\n"), None);
        assert_eq!(release("1.85.0+dfsg3-1"), Some((1, 85)));
        assert!(release("1.63.0+dfsg1-2").unwrap() < MINIMUM);
    }
}
