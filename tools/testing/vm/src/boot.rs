// SPDX-License-Identifier: GPL-2.0

//! Boots a guest, hands it a job, and waits for its report.

use crate::console::Console;
use crate::fault;
use crate::follow::{Follower, Sink};
use crate::interrupt::Deferred;
use crate::job::{self, Job, Outcome, Report};
use crate::qemu::{self, Guest};
use crate::rundir::RunDir;
use crate::vmm::Vmm;
use crate::watch::{End, Limits, Watch};
use anyhow::{bail, Context, Result};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

const CONSOLE: &str = "console.log";

/// How long a guest may take to power off after its report.
const POWER_OFF: Duration = Duration::from_secs(30);

/// What a boot needs from outside.
#[derive(Clone, Debug)]
pub struct Tools {
    /// Folder with `virtme-run`.
    pub virtme: PathBuf,
    /// Folder for the folders of the guests.
    pub runs: PathBuf,
    /// Folder for remembered facts.
    pub state: PathBuf,
}

/// A guest that is over.
#[derive(Debug)]
pub struct Finished {
    end: End,
    console: String,
    folder: RunDir,
}

/// Boots `guest` with `job`. What the guest appends to a file named in
/// `sinks` is handed on at once.
///
/// Fails if the guest cannot be started, or on an interrupt; whatever goes
/// wrong in the guest is in [`Finished`].
pub fn run(
    tools: &Tools,
    guest: &Guest,
    job: &Job,
    limits: Limits,
    sinks: Vec<(&str, Sink<'_>)>,
) -> Result<Finished> {
    let folder = RunDir::create(&tools.runs, &guest.image)?;
    job::store(&folder.file(job::JOB), job)?;
    write_shell(&folder)?;
    let words = qemu::command_line(&tools.virtme, guest, folder.path())?;
    let followers = sinks.into_iter().map(|(name, sink)| Follower::new(&folder.file(name), sink));
    let mut watch = Watch::new(folder.path(), limits, followers.collect());
    let _deferred = Deferred::new();
    let (mut vmm, pipe) = Vmm::start(&words, &folder.file("guest.out"), guest.interactive)?;
    let mut console = Console::collect(pipe, &folder.file(CONSOLE))?;
    let end = watch.until_end(&mut vmm)?;
    if matches!(end, End::Reported(_)) {
        vmm.wait(POWER_OFF)?;
    }
    drop(vmm);
    console.finish();
    watch.poll();
    Ok(Finished { end, console: console.text(), folder })
}

/// An interactive guest starts this in place of a shell.
fn write_shell(folder: &RunDir) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.file("shell");
    let shared = folder.path().display();
    let text = format!("#!/bin/sh\nexec {shared}/rig guest {shared}\n");
    let written = fs::write(&path, text);
    let made = written.and_then(|()| fs::set_permissions(&path, PermissionsExt::from_mode(0o755)));
    made.with_context(|| format!("cannot write {}", path.display()))
}

impl Finished {
    /// Whether the guest lived to report.
    pub fn reported(&self) -> bool {
        matches!(self.end, End::Reported(_))
    }

    /// Everything on the console.
    pub fn console(&self) -> &str {
        &self.console
    }

    /// Removes the guest's folder.
    pub fn discard(self) {}

    /// Forgets the lines that a test provokes on purpose.
    pub fn without(mut self, line: &str) -> Self {
        let kept = self.console.lines().filter(|logged| !logged.contains(line));
        self.console = kept.collect::<Vec<_>>().join("\n");
        self
    }

    /// The outcome of a job in a guest whose kernel had nothing to complain
    /// about; the folder is removed then, and kept and named otherwise.
    pub fn judge(self) -> Result<Outcome> {
        let fault = fault::find(&self.end, &self.console);
        match (self.end, fault) {
            (End::Reported(Report { outcome: Ok(outcome), .. }), None) => Ok(outcome),
            (_, fault) => {
                let fault = fault.unwrap_or_default();
                fault.excerpt.iter().for_each(|line| eprintln!("  | {line}"));
                let log = self.folder.keep().join(CONSOLE);
                bail!("{} (the log is {})", fault.line, log.display())
            }
        }
    }
}
