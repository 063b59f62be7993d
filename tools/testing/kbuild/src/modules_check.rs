// SPDX-License-Identifier: GPL-2.0

//! Builds with the NFS server, its transports and RDMA as modules: with the
//! inline C helpers inlined into Rust, with these as functions, and with Rust
//! in the kernel but not in SUNRPC. Each is handed on to be booted.

use crate::cache::Cache;
use crate::config::{self, Symbols};
use crate::flavour::Flavour;
use crate::kernel;
use crate::make::Make;
use crate::progress::Meter;
use crate::seed;
use crate::tally::{Tally, Try};
use crate::tree::{self, Origins};
use anyhow::{ensure, Result};
use std::path::PathBuf;

/// Modules that have to come out, from the root of the build folder.
const MODULES: [&str; 5] = [
    "drivers/infiniband/core/ib_core.ko",
    "fs/nfs/nfs.ko",
    "fs/nfsd/nfsd.ko",
    "net/sunrpc/sunrpc.ko",
    "net/sunrpc/xprtrdma/rpcrdma.ko",
];

/// What is built, and the fragment on top of that for modules.
const VARIANTS: [(&str, Option<&str>); 3] = [
    ("modules with inline helpers", None),
    ("modules with helpers as functions", Some("no-inline")),
    ("modules in C beside Rust", Some("no-sunrpc-rust")),
];

/// A kernel and its modules.
#[derive(Clone, Debug)]
pub struct Modular {
    /// The image to boot.
    pub image: PathBuf,
    /// The modules, in a folder that has the name of the kernel's release.
    pub folder: PathBuf,
}

/// Builds all whose name contains `only`, one after the other in one build
/// folder, and tries each.
pub fn run(
    cache: &Cache,
    origins: &Origins,
    only: &str,
    attempt: Try<'_, Modular>,
    tally: &mut Tally,
) -> Result<()> {
    let variants = || VARIANTS.iter().filter(|(name, _)| name.contains(only));
    ensure!(variants().next().is_some(), "no build has such a name: {only}");
    let flavour = Flavour::ours();
    let toolchain = kernel::set_up(cache, origins, true)?;
    let tree = tree::prepare(cache, origins, &flavour.tree)?;
    let make = Make::new(cache, tree.dir.clone(), "modules", toolchain)?;
    seed::seed(cache, &tree, &make)?;
    let inputs = kernel::inputs(&make.toolchain, &tree)?;
    for (name, extra) in variants() {
        println!("{name}");
        let mut fragments = config::fragments(&origins.root, &flavour);
        let configs = origins.root.join("tools/testing/configs");
        let names = ["modules"].into_iter().chain(*extra);
        fragments.extend(names.map(|name| configs.join(format!("{name}.config"))));
        let configured = config::ensure(&make, &fragments, &inputs, Symbols::All);
        let built = configured.and_then(|()| build(&make, "building modules"));
        tally.built(name, built, attempt)?;
    }
    Ok(())
}

/// Builds and installs the modules of a configured build folder, and the
/// kernel for them; `title` stands before the progress.
pub(crate) fn build(make: &Make, title: &str) -> Result<Modular> {
    kernel::make_targets(make, &["bzImage", "modules"], &[], Meter::open(title))?;
    for module in MODULES {
        ensure!(make.build_dir.join(module).is_file(), "{module} was not built");
    }
    let installed = make.build_dir.join("installed");
    let place = format!("INSTALL_MOD_PATH={}", installed.display());
    let variables = [place, "INSTALL_MOD_STRIP=1".to_owned()];
    make.quietly("installing the modules", &["modules_install"], &variables)?;
    Ok(Modular { image: make.build_dir.join(kernel::IMAGE), folder: installed.join("lib/modules") })
}
