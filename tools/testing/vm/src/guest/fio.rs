// SPDX-License-Identifier: GPL-2.0

//! fio: writes a file with a checksum in each block, and reads it back.

use crate::guest::exec;
use crate::guest::paths::SCRATCH;
use crate::settings::MIB;
use anyhow::{ensure, Context, Result};
use serde::Deserialize;
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// No transfer of large blocks is slower than 1 MiB in that time, even under
/// emulation.
const PER_MIB: Duration = Duration::from_secs(2);

/// The same for blocks below [`SMALL`].
const PER_MIB_OF_SMALL: Duration = Duration::from_secs(20);

/// A small block.
const SMALL: u64 = 64 << 10;

/// What comes on top of it.
const START: Duration = Duration::from_secs(120);

/// Which way the data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Write it, without comparing.
    Write,
    /// Read it and compare every block.
    Verify,
}

/// One fio run.
#[derive(Debug)]
pub struct Fio<'a> {
    /// The file, created when missing.
    pub file: &'a str,
    /// Payload, in bytes.
    pub size: u64,
    /// Bytes of one block, each with a checksum.
    pub block: u64,
    /// Requests that direct I/O keeps in flight; without it the client caches.
    pub depth: Option<u32>,
    /// Start of the random data; reading takes the same as writing.
    pub seed: u64,
}

#[derive(Deserialize)]
struct Output {
    jobs: Vec<JobOutput>,
}

#[derive(Deserialize)]
struct JobOutput {
    error: i64,
    read: Side,
    write: Side,
}

#[derive(Deserialize)]
struct Side {
    io_bytes: u64,
}

/// Bytes that fio moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Read, and verified.
    pub read: u64,
    /// Written.
    pub written: u64,
}

const FIXED: &str = "--name=rig --verify=crc32c --fallocate=none --end_fsync=1 --thread \
    --verify_state_save=0 --eta=never --output-format=json";

impl Fio<'_> {
    /// Moves the whole payload; fails if a byte is missing or wrong.
    pub fn run(&self, direction: Direction) -> Result<()> {
        let per_mib = if self.block < SMALL { PER_MIB_OF_SMALL } else { PER_MIB };
        let outcome = execute(self.args(direction), patience(self.size, per_mib))?;
        complete(outcome, direction, self.size)
    }

    fn args(&self, direction: Direction) -> Vec<String> {
        let (rw, verify) = match direction {
            Direction::Write => ("write", "--do_verify=0"),
            Direction::Verify => ("read", "--verify_fatal=1"),
        };
        let (engine, direct, depth) = match self.depth {
            Some(depth) => ("libaio", 1, depth),
            None => ("psync", 0, 1),
        };
        let own = [
            format!("--filename={}", self.file),
            format!("--rw={rw}"),
            verify.to_owned(),
            format!("--bs={}", self.block),
            format!("--size={}", self.size),
            format!("--ioengine={engine}"),
            format!("--direct={direct}"),
            format!("--iodepth={depth}"),
            format!("--randseed={}", self.seed),
        ];
        own.to_vec()
    }
}

/// Runs fio with these options and those that are always the same; fails if
/// it does, or if it found a wrong byte.
pub fn execute(args: Vec<String>, patience: Duration) -> Result<Moved> {
    // Several may run at a time.
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let output = format!("{SCRATCH}/fio-{}.json", RUNS.fetch_add(1, Ordering::Relaxed));
    let to_file = format!("--output={output}");
    let args = args.iter().map(String::as_str).chain([to_file.as_str()]);
    let args: Vec<&str> = FIXED.split_whitespace().chain(args).collect();
    exec::run("fio", &args, patience).map_err(shorten)?;
    parse(&fs::read(&output).with_context(|| format!("fio did not write {output}"))?)
}

/// Brings the program and its libraries into memory, so that loading them is
/// not counted.
pub fn warm() -> Result<()> {
    exec::step("fio", &["--version"]).map(drop)
}

/// How long a transfer of `size` bytes may take.
pub fn patience(size: u64, per_mib: Duration) -> Duration {
    let mib = u32::try_from(size / MIB).unwrap_or(u32::MAX);
    START.saturating_add(per_mib.saturating_mul(mib))
}

fn parse(text: &[u8]) -> Result<Moved> {
    // Messages may precede the JSON.
    let start = text.iter().position(|byte| *byte == b'{').context("fio printed no JSON")?;
    let output: Output =
        serde_json::from_slice(&text[start..]).context("cannot read fio's JSON")?;
    let job = output.jobs.first().context("fio ran no job")?;
    ensure!(job.error == 0, "fio ended with error {}", job.error);
    Ok(Moved { read: job.read.io_bytes, written: job.write.io_bytes })
}

/// Compares what fio says it moved with what it should have.
fn complete(moved: Moved, direction: Direction, size: u64) -> Result<()> {
    let bytes = match direction {
        Direction::Write => moved.written,
        Direction::Verify => moved.read,
    };
    ensure!(bytes == size, "fio moved {bytes} bytes instead of {size}");
    Ok(())
}

/// fio's command line is long and says nothing that matters here.
fn shorten(err: anyhow::Error) -> anyhow::Error {
    let text = format!("{err:#}");
    let reason = text.rsplit_once("` ").map_or(text.as_str(), |(_, reason)| reason);
    anyhow::anyhow!("fio {reason}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"fio: a note
{"fio version": "fio-3.33", "jobs": [{"jobname": "rig", "error": 0,
"read": {"io_bytes": 0, "bw": 1}, "write": {"io_bytes": 4194304}}]}"#;

    #[test]
    fn bytes_moved_are_compared() {
        let moved = parse(TEXT.as_bytes()).unwrap();
        assert_eq!(moved, Moved { read: 0, written: 4 * MIB });
        assert!(complete(moved, Direction::Write, 4 * MIB).is_ok());
        let err = complete(moved, Direction::Verify, 4 * MIB).unwrap_err();
        assert_eq!(err.to_string(), "fio moved 0 bytes instead of 4194304");
    }

    #[test]
    fn an_error_of_the_job_is_told() {
        let text = TEXT.replace("\"error\": 0", "\"error\": 84");
        let err = parse(text.as_bytes()).unwrap_err();
        assert_eq!(err.to_string(), "fio ended with error 84");
    }

    #[test]
    fn direct_io_is_asynchronous() {
        let fio = |depth| {
            Fio { file: "/f", size: MIB, block: 4096, depth, seed: 1 }.args(Direction::Verify)
        };
        assert!(fio(Some(8)).contains(&"--direct=1".to_owned()));
        assert!(fio(Some(8)).contains(&"--iodepth=8".to_owned()));
        assert!(fio(None).contains(&"--ioengine=psync".to_owned()));
        assert!(fio(None).contains(&"--bs=4096".to_owned()));
    }

    #[test]
    fn small_blocks_take_longer() {
        assert!(patience(MIB, PER_MIB_OF_SMALL) > patience(MIB, PER_MIB));
        assert_eq!(patience(0, PER_MIB), START);
    }
}
