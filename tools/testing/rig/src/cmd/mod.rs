// SPDX-License-Identifier: GPL-2.0

//! The subcommands, one file each.

mod distclean;
mod kernel;
mod setup;
mod tree;

use anyhow::Result;
use clap::Subcommand;
use std::process::ExitCode;

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Install what is missing and fetch the kernel source
    Setup(setup::Args),
    /// Bring the patched tree up to date
    Tree(tree::Args),
    /// Build a kernel
    Kernel(kernel::Args),
    /// Remove the cache folder with everything downloaded or built
    Distclean(distclean::Args),
}

impl Command {
    /// Does it; the exit code is 0 unless the subcommand says otherwise.
    pub fn run(self) -> Result<ExitCode> {
        match self {
            Command::Setup(args) => args.run(),
            Command::Tree(args) => args.run(),
            Command::Kernel(args) => args.run(),
            Command::Distclean(args) => args.run(),
        }
    }
}
