// SPDX-License-Identifier: GPL-2.0

//! The role on the client: reads with fio while the server watches itself.

use crate::journal;
use crate::real::access::Access;
use crate::real::rfc::{Configuration, ALL};
use crate::real::{Facts, Read, RealRecord, Run};
use crate::record::FORMAT;
use anyhow::{bail, ensure, Context, Result};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use vm::settings::{IoMode, MIB};

/// Options of every fio.
const FIXED: &str = "--bs=1M --direct=1 --ioengine=libaio --group_reporting --thread --eta=never \
    --verify_state_save=0 --output-format=json --randseed=8166";

/// Seconds that the client reads before the server counts, and after it.
const AHEAD: u32 = 3;

/// What to run.
#[derive(Debug)]
pub struct Client {
    /// A folder on the mount.
    pub folder: PathBuf,
    /// How the server is reached.
    pub access: Access,
    /// Name of the server's kernel in the table.
    pub kernel: String,
    /// Letters of configurations.
    pub configurations: Vec<String>,
    /// The server's access modes.
    pub modes: Vec<IoMode>,
    /// How often each is run.
    pub runs: u32,
    /// Seconds of each run.
    pub seconds: u32,
    /// Bytes of each job's file.
    pub size: u64,
    /// Requests of each job in flight.
    pub depth: u32,
    /// The file of raw results.
    pub results: PathBuf,
}

#[derive(Deserialize)]
struct Output {
    jobs: Vec<Job>,
}

#[derive(Deserialize)]
struct Job {
    error: i64,
    read: Side,
}

#[derive(Deserialize)]
struct Side {
    io_bytes: u64,
    runtime: f64,
}

impl Client {
    /// Runs all of it; gives back how many runs failed. A configuration that
    /// the server is not in is recorded with the reason and is no failure.
    pub fn run(&self) -> Result<usize> {
        let facts: Facts = self.access.ask(&["facts".to_owned()])?;
        println!("the server runs {} on {} CPUs", facts.release, facts.cpus);
        let mut failed = 0;
        for name in &self.configurations {
            let one = ALL.iter().find(|one| one.name == name);
            let one = one.with_context(|| format!("there is no configuration {name}"))?;
            let reasons = one.mismatch(&facts);
            if reasons.is_empty() {
                failed += self.configuration(one)?;
                continue;
            }
            println!("configuration {name} cannot be run: {}", reasons.join("; "));
            for mode in &self.modes {
                self.record(one, *mode, 0, String::new(), Err(reasons.join("; ")))?;
            }
        }
        Ok(failed)
    }

    fn configuration(&self, one: &Configuration) -> Result<usize> {
        println!("configuration {}: writing {} files", one.name, one.jobs);
        fio(&self.words(one, "write", &["--do_verify=0", "--verify=crc32c", "--end_fsync=1"]))?;
        let mut failed = 0;
        for mode in &self.modes {
            // The first buffered run fills the server's page cache.
            let warm = u32::from(*mode != IoMode::Direct);
            for run in 0..self.runs + warm {
                let words = self.reading(one);
                let outcome = self.measure(one, *mode, &words).map_err(|err| format!("{err:#}"));
                let shown = outcome.as_ref().map_or_else(Clone::clone, |run| {
                    let (speed, cores) = (run.client.throughput(), run.server.cores());
                    format!("{speed:.0} MiB/s, the server busy with {cores:.2} CPUs")
                });
                println!("configuration {}, {mode}, run {run}: {shown}", one.name);
                failed += usize::from(outcome.is_err());
                if run >= warm {
                    self.record(one, *mode, run - warm, words.join(" "), outcome)?;
                }
            }
        }
        println!("configuration {}: verifying all files", one.name);
        fio(&self.words(one, "read", &["--verify=crc32c", "--verify_fatal=1"]))?;
        Ok(failed)
    }

    fn measure(&self, one: &Configuration, mode: IoMode, words: &[String]) -> Result<Run> {
        let mut asked = self.access.start(&[
            "server".to_owned(),
            format!("--delay={AHEAD}"),
            format!("--seconds={}", self.seconds),
            format!("--threads={}", one.jobs),
            format!("--mode={mode}"),
        ])?;
        asked.ready()?;
        let read = fio(words);
        let server = asked.answer()?;
        Ok(Run { client: read?, server })
    }

