// SPDX-License-Identifier: GPL-2.0

//! `rig microbench`: cost of the Rust helpers beside that of the C helpers.

use crate::lab::{GuestOptions, Lab};
use crate::options::Sources;
use anyhow::Result;
use kbuild::flavour::Flavour;
use std::process::ExitCode;
use vm::accel::Accel;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    guest: GuestOptions,
    /// Fail if Rust costs more than so many times what C costs
    #[arg(long, env = "LIMIT", hide_env_values = true)]
    limit: Option<f64>,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let lab = Lab::open(self.sources, self.guest)?;
        print!("{}", measure(&lab, self.limit)?);
        Ok(ExitCode::SUCCESS)
    }
}

/// Measures, and gives back the table; fails if Rust costs too much.
///
/// Under emulation time says little, and instructions are counted instead.
pub fn measure(lab: &Lab, limit: Option<f64>) -> Result<String> {
    let mut guest = lab.guest(&Flavour::ours())?;
    if guest.accel == Accel::Tcg {
        guest.accel = Accel::Icount;
        guest.machine.cpus = 1;
    }
    let (accel, noise) = match guest.accel {
        Accel::Icount => ("instructions", 1.0),
        _ => ("time", 1.05),
    };
    let samples = vm::bench::run(&lab.tools, guest)?;
    let table = format!("median cost of a page in {accel}\n{}", vm::bench::table(&samples));
    vm::bench::check(&samples, limit.unwrap_or(noise)).inspect_err(|_| print!("{table}"))?;
    Ok(table)
}
