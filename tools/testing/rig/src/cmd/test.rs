// SPDX-License-Identifier: GPL-2.0

//! `rig test`: everything that continuous integration checks.

use crate::cmd::e2e::{self, SEED};
use crate::cmd::microbench;
use crate::lab::{GuestOptions, Lab};
use crate::options::Sources;
use anyhow::Result;
use kbuild::flavour::Flavour;
use kbuild::tally::Tally;
use std::process::ExitCode;
use std::time::Instant;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    guest: GuestOptions,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        self.guest.refuse_image("the tests build their kernels")?;
        let started = Instant::now();
        let lab = Lab::open(self.sources, self.guest)?;
        kbuild::host::client_tools(&lab.cache)?;
        kbuild::host::plot_tools(&lab.cache)?;
        let (ours, ours_c): (Flavour, Flavour) = ("ours".parse()?, "ours-c".parse()?);
        let mut tally = Tally::new();
        let mut stage = |name: &str, work: &dyn Fn(&mut Tally) -> Result<()>| {
            println!("== {name}, after {} s", started.elapsed().as_secs());
            if let Err(err) = work(&mut tally) {
                tally.fail(name, format!("{err:#}"));
            }
        };
        stage("tests on the host", &crate::host_tests::run);
        stage("static gate", &|tally| kbuild::gate::run(&lab.cache, &lab.origins, tally));
        stage("unit tests in the kernel", &|tally| {
            vm::kunit::run(&lab.tools, lab.guest(&ours)?, None, tally)
        });
        stage("cost of the Rust helpers", &|tally| {
            let table = microbench::measure(&lab, None).map(|table| print!("{table}"));
            tally.result("Rust helpers cost no more than C helpers", table);
            Ok(())
        });
        stage("end to end", &|tally| e2e::matrix(&lab, &ours, SEED, tally));
        stage("end to end without Rust", &|tally| e2e::matrix(&lab, &ours_c, SEED, tally));
        println!("== done after {} s", started.elapsed().as_secs());
        let passed = tally.print_closing();
        Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
