// SPDX-License-Identifier: GPL-2.0

//! `rig tree`

use crate::options::Sources;
use anyhow::Result;
use kbuild::cache::Cache;
use kbuild::flavour::Flavour;
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    sources: Sources,
    /// Which kernel the tree is for
    #[arg(long, env = "FLAVOUR", hide_env_values = true, default_value = "ours")]
    flavour: Flavour,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let cache = Cache::open()?;
        let origins = self.sources.origins()?;
        kbuild::host::packages::require(&cache, kbuild::host::packages::BUILD)?;
        let tree = kbuild::tree::prepare(&cache, &origins, &self.flavour.tree)?;
        println!(
            "tree '{}', Linux {}: {}",
            self.flavour.tree,
            tree.source.version,
            tree.dir.display()
        );
        Ok(ExitCode::SUCCESS)
    }
}
