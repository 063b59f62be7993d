// SPDX-License-Identifier: GPL-2.0

//! The QEMU process.

use crate::guest::procfs;
use anyhow::{bail, Context, Result};
use rustix::process::{kill_process_group, Pid, Signal};
use std::fs::File;
use std::io::IsTerminal;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A running QEMU; it ends with this value, or with this process.
#[derive(Debug)]
pub struct Vmm {
    child: Child,
    own_group: bool,
    terminal: Option<String>,
}

impl Vmm {
    /// Starts it. The guest's console comes out of the pipe; its standard
    /// output goes to the file `output`, or to the terminal if interactive.
    pub fn start(
        words: &[String],
        output: &Path,
        interactive: bool,
    ) -> Result<(Self, ChildStderr)> {
        // Ends QEMU even if this process is killed.
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]).args(words).stderr(Stdio::piped());
        if !interactive {
            let file = File::create(output);
            let file = file.with_context(|| format!("cannot create {}", output.display()))?;
            // A group of its own: Ctrl-C comes here first.
            command.stdin(Stdio::null()).stdout(file).process_group(0);
        }
        let terminal = interactive.then(terminal_settings).flatten();
        let mut child = command.spawn().context("cannot run setpriv, of package util-linux")?;
        let pipe = child.stderr.take().context("QEMU has no standard error")?;
        Ok((Self { child, own_group: !interactive, terminal }, pipe))
    }

    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> Result<bool> {
        Ok(self.child.try_wait().context("cannot wait for QEMU")?.is_some())
    }

    /// Processor time that it has had.
    pub fn cpu_time(&self) -> Duration {
        let ticks = procfs::process_ticks(self.child.id()).unwrap_or(0);
        Duration::from_millis(ticks.saturating_mul(1000) / procfs::ticks_per_second())
    }

    /// Waits for its end, for that long at most.
    pub fn wait(&mut self, patience: Duration) -> Result<()> {
        let deadline = Instant::now() + patience;
        while !self.has_ended()? {
            if Instant::now() > deadline {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn kill(&mut self) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        match pid {
            Some(pid) if self.own_group => drop(kill_process_group(pid, Signal::KILL)),
            _ => drop(self.child.kill()),
        }
        let _ = self.child.wait();
    }
}

impl Drop for Vmm {
    fn drop(&mut self) {
        if !self.has_ended().unwrap_or(false) {
            self.kill();
        }
        if let Some(settings) = &self.terminal {
            let _ = Command::new("stty").arg(settings).status();
        }
    }
}

/// Fails with one line unless a shell can run on this terminal.
pub fn require_terminal() -> Result<()> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        bail!("a shell needs a terminal: give a command with CMD='...'");
    }
    Ok(())
}

/// QEMU makes the terminal raw and does not restore it when killed.
fn terminal_settings() -> Option<String> {
    let output = Command::new("stty").arg("-g").stdin(Stdio::inherit()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| output.status.success() && !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(line: &str, folder: &Path) -> (Vmm, ChildStderr) {
        let words = ["sh", "-c", line].map(str::to_owned);
        Vmm::start(&words, &folder.join("out"), false).unwrap()
    }

    #[test]
    fn dropping_ends_the_whole_group() {
        let folder = tempfile::tempdir().unwrap();
        let (vmm, mut pipe) = start("sleep 600 & echo up >&2; wait", folder.path());
        let begun = Instant::now();
        drop(vmm);
        // The pipe only ends when nobody of the group holds it any more.
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut pipe, &mut text).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn processor_time_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let (mut vmm, _pipe) = start("while :; do :; done", folder.path());
        let begun = Instant::now();
        while vmm.cpu_time().is_zero() && begun.elapsed() < Duration::from_secs(50) {
            thread::sleep(Duration::from_millis(50));
        }
        assert!(!vmm.has_ended().unwrap());
        assert!(!vmm.cpu_time().is_zero());
    }

    #[test]
    fn an_end_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let (mut vmm, _pipe) = start("echo output", folder.path());
        vmm.wait(Duration::from_secs(60)).unwrap();
        assert!(vmm.has_ended().unwrap());
        assert_eq!(std::fs::read_to_string(folder.path().join("out")).unwrap(), "output\n");
    }
}
