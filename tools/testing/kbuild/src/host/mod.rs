// SPDX-License-Identifier: GPL-2.0

//! Set-up of the machine: packages, compilers, programs.
//!
//! Everything is looked for first; what is there is not touched.

pub mod packages;
pub mod programs;
pub mod rust;

use crate::cache::Cache;
use anyhow::{Context, Result};
use std::path::PathBuf;

/// The compilers of a kernel build.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// Major version of LLVM: the build is called with `LLVM=-N`.
    pub llvm: u32,
    /// What a build with Rust needs besides.
    pub rust: Option<Rust>,
}

/// The Rust part of a [`Toolchain`].
#[derive(Clone, Debug)]
pub struct Rust {
    /// Path of rustc.
    pub rustc: PathBuf,
    /// Path of bindgen.
    pub bindgen: PathBuf,
    /// Version of rustc, major and minor.
    pub release: (u32, u32),
}

/// Programs for guests.
#[derive(Clone, Debug)]
pub struct GuestTools {
    /// Folder with `vng` and `virtme-run`; has to be on the PATH of `vng`.
    pub virtme_bin: PathBuf,
    /// Path of fsx.
    pub fsx: PathBuf,
}

/// What builds a kernel without Rust. No part of Rust is looked for, but if
/// it is there the matching clang is taken, so that all kernels that are
/// compared come from one compiler.
pub fn c_toolchain(cache: &Cache) -> Result<Toolchain> {
    packages::require(cache, packages::BUILD)?;
    let wanted = rust::version().map(|version| version.llvm);
    let llvm = rust::require_clang(cache, wanted)?;
    Ok(Toolchain { llvm, rust: None })
}

/// What builds a kernel with Rust.
pub fn rust_toolchain(cache: &Cache) -> Result<Toolchain> {
    packages::require(cache, packages::BUILD)?;
    let version = rust::require(cache)?;
    let llvm = rust::require_clang(cache, Some(version.llvm))?;
    let bindgen = programs::bindgen(cache)?;
    let rust = Rust { rustc: rust::RUSTC.into(), bindgen, release: version.release };
    Ok(Toolchain { llvm, rust: Some(rust) })
}

/// What boots guests and runs in them.
pub fn guest_tools(cache: &Cache) -> Result<GuestTools> {
    packages::require(cache, packages::GUEST)?;
    Ok(GuestTools { virtme_bin: programs::virtme_ng(cache)?, fsx: programs::fsx(cache)? })
}

/// What the crafted client needs: verbs, cmake for their stub library, and
/// libclang, which comes with the kernel's compiler, for their bindings.
pub fn client_tools(cache: &Cache) -> Result<()> {
    packages::require(cache, packages::CLIENT)?;
    let wanted = rust::version().map(|version| version.llvm);
    rust::require_clang(cache, wanted).map(drop)
}

/// What guests with a Kerberos realm need besides.
pub fn kerberos_tools(cache: &Cache) -> Result<()> {
    packages::require(cache, packages::KERBEROS)
}

/// What the plots of the benchmark need: a font.
pub fn plot_tools(cache: &Cache) -> Result<()> {
    packages::require(cache, packages::PLOTS)
}

/// What the static gate needs besides the Rust toolchain.
pub fn gate_tools(cache: &Cache) -> Result<()> {
    client_tools(cache)?;
    packages::require(cache, packages::GATE)
}

/// Everything at once: packages in one go, then the programs while `beside`
/// runs, which is typically the download of the kernel source.
pub fn everything<T: Send>(
    cache: &Cache,
    beside: impl FnOnce() -> Result<T> + Send,
) -> Result<(Toolchain, GuestTools, T)> {
    let tests = [packages::CLIENT, packages::KERBEROS, packages::PLOTS, packages::GATE].concat();
    let all = [packages::BUILD, packages::GUEST, &tests].concat();
    packages::require(cache, &all)?;
    std::thread::scope(|scope| {
        let beside = scope.spawn(beside);
        let toolchain = rust_toolchain(cache)?;
        let guest = guest_tools(cache)?;
        let beside = beside.join().ok().context("the download ended unexpectedly")??;
        Ok((toolchain, guest, beside))
    })
}
