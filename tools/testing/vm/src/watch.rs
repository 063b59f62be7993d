// SPDX-License-Identifier: GPL-2.0

//! Waits for a guest to report, and notices when it will not.

use crate::follow::Follower;
use crate::interrupt;
use crate::job::{self, Report};
use crate::patience::{exhausted, Moment};
use crate::qemu::Guest;
use crate::vmm::Vmm;
use anyhow::Result;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

const POLL: Duration = Duration::from_millis(50);

/// How long to wait for what.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// From power on until the job is read.
    pub boot: Duration,
    /// Between two signs of life.
    pub silence: Duration,
    /// From the job to the report.
    pub total: Option<Duration>,
    /// On a busy machine, where the guest hardly runs, the first two are
    /// stretched by this factor at most.
    pub stretch: u32,
}

/// How a guest ended.
#[derive(Debug)]
pub enum End {
    /// It reported.
    Reported(Report),
    /// It did not; one line says what happened.
    Failed(String),
}

impl Limits {
    /// Limits for a guest of that speed, whose job takes at most `total`.
    pub fn new(guest: &Guest, total: Option<Duration>) -> Self {
        let slowness = guest.accel.slowness();
        let silence = Duration::from_secs(60) * slowness;
        Self { boot: Duration::from_secs(40) * slowness, silence, total, stretch: 4 }
    }
}

/// Waits for a guest and watches its signs of life.
pub struct Watch<'a> {
    folder: PathBuf,
    limits: Limits,
    followers: Vec<Follower<'a>>,
    begun: Moment,
    started: Option<Moment>,
    alive: (String, Moment),
}

impl<'a> Watch<'a> {
    /// Starts to wait for the guest that shares `folder`.
    pub fn new(folder: &Path, limits: Limits, followers: Vec<Follower<'a>>) -> Self {
        let begun = Moment::now(Duration::ZERO);
        let folder = folder.to_owned();
        Self { folder, limits, followers, begun, started: None, alive: (String::new(), begun) }
    }

    /// Waits; fails only on an interrupt.
    pub fn until_end(&mut self, vmm: &mut Vmm) -> Result<End> {
        loop {
            interrupt::check()?;
            // Looked at before the report, which an ending guest has written.
            let over = vmm.has_ended()?;
            let now = Moment::now(vmm.cpu_time());
            self.poll();
            self.look_for_life(now);
            if let Some(report) = self.report()? {
                return Ok(End::Reported(report));
            }
            if over {
                return Ok(End::Failed(self.died()));
            }
            if let Some(reason) = self.too_late(now) {
                return Ok(End::Failed(reason));
            }
            thread::sleep(POLL);
        }
    }

    /// Hands on what the guest wrote.
    pub fn poll(&mut self) {
        self.followers.iter_mut().for_each(Follower::poll);
    }

    fn look_for_life(&mut self, now: Moment) {
        if self.started.is_none() && self.folder.join(job::STARTED).exists() {
            self.started = Some(now);
            self.alive.1 = now;
        }
        let alive = fs::read_to_string(self.folder.join(job::ALIVE)).unwrap_or_default();
        if alive != self.alive.0 {
            self.alive = (alive, now);
        }
    }

    fn report(&self) -> Result<Option<Report>> {
        let path = self.folder.join(job::REPORT);
        if path.exists() {
            return job::load(&path).map(Some);
        }
        Ok(None)
    }

    fn died(&self) -> String {
        match self.started {
            Some(_) => "the guest ended without a report".to_owned(),
            None => "the guest ended before it was up".to_owned(),
        }
    }

    fn too_late(&self, now: Moment) -> Option<String> {
        let Limits { boot, silence, total, stretch } = self.limits;
        let Some(started) = self.started else {
            let late = exhausted(self.begun, now, boot, stretch);
            let passed = now.since(self.begun).as_secs();
            return late.then(|| format!("the guest did not come up within {passed} s"));
        };
        if exhausted(self.alive.1, now, silence, stretch) {
            let passed = now.since(self.alive.1).as_secs();
            return Some(format!("the guest hangs, no sign of life for {passed} s"));
        }
        let total = total.filter(|total| now.since(started) > *total)?;
        Some(format!("the guest did not finish within {} s", total.as_secs()))
    }
}
