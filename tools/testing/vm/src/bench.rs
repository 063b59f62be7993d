// SPDX-License-Identifier: GPL-2.0

//! The micro-benchmark: cost of the Rust helpers against the C helpers, both
//! in one boot.

use crate::boot::{self, Tools};
use crate::job::Job;
use crate::qemu::Guest;
use crate::watch::Limits;
use anyhow::{ensure, Context, Result};
use regex::Regex;
use std::time::Duration;

/// Runs of pages that must have been measured.
const RUNS: [u32; 4] = [1, 8, 16, 256];

/// Kernel parameters that run only the benchmark.
const PARAMETERS: [&str; 3] =
    ["kunit.enable=1", "kunit.autorun=1", "kunit.filter_glob=svc_pages.benchmark"];

/// Median cost for one length of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Adjacent pages in a run.
    pub run: u32,
    /// The C helper, per page, in `unit`.
    pub c: f64,
    /// The Rust helper, per page, in `unit`.
    pub rust: f64,
    /// Unit as the kernel names it.
    pub unit: String,
    /// Rust against C, as the kernel computed it.
    pub ratio: f64,
}

/// Boots `guest` and gives back what the benchmark measured.
pub fn run(tools: &Tools, mut guest: Guest) -> Result<Vec<Sample>> {
    guest.append.extend(PARAMETERS.map(str::to_owned));
    let mut limits = Limits::new(&guest, None);
    limits.boot += Duration::from_secs(30) * guest.accel.slowness();
    let finished = boot::run(tools, &guest, &Job::Nothing, limits, Vec::new())?;
    let samples = parse(finished.console());
    finished.judge()?;
    let samples = samples?;
    for run in RUNS {
        let found = samples.iter().any(|sample| sample.run == run);
        ensure!(
            found,
            "the kernel measured no runs of {run}: set CONFIG_SUNRPC_SVC_PAGES_BENCHMARK"
        );
    }
    Ok(samples)
}

/// `svc_pages_bench: run=16 c=523 rust=511 ps/page ratio=0.977`
pub fn parse(log: &str) -> Result<Vec<Sample>> {
    let pattern = r"svc_pages_bench: run=(\d+) c=(\S+) rust=(\S+)(?: (\S+))? ratio=(\S+)";
    let pattern = Regex::new(pattern).context("the pattern is constant")?;
    let samples = pattern.captures_iter(log).map(|found| {
        Some(Sample {
            run: found[1].parse().ok()?,
            c: found[2].parse().ok()?,
            rust: found[3].parse().ok()?,
            unit: found.get(4).map_or("per page", |unit| unit.as_str()).to_owned(),
            ratio: found[5].parse().ok()?,
        })
    });
    let samples = samples.collect::<Option<Vec<_>>>();
    samples.context("cannot understand a line of the benchmark in the kernel's log")
}

/// The table for the user.
pub fn table(samples: &[Sample]) -> String {
    let unit = samples.first().map_or("", |sample| sample.unit.as_str());
    let mut text = format!(
        "{:>12} {:>12} {:>12} {:>8}\n",
        "pages a run",
        format!("C {unit}"),
        format!("Rust {unit}"),
        "ratio"
    );
    for sample in samples {
        let Sample { run, c, rust, ratio, .. } = sample;
        text += &format!("{run:>12} {c:>12} {rust:>12} {ratio:>8.3}\n");
    }
    text
}

/// Fails if the Rust helper costs more than `limit` times the C helper.
pub fn check(samples: &[Sample], limit: f64) -> Result<()> {
    for Sample { run, ratio, .. } in samples {
        ensure!(
            *ratio <= limit,
            "runs of {run} pages: Rust costs {ratio:.3} times what C costs, the limit is {limit}"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
[    1.0]     # benchmark: svc_pages_bench: run=1 c=900 rust=880 ps/page ratio=0.977
[    1.1]     # benchmark: svc_pages_bench: run=256 c=500 rust=600 ps/page ratio=1.200
[    1.2]     ok 1 benchmark
";

    #[test]
    fn lines_become_samples() {
        let samples = parse(LOG).unwrap();
        assert_eq!(samples.len(), 2);
        assert_eq!(samples[0].run, 1);
        assert_eq!(samples[1].ratio, 1.2);
        assert!(table(&samples).contains("ps/page"), "{}", table(&samples));
    }

    #[test]
    fn a_ratio_above_the_limit_fails() {
        let samples = parse(LOG).unwrap();
        assert!(check(&samples, 1.25).is_ok());
        let err = check(&samples, 1.05).unwrap_err().to_string();
        assert_eq!(
            err,
            "runs of 256 pages: Rust costs 1.200 times what C costs, the limit is 1.05"
        );
    }

    #[test]
    fn a_damaged_line_is_an_error() {
        assert!(parse("svc_pages_bench: run=1 c=x rust=1 ratio=1.0").is_err());
        assert!(parse("nothing").unwrap().is_empty());
    }
}
