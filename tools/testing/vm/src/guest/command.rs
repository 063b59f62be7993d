// SPDX-License-Identifier: GPL-2.0

//! Runs the user's command, or a shell, with the export mounted.

use crate::guest::exec;
use crate::guest::paths::{EXPORT, MOUNT};
use crate::guest::progress::Progress;
use crate::job::{self, Command as Job};
use anyhow::{Context, Result};
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

/// Runs it to its end; 128 and the signal's number if a signal ended it.
pub fn run(job: &Job, progress: &Progress) -> Result<u8> {
    let mut command = match &job.line {
        Some(line) => redirected(line, progress)?,
        None => Command::new("bash"),
    };
    command.env("PATH", exec::PATH).env("NFS_MNT", MOUNT).env("NFS_EXPORT", EXPORT);
    command.envs(&job.environment);
    command.current_dir(if job.folder.is_dir() { &job.folder } else { Path::new("/") });
    let status = command.status().context("cannot run a shell in the guest")?;
    Ok(code(status))
}

fn redirected(line: &str, progress: &Progress) -> Result<Command> {
    let mut command = Command::new("sh");
    command.args(["-c", line]).stdin(Stdio::null());
    command.stdout(create(progress, job::STDOUT)?).stderr(create(progress, job::STDERR)?);
    Ok(command)
}

fn create(progress: &Progress, name: &str) -> Result<File> {
    let path = progress.path(name);
    File::options()
        .create(true)
        .append(true)
        .open(&path)
        .with_context(|| format!("cannot create {}", path.display()))
}

fn code(status: ExitStatus) -> u8 {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    u8::try_from(code).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_becomes_a_code() {
        assert_eq!(code(ExitStatus::from_raw(7 << 8)), 7);
        assert_eq!(code(ExitStatus::from_raw(9)), 137);
        assert_eq!(code(ExitStatus::from_raw(0)), 0);
    }
}
