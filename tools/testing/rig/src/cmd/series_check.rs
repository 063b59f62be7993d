// SPDX-License-Identifier: GPL-2.0

//! `rig series-check`

use crate::options::Sources;
use anyhow::Result;
use kbuild::cache::Cache;
use kbuild::tally::Tally;
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    sources: Sources,
    /// Only commits whose patch has this in its name
    #[arg(long, env = "ONLY", hide_env_values = true, default_value = "")]
    only: String,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let cache = Cache::open()?;
        let mut tally = Tally::new();
        kbuild::series_check::run(&cache, &self.sources.origins()?, &self.only, &mut tally)?;
        let passed = tally.print_closing();
        Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
