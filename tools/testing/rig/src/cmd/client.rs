// SPDX-License-Identifier: GPL-2.0

//! `rig client`: hand-written messages of RPC-over-RDMA against the server.

use crate::lab::{GuestOptions, Lab};
use crate::options::Sources;
use crate::program;
use anyhow::Result;
use kbuild::flavour::Flavour;
use kbuild::tally::Tally;
use std::path::PathBuf;
use std::process::ExitCode;
use vm::job::Crafted;
use vm::settings::Device;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    guest: GuestOptions,
    /// Which kernel: ours, ours-c, plain or rfc-c
    #[arg(long, env = "KERNEL", hide_env_values = true, default_value = "ours")]
    kernel: Flavour,
    /// RDMA device of the guest
    #[arg(long, env = "RDMA", hide_env_values = true, default_value = "rxe")]
    rdma: Device,
    /// Threads of the server
    #[arg(long, env = "THREADS", hide_env_values = true, default_value = "8")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: u32,
    /// Only cases whose name contains this
    #[arg(long, env = "ONLY", hide_env_values = true)]
    only: Option<String>,
    /// No case whose name contains this; several with commas, or given again
    #[arg(long, env = "SKIP", hide_env_values = true, value_delimiter = ',')]
    skip: Vec<String>,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let Self { sources, guest, kernel, rdma: device, threads, only, skip } = self;
        let lab = Lab::open(sources, guest)?;
        let job = Crafted { device, threads, program: build(&lab)?, only, skip };
        let mut tally = Tally::new();
        carry_out(&lab, &kernel, job, &mut tally)?;
        let passed = tally.print_closing();
        Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Runs the cases on the kernel `flavour`, which is built first.
pub fn carry_out(lab: &Lab, flavour: &Flavour, job: Crafted, tally: &mut Tally) -> Result<()> {
    let guest = lab.quiet_guest(flavour)?;
    let prefix = format!("client {flavour} {}", job.device);
    vm::crafted::run(&lab.tools, &guest, &prefix, job, tally)
}

/// Builds the client and gives back its path.
pub fn build(lab: &Lab) -> Result<PathBuf> {
    kbuild::host::client_tools(&lab.cache)?;
    program::build("client", "rpcrdma-client")
}
