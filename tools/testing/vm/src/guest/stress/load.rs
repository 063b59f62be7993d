// SPDX-License-Identifier: GPL-2.0

//! A load whose every byte is verified: fio and fsx at a time on one mount.

use crate::guest::fio::{Direction, Fio};
use crate::guest::fsx;
use crate::guest::stress::site::Site;
use crate::guest::transfer::DEPTH;
use crate::settings::{Version, MIB};
use anyhow::{ensure, Context, Result};
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Payload of a round of fio.
const SIZE: u64 = 16 * MIB;

/// Operations of a round of fsx.
const OPERATIONS: u32 = 60;

/// A load that runs until it is stopped.
pub struct Load {
    stop: Arc<AtomicBool>,
    fio: JoinHandle<Result<u64>>,
    fsx: JoinHandle<Result<u64>>,
}

/// What a load did.
#[derive(Debug)]
pub struct Done {
    /// MiB written, and read and verified.
    pub mib: u64,
    /// Operations of fsx.
    pub operations: u64,
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mib, operations } = self;
        write!(f, "{mib} MiB written and verified, {operations} operations of fsx")
    }
}

impl Load {
    /// Starts it on the mount at `folder`, of NFS `version`.
    pub fn start(site: &Site<'_>, folder: &str, version: Version) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let file = format!("{folder}/load");
        let seed = site.seed;
        let fio = rounds(&stop, move |round| transfer(&file, seed + round));
        let (file, program) = (format!("{folder}/fsx"), site.fsx.clone());
        let fsx = rounds(&stop, move |round| operate(&program, version, &file, seed + round));
        Self { stop, fio, fsx }
    }

    /// Fails if part of it has ended.
    pub fn check(&self) -> Result<()> {
        ensure!(!self.fio.is_finished() && !self.fsx.is_finished(), "the load has broken off");
        Ok(())
    }

    /// Stops it at the end of the present round; fails if anything was lost.
    pub fn stop(self) -> Result<Done> {
        self.stop.store(true, Ordering::Relaxed);
        let (fio, fsx) = (self.fio.join(), self.fsx.join());
        let mib = fio.ok().context("the load has ended")?.context("under load")?;
        let operations = fsx.ok().context("the load has ended")?.context("under load")?;
        Ok(Done { mib, operations })
    }

    /// Repeats `act` until `time` has passed, or part of the load has ended,
    /// and stops the load.
    pub fn during(self, time: Duration, mut act: impl FnMut() -> Result<()>) -> Result<Done> {
        let deadline = Instant::now() + time;
        let mut result = Ok(());
        while result.is_ok() && Instant::now() < deadline && self.check().is_ok() {
            result = act();
        }
        // What the load says is nearer to the cause.
        self.stop().and_then(|done| result.map(|()| done))
    }
}

fn rounds(
    stop: &Arc<AtomicBool>,
    round: impl Fn(u64) -> Result<u64> + Send + 'static,
) -> JoinHandle<Result<u64>> {
    let stop = Arc::clone(stop);
    thread::spawn(move || {
        let mut sum = 0;
        for number in 0_u64.. {
            sum += round(number)?;
            if stop.load(Ordering::Relaxed) {
                break;
            }
        }
        Ok(sum)
    })
}

fn transfer(file: &str, seed: u64) -> Result<u64> {
    let fio = Fio { file, size: SIZE, block: MIB, depth: Some(DEPTH), seed };
    fio.run(Direction::Write)?;
    fio.run(Direction::Verify)?;
    Ok(SIZE / MIB)
}

fn operate(program: &Path, version: Version, file: &str, seed: u64) -> Result<u64> {
    fsx::run(program, version, file, OPERATIONS, seed)?;
    Ok(OPERATIONS.into())
}
