// SPDX-License-Identifier: GPL-2.0

//! `rig microbench`: cost of the Rust helpers beside that of the C helpers.

use crate::lab::{GuestOptions, Lab};
use crate::options::Sources;
use anyhow::Result;
use kbuild::flavour::Flavour;
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    guest: GuestOptions,
    /// Fail if Rust costs more than so many times what C costs
    #[arg(long, env = "LIMIT", hide_env_values = true, default_value = "1.05")]
    limit: f64,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let lab = Lab::open(self.sources, self.guest)?;
        let guest = lab.guest(&Flavour::ours())?;
        let accel = guest.accel;
        let samples = vm::bench::run(&lab.tools, guest)?;
        println!("median cost of a page, measured with {accel}");
        print!("{}", vm::bench::table(&samples));
        vm::bench::check(&samples, self.limit)?;
        Ok(ExitCode::SUCCESS)
    }
}
