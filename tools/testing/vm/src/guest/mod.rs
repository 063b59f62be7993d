// SPDX-License-Identifier: GPL-2.0

//! The part that runs inside of the guest, as root.

pub mod ageing;
pub mod bench;
pub mod client;
pub mod command;
pub mod cost;
pub mod counters;
pub mod crafted;
pub mod exec;
pub mod export;
pub mod fio;
pub mod fsx;
pub mod granules;
pub mod kerberos;
pub mod matrix;
pub mod modules;
pub mod network;
pub mod paths;
pub mod pattern;
pub mod plausible;
pub mod policy;
pub mod procfs;
pub mod progress;
pub mod rpc;
pub mod server;
pub mod session;
pub mod stress;
pub mod tracefs;
pub mod transfer;

use crate::job::{self, Command, Job, Measure, Outcome, Report};
use anyhow::{Context, Result};
use counters::Counters;
use progress::Progress;
use session::Host;
use std::path::Path;

/// Does the job in the shared folder and reports there.
///
/// Fails only if the report cannot be written; what failed in the job is in
/// the report.
pub fn run(folder: &Path) -> Result<()> {
    let job: Job = job::load(&folder.join(job::JOB))?;
    let progress = Progress::start(folder)?;
    let outcome = perform(&job, &progress).map_err(|err| one_line(&err));
    let report = Report { release: procfs::release()?, tainted: procfs::tainted()?, outcome };
    job::store(&folder.join(job::REPORT), &report)
}

fn perform(job: &Job, progress: &Progress) -> Result<Outcome> {
    match job {
        Job::Nothing => Ok(Outcome::Done),
        Job::Measure(job) => measure(job, progress),
        Job::Command(job) => command(job, progress),
        Job::Matrix(job) => matrix::run(job, progress),
        Job::Modules(job) => modules::run(job, progress),
        Job::Crafted(job) => crafted::run(job, progress),
        Job::Cost(job) => cost::run(job, progress),
        Job::Stress(job) => stress::run(job, progress),
        Job::Bench(job) => bench::run(job, progress),
        Job::Policy(job) => policy::run(job, progress),
    }
}

fn measure(job: &Measure, progress: &Progress) -> Result<Outcome> {
    progress.say("setting up server and mount");
    let mut host = Host::start(job.session.server())?;
    let counters = Counters::install().context("cannot count events")?;
    host.mount(&job.session)?;
    let measured = transfer::run(&job.session, &job.workload, &counters, progress)?;
    client::unmount()?;
    host.stop()?;
    Ok(Outcome::Measured(Box::new(measured)))
}

fn command(job: &Command, progress: &Progress) -> Result<Outcome> {
    let mut host = Host::start(job.session.server())?;
    host.mount(&job.session)?;
    let code = command::run(job, progress)?;
    // The command may have taken down anything itself.
    if paths::is_mounted(paths::MOUNT) && client::unmount().is_ok() {
        let _ = host.stop();
    }
    Ok(Outcome::Exit(code))
}

fn one_line(err: &anyhow::Error) -> String {
    format!("{err:#}").split_whitespace().collect::<Vec<_>>().join(" ")
}
