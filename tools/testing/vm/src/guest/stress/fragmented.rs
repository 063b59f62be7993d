// SPDX-License-Identifier: GPL-2.0

//! A server that starts when no memory is contiguous.

use crate::granules::Granules;
use crate::guest::paths::MOUNT;
use crate::guest::stress::granules;
use crate::guest::stress::load::Load;
use crate::guest::stress::pin;
use crate::guest::stress::site::Site;
use crate::guest::stress::End;
use crate::guest::{client, procfs};
use crate::settings::Version;
use anyhow::{ensure, Result};
use std::thread;
use std::time::Duration;

pub fn play(site: &mut Site<'_>, time: Duration) -> Result<End> {
    // The granules of a server that runs are whole, and would come back.
    let pinned = site.host.restart(pin::fragment)?;
    site.say(free_memory("memory is in pieces")?);
    let poor = load(site, "in pieces", time * 2 / 3)?;
    site.say(free_memory("still")?);
    drop(pinned);
    site.say(free_memory("memory is whole again")?);
    let rich = load(site, "whole", time / 3)?;
    ensure!(poor.fallback > 0, "no group was left to the page allocator: {poor}");
    ensure!(rich.grown > poor.grown, "no granule was added when there was memory: {rich}");
    Ok(End::done())
}

fn load(site: &mut Site<'_>, state: &str, time: Duration) -> Result<Granules> {
    site.mount()?;
    let done = Load::start(site, MOUNT, Version::V42).during(time, || {
        thread::sleep(Duration::from_millis(200));
        Ok(())
    })?;
    client::unmount()?;
    let census = granules::settled()?;
    site.say(format!("{state}: {done}; {census}"));
    Ok(census)
}

fn free_memory(state: &str) -> Result<String> {
    let free = |order| procfs::free_pages(order);
    let (all, two, four) = (free(0)?, free(pin::ORDER)?, free(4)?);
    Ok(format!("{state}: of {all} free pages {two} in blocks of 4 or more, {four} of 16 or more"))
}
