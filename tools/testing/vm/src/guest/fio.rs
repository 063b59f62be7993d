// SPDX-License-Identifier: GPL-2.0

//! fio: writes a file with a checksum in each block, and reads it back.

use crate::guest::exec;
use crate::guest::paths::SCRATCH;
use crate::settings::{IoMode, MIB};
use anyhow::{ensure, Context, Result};
use serde::Deserialize;
use std::fs;
use std::time::Duration;

/// Direct I/O keeps that many requests of 1 MiB in flight.
const DEPTH: u32 = 8;

/// No transfer is slower than 1 MiB in that time, even under emulation.
const PER_MIB: Duration = Duration::from_secs(2);

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
    /// Decides whether the client caches.
    pub io: IoMode,
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

impl Fio<'_> {
    /// Moves the whole payload; fails if a byte is missing or wrong.
    pub fn run(&self, direction: Direction) -> Result<()> {
        // Several may run at a time.
        let output = format!("{SCRATCH}/fio{}.json", self.file.replace('/', "-"));
        let args = self.args(direction, &output);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mib = u32::try_from(self.size / MIB).unwrap_or(u32::MAX);
        exec::run("fio", &args, START.saturating_add(PER_MIB.saturating_mul(mib)))
            .map_err(shorten)?;
        let text = fs::read(&output).with_context(|| format!("fio did not write {output}"))?;
        check(&text, direction, self.size)
    }

    fn args(&self, direction: Direction, output: &str) -> Vec<String> {
        let (rw, verify) = match direction {
            Direction::Write => ("write", "--do_verify=0"),
            Direction::Verify => ("read", "--verify_fatal=1"),
        };
        let (engine, direct, depth) = match self.io {
            IoMode::Direct => ("libaio", 1, DEPTH),
            IoMode::Buffered | IoMode::Dontcache => ("psync", 0, 1),
        };
        let own = [
            format!("--filename={}", self.file),
            format!("--rw={rw}"),
            verify.to_owned(),
            format!("--bs={MIB}"),
            format!("--size={}", self.size),
            format!("--ioengine={engine}"),
            format!("--direct={direct}"),
            format!("--iodepth={depth}"),
            format!("--randseed={}", self.seed),
            format!("--output={output}"),
        ];
        let fixed = "--name=rig --verify=crc32c --fallocate=none --end_fsync=1 --thread --verify_state_save=0 \
            --eta=never --output-format=json";
        fixed.split_whitespace().map(str::to_owned).chain(own).collect()
    }
}

/// Compares what fio says it moved with what it should have.
fn check(text: &[u8], direction: Direction, size: u64) -> Result<()> {
    // Messages may precede the JSON.
    let start = text.iter().position(|byte| *byte == b'{').context("fio printed no JSON")?;
    let output: Output =
        serde_json::from_slice(&text[start..]).context("cannot read fio's JSON")?;
    let job = output.jobs.first().context("fio ran no job")?;
    ensure!(job.error == 0, "fio ended with error {}", job.error);
    let moved = match direction {
        Direction::Write => job.write.io_bytes,
        Direction::Verify => job.read.io_bytes,
    };
    ensure!(moved == size, "fio moved {moved} bytes instead of {size}");
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
        assert!(check(TEXT.as_bytes(), Direction::Write, 4 * MIB).is_ok());
        let err = check(TEXT.as_bytes(), Direction::Verify, 4 * MIB).unwrap_err();
        assert_eq!(err.to_string(), "fio moved 0 bytes instead of 4194304");
    }

    #[test]
    fn an_error_of_the_job_is_told() {
        let text = TEXT.replace("\"error\": 0", "\"error\": 84");
        let err = check(text.as_bytes(), Direction::Write, 4 * MIB).unwrap_err();
        assert_eq!(err.to_string(), "fio ended with error 84");
    }

    #[test]
    fn direct_io_is_asynchronous() {
        let fio = |io| Fio { file: "/f", size: MIB, io, seed: 1 }.args(Direction::Verify, "/o");
        assert!(fio(IoMode::Direct).contains(&"--direct=1".to_owned()));
        assert!(fio(IoMode::Buffered).contains(&"--ioengine=psync".to_owned()));
        assert!(fio(IoMode::Direct).contains(&"--verify=crc32c".to_owned()));
    }
}
