// SPDX-License-Identifier: GPL-2.0

//! Hand-written messages of RPC-over-RDMA against the server in a guest.

use crate::boot::{self, Tools};
use crate::follow;
use crate::job::{self, Case, Crafted, Job};
use crate::qemu::Guest;
use crate::watch::Limits;
use anyhow::Result;
use kbuild::tally::Tally;
use std::cell::{Cell, RefCell};
use std::time::Duration;

/// What the client checks last.
const LAST: &str = "memory is given back";

/// Boots `guest` and records each case under `prefix`, whether the client got
/// to its end, and whether the kernel's log is clean.
pub fn run(
    tools: &Tools,
    guest: &Guest,
    prefix: &str,
    job: Crafted,
    tally: &mut Tally,
) -> Result<()> {
    let limits = Limits::new(guest, Some(Duration::from_secs(240) * guest.accel.slowness()));
    let complete = Cell::new(false);
    let shared = RefCell::new(&mut *tally);
    let sink = follow::lines(|line| {
        let name = record(&mut shared.borrow_mut(), prefix, line);
        complete.set(complete.get() || name.as_deref() == Some(LAST));
    });
    let finished = boot::run(tools, guest, &Job::Crafted(job), limits, vec![(job::CASES, sink)])?;
    if !complete.get() {
        tally.fail(format!("{prefix}: all cases"), "the client did not get to its end");
    }
    tally.result(format!("{prefix}: kernel log"), finished.judge().map(drop));
    Ok(())
}

fn record(tally: &mut Tally, prefix: &str, line: &str) -> Option<String> {
    let case: Case = serde_json::from_str(line).ok()?;
    let name = format!("{prefix}: {}", case.name);
    match case.failure {
        None => tally.pass(name),
        Some(reason) => tally.fail(name, reason),
    }
    Some(case.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_the_client_become_results() {
        let mut tally = Tally::new();
        let line = r#"{"name":"header: version 0x2","failure":"no answer instead of ERR_VERS"}"#;
        let name = record(&mut tally, "client rxe", line);
        assert_eq!(name.as_deref(), Some("header: version 0x2"));
        assert_eq!(tally.closing(), "0 passed, 1 failed, 0 skipped");
        assert!(record(&mut tally, "client rxe", "{").is_none());
    }
}
