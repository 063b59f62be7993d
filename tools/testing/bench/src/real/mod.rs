// SPDX-License-Identifier: GPL-2.0

//! The benchmark of real machines: the configurations of the RFC, one role
//! on the server and one on the client.

pub mod access;
pub mod client;
pub mod rfc;
pub mod server;
pub mod table;

use crate::record::Line;
use serde::{Deserialize, Serialize};
use vm::counts::Counts;
use vm::settings::IoMode;

/// What a server says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// What `uname -r` says.
    pub release: String,
    /// The kernel's command line.
    pub parameters: String,
    /// CPUs that are online.
    pub cpus: u32,
    /// Memory, in bytes.
    pub memory: u64,
    /// Network and RDMA devices, by name.
    pub devices: Vec<String>,
}

/// What the server measured while the client read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Served {
    /// The server.
    pub facts: Facts,
    /// Wall time, in seconds.
    pub seconds: f64,
    /// For each CPU, the share of the time that it was busy.
    pub busy: Vec<f64>,
    /// Events, or why there are none.
    pub counts: Result<Counts, String>,
    /// What `perf lock contention` printed, or why it did not.
    pub contention: Result<String, String>,
}

/// What the client measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Read {
    /// Bytes.
    pub bytes: u64,
    /// Wall time, in seconds.
    pub seconds: f64,
}

/// One run of one configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// What the client measured.
    pub client: Read,
    /// What the server measured.
    pub server: Served,
}

/// A line of the raw results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RealRecord {
    /// [`crate::record::FORMAT`].
    pub format: u32,
    /// Name of the server's kernel in the table.
    pub kernel: String,
    /// Letter of the configuration.
    pub configuration: String,
    /// The server's access mode.
    pub mode: IoMode,
    /// Counts from zero.
    pub repetition: u32,
    /// fio jobs, and threads of the server.
    pub jobs: u32,
    /// The client's command line of fio.
    pub fio: String,
    /// The figures, or why there are none.
    pub outcome: Result<Run, String>,
}

impl Line for RealRecord {
    fn format(&self) -> u32 {
        self.format
    }
}

impl Served {
    /// CPUs' worth of time that the server was busy.
    pub fn cores(&self) -> f64 {
        self.busy.iter().sum()
    }
}

impl Read {
    /// In MiB a second.
    pub fn throughput(&self) -> f64 {
        self.bytes as f64 / f64::from(1 << 20) / self.seconds.max(f64::EPSILON)
    }
}
