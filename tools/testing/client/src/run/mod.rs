// SPDX-License-Identifier: GPL-2.0

//! Carries the plan out.

mod burst;
mod cut;
mod cut_short;
mod folder;
mod lab;
mod others;
mod parts;
mod read;
mod write;

use crate::peer::{Peer, Seen};
use crate::plan::{Case, Outcome, Send};
use anyhow::{bail, Context, Result};
use std::time::Duration;

pub use lab::{Lab, Options};

/// How long nothing has to come before nothing is what came.
const SILENCE: Duration = Duration::from_secs(3);

/// What came of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// What must happen happened.
    Pass,
    /// Something else happened that the plan puts up with.
    Deviates(Outcome),
    /// The reason in one line.
    Fail(String),
}

/// Carries out one case so many times, or until it fails.
pub fn repeated(lab: &mut Lab, case: &Case, times: u32) -> Verdict {
    let mut verdict = Verdict::Pass;
    for _ in 0..times {
        verdict = self::case(lab, case);
        if matches!(verdict, Verdict::Fail(_)) {
            break;
        }
    }
    verdict
}

/// Carries out one case, and checks what it left behind.
fn case(lab: &mut Lab, case: &Case) -> Verdict {
    mark(&case.name);
    let result = perform(lab, case);
    // Whatever came of it, the others must not have suffered.
    let others = lab.check_bystander().context("afterwards, the second client");
    let idle = lab.wait_until_idle().context("afterwards");
    match result.and_then(|outcome| others.and(idle).map(|()| outcome)) {
        Ok(outcome) => judge(case, outcome),
        Err(err) => Verdict::Fail(format!("{err:#}")),
    }
}

/// Marks the kernel's log, where there is one, so that a complaint can be
/// traced to its case.
fn mark(name: &str) {
    let _ = std::fs::write("/dev/kmsg", format!("<6>client: {name}"));
}

fn judge(case: &Case, outcome: Outcome) -> Verdict {
    if outcome == case.must {
        return Verdict::Pass;
    }
    if case.may.contains(&outcome) {
        return Verdict::Deviates(outcome);
    }
    Verdict::Fail(format!("{outcome} instead of {}", case.expectation()))
}

fn perform(lab: &mut Lab, case: &Case) -> Result<Outcome> {
    if let Send::Burst(burst) = &case.send {
        return burst::perform(lab, burst);
    }
    let mut peer = Peer::connect(lab.server(), case.hello)?;
    let patience = patience(case);
    let outcome = match &case.send {
        Send::Read(read) => read::perform(lab, &mut peer, read)?,
        Send::Write(write) => write::perform(lab, &mut peer, write)?,
        Send::Folder(folder) => folder::perform(lab, &mut peer, folder)?,
        Send::CutShort(plan) => cut_short::perform(lab, &mut peer, plan)?,
        Send::Parts(parts) => parts::perform(lab, &mut peer, parts, patience)?,
        Send::Others => others::perform(lab, &mut peer)?,
        Send::Burst(_) => bail!("a burst has no single answer"),
    };
    if outcome != Outcome::Closed {
        check_alive(&mut peer, case).with_context(|| format!("after {outcome}"))?;
    }
    Ok(outcome)
}

/// An answer, or the fact that none comes, is waited for.
fn patience(case: &Case) -> Duration {
    let silent = case.must == Outcome::Dropped || case.may.contains(&Outcome::Dropped);
    if silent {
        SILENCE
    } else {
        crate::peer::PATIENCE
    }
}

fn check_alive(peer: &mut Peer, case: &Case) -> Result<()> {
    let alive = peer.check_alive().context("the connection is of no use any more");
    if case.may.contains(&Outcome::Closed) {
        return Ok(());
    }
    alive
}

/// A Reply, or what else came.
fn reply(seen: Seen) -> std::result::Result<crate::header::Reply, Outcome> {
    match seen {
        Seen::Reply(reply) => Ok(reply),
        Seen::BadChunk => Err(Outcome::BadChunk),
        Seen::WrongVersion => Err(Outcome::WrongVersion),
        Seen::Closed => Err(Outcome::Closed),
        Seen::Nothing => Err(Outcome::Dropped),
    }
}
