// SPDX-License-Identifier: GPL-2.0

//! `rig kunit`: the unit tests inside of the kernel.

use crate::lab::{GuestOptions, Lab};
use crate::options::Sources;
use anyhow::Result;
use kbuild::flavour::Flavour;
use kbuild::tally::Tally;
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    guest: GuestOptions,
    /// Run only suites whose name matches this glob
    #[arg(long)]
    only: Option<String>,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let lab = Lab::open(self.sources, self.guest)?;
        let guest = lab.guest(&Flavour::ours())?;
        let mut tally = Tally::new();
        vm::kunit::run(&lab.tools, guest, self.only.as_deref(), &mut tally)?;
        let passed = tally.print_closing();
        Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
