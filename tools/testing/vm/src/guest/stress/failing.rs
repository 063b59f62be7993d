// SPDX-License-Identifier: GPL-2.0

//! The page allocator refuses at random what it may refuse.

use crate::guest::client;
use crate::guest::paths::{self, MOUNT};
use crate::guest::stress::load::Load;
use crate::guest::stress::site::{Site, THREADS};
use crate::guest::stress::watch::Watch;
use crate::guest::stress::{granules, End};
use crate::settings::Version;
use anyhow::Result;
use std::path::Path;
use std::thread;
use std::time::Duration;

const FOLDER: &str = "/sys/kernel/debug/fail_page_alloc";

/// For all tasks, for ever, without a word in the log. Allocations that can
/// wait are spared.
const SETTINGS: [(&str, &str); 6] = [
    ("task-filter", "N"),
    ("times", "-1"),
    ("interval", "1"),
    ("space", "0"),
    ("verbose", "0"),
    ("ignore-gfp-wait", "Y"),
];

/// The least order that fails, and how often, in percent. Single pages are
/// also what packets are made of.
const STEPS: [(u32, u32); 5] = [(0, 2), (1, 10), (2, 20), (3, 50), (4, 80)];

pub fn play(site: &mut Site<'_>, time: Duration) -> Result<End> {
    if !Path::new(FOLDER).exists() {
        let reason = "the kernel has no CONFIG_FAIL_PAGE_ALLOC, ours-stress has";
        return Ok(End::Skipped(reason.to_owned()));
    }
    site.mount()?;
    for (name, value) in SETTINGS {
        set(name, value)?;
    }
    let watch = Watch::start(granules::bound(THREADS));
    let result = STEPS.iter().try_for_each(|step| under(site, *step, time / 5));
    set("probability", "0")?;
    let seen = watch.stop()?;
    result?;
    let after = site.all_idle(THREADS)?;
    client::unmount()?;
    site.say(format!("at most {} granules, afterwards {after}", seen.most));
    Ok(End::done())
}

fn under(site: &mut Site<'_>, (order, percent): (u32, u32), time: Duration) -> Result<()> {
    // So that there is something to allocate.
    paths::write("/proc/sys/vm/drop_caches", "2")?;
    set("min-order", &order.to_string())?;
    set("probability", &percent.to_string())?;
    let done = Load::start(site, MOUNT, Version::V42).during(time, || {
        thread::sleep(Duration::from_millis(200));
        Ok(())
    });
    set("probability", "0")?;
    let done = done?;
    site.say(format!("{percent} % of order {order} and more failed: {done}"));
    site.say(format!("{}", granules::census()?));
    Ok(())
}

fn set(name: &str, value: &str) -> Result<()> {
    paths::write(&format!("{FOLDER}/{name}"), value)
}
