// SPDX-License-Identifier: GPL-2.0

//! The role on the server: watches it while the client reads.

use crate::real::access::READY;
use crate::real::{Facts, Served};
use anyhow::{ensure, Context, Result};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use vm::guest::counters::Counters;
use vm::guest::{procfs, server};
use vm::settings::IoMode;

const THREADS: &str = "/proc/fs/nfsd/threads";

/// Facts that every line of results has.
pub fn facts() -> Result<Facts> {
    let cpus = busy_ticks()?.len();
    Ok(Facts {
        release: procfs::release()?,
        parameters: procfs::parameters()?,
        cpus: u32::try_from(cpus).unwrap_or(u32::MAX),
        memory: procfs::memory("MemTotal")?,
        devices: [names("/sys/class/infiniband"), names("/sys/class/net")].concat(),
    })
}

/// Sets threads and mode where they are given, says that it is ready, and
/// watches for `seconds` after `delay` more.
pub fn serve(
    seconds: u32,
    delay: u32,
    threads: Option<u32>,
    mode: Option<IoMode>,
) -> Result<Served> {
    mode.map_or(Ok(()), server::set_io_mode)?;
    threads.map_or(Ok(()), set_threads)?;
    let counters = Counters::install().map_err(|err| format!("{err:#}"));
    println!("{READY}");
    thread::sleep(Duration::from_secs(delay.into()));
    let before = counters.as_ref().map(Counters::snapshot);
    let (ticks, begun) = (busy_ticks()?, Instant::now());
    let contention = watch(seconds);
    let seconds = begun.elapsed().as_secs_f64();
    let busy = shares(&ticks, &busy_ticks()?, seconds);
    let counts = match (&counters, before) {
        (Ok(counters), Ok(Ok(before))) => {
            counters.snapshot().map(|now| now.since(&before)).map_err(|err| format!("{err:#}"))
        }
        (Ok(_), Ok(Err(err))) => Err(format!("{err:#}")),
        (Err(err), _) | (_, Err(err)) => Err(err.clone()),
    };
    if let Ok(counters) = counters {
        counters.remove()?;
    }
    Ok(Served { facts: facts()?, seconds, busy, counts, contention })
}

fn set_threads(threads: u32) -> Result<()> {
    let wanted = format!("{threads}\n");
    fs::write(THREADS, &wanted).with_context(|| format!("cannot write {THREADS}"))?;
    let found = fs::read_to_string(THREADS).with_context(|| format!("cannot read {THREADS}"))?;
    ensure!(found.trim() == wanted.trim(), "nfsd runs {} threads, not {threads}", found.trim());
    Ok(())
}

/// Lets the time pass, under `perf lock` if that can be had.
fn watch(seconds: u32) -> Result<String, String> {
    let begun = Instant::now();
    let mut perf = Command::new("perf");
    perf.args(["lock", "contention", "-a", "-b", "-E", "20", "--", "sleep", &seconds.to_string()]);
    let output = perf.stdin(Stdio::null()).output();
    let whole = Duration::from_secs(seconds.into());
    thread::sleep(whole.saturating_sub(begun.elapsed()));
    let output = output.map_err(|err| format!("perf cannot be run: {err}"))?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).trim().to_owned();
    match output.status.success() {
        true => Ok(text),
        false => Err(format!("perf lock: {}", text.lines().next().unwrap_or("no reason given"))),
    }
}

fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(Path::new(folder)).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    names
}

fn busy_ticks() -> Result<Vec<u64>> {
    let text = fs::read_to_string("/proc/stat").context("cannot read /proc/stat")?;
    Ok(cpu_lines(&text))
}

/// Ticks that were not idle of each CPU.
fn cpu_lines(text: &str) -> Vec<u64> {
    let is_cpu = |line: &&str| {
        line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    text.lines().filter(is_cpu).map(busy).collect()
}

/// user nice system idle iowait irq softirq
fn busy(line: &str) -> u64 {
    let fields = line.split_whitespace().skip(1).take(7).enumerate();
    let busy = fields.filter(|(at, _)| !matches!(at, 3 | 4));
    busy.filter_map(|(_, ticks)| ticks.parse::<u64>().ok()).sum()
}

fn shares(before: &[u64], after: &[u64], seconds: f64) -> Vec<f64> {
    let each = before.iter().zip(after);
    let ticks = each.map(|(before, after)| after.saturating_sub(*before) as f64);
    ticks.map(|ticks| ticks / (procfs::ticks_per_second() as f64 * seconds)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cpu_has_a_share() {
        let text = "cpu  9 9 9 9 9 9 9\ncpu0 10 0 5 700 8 1 2 0\ncpu1 0 0 0 9 9 0 0 0\nintr 1\n";
        assert_eq!(cpu_lines(text), [18, 0]);
        assert_eq!(shares(&[0, 50], &[100, 50], 2.0), [0.5, 0.0]);
    }

    #[test]
    fn a_machine_tells_about_itself() {
        let facts = facts().unwrap();
        assert!(facts.cpus > 0 && !facts.release.is_empty());
    }
}
