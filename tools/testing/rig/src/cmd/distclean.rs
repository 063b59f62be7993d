// SPDX-License-Identifier: GPL-2.0

//! `rig distclean`

use anyhow::Result;
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Args {}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        kbuild::cache::distclean()?;
        Ok(ExitCode::SUCCESS)
    }
}
