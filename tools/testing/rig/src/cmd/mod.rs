// SPDX-License-Identifier: GPL-2.0

//! The subcommands, one file each.

mod distclean;

use anyhow::Result;
use clap::Subcommand;
use std::process::ExitCode;

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Remove the cache folder with everything downloaded or built
    Distclean(distclean::Args),
}

impl Command {
    /// Does it; the exit code is 0 unless the subcommand says otherwise.
    pub fn run(self) -> Result<ExitCode> {
        match self {
            Command::Distclean(args) => args.run(),
        }
    }
}
