// SPDX-License-Identifier: GPL-2.0

//! What debugfs tells of the granules of nfsd.

use anyhow::{ensure, Context, Result};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

const POOLS: &str = "/sys/kernel/debug/sunrpc/svc_granules";
const SHRINKERS: &str = "/sys/kernel/debug/shrinker";

/// Granules that a thread has at most with payloads of 1 MiB: those of both
/// page arrays, and its rings.
const PER_THREAD: u64 = 32 + 8;

/// Granules of the replies of 1 MiB that may be in flight.
const IN_FLIGHT: u64 = 64 * 16;

/// One reading of the shrinker looks at that many granules.
const CHECKS: u64 = 32;

/// The granules of all pools of nfsd.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Granules that exist.
    pub owned: u64,
    /// Of these, known to be idle.
    pub idle: u64,
    /// Granules that may exist.
    pub bound: u64,
    /// Groups filled from the ring of a thread.
    pub ring: u64,
    /// Groups filled from the pool.
    pub pool: u64,
    /// Groups left to the page allocator.
    pub fallback: u64,
    /// Granules that the page allocator gave.
    pub grown: u64,
    /// Granules that went back to it.
    pub reclaimed: u64,
}

impl fmt::Display for Census {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "owned {} idle {} bound {} ring {} pool {} fallback {} grown {} reclaimed {}",
            self.owned,
            self.idle,
            self.bound,
            self.ring,
            self.pool,
            self.fallback,
            self.grown,
            self.reclaimed
        )
    }
}

impl Census {
    /// Groups filled with granules since `earlier`, in thousandths of all.
    pub fn share_since(&self, earlier: &Self) -> u64 {
        let whole = (self.ring + self.pool).saturating_sub(earlier.ring + earlier.pool);
        let all = whole + self.fallback.saturating_sub(earlier.fallback);
        (whole * 1000).checked_div(all).unwrap_or(1000)
    }
}

/// The most granules that the threads hold when nothing is in flight.
pub fn threads_need(threads: u32) -> u64 {
    PER_THREAD * u64::from(threads)
}

/// The documented bound for payloads of 1 MiB, where there is enough memory.
pub fn bound(threads: u32) -> u64 {
    threads_need(threads) + IN_FLIGHT
}

/// The present state.
pub fn census() -> Result<Census> {
    let mut text = String::new();
    for path in entries(POOLS, "nfsd.")? {
        // A pool may go away meanwhile.
        text += &fs::read_to_string(path).unwrap_or_default();
    }
    ensure!(!text.is_empty(), "{POOLS} has no pool of nfsd: is this a kernel with granules?");
    parse(&text).with_context(|| format!("cannot use {POOLS}: {text:?}"))
}

/// The state after all granules have been looked at: the shrinker sorts them
/// when it is asked how many are idle.
pub fn settled() -> Result<Census> {
    let readings = census()?.owned / CHECKS + 2;
    for path in entries(SHRINKERS, "sunrpc-granules")? {
        let path = path.join("count");
        for _ in 0..readings {
            fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        }
    }
    census()
}

fn entries(folder: &str, prefix: &str) -> Result<Vec<PathBuf>> {
    let list = fs::read_dir(Path::new(folder)).with_context(|| format!("cannot list {folder}"))?;
    let names = list.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let is_wanted = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix))
    };
    Ok(names.filter(is_wanted).collect())
}

/// Lines `granules: owned 3 idle 2 ...`.
fn parse(text: &str) -> Option<Census> {
    let mut sum = Census::default();
    for line in text.lines().filter_map(|line| line.strip_prefix("granules: ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let value = |name: &str| -> Option<u64> {
            words.chunks_exact(2).find(|pair| pair[0] == name)?[1].parse().ok()
        };
        sum.owned += value("owned")?;
        sum.idle += value("idle")?;
        sum.bound += value("bound")?;
        sum.ring += value("ring")?;
        sum.pool += value("pool")?;
        sum.fallback += value("fallback")?;
        sum.grown += value("grown")?;
        sum.reclaimed += value("reclaimed")?;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "granules: owned 300 idle 20 bound 1344 ring 5 pool 90 fallback 5 \
        attempts 9 grown 300 reclaimed 1\nsingles: owned 8 idle 0 bound 9\n";

    #[test]
    fn pools_are_added_up() {
        let census = parse(&format!("{LINE}{LINE}")).unwrap();
        assert_eq!((census.owned, census.idle, census.bound), (600, 40, 2688));
        assert_eq!(census.share_since(&Census::default()), 950);
        assert_eq!(parse("granules: owned 3\n"), None);
    }

    #[test]
    fn the_documented_bound_is_met() {
        assert_eq!(bound(8), 1344);
    }
}
