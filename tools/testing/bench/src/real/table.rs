// SPDX-License-Identifier: GPL-2.0

//! The RFC's table: changes against the plain kernel.

use crate::markdown::Table;
use crate::real::rfc::ALL;
use crate::real::{RealRecord, Run};
use std::collections::BTreeSet;
use vm::settings::IoMode;

/// Modes, in the order of the table.
pub const MODES: [IoMode; 3] = [IoMode::Direct, IoMode::Dontcache, IoMode::Buffered];

/// Mean and spread of several runs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mean {
    mean: f64,
    spread: f64,
    count: usize,
}

impl Mean {
    fn of(values: &[f64]) -> Option<Self> {
        let least = values.iter().copied().reduce(f64::min)?;
        let most = values.iter().copied().reduce(f64::max)?;
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let spread = if mean > 0.0 { (most - least) / mean * 50.0 } else { 0.0 };
        Some(Self { mean, spread, count: values.len() })
    }
}

/// The table of all kernels against `base`, and what is not in it.
pub fn render(records: &[RealRecord], base: &str) -> String {
    let mut kernels: Vec<&str> = records.iter().map(|record| record.kernel.as_str()).collect();
    kernels.sort_unstable();
    kernels.dedup();
    kernels.retain(|kernel| *kernel != base);
    let header = [
        "kernel",
        "configuration",
        "mode",
        "throughput change",
        "server throughput/core change",
        "MiB/s",
        "cores",
        "runs",
    ];
    let mut table = Table::new(header.map(str::to_owned).to_vec(), 3);
    let mut absent = String::new();
    for kernel in &kernels {
        for mode in MODES {
            for one in &ALL {
                match row(records, base, kernel, one.name, mode) {
                    Ok(cells) => table.row(cells),
                    Err(why) => {
                        absent += &format!("* {kernel}, {}, {mode}: {why}\n", one.name);
                    }
                }
            }
        }
    }
    let notes = "Changes of the means against the plain kernel; +- is half of the distance of \
                 the least and the most, in percent of the mean; runs of both kernels.";
    format!("{}\n{notes}\n\nNot in the table:\n\n{absent}", table.render())
}

fn row(
    records: &[RealRecord],
    base: &str,
    kernel: &str,
    name: &str,
    mode: IoMode,
) -> Result<Vec<String>, String> {
    let plain = runs(records, base, name, mode)?;
    let own = runs(records, kernel, name, mode)?;
    let both = |value: fn(&Run) -> f64| {
        let of = |runs: &[&Run]| Mean::of(&runs.iter().map(|run| value(run)).collect::<Vec<_>>());
        of(&plain).zip(of(&own)).ok_or("no figures".to_owned())
    };
    let (plain_speed, speed) = both(|run| run.client.throughput())?;
    let (plain_cores, cores) = both(|run| run.server.cores())?;
    // As in the RFC: mean throughput divided by mean cores.
    let per_core = |speed: Mean, cores: Mean| speed.mean / cores.mean.max(f64::EPSILON);
    let (old, new) = (per_core(plain_speed, plain_cores), per_core(speed, cores));
    let spread = (speed.spread + cores.spread).max(plain_speed.spread + plain_cores.spread);
    Ok(vec![
        kernel.to_owned(),
        name.to_owned(),
        mode.to_string(),
        change(plain_speed.mean, speed.mean, speed.spread.max(plain_speed.spread)),
        change(old, new, spread),
        format!("{:.0}, plain {:.0}", speed.mean, plain_speed.mean),
        format!("{:.2}, plain {:.2}", cores.mean, plain_cores.mean),
        format!("{} and {}", speed.count, plain_speed.count),
    ])
}

/// The runs that succeeded, or why there are none.
fn runs<'a>(
    records: &'a [RealRecord],
    kernel: &str,
    name: &str,
    mode: IoMode,
) -> Result<Vec<&'a Run>, String> {
    let chosen = records.iter().filter(|record| {
        record.kernel == kernel && record.configuration == name && record.mode == mode
    });
    let good: Vec<&Run> =
        chosen.clone().filter_map(|record| record.outcome.as_ref().ok()).collect();
    if !good.is_empty() {
        return Ok(good);
    }
    let reasons: BTreeSet<&str> =
        chosen.filter_map(|record| Some(record.outcome.as_ref().err()?.as_str())).collect();
    let reasons: Vec<&str> = reasons.into_iter().collect();
    Err(match reasons.as_slice() {
        [] => format!("{kernel} was not run"),
        reasons => format!("{kernel}: {}", reasons.join("; ")),
    })
}

fn change(old: f64, new: f64, spread: f64) -> String {
    let percent = (new - old) / old.max(f64::EPSILON) * 100.0;
    format!("{percent:+.1}% +-{spread:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::real::{Facts, Read, Served};
    use crate::record::FORMAT;

    fn record(kernel: &str, speed: u64, cores: f64) -> RealRecord {
        let facts = Facts {
            release: "7.3.4".to_owned(),
            parameters: String::new(),
            cpus: 2,
            memory: 1 << 32,
            devices: Vec::new(),
        };
        let server = Served {
            facts,
            seconds: 1.0,
            busy: vec![cores / 2.0; 2],
            counts: Err("no tracefs".to_owned()),
            contention: Err("no perf".to_owned()),
        };
        RealRecord {
            format: FORMAT,
            kernel: kernel.to_owned(),
            configuration: "E".to_owned(),
            mode: IoMode::Direct,
            repetition: 0,
            jobs: 64,
            fio: String::new(),
            outcome: Ok(Run { client: Read { bytes: speed << 20, seconds: 1.0 }, server }),
        }
    }

    #[test]
    fn changes_are_those_of_the_means() {
        let records =
            [record("plain", 90, 2.0), record("plain", 110, 2.0), record("ours", 120, 1.0)];
        let text = render(&records, "plain");
        let line = text.lines().find(|line| line.starts_with("| ours")).unwrap();
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        assert_eq!(cells[4..6], ["+20.0% +-10.0", "+140.0% +-10.0"]);
        assert_eq!(cells[8], "1 and 2");
    }

    #[test]
    fn what_is_absent_is_named() {
        let mut refused = record("ours", 1, 1.0);
        refused.configuration = "A".to_owned();
        refused.outcome = Err("kpti=off is not on the server's command line".to_owned());
        let mut plain = record("plain", 1, 1.0);
        plain.configuration = "A".to_owned();
        let text = render(&[plain, refused], "plain");
        let wanted = "* ours, A, direct: ours: kpti=off is not on the server's command line\n";
        assert!(text.contains(wanted), "{text}");
        assert!(text.contains("* ours, E, buffered: plain was not run\n"));
    }
}
