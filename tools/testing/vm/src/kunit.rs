// SPDX-License-Identifier: GPL-2.0

//! Runs the KUnit suites that are built into a kernel.

use crate::boot::{self, Tools};
use crate::job::Job;
use crate::ktap::{self, Test, Verdict};
use crate::qemu::Guest;
use crate::watch::Limits;
use anyhow::Result;
use kbuild::tally::Tally;
use std::time::Duration;

/// Slow cases are benchmarks.
const PARAMETERS: [&str; 3] = ["kunit.enable=1", "kunit.autorun=1", "kunit.filter=speed>slow"];

/// What the suite `svc_pages` has the kernel say.
const PROVOKED: &str = "xdr_buf_to_bvec: bio_vec array overflow";

/// Boots `guest` and records each test case, and whether the kernel's log is
/// clean. Only suites that match the glob `only` run, if there is one.
pub fn run(tools: &Tools, mut guest: Guest, only: Option<&str>, tally: &mut Tally) -> Result<()> {
    guest.append.extend(PARAMETERS.map(str::to_owned));
    guest.append.extend(only.map(|glob| format!("kunit.filter_glob={glob}")));
    let mut limits = Limits::new(&guest, None);
    // The suites run before the guest is up.
    limits.boot += Duration::from_secs(60) * guest.accel.slowness();
    let finished = boot::run(tools, &guest, &Job::Nothing, limits, Vec::new())?;
    let tests = ktap::parse(finished.console());
    for test in &tests {
        record(tally, test);
    }
    if tests.is_empty() {
        tally.fail("kunit", "the kernel ran no suite: set CONFIG_SUNRPC_SVC_PAGES_KUNIT_TEST");
    }
    tally.result("kunit: kernel log", finished.without(PROVOKED).judge().map(drop));
    Ok(())
}

fn record(tally: &mut Tally, test: &Test) {
    let name = format!("kunit: {}", test.name);
    match &test.verdict {
        Verdict::Pass => tally.pass(name),
        Verdict::Fail(reason) if reason.is_empty() => tally.fail(name, "see the kernel log"),
        Verdict::Fail(reason) => tally.fail(name, reason),
        Verdict::Skip(reason) => tally.skip(name, reason),
    }
}
