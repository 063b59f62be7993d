// SPDX-License-Identifier: GPL-2.0

//! Whether what a READ costs depends on the number of threads. The number of
//! CPUs is that of the guest: boots are compared outside of it.

use crate::guest::stress::figures::{self, Figures};
use crate::guest::stress::site::{session, Site};
use crate::guest::stress::End;
use crate::settings::{Session, Transport, Version, MIB};
use crate::stress::flat;
use anyhow::Result;
use std::collections::BTreeMap;
use std::time::Duration;

/// Numbers of threads.
const THREADS: [u32; 3] = [8, 64, 256];

/// What is moved until each thread has had its turn, and what is counted.
const WARM: u64 = 64 * MIB;
const SIZE: u64 = 64 * MIB;

/// A pool grows until it has the most granules that were ever busy at once,
/// and when that happens is chance: so often a READ is measured until then.
const ROUNDS: u32 = 4;

pub fn play(site: &mut Site<'_>, _time: Duration) -> Result<End> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let mut counts = BTreeMap::new();
    for threads in THREADS {
        let mut session = session(Version::V3, Transport::Rdma);
        session.threads = threads;
        figures::measure(site, &session, WARM)?;
        let read = settled(site, &session)?;
        site.say(format!("{cpus} CPUs, {threads} threads: {read}"));
        let named = [("bvecs", read.bvecs), ("requests", read.requests), ("pages", read.pages)];
        counts.extend(named.map(|(name, count)| (format!("{name} with {threads} threads"), count)));
    }
    flat::check(&[counts.clone()])?;
    Ok(End::Done(counts))
}

/// What a READ costs once the pool has stopped to grow; if it does not stop,
/// what the last one cost.
fn settled(site: &mut Site<'_>, session: &Session) -> Result<Figures> {
    let mut read = Figures::read(&figures::measure(site, session, SIZE)?.read);
    for _ in 1..ROUNDS {
        if read.pages <= flat::FEW_PAGES {
            break;
        }
        site.say(format!("the pool still grows, {} pages per GiB", read.pages));
        read = Figures::read(&figures::measure(site, session, SIZE)?.read);
    }
    Ok(read)
}
