// SPDX-License-Identifier: GPL-2.0

//! Wrong use of the command line: one line and exit code 2.

use clap::error::ErrorKind;
use std::process::ExitCode;

/// Variables that stand for options.
const VARIABLES: [&str; 26] = [
    "ACCEL",
    "BUDGET",
    "CMD",
    "CPUS",
    "FLAVOUR",
    "FORCE_MR",
    "IO",
    "KDIR",
    "KERNEL",
    "KERNELS",
    "MAX_SEGMENT",
    "MEM",
    "MOUNT",
    "ONLY",
    "PAYLOAD",
    "PEER_PATCHES",
    "PLAIN",
    "QUICK",
    "RDMA",
    "REPEAT",
    "SIZE",
    "SKIP",
    "SWIOTLB",
    "THREADS",
    "VERS",
    "SUNRPC_RUST_CACHE",
];

/// An option variable that is set but empty means the default.
pub fn drop_empty_variables() {
    for name in VARIABLES {
        if std::env::var_os(name).is_some_and(|value| value.is_empty()) {
            std::env::remove_var(name);
        }
    }
}

/// Prints help as it is, and anything wrong on one line.
pub fn report(err: &clap::Error) -> ExitCode {
    if matches!(err.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        print!("{err}");
        return ExitCode::SUCCESS;
    }
    eprintln!("{}", one_line(&err.to_string()));
    ExitCode::from(2)
}

/// The first paragraph of clap's message, joined; the rest is usage text.
fn one_line(message: &str) -> String {
    let paragraph = message.split("\n\n").next().unwrap_or(message);
    let lines = paragraph.lines().map(str::trim);
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}
