// SPDX-License-Identifier: GPL-2.0

//! What the outside asks of a guest, and what the guest answers.
//!
//! Both sides are the same program. They meet in one folder that the guest
//! has mounted: the job goes in, the report and the output come out.

use crate::counts::Counts;
use crate::point::Bench;
use crate::policy::Replay;
use crate::settings::{Device, Session};
use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The job, written before the guest boots.
pub const JOB: &str = "job.json";
/// Exists from the moment the guest has read its job.
pub const STARTED: &str = "started";
/// Changes every few seconds for as long as the guest is well.
pub const ALIVE: &str = "alive";
/// Lines that tell how far the guest is.
pub const PROGRESS: &str = "progress";
/// One JSON line for each case of a matrix, or point of the benchmark.
pub const CASES: &str = "cases";
/// Standard output of the command.
pub const STDOUT: &str = "stdout";
/// Standard error of the command.
pub const STDERR: &str = "stderr";
/// The report; it appears as a whole.
pub const REPORT: &str = "report.json";

/// What the guest does.
#[derive(Debug, Serialize, Deserialize)]
pub enum Job {
    /// Comes up and reports.
    Nothing,
    /// Moves data and counts events.
    Measure(Measure),
    /// Runs one command with the export mounted.
    Command(Command),
    /// Moves a little data in many settings.
    Matrix(Matrix),
    /// Loads modules, moves a little data, and unloads them.
    Modules(Modules),
    /// Runs the crafted client.
    Crafted(Crafted),
    /// Moves data and times svcrdma's functions.
    Cost(Measure),
    /// Wears the server out.
    Stress(Stress),
    /// Measures the points of the benchmark.
    Bench(Bench),
    /// Replays ways to allocate pages.
    Policy(Replay),
}

/// Sizes of one verified transfer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Workload {
    /// Payload, in bytes.
    pub size: u64,
    /// The fsx program; without it that part is left out.
    pub fsx: Option<PathBuf>,
    /// Number of fsx operations.
    pub fsx_operations: u32,
    /// Seed of fsx and of the pattern.
    pub seed: u64,
}

/// A measured transfer.
#[derive(Debug, Serialize, Deserialize)]
pub struct Measure {
    /// Server and mount.
    pub session: Session,
    /// What is moved.
    pub workload: Workload,
}

/// A command of the user.
#[derive(Debug, Serialize, Deserialize)]
pub struct Command {
    /// Server and mount.
    pub session: Session,
    /// The command for `sh -c`; none means a shell on the console.
    pub line: Option<String>,
    /// The folder in which it runs, if the guest sees it.
    pub folder: PathBuf,
    /// Variables handed on.
    pub environment: BTreeMap<String, String>,
}

/// Several transfers in one boot.
#[derive(Debug, Serialize, Deserialize)]
pub struct Matrix {
    /// The settings, in order.
    pub sessions: Vec<Session>,
    /// What is moved in each.
    pub workload: Workload,
}

/// A kernel with modules.
#[derive(Debug, Serialize, Deserialize)]
pub struct Modules {
    /// The modules, in a folder that has the name of the kernel's release.
    pub folder: PathBuf,
    /// What they are used for.
    pub matrix: Matrix,
}

/// The cases of the crafted client.
#[derive(Debug, Serialize, Deserialize)]
pub struct Crafted {
    /// RDMA device.
    pub device: Device,
    /// Server threads.
    pub threads: u32,
    /// The client's program.
    pub program: PathBuf,
    /// Part of the names of the cases to run; none means all.
    pub only: Option<String>,
    /// Parts of the names of cases to leave out.
    pub skip: Vec<String>,
}

/// Scenarios that wear the server out, in one boot.
#[derive(Debug, Serialize, Deserialize)]
pub struct Stress {
    /// Names of the scenarios, in order.
    pub scenarios: Vec<String>,
    /// How long all of them may take together.
    pub seconds: u64,
    /// The fsx program.
    pub fsx: PathBuf,
    /// Seed of the data, of fsx, and of whatever is random.
    pub seed: u64,
}

/// What came of one case of a matrix, of the crafted client, or of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// None if it passed, or was left out.
    pub failure: Option<String>,
    /// Why it was left out.
    #[serde(default)]
    pub skipped: Option<String>,
    /// What it counted, to be compared with other boots.
    #[serde(default)]
    pub figures: BTreeMap<String, u64>,
}

/// The answer of the guest.
#[derive(Debug, Serialize, Deserialize)]
pub struct Report {
    /// What `uname -r` says.
    pub release: String,
    /// `/proc/sys/kernel/tainted` at the end.
    pub tainted: u64,
    /// The outcome, or one line that says what failed.
    pub outcome: std::result::Result<Outcome, String>,
}

/// What came of a job.
#[derive(Debug, Serialize, Deserialize)]
pub enum Outcome {
    /// Nothing to tell.
    Done,
    /// The command ended with this exit code.
    Exit(u8),
    /// The figures of a transfer.
    Measured(Box<Measured>),
    /// What functions cost.
    Costs(Costs),
}

/// What functions cost for each MiB of payload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Costs(pub Vec<Cost>);

/// What a function costs, in nanoseconds or instructions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// The function.
    pub function: String,
    /// The median of its calls.
    pub median: u64,
    /// The first and the third quartile.
    pub quartiles: (u64, u64),
}

/// Figures of one verified transfer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Writing the payload.
    pub write: Phase,
    /// Reading it back and comparing.
    pub read: Phase,
    /// Bytes whose digest was the same at the client and in the backing file.
    pub compared: u64,
    /// fsx operations that passed; zero if it was left out.
    pub fsx_operations: u32,
}

/// Figures of one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Payload, in bytes.
    pub bytes: u64,
    /// Wall time, in seconds.
    pub seconds: f64,
    /// Events in the kernel during the phase.
    pub counts: Counts,
}

/// Reads a JSON file.
pub fn load<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("{} is damaged", path.display()))
}

/// Writes a JSON file so that it appears as a whole.
pub fn store<T: Serialize>(path: &Path, value: &T) -> Result<()> {
    let text = serde_json::to_vec_pretty(value).context("cannot encode JSON")?;
    let part = path.with_extension("part");
    std::fs::write(&part, text).with_context(|| format!("cannot write {}", part.display()))?;
    std::fs::rename(&part, path).with_context(|| format!("cannot write {}", path.display()))
}