    /// Begins before the server counts, and ends after it.
    fn reading(&self, one: &Configuration) -> Vec<String> {
        let runtime = format!("--runtime={}", self.seconds + 2 * AHEAD);
        self.words(one, "read", &["--time_based", &runtime])
    }

    fn words(&self, one: &Configuration, rw: &str, more: &[&str]) -> Vec<String> {
        let own = [
            "--name=nfsrdma-bench".to_owned(),
            format!("--directory={}", self.folder.display()),
            format!("--rw={rw}"),
            format!("--size={}", self.size),
            format!("--numjobs={}", one.jobs),
            format!("--iodepth={}", self.depth),
        ];
        let fixed = FIXED.split_whitespace().chain(more.iter().copied()).map(str::to_owned);
        own.into_iter().chain(fixed).collect()
    }

    fn record(
        &self,
        one: &Configuration,
        mode: IoMode,
        repetition: u32,
        fio: String,
        outcome: Result<Run, String>,
    ) -> Result<()> {
        let record = RealRecord {
            format: FORMAT,
            kernel: self.kernel.clone(),
            configuration: one.name.to_owned(),
            mode,
            repetition,
            jobs: one.jobs,
            fio,
            outcome,
        };
        journal::append(&self.results, &[record])
    }

    /// Refuses what cannot work.
    pub fn check(&self) -> Result<()> {
        ensure!(self.folder.is_dir(), "{} is no folder", self.folder.display());
        ensure!(self.size % MIB == 0, "the size must be a whole number of MiB");
        if !is_nfs(&self.folder)? {
            bail!("{} is not on an NFS mount", self.folder.display());
        }
        Ok(())
    }
}

fn is_nfs(folder: &Path) -> Result<bool> {
    let folder = folder.canonicalize().context("the folder is gone")?;
    let mounts = std::fs::read_to_string("/proc/self/mounts").context("cannot read the mounts")?;
    Ok(kind(&mounts, &folder).is_some_and(|kind| kind.starts_with("nfs")))
}

/// The type of the file system that the folder is on.
fn kind<'a>(mounts: &'a str, folder: &Path) -> Option<&'a str> {
    let mounts = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        Some((words.next()?, words.next()?))
    });
    let above = mounts.filter(|(point, _)| folder.starts_with(point));
    above.max_by_key(|(point, _)| point.len()).map(|(_, kind)| kind)
}

fn fio(words: &[String]) -> Result<Read> {
    let mut command = Command::new("fio");
    let output = command.args(words).stdin(Stdio::null()).output().context("cannot run fio")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "fio failed: {}",
        complaint.lines().next().unwrap_or("no reason given")
    );
    parse(&output.stdout)
}

fn parse(text: &[u8]) -> Result<Read> {
    let start = text.iter().position(|byte| *byte == b'{').context("fio printed no JSON")?;
    let output: Output =
        serde_json::from_slice(&text[start..]).context("cannot read fio's JSON")?;
    let job = output.jobs.first().context("fio ran no job")?;
    ensure!(job.error == 0, "fio ended with error {}", job.error);
    Ok(Read { bytes: job.read.io_bytes, seconds: job.read.runtime / 1000.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throughput_is_that_of_all_jobs() {
        let text =
            r#"note {"jobs": [{"error": 0, "read": {"io_bytes": 10485760, "runtime": 2000}}]}"#;
        let read = parse(text.strip_prefix("note ").unwrap().as_bytes()).unwrap();
        assert_eq!(read, Read { bytes: 10 << 20, seconds: 2.0 });
        assert_eq!(read.throughput(), 5.0);
        assert!(parse(text.replace("\"error\": 0", "\"error\": 5").as_bytes()).is_err());
    }

    #[test]
    fn the_innermost_mount_counts() {
        let mounts = "/dev/sda / ext4 rw 0 0\nhost:/ /mnt nfs4 rw 0 0\ntmpfs /mnt/t tmpfs rw 0 0\n";
        assert_eq!(kind(mounts, Path::new("/mnt/a")), Some("nfs4"));
        assert_eq!(kind(mounts, Path::new("/mnt/t/a")), Some("tmpfs"));
        assert_eq!(kind(mounts, Path::new("/home")), Some("ext4"));
    }
}
