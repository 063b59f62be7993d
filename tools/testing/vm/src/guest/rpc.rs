// SPDX-License-Identifier: GPL-2.0

//! The user space programs beside nfsd: rpcbind, mountd and nfsdcld.

use crate::guest::exec;
use crate::guest::paths::{self, SCRATCH};
use anyhow::{ensure, Context, Result};
use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const PIPES: &str = "/var/lib/nfs/rpc_pipefs";
const NFSD: &str = "/proc/fs/nfsd";

/// How long a program may take to start or to end, even under emulation.
const PATIENCE: Duration = Duration::from_secs(60);

/// In the order in which they start.
const DAEMONS: [(&str, &[&str]); 3] = [("rpcbind", &["-w"]), ("rpc.mountd", &[]), ("nfsdcld", &[])];

/// Mounts what they need and starts them.
pub fn start() -> Result<()> {
    if !paths::is_mounted(NFSD) {
        exec::step("mount", &["-t", "nfsd", "nfsd", NFSD])?;
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

/// Ends them, and unmounts what they needed.
pub fn stop() -> Result<()> {
    DAEMONS.iter().rev().try_for_each(|(program, _)| end(program))?;
    exec::step("umount", &[PIPES])?;
    exec::step("umount", &[NFSD])?;
    Ok(())
}

/// Ends a program, and waits until it has ended.
pub fn end(program: &str) -> Result<()> {
    for pid in running(program)? {
        exec::step("kill", &[&pid])?;
    }
    let deadline = Instant::now() + PATIENCE;
    while !running(program)?.is_empty() {
        ensure!(Instant::now() < deadline, "{program} does not end in the guest");
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Starts a program that goes to the background by itself.
pub fn daemon(program: &str, args: &[&str]) -> Result<()> {
    let log = format!("{SCRATCH}/{program}.log");
    let file = File::create(&log).with_context(|| format!("cannot create {log} in the guest"))?;
    let both = file.try_clone().context("cannot duplicate a file")?;
    let mut command = Command::new(program);
    command.args(args).env("PATH", exec::PATH).stdin(Stdio::null()).stdout(both).stderr(file);
    let mut child = command.spawn().with_context(|| format!("cannot run {program}"))?;
    let status = exec::wait(&mut child, PATIENCE)?;
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
