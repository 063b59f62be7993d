// SPDX-License-Identifier: GPL-2.0

//! `rig unsafe`: how much unsafe code the kernel's Rust has, and where.

use anyhow::Result;
use kbuild::repo;
use kbuild::unsafety::Census;
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Args {}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let census = Census::take(&repo::root()?)?;
        print!("{}", census.table());
        let misplaced = census.misplaced();
        for name in &misplaced {
            println!("unsafe code does not belong into {name}");
        }
        Ok(if misplaced.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
