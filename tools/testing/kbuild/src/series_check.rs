// SPDX-License-Identifier: GPL-2.0

//! Builds every commit of the series, with Rust on and off, all in the image
//! and as modules. Each build is handed on to be booted.

use crate::cache::Cache;
use crate::config::{self, Symbols};
use crate::flavour::Flavour;
use crate::host::Toolchain;
use crate::kernel;
use crate::make::Make;
use crate::modules_check::{self, Modular};
use crate::progress::Meter;
use crate::replay;
use crate::seed;
use crate::series::Step;
use crate::source;
use crate::tally::{Tally, Try};
use crate::tree::{Origins, Tree};
use anyhow::{ensure, Result};
use std::path::PathBuf;

/// The tree that takes on one state after the other.
const TREE: &str = "series-check";

/// How a commit is built.
struct Way {
    name: &'static str,
    folder: &'static str,
    rust: bool,
    modules: bool,
}

const WAYS: [Way; 4] = [
    Way { name: "with Rust on", folder: "check-rust", rust: true, modules: false },
    Way { name: "with Rust off", folder: "check-c", rust: false, modules: false },
    Way { name: "with Rust on, modules", folder: "check-rust-modules", rust: true, modules: true },
    Way { name: "with Rust off, modules", folder: "check-c-modules", rust: false, modules: true },
];

/// What was built.
#[derive(Clone, Debug)]
pub enum Product {
    /// A kernel that has all in its image.
    Image(PathBuf),
    /// A kernel and its modules.
    Modular(Modular),
}

/// Builds the commits whose patch has `only` in its name, in order; each build
/// starts from the one before.
pub fn run(
    cache: &Cache,
    origins: &Origins,
    only: &str,
    attempt: Try<'_, Product>,
    tally: &mut Tally,
) -> Result<()> {
    let series = origins.series(&Flavour::ours().tree)?;
    let wanted = |step: &Step| step.name.contains(only);
    ensure!(series.steps.iter().any(wanted), "patches/series names no patch {only:?}");
    let toolchain = kernel::set_up(cache, origins, true)?;
    let source = source::get(cache, origins.kdir.as_deref())?;
    let replay = replay::replay(&source.dir, &series)?;
    let mut tree = Tree::open(cache, &source, TREE)?;
    let states = series.steps.iter().zip(replay.states.into_iter().skip(1));
    for (step, state) in states.filter(|(step, _)| wanted(step)) {
        tree = tree.with(state)?;
        for way in &WAYS {
            let name = format!("{} {}", step.name, way.name);
            println!("{name}");
            tally.built(&name, build(cache, origins, &tree, &toolchain, way), attempt)?;
        }
    }
    Ok(())
}

fn build(
    cache: &Cache,
    origins: &Origins,
    tree: &Tree,
    toolchain: &Toolchain,
    way: &Way,
) -> Result<Product> {
    let flavour: Flavour = if way.rust { "ours" } else { "ours-c" }.parse()?;
    let mut toolchain = toolchain.clone();
    toolchain.rust = toolchain.rust.filter(|_| way.rust);
    let make = Make::new(cache, tree.dir.clone(), way.folder, toolchain)?;
    seed::seed(cache, tree, &make)?;
    let mut fragments = config::fragments(&origins.root, &flavour);
    if way.modules {
        fragments.push(origins.root.join("tools/testing/configs/modules.config"));
    }
    let inputs = kernel::inputs(&make.toolchain, tree)?;
    config::ensure(&make, &fragments, &inputs, Symbols::Known)?;
    let product = make_product(&make, way)?;
    seed::note(tree, &make.build_dir)?;
    Ok(product)
}

fn make_product(make: &Make, way: &Way) -> Result<Product> {
    if way.modules {
        return modules_check::build(make, way.folder).map(Product::Modular);
    }
    kernel::make_targets(make, &["bzImage"], &[], Meter::open(way.folder))?;
    Ok(Product::Image(make.build_dir.join(kernel::IMAGE)))
}
