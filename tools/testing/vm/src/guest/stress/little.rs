// SPDX-License-Identifier: GPL-2.0

//! A server in little memory.

use crate::guest::paths::MOUNT;
use crate::guest::stress::load::Load;
use crate::guest::stress::site::{Site, THREADS};
use crate::guest::stress::watch::Watch;
use crate::guest::stress::{granules, End};
use crate::guest::{client, procfs};
use crate::settings::{Version, MIB};
use anyhow::{ensure, Result};
use std::thread;
use std::time::Duration;

/// The spare granules take no more than this part of memory.
const SPARE_PART: u64 = 16;

/// Bytes of a granule.
const GRANULE: u64 = 64 << 10;

pub fn play(site: &mut Site<'_>, time: Duration) -> Result<End> {
    site.mount()?;
    let total = procfs::memory("MemTotal")?;
    let limit = granules::threads_need(THREADS) + total / SPARE_PART / GRANULE;
    let watch = Watch::start(limit);
    let done = Load::start(site, MOUNT, Version::V42).during(time, || {
        thread::sleep(Duration::from_millis(200));
        Ok(())
    });
    let (seen, done) = (watch.stop()?, done?);
    let after = site.all_idle(THREADS)?;
    client::unmount()?;
    site.say(format!("{done} in {} MiB of memory; at most {} granules", total / MIB, seen.most));
    site.say(format!("afterwards {after}"));
    // The kernel counts in whole granules, and of slightly more memory.
    ensure!(after.bound <= limit + 2, "{} granules are allowed, not {limit}", after.bound);
    Ok(End::done())
}
