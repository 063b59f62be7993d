// SPDX-License-Identifier: GPL-2.0

//! `rig modules-check`

use crate::lab::{GuestOptions, Lab};
use crate::options::Sources;
use anyhow::Result;
use kbuild::modules_check::{self, Modular};
use kbuild::tally::Tally;
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    guest: GuestOptions,
    /// Only builds whose name contains this
    #[arg(long, env = "ONLY", hide_env_values = true, default_value = "")]
    only: String,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        self.guest.refuse_image("the modules and their kernel are built")?;
        let lab = Lab::open(self.sources, self.guest)?;
        let mut tally = Tally::new();
        let attempt = |name: &str, modular, tally: &mut Tally| boot(&lab, name, modular, tally);
        modules_check::run(&lab.cache, &lab.origins, &self.only, &attempt, &mut tally)?;
        let passed = tally.print_closing();
        Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Loads the modules in a guest, uses them and unloads them.
fn boot(lab: &Lab, name: &str, modular: Modular, tally: &mut Tally) -> Result<()> {
    let guest = lab.guest_with(modular.image)?;
    vm::modules::run(&lab.tools, &guest, name, modular.folder, lab.fsx.clone(), tally)
}
