// SPDX-License-Identifier: GPL-2.0

//! Figures from the guest's /proc.

use anyhow::{Context, Result};
use std::fs;

/// Bytes that nfsd read and wrote since it was loaded.
pub fn nfsd_bytes() -> Result<(u64, u64)> {
    let text = read("/proc/net/rpc/nfsd")?;
    io_line(&text).context("/proc/net/rpc/nfsd has no io line")
}

/// RPCs that nfsd has answered since it was loaded.
pub fn nfsd_rpcs() -> Result<u64> {
    let text = read("/proc/net/rpc/nfsd")?;
    rpc_line(&text).context("/proc/net/rpc/nfsd has no rpc line")
}

/// A figure of /proc/meminfo, in bytes.
pub fn memory(name: &str) -> Result<u64> {
    let text = read("/proc/meminfo")?;
    meminfo(&text, name).with_context(|| format!("/proc/meminfo has no {name}"))
}

/// Free memory in blocks of `1 << order` pages or more, in pages. Memory for
/// old devices, which nobody else gets, is left out.
pub fn free_pages(order: usize) -> Result<u64> {
    Ok(buddyinfo(&read("/proc/buddyinfo")?, order))
}

/// The kernel's command line.
pub fn parameters() -> Result<String> {
    Ok(read("/proc/cmdline")?.trim().to_owned())
}

/// Pages allocated and freed since boot.
pub fn vm_pages() -> Result<(u64, u64)> {
    let text = read("/proc/vmstat")?;
    Ok((vmstat(&text, "pgalloc_"), vmstat(&text, "pgfree")))
}

/// CPU time that was not idle, of all CPUs, in ticks.
pub fn cpu_ticks() -> Result<u64> {
    busy_ticks(&read("/proc/stat")?).context("/proc/stat has no cpu line")
}

/// CPU time of all tasks with that name, in ticks.
pub fn thread_ticks(name: &str) -> Result<u64> {
    let mut ticks = 0;
    for entry in fs::read_dir("/proc").context("cannot read /proc")? {
        let path = entry.context("cannot read /proc")?.path().join("stat");
        // A task may end between the two reads.
        let stat = fs::read_to_string(path).unwrap_or_default();
        ticks += task_ticks(&stat, name).unwrap_or(0);
    }
    Ok(ticks)
}

/// CPU time of one process with all its threads, in ticks.
pub fn process_ticks(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    ticks(stat.rsplit_once(')')?.1)
}

/// Ticks in a second of CPU time.
pub fn ticks_per_second() -> u64 {
    rustix::param::clock_ticks_per_second().max(1)
}

/// The kernel's taint flags.
pub fn tainted() -> Result<u64> {
    let text = read("/proc/sys/kernel/tainted")?;
    text.trim().parse().context("/proc/sys/kernel/tainted is not a number")
}

/// The kernel's release.
pub fn release() -> Result<String> {
    Ok(read("/proc/sys/kernel/osrelease")?.trim().to_owned())
}

fn read(path: &str) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {path}"))
}

fn io_line(text: &str) -> Option<(u64, u64)> {
    let line = text.lines().find_map(|line| line.strip_prefix("io "))?;
    let (read, written) = line.split_once(' ')?;
    Some((read.parse().ok()?, written.trim().parse().ok()?))
}

/// `rpc 4711 0 0 0 0`
fn rpc_line(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("rpc "))?;
    line.split(' ').next()?.parse().ok()
}

/// `MemFree:  123 kB`
fn meminfo(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib << 10)
}

/// `Node 0, zone   Normal   1 2 3`: blocks by order.
fn buddyinfo(text: &str, order: usize) -> u64 {
    let zones = text.lines().filter_map(|line| line.split_once("zone")?.1.trim().split_once(' '));
    let zones = zones.filter(|(name, _)| *name != "DMA");
    let pages = |counts: &str| -> u64 {
        let blocks = counts.split_whitespace().map(|count| count.parse().unwrap_or(0_u64));
        blocks.enumerate().skip(order).map(|(order, count)| count << order).sum()
    };
    zones.map(|(_, counts)| pages(counts)).sum()
}

fn vmstat(text: &str, prefix: &str) -> u64 {
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    let values = lines.filter(|(name, _)| name.starts_with(prefix));
    values.filter_map(|(_, value)| value.parse::<u64>().ok()).sum()
}

/// user nice system idle iowait irq softirq ...
fn busy_ticks(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let fields = line.split_whitespace().map(str::parse).collect::<Result<Vec<u64>, _>>().ok()?;
    let busy = fields.iter().take(7).enumerate().filter(|(at, _)| !matches!(at, 3 | 4));
    Some(busy.map(|(_, ticks)| ticks).sum())
}

fn task_ticks(stat: &str, name: &str) -> Option<u64> {
    let (head, tail) = stat.rsplit_once(')')?;
    let (_, comm) = head.split_once('(')?;
    if comm != name {
        return None;
    }
    ticks(tail)
}

/// utime and stime are fields 14 and 15 of `pid (comm) state ...`; `tail`
/// begins after the name.
fn ticks(tail: &str) -> Option<u64> {
    let mut fields = tail.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nfsd_counts_bytes() {
        assert_eq!(io_line("rc 0 0 0\nfh 0 0\nio 123 4567\nth 8 0\n"), Some((123, 4567)));
        assert_eq!(io_line("rc 0 0 0\n"), None);
    }

    #[test]
    fn lines_are_found_by_name() {
        assert_eq!(rpc_line("io 1 2\nrpc 4711 0 0 0 0\n"), Some(4711));
        let text = "MemTotal:  100 kB\nMemFree:     12 kB\n";
        assert_eq!(meminfo(text, "MemFree"), Some(12 << 10));
        assert_eq!(meminfo(text, "Mem"), None);
    }

    #[test]
    fn free_blocks_are_weighted_by_order() {
        let text = "Node 0, zone      DMA   1   1   1\n\
            Node 0, zone    DMA32   7   2   3\nNode 0, zone   Normal   1   0   1\n";
        assert_eq!(buddyinfo(text, 2), 16);
        assert_eq!(buddyinfo(text, 0), 7 + 4 + 12 + 1 + 4);
    }

    #[test]
    fn zones_are_summed() {
        let text = "pgalloc_dma 1\npgalloc_dma32 20\npgalloc_normal 300\npgfree 7\npgfree_x 0\n";
        assert_eq!(vmstat(text, "pgalloc_"), 321);
        assert_eq!(vmstat(text, "pgfree"), 7);
    }

    #[test]
    fn idle_time_is_left_out() {
        let text = "cpu  1 2 4 1000 1000 8 16 32 0 0\ncpu0 1 1 1 1 1 1 1\n";
        assert_eq!(busy_ticks(text), Some(31));
    }

    #[test]
    fn a_task_is_found_by_its_whole_name() {
        let stat = "42 (nfsd) S 2 0 0 0 -1 69238848 0 0 0 0 11 31 0 0 20 0 1 0 20 0 0";
        assert_eq!(task_ticks(stat, "nfsd"), Some(42));
        assert_eq!(task_ticks(stat, "nfs"), None);
        assert_eq!(task_ticks(&stat.replace("(nfsd)", "(a) b)"), "a) b"), Some(42));
    }
}
