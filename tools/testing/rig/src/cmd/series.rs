// SPDX-License-Identifier: GPL-2.0

//! `rig series`

use crate::options::Sources;
use anyhow::Result;
use kbuild::cache::Cache;
use kbuild::flavour::Flavour;
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
        kbuild::host::packages::require(&cache, kbuild::host::packages::BUILD)?;
        let (folder, count) = kbuild::format_patch::write(&cache, &origins)?;
        let tree = kbuild::tree::prepare(&cache, &origins, &Flavour::ours().tree)?;
        kbuild::recipients::write(&tree.dir, &folder)?;
        println!("{count} patches and a cover letter: {}", folder.display());
        Ok(ExitCode::SUCCESS)
    }
}
