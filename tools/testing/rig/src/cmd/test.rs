// SPDX-License-Identifier: GPL-2.0

//! `rig test`: everything that continuous integration checks.

use crate::cmd::e2e::{self, SEED};
use crate::cmd::{client, microbench};
use crate::lab::{GuestOptions, Lab};
use crate::options::Sources;
use anyhow::Result;
use kbuild::flavour::Flavour;
use kbuild::tally::Tally;
use std::process::ExitCode;
use std::time::Instant;
use vm::job::Crafted;
use vm::settings::Device;
use vm::stress::boots;

/// Parts of the names of cases that run over soft-RoCE only: the server reads
/// headers and RPC messages before the adapter has anything to do.
const ONCE: [&str; 2] = ["header:", "rpc:"];
/// Threads of the server that gets the hand-written messages.
const THREADS: u32 = 8;

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
        for device in [Device::Rxe, Device::Siw] {
            stage(&format!("hand-written messages over {device}"), &|tally| {
                hand_written(&lab, &ours, device, tally)
            });
        }
        stage("end to end", &|tally| e2e::matrix(&lab, &ours, SEED, tally));
        stage("end to end without Rust", &|tally| e2e::matrix(&lab, &ours_c, SEED, tally));
        stage("end to end with DMA through bounce buffers", &|tally| bounced(&lab, &ours, tally));
        println!("== done after {} s", started.elapsed().as_secs());
        let passed = tally.print_closing();
        Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// A few settings where a page that is used before it is unmapped, or mapped
/// before it is filled, holds other bytes.
fn bounced(lab: &Lab, flavour: &Flavour, tally: &mut Tally) -> Result<()> {
    let (boot, sessions) = boots::quick_dma();
    let mut flavour = flavour.clone();
    flavour.tree.variant = boot.variant.map(str::to_owned);
    let mut guest = lab.quiet_guest(&flavour)?;
    boot.apply(&mut guest);
    let matrix = vm::e2e::with_sessions(sessions, Some(lab.fsx.clone()), SEED);
    vm::e2e::run(&lab.tools, &guest, &format!("e2e {flavour} bounced"), matrix, tally)
}

/// All cases over soft-RoCE, and those that depend on the adapter over others.
fn hand_written(lab: &Lab, flavour: &Flavour, device: Device, tally: &mut Tally) -> Result<()> {
    let skip: Vec<String> = match device {
        Device::Rxe => Vec::new(),
        _ => ONCE.map(str::to_owned).into(),
    };
    for part in &skip {
        tally.skip(format!("client {flavour} {device}: {part}"), "these run over rxe only");
    }
    let program = client::build(lab)?;
    let job = Crafted { device, threads: THREADS, program, only: None, skip };
    client::carry_out(lab, flavour, job, tally)
}
