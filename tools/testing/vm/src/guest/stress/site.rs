// SPDX-License-Identifier: GPL-2.0

//! What the scenarios of one boot share.

use crate::granules::Granules;
use crate::guest::counters::Counters;
use crate::guest::paths::{self, MOUNT, TCP_MOUNT};
use crate::guest::progress::Progress;
use crate::guest::session::Host;
use crate::guest::stress::granules;
use crate::guest::stress::stir;
use crate::guest::{client, server};
use crate::job::Stress;
use crate::settings::{Device, IoMode, Session, Transport, Version};
use anyhow::{ensure, Context, Result};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Threads of the server, unless a scenario chooses.
pub const THREADS: u32 = 8;

/// Granules become idle within that time after the last use.
const PATIENCE: Duration = Duration::from_secs(90);

/// A server, and means to load and to watch it.
pub struct Site<'a> {
    /// The server.
    pub host: Host,
    /// Counters of events.
    pub counters: Counters,
    /// The fsx program.
    pub fsx: PathBuf,
    /// Start of all that is random.
    pub seed: u64,
    progress: &'a Progress,
}

/// Direct I/O over `transport`, with `version`.
pub fn session(version: Version, transport: Transport) -> Session {
    Session::new(Device::Rxe, version, IoMode::Direct, transport)
}

impl<'a> Site<'a> {
    /// Starts the server and installs the counters.
    pub fn start(job: &Stress, progress: &'a Progress) -> Result<Self> {
        let host = Host::start(session(Version::V3, Transport::Rdma).server())?;
        server::set_io_mode(IoMode::Direct)?;
        let counters = Counters::install().context("cannot count events")?;
        let (fsx, seed) = (job.fsx.clone(), job.seed);
        Ok(Self { host, counters, fsx, seed, progress })
    }

    /// Tells the outside how far the guest is.
    pub fn say(&self, line: impl AsRef<str>) {
        self.progress.say(line);
    }

    /// What progress is told to.
    pub fn progress(&self) -> &Progress {
        self.progress
    }

    /// Mounts NFSv4.2 over RDMA, with direct I/O.
    pub fn mount(&mut self) -> Result<()> {
        self.host.mount(&session(Version::V42, Transport::Rdma))
    }

    /// Fails unless nobody pins a granule any more: all but those of the
    /// threads are idle before long.
    pub fn all_idle(&self, threads: u32) -> Result<Granules> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            stir::packets()?;
            let census = granules::settled()?;
            let held = census.owned.saturating_sub(census.idle);
            if held <= granules::threads_need(threads) {
                return Ok(census);
            }
            ensure!(
                Instant::now() < deadline,
                "{held} granules are in use though {threads} threads need {} at most: {census}",
                granules::threads_need(threads)
            );
            std::thread::sleep(Duration::from_secs(1));
        }
    }

    /// Removes what a scenario that failed may have left.
    pub fn clear(&self) -> Result<()> {
        for folder in [TCP_MOUNT, MOUNT] {
            if paths::is_mounted(folder) {
                client::unmount_at(folder).context("the failed scenario holds its mount")?;
            }
        }
        server::set_threads(THREADS)
    }

    /// Stops the server.
    pub fn stop(self) -> Result<()> {
        self.host.stop()
    }
}
