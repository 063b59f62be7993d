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

/// Pages that nfsd may allocate, of those that it reads.
const PERCENT: u64 = 1;

/// So often a READ is measured before it may cost no more than it should: a
/// pool grows until it has the most granules that were ever busy at once, and
/// when that happens is chance.
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
        counts.insert(format!("requests with {threads} threads"), read.requests);
    }
    flat::check(&[counts.clone()])?;
    Ok(End::Done(counts))
}

/// What a READ costs once the pool has stopped to grow.
///
/// bio_vecs are bounded and not compared: granules that happen to be
/// neighbours share one, and how many do differs from boot to boot.
fn settled(site: &mut Site<'_>, session: &Session) -> Result<Figures> {
    for _ in 1..ROUNDS {
        let read = measure(site, session)?;
        match read.check("READ", PERCENT) {
            Ok(()) => return Ok(read),
            Err(err) => site.say(format!("once more: {err}")),
        }
    }
    let read = measure(site, session)?;
    read.check("READ", PERCENT).map(|()| read)
}

fn measure(site: &mut Site<'_>, session: &Session) -> Result<Figures> {
    Ok(Figures::read(&figures::measure(site, session, SIZE)?.read))
}
