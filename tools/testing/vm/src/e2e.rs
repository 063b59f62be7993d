// SPDX-License-Identifier: GPL-2.0

//! The end-to-end matrix: devices, versions and I/O modes in one boot.

use crate::boot::{self, Tools};
use crate::cases;
use crate::follow;
use crate::job::{self, Job, Matrix, Workload};
use crate::qemu::Guest;
use crate::settings::{Device, IoMode, Security, Session, Transport, Version, MIB};
use crate::watch::Limits;
use anyhow::Result;
use kbuild::tally::Tally;
use std::cell::RefCell;
use std::path::PathBuf;
use std::time::Duration;

const VERSIONS: [Version; 2] = [Version::V3, Version::V42];
const MODES: [IoMode; 3] = [IoMode::Buffered, IoMode::Dontcache, IoMode::Direct];

/// Payload of a case: enough for every path, small enough for an emulator.
const SIZE: u64 = 8 * MIB;
const FSX_OPERATIONS: u32 = 100;

/// fsx and the data start from it, so that a failure can be repeated.
pub const SEED: u64 = 8166;

/// The settings, in the order in which they run.
pub fn sessions() -> Vec<Session> {
    let mut sessions = Vec::new();
    for device in [Device::Rxe, Device::Siw] {
        for version in VERSIONS {
            sessions.extend(MODES.map(|io| Session::new(device, version, io, Transport::Rdma)));
        }
    }
    let tcp = |version| Session::new(Device::Siw, version, IoMode::Direct, Transport::Tcp);
    sessions.extend(VERSIONS.map(tcp));
    // Protected messages go as a whole: in a Reply chunk, or in a Read chunk
    // at position zero. Under load the client of the base now and then finds
    // a wrong checksum in the Reply to a READ, whatever kernel serves it. A
    // direct read fails for that; a buffered one asks again.
    let protected = |version| Session {
        security: Security::Krb5i,
        ..Session::new(Device::Rxe, version, IoMode::Buffered, Transport::Rdma)
    };
    sessions.extend([Version::V3, Version::V41].map(protected));
    sessions
}

/// The matrix of all these, with what is moved in each.
pub fn matrix(fsx: Option<PathBuf>, seed: u64) -> Matrix {
    with_sessions(sessions(), fsx, seed)
}

/// A matrix of other settings.
pub fn with_sessions(sessions: Vec<Session>, fsx: Option<PathBuf>, seed: u64) -> Matrix {
    let workload = Workload { size: SIZE, fsx, fsx_operations: FSX_OPERATIONS, seed };
    Matrix { sessions, workload }
}

/// Boots `guest` and records each case under `prefix`, and whether the
/// kernel's log is clean.
pub fn run(
    tools: &Tools,
    guest: &Guest,
    prefix: &str,
    matrix: Matrix,
    tally: &mut Tally,
) -> Result<()> {
    let names: Vec<String> = matrix.sessions.iter().map(Session::to_string).collect();
    record(tools, guest, prefix, &names, &Job::Matrix(matrix), tally)
}

/// The same for any job that hands out cases with these names.
pub fn record(
    tools: &Tools,
    guest: &Guest,
    prefix: &str,
    names: &[String],
    job: &Job,
    tally: &mut Tally,
) -> Result<()> {
    let limits = Limits::new(guest, Some(Duration::from_secs(240) * guest.accel.slowness()));
    let seen = RefCell::new(Vec::new());
    let shared = RefCell::new(&mut *tally);
    let sink = follow::lines(|line| {
        let case = cases::record(&mut shared.borrow_mut(), prefix, line);
        seen.borrow_mut().extend(case.map(|case| case.name));
    });
    let finished = boot::run(tools, guest, job, limits, vec![(job::CASES, sink)])?;
    for name in names.iter().filter(|name| !seen.borrow().contains(name)) {
        tally.fail(format!("{prefix}: {name}"), "the guest did not get that far");
    }
    tally.result(format!("{prefix}: kernel log"), finished.judge().map(drop));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_combination_is_there_once() {
        let names: Vec<String> = sessions().iter().map(Session::to_string).collect();
        let distinct: BTreeSet<&String> = names.iter().collect();
        assert_eq!(names.len(), 16);
        assert_eq!(distinct.len(), 16);
        assert!(names.contains(&"siw v4.2 dontcache".to_owned()));
        assert!(names.contains(&"tcp v3 direct".to_owned()));
        assert!(names.contains(&"rxe v4.1 buffered krb5i".to_owned()));
    }
}
