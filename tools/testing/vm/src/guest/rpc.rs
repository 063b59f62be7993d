// SPDX-License-Identifier: GPL-2.0

//! The user space programs beside nfsd: rpcbind, mountd and nfsdcld.

use crate::guest::exec;
use crate::guest::paths::{self, SCRATCH};
use anyhow::{ensure, Context, Result};
use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::time::Duration;

const PIPES: &str = "/var/lib/nfs/rpc_pipefs";

/// In the order in which they start.
const DAEMONS: [(&str, &[&str]); 3] = [("rpcbind", &["-w"]), ("rpc.mountd", &[]), ("nfsdcld", &[])];

/// Mounts what they need and starts them.
pub fn start() -> Result<()> {
    if !paths::is_mounted("/proc/fs/nfsd") {
        exec::step("mount", &["-t", "nfsd", "nfsd", "/proc/fs/nfsd"])?;
    }
    exec::step("mount", &["-t", "rpc_pipefs", "rpc_pipefs", PIPES])?;
    paths::create("/run/rpcbind")?;
    for (program, args) in DAEMONS {
        daemon(program, args)?;
    }
    Ok(())
}

/// Fails if one of them is not there any more.
pub fn check() -> Result<()> {
    for (program, _) in DAEMONS {
        ensure!(!running(program)?.is_empty(), "{program} has ended in the guest");
    }
    Ok(())
}

/// Ends them.
pub fn stop() -> Result<()> {
    for (program, _) in DAEMONS.iter().rev() {
        for pid in running(program)? {
            exec::step("kill", &[&pid])?;
        }
    }
    Ok(())
}

/// Starts a program that goes to the background by itself.
fn daemon(program: &str, args: &[&str]) -> Result<()> {
    let log = format!("{SCRATCH}/{program}.log");
    let file = File::create(&log).with_context(|| format!("cannot create {log} in the guest"))?;
    let both = file.try_clone().context("cannot duplicate a file")?;
    let mut command = Command::new(program);
    command.args(args).env("PATH", exec::PATH).stdin(Stdio::null()).stdout(both).stderr(file);
    let mut child = command.spawn().with_context(|| format!("cannot run {program}"))?;
    let status = exec::wait(&mut child, Duration::from_secs(60))?;
    let status = status.with_context(|| format!("{program} did not go to the background"))?;
    let said = fs::read_to_string(&log).unwrap_or_default();
    let reason = said.lines().next().unwrap_or("no reason given").to_owned();
    ensure!(status.success(), "{program} failed: {reason}");
    Ok(())
}

/// Process ids of the programs with that name.
fn running(program: &str) -> Result<Vec<String>> {
    let mut pids = Vec::new();
    for entry in fs::read_dir("/proc").context("cannot read /proc")? {
        let entry = entry.context("cannot read /proc")?;
        let comm = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        if comm.trim_end() == program {
            pids.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(pids)
}
