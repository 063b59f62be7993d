// SPDX-License-Identifier: GPL-2.0

//! Many settings in one boot.

use crate::guest::counters::Counters;
use crate::guest::paths::MOUNT;
use crate::guest::progress::Progress;
use crate::guest::session::Host;
use crate::guest::{client, paths, transfer};
use crate::job::{Case, Matrix, Outcome, Workload};
use crate::settings::Session;
use anyhow::{Context, Result};

/// Runs each case to its end and hands out its result; fails only if the
/// server cannot be set up or taken down.
pub fn run(job: &Matrix, progress: &Progress) -> Result<Outcome> {
    play(job, str::to_owned, progress)?;
    Ok(Outcome::Done)
}

/// The same; what `named` makes of a case's name goes with the result.
pub fn play(job: &Matrix, named: impl Fn(&str) -> String, progress: &Progress) -> Result<()> {
    let first = job.sessions.first().context("the matrix is empty")?;
    let mut host = Host::start(first.server())?;
    let counters = Counters::install().context("cannot count events")?;
    for session in &job.sessions {
        progress.say(format!("case {session}"));
        let result = case(&mut host, session, &job.workload, &counters, progress);
        let failure = result.err().map(|err| format!("{err:#}"));
        let name = named(&session.to_string());
        progress.case(&Case { name, failure, ..Case::default() })?;
        clear()?;
    }
    counters.remove().context("cannot remove the counters")?;
    host.stop()
}

fn case(
    host: &mut Host,
    session: &Session,
    workload: &Workload,
    counters: &Counters,
    progress: &Progress,
) -> Result<()> {
    host.mount(session)?;
    transfer::run(session, workload, counters, progress)?;
    client::unmount()
}

/// A case that failed may have left its mount.
fn clear() -> Result<()> {
    if paths::is_mounted(MOUNT) {
        client::unmount().context("the failed case holds its mount")?;
    }
    Ok(())
}
