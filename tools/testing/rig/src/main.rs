// SPDX-License-Identifier: GPL-2.0

//! Command line of the rig: builds kernels, makes the series, runs guests.
//!
//! Exit codes: 0 done, 1 failed, 2 wrong use. `vm` gives back the exit code
//! of the command that ran in the guest.

mod cmd;
mod host_tests;
mod lab;
mod meter;
mod options;
mod program;
mod usage;

use clap::Parser;
use cmd::Command;
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "rig", about = "Builds, boots and checks the patched kernel")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    usage::drop_empty_variables();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(err) => return usage::report(&err),
    };
    match cli.command.run() {
        Ok(code) => code,
        Err(err) => {
            eprintln!("error: {err:#}");
            ExitCode::FAILURE
        }
    }
}
