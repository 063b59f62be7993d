// SPDX-License-Identifier: GPL-2.0

//! One verified transfer: fio, the comparison with the backing file, fsx.

use crate::counts::Counts;
use crate::guest::counters::Counters;
use crate::guest::fio::{self, Direction, Fio};
use crate::guest::paths::{EXPORT, MOUNT};
use crate::guest::progress::Progress;
use crate::guest::{client, export, fsx, pattern, plausible};
use crate::job::{Measured, Phase, Workload};
use crate::settings::{show_size, IoMode, Session, MIB};
use anyhow::{Context, Result};
use std::fs::{self, File};
use std::io::Write;
use std::time::Instant;

const NAME: &str = "data";

/// Direct I/O keeps that many requests of 1 MiB in flight.
pub const DEPTH: u32 = 8;

/// The own comparison takes this part of the payload.
const COMPARED_PART: u64 = 8;

/// Runs the whole of it on a mount that is there.
pub fn run(
    session: &Session,
    workload: &Workload,
    counters: &Counters,
    progress: &Progress,
) -> Result<Measured> {
    allocate(workload.size).context("cannot allocate the backing file")?;
    let (write, read) = fio(session, workload, counters, progress)?;
    progress.say(format!("comparing {} with the backing file", part(workload)));
    let compared = pattern::compare(session, workload.size / COMPARED_PART, workload.seed)?;
    let fsx_operations = fsx_part(session, workload, progress)?;
    Ok(Measured { write, read, compared, fsx_operations })
}

fn part(workload: &Workload) -> String {
    show_size((workload.size / COMPARED_PART) / MIB * MIB)
}

/// The file that is moved, as the client sees it.
pub fn file() -> String {
    format!("{MOUNT}/{NAME}")
}

/// Fills the backing file with zeros, so that the counted WRITEs need no new
/// blocks of the file system and no new pages of the RAM disk.
pub fn allocate(size: u64) -> Result<()> {
    let mut file = File::create(format!("{EXPORT}/{NAME}"))?;
    let zeros = vec![0; MIB as usize];
    for _ in 0..size / MIB {
        file.write_all(&zeros)?;
    }
    file.sync_all()?;
    Ok(())
}

fn fio(
    session: &Session,
    workload: &Workload,
    counters: &Counters,
    progress: &Progress,
) -> Result<(Phase, Phase)> {
    let (size, seed) = (workload.size, workload.seed);
    let depth = (session.io == IoMode::Direct).then_some(DEPTH);
    let fio = Fio { file: &file(), size, block: MIB, depth, seed };
    both_ways(session, &fio, counters, progress)
}

/// Writes the payload and, through a fresh mount, reads and verifies it.
pub fn both_ways(
    session: &Session,
    fio: &Fio<'_>,
    counters: &Counters,
    progress: &Progress,
) -> Result<(Phase, Phase)> {
    progress.say(format!("writing {}", show_size(fio.size)));
    let write = phase(counters, fio.size, || fio.run(Direction::Write))?;
    plausible::write(session, &write)?;
    client::unmount()?;
    export::forget_cached()?;
    client::mount(session)?;
    progress.say(format!("reading {} and comparing", show_size(fio.size)));
    let read = phase(counters, fio.size, || fio.run(Direction::Verify))?;
    plausible::read(session, &read)?;
    fs::remove_file(fio.file).with_context(|| format!("cannot remove {}", fio.file))?;
    Ok((write, read))
}

fn phase(counters: &Counters, bytes: u64, work: impl FnOnce() -> Result<()>) -> Result<Phase> {
    fio::warm()?;
    let before: Counts = counters.snapshot()?;
    let started = Instant::now();
    work()?;
    let seconds = started.elapsed().as_secs_f64();
    Ok(Phase { bytes, seconds, counts: counters.snapshot()?.since(&before) })
}

fn fsx_part(session: &Session, workload: &Workload, progress: &Progress) -> Result<u32> {
    let Some(program) = &workload.fsx else {
        return Ok(0);
    };
    let operations = workload.fsx_operations;
    progress.say(format!("fsx, {operations} operations with seed {}", workload.seed));
    fsx::run(program, session.version, &format!("{MOUNT}/fsx"), operations, workload.seed)?;
    Ok(operations)
}
