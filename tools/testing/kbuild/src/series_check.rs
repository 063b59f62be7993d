// SPDX-License-Identifier: GPL-2.0

//! Builds every commit of the series, with Rust on and off.

use crate::cache::Cache;
use crate::config::{self, Symbols};
use crate::flavour::Flavour;
use crate::host::Toolchain;
use crate::kernel;
use crate::make::Make;
use crate::progress::Meter;
use crate::replay;
use crate::seed;
use crate::series::Step;
use crate::source;
use crate::tally::Tally;
use crate::tree::{Origins, Tree};
use anyhow::{ensure, Result};

/// The tree that takes on one state after the other.
const TREE: &str = "series-check";

/// Builds the commits whose patch has `only` in its name, in order; each build
/// starts from the one before.
pub fn run(cache: &Cache, origins: &Origins, only: &str, tally: &mut Tally) -> Result<()> {
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
        for rust in [true, false] {
            let name = format!("{} with Rust {}", step.name, if rust { "on" } else { "off" });
            println!("{name}");
            tally.result(&name, build(cache, origins, &tree, &toolchain, rust));
        }
    }
    Ok(())
}

fn build(
    cache: &Cache,
    origins: &Origins,
    tree: &Tree,
    toolchain: &Toolchain,
    rust: bool,
) -> Result<()> {
    let name = if rust { "check-rust" } else { "check-c" };
    let flavour: Flavour = if rust { "ours" } else { "ours-c" }.parse()?;
    let mut toolchain = toolchain.clone();
    toolchain.rust = toolchain.rust.filter(|_| rust);
    let make = Make::new(cache, tree.dir.clone(), name, toolchain)?;
    seed::seed(cache, tree, &make)?;
    let fragments = config::fragments(&origins.root, &flavour);
    let inputs = kernel::inputs(&make.toolchain, tree)?;
    config::ensure(&make, &fragments, &inputs, Symbols::Known)?;
    kernel::make_targets(&make, &["bzImage"], &[], Meter::open(name))?;
    seed::note(tree, &make.build_dir)
}
