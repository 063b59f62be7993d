// SPDX-License-Identifier: GPL-2.0

//! Runs the crafted client against the server of the same guest.

use crate::guest::exec;
use crate::guest::network::SERVER;
use crate::guest::paths::EXPORT;
use crate::guest::progress::Progress;
use crate::guest::server::{self, RDMA_PORT};
use crate::guest::session::Host;
use crate::job::{self, Crafted, Outcome};
use crate::settings::{IoMode, Server};
use anyhow::{bail, Context, Result};
use std::fs::{self, File};
use std::process::{Command, Stdio};

/// Runs it to its end; which cases failed is in its own lines.
pub fn run(job: &Crafted, progress: &Progress) -> Result<Outcome> {
    let host = Host::start(Server::new(job.device, job.threads))?;
    server::set_io_mode(IoMode::Buffered)?;
    progress.say("running the crafted client");
    client(job, progress)?;
    host.stop()?;
    Ok(Outcome::Done)
}

fn client(job: &Crafted, progress: &Progress) -> Result<()> {
    let mut command = Command::new(&job.program);
    command.args(["--server", SERVER, "--port", &RDMA_PORT.to_string(), "--export", EXPORT]);
    command.arg("--cases").arg(progress.path(job::CASES));
    command.args(job.only.iter().flat_map(|part| ["--only", part]));
    command.args(job.skip.iter().flat_map(|part| ["--skip", part]));
    command.env("PATH", exec::PATH).stdin(Stdio::null());
    let create = |name| File::create(progress.path(name)).context("cannot keep the output");
    command.stdout(create(job::STDOUT)?).stderr(create(job::STDERR)?);
    let status = command.status().context("cannot run the crafted client")?;
    // 1 says that a case failed.
    if matches!(status.code(), Some(0 | 1)) {
        return Ok(());
    }
    let said = fs::read_to_string(progress.path(job::STDERR)).unwrap_or_default();
    bail!("the crafted client broke off: {}", said.lines().last().unwrap_or("no reason given"))
}
