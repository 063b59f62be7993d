// SPDX-License-Identifier: GPL-2.0

//! Whether a server that has done all kinds of things is still like new.

use crate::guest::paths::{MOUNT, TCP_MOUNT};
use crate::guest::stress::figures::{self, Figures};
use crate::guest::stress::mixer::{self, Blocks};
use crate::guest::stress::random::Random;
use crate::guest::stress::site::{session, Site, THREADS};
use crate::guest::stress::watch::Watch;
use crate::guest::stress::{granules, End};
use crate::guest::{client, procfs};
use crate::settings::{Transport, Version, MIB};
use anyhow::{ensure, Context, Result};
use std::thread;
use std::time::{Duration, Instant};

/// RPCs after which a server is old.
const RPCS: u64 = 100_000;

/// Time for the measurement, and what it moves in each direction.
const MEASURE: Duration = Duration::from_secs(90);
const SIZE: u64 = 128 * MIB;

/// What is moved before, since more is in flight than in the mixed load.
const WARM_UP: u64 = 64 * MIB;

/// Files that are read and written at a time, on each mount.
const FILES: u64 = 2;

/// Groups filled with granules, in thousandths.
const SHARE: u64 = 950;

pub fn play(site: &mut Site<'_>, time: Duration) -> Result<End> {
    let before = granules::census()?;
    let watch = Watch::start(granules::bound(THREADS));
    let mixed = mixed_load(site, time.saturating_sub(MEASURE));
    let results = mixed.and_then(|()| {
        figures::measure(site, &session(Version::V3, Transport::Rdma), WARM_UP)?;
        let rdma = figures::measure(site, &session(Version::V3, Transport::Rdma), SIZE)?;
        let tcp = figures::measure(site, &session(Version::V3, Transport::Tcp), SIZE)?;
        Ok((rdma, tcp))
    });
    let seen = watch.stop()?;
    let (rdma, tcp) = results?;
    let after = site.all_idle(THREADS)?;
    let share = after.share_since(&before);
    site.say(format!("{share} per mille of groups from granules, at most {} granules", seen.most));
    site.say(format!("afterwards {after}"));
    let checks = [
        ("RDMA READ", Figures::read(&rdma.read), 1),
        ("RDMA WRITE", Figures::write(&rdma.write), 1),
        ("TCP READ", Figures::read(&tcp.read), 2),
    ];
    checks.iter().for_each(|(name, figures, _)| site.say(format!("{name}: {figures}")));
    // No target: the page allocator fills what TCP copies a WRITE into.
    site.say(format!("TCP WRITE: {}", Figures::write(&tcp.write)));
    ensure!(share >= SHARE, "only {share} per mille of groups were filled with granules");
    checks.iter().try_for_each(|(name, figures, percent)| figures.check(name, *percent))?;
    Ok(End::done())
}

/// Loads mounts over RDMA and TCP until there were enough RPCs, or for `time`.
fn mixed_load(site: &mut Site<'_>, time: Duration) -> Result<()> {
    let (begun, before) = (Instant::now(), procfs::nfsd_rpcs()?);
    let rdma = session(Version::V3, Transport::Rdma);
    site.host.mount(&rdma)?;
    client::unmount()?;
    for (folder, transport) in [(MOUNT, Transport::Rdma), (TCP_MOUNT, Transport::Tcp)] {
        // Attributes are asked for each time.
        client::mount_at(&session(Version::V3, transport), folder, &["noac"])?;
        mixer::create_entries(&format!("{folder}/entries-{transport}"))?;
    }
    let over = || -> Result<bool> {
        let done = procfs::nfsd_rpcs()?.saturating_sub(before);
        Ok(done >= RPCS || begun.elapsed() >= time)
    };
    thread::scope(|scope| {
        let mut workers = Vec::new();
        for (folder, transport) in [(MOUNT, Transport::Rdma), (TCP_MOUNT, Transport::Tcp)] {
            for number in 0..FILES {
                let (path, seed) = (format!("{folder}/mixed-{transport}-{number}"), site.seed);
                workers.push(scope.spawn(move || blocks(&path, seed + number, over)));
            }
            let (entries, seed) = (format!("{folder}/entries-{transport}"), site.seed);
            workers.push(scope.spawn(move || looks(&entries, seed, over)));
        }
        workers.into_iter().try_for_each(|worker| worker.join().ok().context("a load has ended")?)
    })?;
    client::unmount_at(TCP_MOUNT)?;
    client::unmount()?;
    let done = procfs::nfsd_rpcs()?.saturating_sub(before);
    site.say(format!("{done} RPCs in {} s, of {RPCS} wanted", begun.elapsed().as_secs()));
    Ok(())
}

fn blocks(path: &str, seed: u64, over: impl Fn() -> Result<bool>) -> Result<()> {
    let mut blocks = Blocks::create(path, seed)?;
    while !over()? {
        (0..16).try_for_each(|_| blocks.step())?;
    }
    Ok(())
}

fn looks(folder: &str, seed: u64, over: impl Fn() -> Result<bool>) -> Result<()> {
    let mut random = Random::new(seed);
    while !over()? {
        (0..64).try_for_each(|_| mixer::look(folder, &mut random))?;
    }
    Ok(())
}
