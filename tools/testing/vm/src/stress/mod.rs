// SPDX-License-Identifier: GPL-2.0

//! Wears a server out: which guests there are, and how one is played.

pub mod boots;
pub mod flat;
pub mod share;

use crate::boot::{self, Tools};
use crate::cases;
use crate::follow;
use crate::job::{self, Case, Job, Stress};
use crate::qemu::Guest;
use crate::watch::Limits;
use anyhow::Result;
use kbuild::tally::Tally;
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// What a guest that is well may take beyond its time.
const EXTRA: Duration = Duration::from_secs(180);

/// Boots `guest`, records each scenario under `title`, and whether the
/// kernel's log is clean. Gives back what came of the scenarios.
pub fn run(
    tools: &Tools,
    guest: &Guest,
    title: &str,
    job: Stress,
    tally: &mut Tally,
) -> Result<Vec<Case>> {
    let started = Instant::now();
    let names = job.scenarios.clone();
    let total = Duration::from_secs(job.seconds) + EXTRA * guest.accel.slowness();
    let limits = Limits::new(guest, Some(total));
    let seen = RefCell::new(Vec::<Case>::new());
    let shared = RefCell::new(&mut *tally);
    let cases = follow::lines(|line| {
        seen.borrow_mut().extend(cases::record(&mut shared.borrow_mut(), title, line));
    });
    let progress =
        follow::lines(move |line| println!("{:>5} s  {line}", started.elapsed().as_secs()));
    let sinks = vec![(job::PROGRESS, progress), (job::CASES, cases)];
    let finished = boot::run(tools, guest, &Job::Stress(job), limits, sinks)?;
    let seen = seen.into_inner();
    for name in names.iter().filter(|name| !seen.iter().any(|case| case.name == **name)) {
        tally.fail(format!("{title}: {name}"), "the guest did not get that far");
    }
    tally.result(format!("{title}: kernel log"), finished.judge().map(drop));
    Ok(seen)
}
