// SPDX-License-Identifier: GPL-2.0

//! `rig policy`: replays "one thread allocates, another one frees".

use crate::cmd::bench;
use crate::lab::{GuestOptions, Lab};
use crate::options::Sources;
use ::bench::journal;
use ::bench::record::FORMAT;
use ::bench::replay::{self, PolicyRecord};
use ::bench::report::REPLAYED;
use anyhow::{ensure, Result};
use kbuild::flavour::Flavour;
use std::cell::RefCell;
use std::process::ExitCode;
use std::time::Duration;
use vm::job::{self, Job};
use vm::policy::{Replay, Replayed};
use vm::watch::Limits;
use vm::{boot, follow};

/// Page arrays of 1 MiB in each run: 2 GiB.
const ROUNDS: u32 = 2048;

const LIMIT: Duration = Duration::from_secs(600);

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    guest: GuestOptions,
    /// How often every policy runs
    #[arg(long, env = "REPEAT", hide_env_values = true, default_value = "4")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100))]
    repeat: u32,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        ensure!(self.guest.machine().cpus >= 2, "the replay needs a guest with two CPUs");
        let lab = Lab::open(self.sources, self.guest)?;
        let flavour: Flavour = "ours-policy".parse()?;
        let guest = lab.quiet_guest(&flavour)?;
        let setup = bench::setup(&guest);
        let runs = RefCell::new(Vec::new());
        let sink = follow::lines(|line| {
            if let Ok(run) = serde_json::from_str::<Replayed>(line) {
                println!("{}, {:?}: done", run.policy, run.place);
                runs.borrow_mut().push(run);
            }
        });
        let job = Job::Policy(Replay { rounds: ROUNDS, repetitions: self.repeat });
        let limits = Limits::new(&guest, Some(LIMIT * self.repeat * guest.accel.slowness()));
        boot::run(&lab.tools, &guest, &job, limits, vec![(job::CASES, sink)])?.judge()?;
        let (format, image) = (FORMAT, vm::digest::of_file(&guest.image)?);
        let record = |run| {
            let (setup, image) = (setup.clone(), image.clone());
            PolicyRecord { format, setup, image, run }
        };
        let records: Vec<PolicyRecord> = runs.into_inner().into_iter().map(record).collect();
        let path = bench::folder()?.join(REPLAYED);
        journal::append(&path, &records)?;
        print!("{}", replay::render(&records));
        println!("raw results: {}", path.display());
        Ok(ExitCode::SUCCESS)
    }
}
