// SPDX-License-Identifier: GPL-2.0

//! What svcrdma's functions cost that build chunks and map Replies.
//!
//! The kernel measures from the entry of a function to its return. Under an
//! emulator that counts instructions, a nanosecond is an instruction, the
//! probes' own included.

use crate::guest::fio::{Direction, Fio};
use crate::guest::paths::{self, EXPORT, MOUNT};
use crate::guest::progress::Progress;
use crate::guest::session::Host;
use crate::guest::tracefs::{self, Histogram};
use crate::guest::transfer::DEPTH;
use crate::guest::{client, export};
use crate::job::{Cost, Costs, Measure, Outcome};
use crate::settings::{IoMode, MIB};
use anyhow::{ensure, Context, Result};

/// Which probes the kernel turns into jumps depends on how a function begins,
/// and they are cheaper than those that are traps: all are to cost the same.
const OPTIMIZATION: &str = "/proc/sys/debug/kprobes-optimization";

/// The functions, and which of fio's directions calls them with a payload.
const FUNCTIONS: [(&str, Direction); 3] = [
    ("svc_rdma_process_read_list", Direction::Write),
    ("svc_rdma_prepare_write_list", Direction::Verify),
    ("svc_rdma_map_reply_msg", Direction::Verify),
];

/// A probed function.
struct Probe {
    function: &'static str,
    direction: Direction,
    durations: Histogram,
}

impl Probe {
    fn install(number: usize, function: &'static str, direction: Direction) -> Result<Self> {
        let (begin, end, event) =
            (format!("begin{number}"), format!("end{number}"), format!("cost{number}"));
        tracefs::synthetic(&format!("{event} u64 ns"))?;
        tracefs::probe(&format!("p:rig/{begin} {function}"))?;
        tracefs::probe(&format!("r:rig/{end} {function}"))?;
        Histogram::attach(&format!("rig/{begin}"), "hist:keys=common_pid:t0=common_timestamp")?;
        let matched = format!(
            "hist:keys=common_pid:ns=common_timestamp-$t0:onmatch(rig.{begin}).{event}($ns)"
        );
        Histogram::attach(&format!("rig/{end}"), &matched)?;
        let durations =
            Histogram::attach(&format!("synthetic/{event}"), "hist:keys=ns:size=65536")?;
        Ok(Self { function, direction, durations })
    }

    /// The longest calls are those with a payload; they are as many as the
    /// payload has MiB.
    fn cost(&self, payloads: u64) -> Result<Cost> {
        let rows = self.durations.rows()?;
        let mut calls = Vec::new();
        for row in rows {
            calls.extend((0..row.hits()?).map(|_| row.key("ns").unwrap_or_default()));
        }
        let count = usize::try_from(payloads)?;
        ensure!(calls.len() >= count, "{} was called {} times", self.function, calls.len());
        calls.sort_unstable();
        let long = &calls[calls.len() - count..];
        let quantile = |part: usize| long[(long.len() - 1) * part / 4];
        Ok(Cost {
            function: self.function.to_owned(),
            median: quantile(2),
            quartiles: (quantile(1), quantile(3)),
        })
    }
}

/// Moves the payload there and back in requests of 1 MiB.
pub fn run(job: &Measure, progress: &Progress) -> Result<Outcome> {
    let mut host = Host::start(job.session.server())?;
    host.mount(&job.session)?;
    tracefs::mount()?;
    paths::write(OPTIMIZATION, "0")?;
    let mut costs = Vec::new();
    let file = format!("{MOUNT}/data");
    let Measure { session, workload } = job;
    let depth = (session.io == IoMode::Direct).then_some(DEPTH);
    let fio = Fio { file: &file, size: workload.size, block: MIB, depth, seed: workload.seed };
    std::fs::write(format!("{EXPORT}/data"), vec![0; usize::try_from(workload.size)?])?;
    for direction in [Direction::Write, Direction::Verify] {
        let probes = FUNCTIONS.iter().enumerate().filter(|(_, (_, with))| *with == direction);
        let probes: Vec<Probe> = probes
            .map(|(number, (function, with))| Probe::install(number, function, *with))
            .collect::<Result<_>>()
            .context("cannot measure functions")?;
        progress.say(format!("{direction:?} of {} MiB", workload.size / MIB));
        fio.run(direction)?;
        tracefs::check_probes()?;
        for probe in probes.iter().filter(|probe| probe.direction == direction) {
            costs.push(probe.cost(workload.size / MIB)?);
        }
        export::forget_cached()?;
    }
    client::unmount()?;
    host.stop()?;
    Ok(Outcome::Costs(Costs(costs)))
}
