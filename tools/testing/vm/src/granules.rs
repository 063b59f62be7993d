// SPDX-License-Identifier: GPL-2.0

//! What the kernel tells about the granules of the server.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Bytes of one granule.
pub const BYTES: u64 = 64 << 10;

/// Levels, and totals of what happened, over all pools of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Granules {
    /// Granules owned, idle or in use.
    pub owned: u64,
    /// Of these known to be idle.
    pub idle: u64,
    /// Most that may be owned.
    pub bound: u64,
    /// Groups filled from the ring of a thread.
    pub ring: u64,
    /// Groups filled from the pool.
    pub pool: u64,
    /// Groups left to the page allocator.
    pub fallback: u64,
    /// Attempts to get a granule from the page allocator.
    pub attempts: u64,
    /// Attempts that succeeded.
    pub grown: u64,
    /// Granules that went back, since memory was short.
    pub reclaimed: u64,
}

impl Granules {
    /// Reads one file of debugfs: `granules: owned 5 idle 3 bound 9 ...`
    pub fn parse(text: &str) -> Result<Self> {
        let line = text.lines().find_map(|line| line.strip_prefix("granules: "));
        let line = line.context("the kernel shows no granules")?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let numbers = words.chunks_exact(2).map(|pair| Ok((pair[0], pair[1].parse()?)));
        let numbers = numbers.collect::<Result<BTreeMap<&str, u64>>>();
        let numbers = numbers.and_then(|numbers| Ok(serde_json::to_value(numbers)?));
        let parsed = numbers.and_then(|numbers| Ok(serde_json::from_value(numbers)?));
        parsed.with_context(|| format!("cannot understand {line:?}"))
    }

    /// Both together.
    pub fn plus(&self, other: &Self) -> Self {
        self.each(other, u64::saturating_add, u64::saturating_add)
    }

    /// The present levels, and what happened since `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        self.each(earlier, |now, _| now, u64::saturating_sub)
    }

    /// Share of the groups that no granule filled.
    pub fn fallback_share(&self) -> Option<f64> {
        let all = self.ring + self.pool + self.fallback;
        (all > 0).then(|| self.fallback as f64 / all as f64)
    }

    /// Groups filled with granules since `earlier`, in thousandths of all.
    pub fn share_since(&self, earlier: &Self) -> u64 {
        let passed = self.since(earlier);
        let whole = passed.ring + passed.pool;
        (whole * 1000).checked_div(whole + passed.fallback).unwrap_or(1000)
    }

    fn each(&self, other: &Self, level: fn(u64, u64) -> u64, total: fn(u64, u64) -> u64) -> Self {
        Self {
            owned: level(self.owned, other.owned),
            idle: level(self.idle, other.idle),
            bound: level(self.bound, other.bound),
            ring: total(self.ring, other.ring),
            pool: total(self.pool, other.pool),
            fallback: total(self.fallback, other.fallback),
            attempts: total(self.attempts, other.attempts),
            grown: total(self.grown, other.grown),
            reclaimed: total(self.reclaimed, other.reclaimed),
        }
    }
}

impl fmt::Display for Granules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { owned, idle, bound, ring, pool, fallback, attempts, grown, reclaimed } = self;
        write!(f, "owned {owned} idle {idle} bound {bound} ring {ring} pool {pool} ")?;
        write!(f, "fallback {fallback} attempts {attempts} grown {grown} reclaimed {reclaimed}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "granules: owned 40 idle 30 bound 100 ring 700 pool 200 fallback 100 \
        attempts 60 grown 40 reclaimed 0\n\
        singles: owned 8 idle 8 bound 64 ring 1 pool 2 fallback 3 attempts 4 grown 5 reclaimed 6\n";

    #[test]
    fn the_line_of_the_granules_is_read() {
        let granules = Granules::parse(TEXT).unwrap();
        assert_eq!((granules.owned, granules.bound, granules.grown), (40, 100, 40));
        assert_eq!(granules.fallback_share(), Some(0.1));
        assert_eq!(granules.share_since(&Granules::default()), 900);
        assert!(TEXT.contains(&granules.to_string()));
        assert!(Granules::parse("singles: owned 1\n").is_err());
        assert!(Granules::parse("granules: owned 1 idle x\n").is_err());
        assert!(Granules::parse("granules: owned 1 idle 2\n").is_err());
    }

    #[test]
    fn levels_stay_and_totals_are_subtracted() {
        let now = Granules::parse(TEXT).unwrap();
        let passed = now.since(&Granules { owned: 7, ring: 600, ..Granules::default() });
        assert_eq!((passed.owned, passed.ring), (40, 100));
        assert_eq!(now.plus(&now).owned, 80);
        assert_eq!(Granules::default().fallback_share(), None);
    }
}
