// SPDX-License-Identifier: GPL-2.0

//! The subcommands, one file each.

mod bench;
mod builders;
mod client;
mod distclean;
mod e2e;
mod gate;
mod guest;
mod kernel;
mod kunit;
mod microbench;
mod modules_check;
mod policy;
mod run;
mod series;
mod series_check;
mod setup;
mod stress;
mod test;
mod tree;
mod unsafety;
mod vm;

use anyhow::Result;
use clap::Subcommand;
use std::process::ExitCode;

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Install what is missing and fetch the kernel source
    Setup(setup::Args),
    /// Bring the patched tree up to date
    Tree(tree::Args),
    /// Build a kernel
    Kernel(kernel::Args),
    /// Move and verify data over NFS/RDMA, and measure
    Run(run::Args),
    /// Run a command or a shell in a guest with the export mounted
    Vm(vm::Args),
    /// Run the unit tests inside of the kernel
    Kunit(kunit::Args),
    /// Compare the cost of the Rust and the C helpers
    Microbench(microbench::Args),
    /// Compare the cost of svcrdma's chunk builders in several kernels
    Builders(builders::Args),
    /// Measure three kernels in turn and write a report
    Bench(bench::Args),
    /// Compare ways to allocate pages by how they use zone->lock
    Policy(policy::Args),
    /// Move and verify data in many settings
    E2e(e2e::Args),
    /// Send hand-written messages of RPC-over-RDMA to the server
    Client(client::Args),
    /// Wear the server out, for as long as there is time
    Stress(stress::Args),
    /// Run all checks of continuous integration
    Test(test::Args),
    /// What the rig starts inside of a guest
    #[command(hide = true)]
    Guest(guest::Args),
    /// Write the patch series into build/series
    Series(series::Args),
    /// Run the static checks
    Gate(gate::Args),
    /// Tell how much unsafe code the kernel's Rust has, and where
    Unsafe(unsafety::Args),
    /// Build every commit of the series, Rust on and off
    SeriesCheck(series_check::Args),
    /// Build with the server and its transports as modules
    ModulesCheck(modules_check::Args),
    /// Remove the cache folder with everything downloaded or built
    Distclean(distclean::Args),
}

impl Command {
    /// Does it; the exit code is 0 unless the subcommand says otherwise.
    pub fn run(self) -> Result<ExitCode> {
        match self {
            Command::Setup(args) => args.run(),
            Command::Tree(args) => args.run(),
            Command::Kernel(args) => args.run(),
            Command::Run(args) => args.run(),
            Command::Vm(args) => args.run(),
            Command::Kunit(args) => args.run(),
            Command::Microbench(args) => args.run(),
            Command::Builders(args) => args.run(),
            Command::Bench(args) => args.run(),
            Command::Policy(args) => args.run(),
            Command::E2e(args) => args.run(),
            Command::Client(args) => args.run(),
            Command::Stress(args) => args.run(),
            Command::Test(args) => args.run(),
            Command::Guest(args) => args.run(),
            Command::Series(args) => args.run(),
            Command::Gate(args) => args.run(),
            Command::Unsafe(args) => args.run(),
            Command::SeriesCheck(args) => args.run(),
            Command::ModulesCheck(args) => args.run(),
            Command::Distclean(args) => args.run(),
        }
    }
}
