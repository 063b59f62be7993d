// SPDX-License-Identifier: GPL-2.0

//! Watches the granules while something else goes on.

use crate::granules::Granules;
use crate::guest::stress::granules;
use anyhow::{ensure, Context, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

const PERIOD: Duration = Duration::from_millis(250);

/// What was seen.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// The most granules owned.
    pub most: u64,
    /// The least.
    pub least: u64,
    /// The last look.
    pub last: Granules,
}

/// A look at the granules four times a second.
pub struct Watch {
    stop: Arc<AtomicBool>,
    watcher: JoinHandle<Result<Seen>>,
}

impl Watch {
    /// Starts to watch; more than `limit` granules are a failure.
    pub fn start(limit: u64) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        Self { stop, watcher: thread::spawn(move || watch(limit, &stopped)) }
    }

    /// Stops it, and gives back what was seen.
    pub fn stop(self) -> Result<Seen> {
        self.stop.store(true, Ordering::Relaxed);
        self.watcher.join().ok().context("the watcher of the granules has ended")?
    }
}

fn watch(limit: u64, stop: &AtomicBool) -> Result<Seen> {
    let last = granules::census()?;
    let mut seen = Seen { most: last.owned, least: last.owned, last };
    while !stop.load(Ordering::Relaxed) {
        seen.last = granules::census()?;
        seen.most = seen.most.max(seen.last.owned);
        seen.least = seen.least.min(seen.last.owned);
        ensure!(seen.last.owned <= limit, "more than {limit} granules: {}", seen.last);
        thread::sleep(PERIOD);
    }
    Ok(seen)
}
