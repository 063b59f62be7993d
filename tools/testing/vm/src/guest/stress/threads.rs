// SPDX-License-Identifier: GPL-2.0

//! The server's threads come and go under load.

use crate::guest::paths::MOUNT;
use crate::guest::stress::load::Load;
use crate::guest::stress::site::{Site, THREADS};
use crate::guest::stress::watch::Watch;
use crate::guest::stress::{granules, End};
use crate::guest::{client, server};
use crate::settings::Version;
use anyhow::{ensure, Result};
use std::thread;
use std::time::Duration;

/// Numbers of threads, in turn.
const COUNTS: [u32; 4] = [2, 8, 32, 1];

/// How long each stays.
const STAY: Duration = Duration::from_secs(4);

pub fn play(site: &mut Site<'_>, time: Duration) -> Result<End> {
    site.mount()?;
    let before = granules::census()?;
    let most = COUNTS.iter().copied().max().unwrap_or(THREADS);
    let watch = Watch::start(granules::bound(most));
    let mut changes = 0;
    let mut counts = COUNTS.iter().cycle();
    let load = Load::start(site, MOUNT, Version::V42);
    let done = load.during(time, || {
        let count = counts.next().copied().unwrap_or(THREADS);
        server::set_threads(count)?;
        changes += 1;
        thread::sleep(STAY);
        Ok(())
    });
    server::set_threads(THREADS)?;
    let (seen, done) = (watch.stop()?, done?);
    let after = site.all_idle(THREADS)?;
    client::unmount()?;
    site.say(format!("{done}; {changes} changes, at most {} granules", seen.most));
    site.say(format!("before {before}"));
    site.say(format!("after {after}"));
    ensure!(after.bound == before.bound, "{} granules are allowed afterwards", after.bound);
    ensure!(after.owned <= after.bound, "more granules than allowed: {after}");
    Ok(End::done())
}
