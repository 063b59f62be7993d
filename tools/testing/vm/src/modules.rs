// SPDX-License-Identifier: GPL-2.0

//! Boots a kernel with modules, and has them loaded, used and unloaded.

use crate::boot::Tools;
use crate::e2e::{self, SEED};
use crate::job::{Job, Matrix, Modules};
use crate::qemu::Guest;
use crate::settings::{Device, IoMode, Session, Transport, Version};
use anyhow::Result;
use kbuild::tally::Tally;
use std::path::PathBuf;

/// The turns, by name.
pub const LOADS: [&str; 2] = ["first load", "second load"];

/// Name of the case that no module is left.
pub const UNLOADED: &str = "all modules unloaded";

/// Boots `guest`, whose modules are in `folder`, named by kernel release.
pub fn run(
    tools: &Tools,
    guest: &Guest,
    prefix: &str,
    folder: PathBuf,
    fsx: PathBuf,
    tally: &mut Tally,
) -> Result<()> {
    let matrix = e2e::with_sessions(sessions(), Some(fsx), SEED);
    let names = names(&matrix);
    let job = Job::Modules(Modules { folder, matrix });
    e2e::record(tools, guest, prefix, &names, &job, tally)
}

/// Every module has something to do in one of them.
fn sessions() -> Vec<Session> {
    vec![
        Session::new(Device::Rxe, Version::V42, IoMode::Direct, Transport::Rdma),
        Session::new(Device::Siw, Version::V3, IoMode::Buffered, Transport::Rdma),
        Session::new(Device::Siw, Version::V42, IoMode::Buffered, Transport::Tcp),
    ]
}

fn names(matrix: &Matrix) -> Vec<String> {
    let cases: Vec<String> = matrix.sessions.iter().map(Session::to_string).collect();
    let cases = || cases.iter().map(String::as_str).chain([UNLOADED]);
    LOADS.iter().flat_map(|load| cases().map(move |case| format!("{load}: {case}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_turns_are_expected_whole() {
        let names = names(&e2e::with_sessions(sessions(), None, SEED));
        assert_eq!(names.len(), 8);
        assert_eq!(names[0], "first load: rxe v4.2 direct");
        assert_eq!(names[7], "second load: all modules unloaded");
    }
}
