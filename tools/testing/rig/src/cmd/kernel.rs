// SPDX-License-Identifier: GPL-2.0

//! `rig kernel`

use crate::options::Sources;
use anyhow::Result;
use kbuild::cache::Cache;
use kbuild::flavour::Flavour;
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    sources: Sources,
    /// Which kernel: ours, ours-c, plain or rfc-c
    #[arg(long, env = "FLAVOUR", hide_env_values = true, default_value = "ours")]
    flavour: Flavour,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let cache = Cache::open()?;
        let built = kbuild::kernel::build(&cache, &self.sources.origins()?, &self.flavour)?;
        println!("{}", built.image.display());
        Ok(ExitCode::SUCCESS)
    }
}
