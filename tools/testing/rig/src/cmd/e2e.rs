// SPDX-License-Identifier: GPL-2.0

//! `rig e2e`: the end-to-end matrix on one kernel.

use crate::lab::{GuestOptions, Lab};
use crate::options::Sources;
use anyhow::Result;
use kbuild::flavour::Flavour;
use kbuild::tally::Tally;
use std::process::ExitCode;

pub use vm::e2e::SEED;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    guest: GuestOptions,
    /// Which kernel: ours, ours-c, plain or rfc-c
    #[arg(long, env = "KERNEL", hide_env_values = true, default_value = "ours")]
    kernel: Flavour,
    /// Seed of the data and of fsx
    #[arg(long, env = "SEED", hide_env_values = true, default_value_t = SEED)]
    seed: u64,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let lab = Lab::open(self.sources, self.guest)?;
        let mut tally = Tally::new();
        matrix(&lab, &self.kernel, self.seed, &mut tally)?;
        let passed = tally.print_closing();
        Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Runs the matrix on the kernel `flavour`, which is built first.
pub fn matrix(lab: &Lab, flavour: &Flavour, seed: u64, tally: &mut Tally) -> Result<()> {
    kbuild::host::kerberos_tools(&lab.cache)?;
    let guest = lab.quiet_guest(flavour)?;
    let prefix = format!("e2e {flavour}");
    let matrix = vm::e2e::matrix(Some(lab.fsx.clone()), seed);
    vm::e2e::run(&lab.tools, &guest, &prefix, matrix, tally)
}
