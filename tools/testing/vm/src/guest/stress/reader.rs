// SPDX-License-Identifier: GPL-2.0

//! TCP clients that send READs and never read the replies.

use crate::guest::client;
use crate::guest::paths::MOUNT;
use crate::guest::stress::flood::{self, Buffers, Target};
use crate::guest::stress::load::Load;
use crate::guest::stress::site::{Site, THREADS};
use crate::guest::stress::watch::Watch;
use crate::guest::stress::{granules, End};
use crate::settings::{Version, MIB};
use anyhow::{ensure, Result};
use std::thread;
use std::time::Duration;

/// More replies than the bound on granules allows for, and not so many on one
/// connection that the server's threads wait for room in its buffers.
const CONNECTIONS: u32 = 32;
const CALLS: u32 = 4;

/// How long nothing is read; the server gives up after 30 s.
const HOLD: Duration = Duration::from_secs(12);

pub fn play(site: &mut Site<'_>, time: Duration) -> Result<End> {
    let _buffers = Buffers::enlarge()?;
    site.mount()?;
    let target = Target::create("unread", MIB, site.seed)?;
    target.compare()?;
    let before = granules::settled()?;
    let limit = granules::bound(THREADS);
    ensure!(before.bound <= limit, "{} granules are allowed, not {limit}", before.bound);
    let watch = Watch::start(limit);
    let mut pinned = 0;
    let load = Load::start(site, MOUNT, Version::V42);
    let done = load.during(time, || {
        let unread = flood::open(&target, CONNECTIONS, CALLS)?;
        thread::sleep(HOLD);
        let census = granules::settled()?;
        pinned = census.owned.saturating_sub(census.idle).max(pinned);
        drop(unread);
        thread::sleep(Duration::from_secs(1));
        Ok(())
    });
    let (seen, done) = (watch.stop()?, done?);
    let after = site.all_idle(THREADS)?;
    target.compare()?;
    client::unmount()?;
    site.say(format!("{done}; at most {} of {limit} granules, {pinned} in use", seen.most));
    site.say(format!("filled from granules: {} per mille", after.share_since(&before)));
    site.say(format!("afterwards {after}"));
    ensure!(pinned > granules::threads_need(THREADS), "the unread replies pin nothing");
    Ok(End::done())
}
