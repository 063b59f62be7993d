// SPDX-License-Identifier: GPL-2.0

//! Runs the replay in the guest, the policies in turn.

use crate::guest::progress::Progress;
use crate::guest::tracefs::{self, Histogram};
use crate::guest::{counters, paths};
use crate::job::Outcome;
use crate::policy::{self, Place, Replay, Replayed, POLICIES};
use anyhow::{ensure, Context, Result};
use std::fs;
use std::path::Path;

const FILE: &str = "/sys/kernel/debug/svc_page_policy";

/// The two threads of the replay.
const THREADS: &str = "if COMM ~ \"svc_f*\"";

/// Runs all of it and hands out each result.
pub fn run(job: &Replay, progress: &Progress) -> Result<Outcome> {
    paths::mount_debugfs()?;
    let found = Path::new(FILE).exists();
    ensure!(found, "the guest's kernel has no {FILE}: it needs the patches [policy]");
    tracefs::mount()?;
    let trigger = format!("hist:keys=order {THREADS}");
    let taken = Histogram::attach("kmem/mm_page_alloc_zone_locked", &trigger)?;
    let drained = Histogram::attach("kmem/mm_page_pcpu_drain", &trigger)?;
    for repetition in 0..job.repetitions {
        for place in [Place::Same, Place::Two] {
            for policy in order(repetition) {
                progress.say(format!("{policy}, repetition {}", repetition + 1));
                let before = (counters::pages(&taken)?, counters::pages(&drained)?);
                let outcome = replay(policy, job.rounds, place)?;
                let after = (counters::pages(&taken)?, counters::pages(&drained)?);
                progress.case(&Replayed {
                    policy: policy.to_owned(),
                    place,
                    repetition,
                    outcome,
                    pages_taken: after.0 - before.0,
                    pages_drained: after.1 - before.1,
                })?;
            }
        }
    }
    Ok(Outcome::Done)
}

/// Every second time in reverse.
fn order(repetition: u32) -> Vec<&'static str> {
    let mut names = POLICIES.to_vec();
    if repetition % 2 == 1 {
        names.reverse();
    }
    names
}

fn replay(policy: &str, rounds: u32, place: Place) -> Result<policy::Outcome> {
    let freeing = match place {
        Place::Same => 0,
        Place::Two => 1,
    };
    let command = format!("{policy} {rounds} 0 {freeing}");
    paths::write(FILE, &command)?;
    let text = fs::read_to_string(FILE).with_context(|| format!("cannot read {FILE}"))?;
    policy::Outcome::parse(&text)
}
