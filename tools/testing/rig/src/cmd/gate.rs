// SPDX-License-Identifier: GPL-2.0

//! `rig gate`

use crate::options::Sources;
use anyhow::Result;
use kbuild::cache::Cache;
use kbuild::tally::Tally;
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    sources: Sources,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let cache = Cache::open()?;
        let mut tally = Tally::new();
        kbuild::gate::run(&cache, &self.sources.origins()?, &mut tally)?;
        let passed = tally.print_closing();
        Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
