// SPDX-License-Identifier: GPL-2.0

//! Builds with the NFS server, its transports and RDMA as modules: with the
//! inline C helpers inlined into Rust, with these as functions, and with Rust
//! in the kernel but not in SUNRPC.

use crate::cache::Cache;
use crate::config::{self, Symbols};
use crate::flavour::Flavour;
use crate::kernel;
use crate::make::Make;
use crate::progress::Meter;
use crate::seed;
use crate::tally::Tally;
use crate::tree::{self, Origins};
use anyhow::{ensure, Result};

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

/// Builds all, one after the other in one build folder.
pub fn run(cache: &Cache, origins: &Origins, tally: &mut Tally) -> Result<()> {
    let flavour = Flavour::ours();
    let toolchain = kernel::set_up(cache, origins, true)?;
    let tree = tree::prepare(cache, origins, &flavour.tree)?;
    let make = Make::new(cache, tree.dir.clone(), "modules", toolchain)?;
    seed::seed(cache, &tree, &make)?;
    let inputs = kernel::inputs(&make.toolchain, &tree)?;
    for (name, extra) in VARIANTS {
        println!("{name}");
        let mut fragments = config::fragments(&origins.root, &flavour);
        let configs = origins.root.join("tools/testing/configs");
        let names = ["modules"].into_iter().chain(extra);
        fragments.extend(names.map(|name| configs.join(format!("{name}.config"))));
        let built =
            config::ensure(&make, &fragments, &inputs, Symbols::All).and_then(|()| build(&make));
        tally.result(name, built);
    }
    Ok(())
}

fn build(make: &Make) -> Result<()> {
    kernel::make_targets(make, &["bzImage", "modules"], &[], Meter::open("building modules"))?;
    for module in MODULES {
        ensure!(make.build_dir.join(module).is_file(), "{module} was not built");
    }
    Ok(())
}
