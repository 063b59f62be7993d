// SPDX-License-Identifier: GPL-2.0

//! `rig setup`

use crate::options::Sources;
use anyhow::Result;
use kbuild::cache::Cache;
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    sources: Sources,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let cache = Cache::open()?;
        let origins = self.sources.origins()?;
        let source = || kbuild::source::get(&cache, origins.kdir.as_deref());
        let (toolchain, _, source) = kbuild::host::everything(&cache, source)?;
        println!(
            "ready: LLVM {}, Linux {}, cache {}",
            toolchain.llvm,
            source.version,
            cache.root().display()
        );
        Ok(ExitCode::SUCCESS)
    }
}
