// SPDX-License-Identifier: GPL-2.0

//! One raw result: a line of JSON.

use serde::{Deserialize, Serialize};
use vm::accel::Accel;
use vm::point::{Point, Sample};
use vm::settings::Machine;

/// Counts up when the meaning of a field changes.
pub const FORMAT: u32 = 1;

/// A kernel image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// Its flavour, such as `plain`.
    pub flavour: String,
    /// Digest of the image.
    pub image: String,
}

/// What the guest ran on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// The guest.
    pub machine: Machine,
    /// What executed it.
    pub accel: Accel,
    /// The machine's processor.
    pub processor: String,
}

/// A point, measured once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`FORMAT`].
    pub format: u32,
    /// The kernel.
    pub kernel: Kernel,
    /// What it ran on.
    pub setup: Setup,
    /// Counts from zero.
    pub repetition: u32,
    /// The point, the kernel's release and command line, the figures.
    pub sample: Sample,
}

/// What a file of raw results has in each line.
pub trait Line {
    /// The [`FORMAT`] that it was written in.
    fn format(&self) -> u32;
}

impl Line for Record {
    fn format(&self) -> u32 {
        self.format
    }
}

impl Record {
    /// Whether it is a measurement of this very thing that succeeded.
    pub fn covers(&self, kernel: &Kernel, setup: &Setup, repetition: u32, point: &Point) -> bool {
        self.kernel == *kernel
            && self.setup == *setup
            && self.repetition == repetition
            && self.sample.point == *point
            && self.sample.outcome.is_ok()
    }
}
