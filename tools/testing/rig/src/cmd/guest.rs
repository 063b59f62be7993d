// SPDX-License-Identifier: GPL-2.0

//! `rig guest`: what the rig starts inside of a guest.

use anyhow::{ensure, Result};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Args {
    /// The folder shared with the outside
    folder: PathBuf,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        // It would take the machine's own NFS server apart.
        let command_line = std::fs::read_to_string("/proc/cmdline").unwrap_or_default();
        let inside = command_line.contains("virtme_hostname=rig");
        ensure!(inside, "`rig guest` only runs in a guest that the rig has booted");
        vm::guest::run(&self.folder)?;
        Ok(ExitCode::SUCCESS)
    }
}
