// SPDX-License-Identifier: GPL-2.0

//! Hand-written messages of RPC-over-RDMA against the server in a guest.

use crate::boot::{self, Tools};
use crate::cases;
use crate::follow;
use crate::job::{self, Crafted, Job};
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
        let case = cases::record(&mut shared.borrow_mut(), prefix, line);
        complete.set(complete.get() || case.is_some_and(|case| case.name == LAST));
    });
    let finished = boot::run(tools, guest, &Job::Crafted(job), limits, vec![(job::CASES, sink)])?;
    if !complete.get() {
        tally.fail(format!("{prefix}: all cases"), "the client did not get to its end");
    }
    tally.result(format!("{prefix}: kernel log"), finished.judge().map(drop));
    Ok(())
}
