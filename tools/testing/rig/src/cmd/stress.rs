// SPDX-License-Identifier: GPL-2.0

//! `rig stress`: wears the server out, for as long as there is time.

use crate::cmd::client;
use crate::cmd::e2e::SEED;
use crate::lab::{GuestOptions, Lab};
use crate::options::Sources;
use anyhow::{ensure, Result};
use kbuild::flavour::Flavour;
use kbuild::tally::Tally;
use std::process::ExitCode;
use std::time::Instant;
use vm::job::{Case, Crafted, Stress};
use vm::stress::boots::{self, Boot, Work};
use vm::stress::{flat, share};

/// Seconds that a kernel takes that was not built before.
const BUILD: u64 = 30 * 60;

/// Threads of the server of the crafted client.
const THREADS: u32 = 8;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    guest: GuestOptions,
    /// Minutes that it may take
    #[arg(long, env = "BUDGET", hide_env_values = true, default_value = "30")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=10_000))]
    budget: u64,
    /// Only scenarios and guests whose name contains this
    #[arg(long, env = "ONLY", hide_env_values = true)]
    only: Option<String>,
    /// Seed of the data, of fsx, and of all that is random
    #[arg(long, env = "SEED", hide_env_values = true, default_value_t = SEED)]
    seed: u64,
}

/// What has been played so far, and the time for the rest.
struct Run {
    lab: Lab,
    started: Instant,
    budget: u64,
    only: Option<String>,
    seed: u64,
    tally: Tally,
    counts: Vec<flat::Counts>,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let wanted = |boot: Boot| match &self.only {
            Some(part) => boot.only(part),
            None => Some(boot),
        };
        let boots: Vec<Boot> = boots::all().into_iter().filter_map(wanted).collect();
        ensure!(
            !boots.is_empty(),
            "no scenario has such a name: {}",
            self.only.unwrap_or_default()
        );
        let lab = Lab::open(self.sources, self.guest)?;
        if boots.iter().any(|boot| boot.variant.is_none()) {
            lab.quiet_guest(&Flavour::ours())?;
        }
        let (budget, only, seed) = (self.budget * 60, self.only, self.seed);
        let (started, tally, counts) = (Instant::now(), Tally::new(), Vec::new());
        let mut run = Run { lab, started, budget, only, seed, tally, counts };
        for (at, boot) in boots.iter().enumerate() {
            let weights = boots[at..].iter().map(Boot::weight).sum();
            run.boot(boot, weights);
        }
        run.compare_counts();
        println!("== done after {} s", run.started.elapsed().as_secs());
        let passed = run.tally.print_closing();
        Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

impl Run {
    /// Plays one guest, or says why not.
    fn boot(&mut self, boot: &Boot, weights: u64) {
        let mut flavour = Flavour::ours();
        flavour.tree.variant = boot.variant.map(str::to_owned);
        let left = self.budget.saturating_sub(self.started.elapsed().as_secs());
        let time = share::of(left, boot.least(), boot.weight(), weights);
        let reason = match time {
            None => Some(share::too_little(left, boot.least())),
            Some(_) => self.unavailable(boot, &flavour, left),
        };
        if let Some(reason) = reason {
            boot.names().into_iter().for_each(|name| self.tally.skip(name, &reason));
            return;
        }
        println!("== {}, after {} s", boot.title, self.started.elapsed().as_secs());
        if let Err(err) = self.play(boot, &flavour, time.unwrap_or(0)) {
            self.tally.fail(&boot.title, format!("{err:#}"));
        }
    }

    /// Why there is no kernel for it.
    fn unavailable(&self, boot: &Boot, flavour: &Flavour, left: u64) -> Option<String> {
        if self.lab.has_image() {
            // The one that was given may be it.
            let doubtful = boot.variant == Some("dma") && self.only.is_none();
            return doubtful
                .then(|| format!("RIG_IMAGE is set, and it takes the kernel {flavour}"));
        }
        let built = boot.variant.is_none()
            || kbuild::kernel::existing(&self.lab.cache, &self.lab.origins, flavour).is_some();
        (!built && left < boot.least() + BUILD).then(|| {
            format!(
                "too little of BUDGET is left to build its kernel: make kernel FLAVOUR={flavour}"
            )
        })
    }

    fn play(&mut self, boot: &Boot, flavour: &Flavour, time: u64) -> Result<()> {
        let mut guest = self.lab.quiet_guest(flavour)?;
        boot.apply(&mut guest);
        let (tools, fsx, only) = (&self.lab.tools, self.lab.fsx.clone(), None);
        match &boot.work {
            Work::Scenarios(names) => {
                let scenarios = names.iter().map(|name| (*name).to_owned()).collect();
                let job = Stress { scenarios, seconds: Boot::seconds(time), fsx, seed: self.seed };
                let cases = vm::stress::run(tools, &guest, &boot.title, job, &mut self.tally)?;
                self.remember_counts(cases);
                Ok(())
            }
            Work::Crafted(device) => {
                let program = client::build(&self.lab)?;
                let job =
                    Crafted { device: *device, threads: THREADS, program, only, skip: Vec::new() };
                vm::crafted::run(tools, &guest, &boot.title, job, &mut self.tally)
            }
            Work::Matrix(sessions) => {
                let matrix = vm::e2e::with_sessions(sessions.clone(), Some(fsx), self.seed);
                vm::e2e::run(tools, &guest, &boot.title, matrix, &mut self.tally)
            }
        }
    }

    fn remember_counts(&mut self, cases: Vec<Case>) {
        let counts = cases.into_iter().map(|case| case.figures);
        self.counts.extend(counts.filter(|counts| !counts.is_empty()));
    }

    /// Compares what guests with different numbers of CPUs counted.
    fn compare_counts(&mut self) {
        if self.counts.len() > 1 {
            let name = "stress: counts do not depend on CPUs and threads";
            self.tally.result(name, flat::check(&self.counts));
        }
    }
}
