// SPDX-License-Identifier: GPL-2.0

//! `rig vm`: runs a command, or a shell, in a guest with the export mounted.

use crate::lab::{GuestOptions, Lab, SessionOptions};
use crate::options::Sources;
use anyhow::{bail, Context, Result};
use kbuild::flavour::Flavour;
use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;
use vm::follow::Sink;
use vm::job::{self, Command, Job, Outcome};
use vm::watch::Limits;
use vm::{boot, vmm};

/// Variables of the caller that the command sees.
const HANDED_ON: [&str; 3] = ["HOME", "LANG", "TERM"];

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    guest: GuestOptions,
    #[command(flatten)]
    session: SessionOptions,
    /// Which kernel: ours, ours-c, plain or rfc-c
    #[arg(long, env = "KERNEL", hide_env_values = true, default_value = "ours")]
    kernel: Flavour,
    /// The command; without it a shell runs on the terminal
    #[arg(long, env = "CMD", hide_env_values = true)]
    cmd: Option<String>,
    /// Give up after that many seconds
    #[arg(long, env = "TIMEOUT", hide_env_values = true)]
    timeout: Option<u64>,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        if self.cmd.is_none() {
            vmm::require_terminal()?;
        }
        let session = self.session.session()?;
        let kernel = self.session.kernel(&self.kernel);
        let lab = Lab::open(self.sources, self.guest)?;
        self.session.install(&lab)?;
        let mut guest = lab.quiet_guest(&kernel)?;
        guest.interactive = self.cmd.is_none();
        let folder = std::env::current_dir().context("the current folder is gone")?;
        let job = Command { session, line: self.cmd, folder, environment: environment() };
        let limits = Limits::new(&guest, self.timeout.map(Duration::from_secs));
        let sinks = vec![(job::STDOUT, stdout()), (job::STDERR, stderr())];
        let finished = boot::run(&lab.tools, &guest, &Job::Command(job), limits, sinks)?;
        match finished.judge()? {
            Outcome::Exit(code) => Ok(ExitCode::from(code)),
            _ => bail!("the guest reported no exit code"),
        }
    }
}

fn environment() -> BTreeMap<String, String> {
    let set =
        HANDED_ON.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)));
    set.collect()
}

/// A reader that went away is no reason to end the guest.
fn stdout() -> Sink<'static> {
    Box::new(|bytes| {
        let mut out = std::io::stdout();
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    })
}

fn stderr() -> Sink<'static> {
    Box::new(|bytes| {
        let _ = std::io::stderr().write_all(bytes);
    })
}
