// SPDX-License-Identifier: GPL-2.0

//! Memory is wanted back: by the administrator, and by programs.

use crate::guest::client;
use crate::guest::paths::{self, MOUNT};
use crate::guest::stress::hog::Hog;
use crate::guest::stress::load::Load;
use crate::guest::stress::site::{Site, THREADS};
use crate::guest::stress::watch::Watch;
use crate::guest::stress::{granules, End};
use crate::settings::{Version, MIB};
use anyhow::{ensure, Result};
use std::thread;
use std::time::Duration;

/// How long memory is short, and for how long it is not.
const HOLD: Duration = Duration::from_secs(5);

pub fn play(site: &mut Site<'_>, time: Duration) -> Result<End> {
    site.mount()?;
    let before = granules::settled()?;
    let watch = Watch::start(granules::bound(THREADS));
    let hog = Hog::new()?;
    let (mut rounds, mut taken) = (0, 0);
    let load = Load::start(site, MOUNT, Version::V42);
    let done = load.during(time, || {
        rounds += 1;
        drop_slab()?;
        thread::sleep(HOLD);
        taken = hog.grow()?.max(taken);
        thread::sleep(HOLD);
        hog.shrink()?;
        thread::sleep(HOLD);
        Ok(())
    });
    drop(hog);
    let (seen, done) = (watch.stop()?, done?);
    let idle = site.all_idle(THREADS)?;
    drop_slab()?;
    let after = granules::settled()?;
    client::unmount()?;
    site.say(format!("{done}; {rounds} rounds, {} MiB taken", taken / MIB));
    site.say(format!("{} to {} granules under load; before {before}", seen.least, seen.most));
    site.say(format!("idle {idle}; after the last reclaim {after}"));
    ensure!(after.reclaimed > before.reclaimed, "no granule was given back: {after}");
    let need = granules::threads_need(THREADS);
    ensure!(after.owned <= need, "{} granules are kept, of which threads need {need}", after.owned);
    Ok(End::done())
}

/// Reclaims what shrinkers have.
fn drop_slab() -> Result<()> {
    paths::write("/proc/sys/vm/drop_caches", "2")
}
