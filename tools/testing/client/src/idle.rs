// SPDX-License-Identifier: GPL-2.0

//! What the server holds, to notice what it does not give back.
//!
//! Reliable, and compared exactly after each case: the objects of the RDMA
//! devices, as the resource tracker of the kernel counts them. A server
//! connection has a protection domain, a queue pair, two completion queues and
//! an identifier, and memory registrations on iWARP.
//!
//! Pages have no counter of their own. What remains of the guest's memory when
//! everything that is accounted for is taken away is stable to 1 or 2 MiB on
//! an idle guest, once the lists of free pages of each CPU are added in, and the
//! granules that the server keeps, which it counts itself; it is compared at
//! the end of a run. A leak of a few pages only shows when its case is
//! repeated.

use anyhow::{bail, ensure, Context, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(100);
/// Counts that do not change for that many pauses are settled.
const SETTLED: u32 = 10;

/// Objects of the RDMA devices, by device and kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<String, u64>);

impl Counts {
    /// The counts now.
    pub fn read() -> Result<Self> {
        let output = Command::new("rdma").args(["-j", "resource", "show"]).output();
        let output = output.context("cannot run rdma, of package iproute2")?;
        ensure!(output.status.success(), "`rdma resource show` failed");
        parse(&String::from_utf8_lossy(&output.stdout))
    }

    /// The counts once they do not change any more.
    pub fn settled() -> Result<Self> {
        let mut last = Self::read()?;
        let mut same = 0;
        while same < SETTLED {
            thread::sleep(PAUSE);
            let now = Self::read()?;
            same = if now == last { same + 1 } else { 0 };
            last = now;
        }
        Ok(last)
    }

    /// Waits until nothing exceeds these counts.
    pub fn wait(&self, patience: Duration) -> Result<()> {
        let deadline = Instant::now() + patience;
        loop {
            let excess = Self::read()?.excess(self);
            if excess.is_empty() {
                return Ok(());
            }
            if Instant::now() > deadline {
                bail!("still held after {} s: {}", patience.as_secs(), excess.join(", "));
            }
            thread::sleep(PAUSE);
        }
    }

    /// What is more than in `before`.
    fn excess(&self, before: &Self) -> Vec<String> {
        let known = |name: &str| before.0.get(name).copied().unwrap_or(0);
        let more = self.0.iter().filter(|(name, count)| **count > known(name));
        more.map(|(name, count)| format!("{name} {count}, was {}", known(name))).collect()
    }
}

fn parse(text: &str) -> Result<Counts> {
    let devices: Vec<BTreeMap<String, Value>> =
        serde_json::from_str(text).context("`rdma resource show` prints no JSON")?;
    let mut counts = BTreeMap::new();
    for device in devices {
        let name = device.get("ifname").and_then(Value::as_str).unwrap_or_default();
        let fields = device.iter().filter(|(field, _)| *field != "ifindex");
        let numbers = fields.filter_map(|(field, value)| Some((field, value.as_u64()?)));
        counts.extend(numbers.map(|(field, count)| (format!("{name} {field}"), count)));
    }
    ensure!(!counts.is_empty(), "there is no RDMA device");
    Ok(Counts(counts))
}

/// Memory that nothing accounts for, in KiB: pages that drivers and the server
/// allocated for themselves.
pub fn unaccounted() -> Result<u64> {
    let meminfo = fs::read_to_string("/proc/meminfo").context("cannot read /proc/meminfo")?;
    let zones = fs::read_to_string("/proc/zoneinfo").context("cannot read /proc/zoneinfo")?;
    let known = cached_per_cpu(&zones) * 4 + granules()?;
    rest(&meminfo, known).context("/proc/meminfo lacks a line")
}

/// One file for each pool of a server that has granules.
const POOLS: &str = "/sys/kernel/debug/sunrpc/svc_granules";
/// Sizes of the buffers that a pool keeps, and their KiB.
const KEPT: [(&str, u64); 2] = [("granules: owned ", 64), ("singles: owned ", 4)];

/// Memory of the granules that the server owns, in KiB; none where it has no
/// granules.
fn granules() -> Result<u64> {
    let Ok(pools) = fs::read_dir(POOLS) else { return Ok(0) };
    pools.map(|pool| Ok(owned(&fs::read_to_string(pool?.path())?))).sum()
}

fn owned(text: &str) -> u64 {
    let each = |(start, size): (&str, u64)| {
        let count = text.lines().find_map(|line| line.strip_prefix(start)?.split(' ').next());
        count.and_then(|count| count.parse::<u64>().ok()).unwrap_or(0) * size
    };
    KEPT.map(each).iter().sum()
}

/// Lines of /proc/meminfo whose sum, without overlap, is accounted for.
const ACCOUNTED: [&str; 9] = [
    "MemFree",
    "Buffers",
    "Cached",
    "SwapCached",
    "AnonPages",
    "Slab",
    "KernelStack",
    "PageTables",
    "Percpu",
];

fn rest(meminfo: &str, more: u64) -> Option<u64> {
    let figure = |name: &str| {
        let mut lines = meminfo.lines().filter_map(|line| line.split_once(':'));
        let (_, value) = lines.find(|(key, _)| *key == name)?;
        value.split_whitespace().next()?.parse::<u64>().ok()
    };
    let known: Option<u64> = ACCOUNTED.iter().map(|name| figure(name)).sum();
    Some(figure("MemTotal")?.saturating_sub(known? + more))
}

/// Free pages that the CPUs keep for themselves.
fn cached_per_cpu(zoneinfo: &str) -> u64 {
    let counts = zoneinfo.lines().filter_map(|line| line.trim().strip_prefix("count:"));
    counts.filter_map(|count| count.trim().parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = r#"[{"ifindex":0,"ifname":"rxe0","pd":1,"qp":1,"mr":0}]"#;

    #[test]
    fn only_more_is_excess() {
        let before = parse(BEFORE).unwrap();
        assert!(before.excess(&before).is_empty());
        let after = parse(&BEFORE.replace(r#""qp":1"#, r#""qp":3"#)).unwrap();
        assert_eq!(after.excess(&before), ["rxe0 qp 3, was 1"]);
        assert!(before.excess(&after).is_empty());
    }

    #[test]
    fn no_device_is_an_error() {
        assert!(parse("[]").is_err());
        assert!(parse("").is_err());
    }

    #[test]
    fn what_is_accounted_for_is_taken_away() {
        let lines: String = ACCOUNTED.iter().map(|name| format!("{name}:  10 kB\n")).collect();
        let meminfo = format!("MemTotal:  1000 kB\n{lines}");
        assert_eq!(rest(&meminfo, 5), Some(905));
        assert_eq!(rest("MemTotal: 1 kB\n", 0), None);
    }

    #[test]
    fn granules_are_counted_by_their_size() {
        let text = "granules: owned 5 idle 3 bound 9\nsingles: owned 7 idle 1 bound 9\n";
        assert_eq!(owned(text), 5 * 64 + 7 * 4);
        assert_eq!(owned(""), 0);
    }

    #[test]
    fn pages_of_all_cpus_are_summed() {
        let text = "  pagesets\n    cpu: 0\n              count:    12\n    cpu: 1\n  count: 30\n";
        assert_eq!(cached_per_cpu(text), 42);
    }
}
