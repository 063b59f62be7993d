// SPDX-License-Identifier: GPL-2.0

//! What the granules of nfsd have to keep to.

use crate::granules::Granules;
use crate::guest::granules::{entries, read};
use anyhow::{Context, Result};
use std::fs;

const SHRINKERS: &str = "/sys/kernel/debug/shrinker";

/// Granules that a thread has at most with payloads of 1 MiB: those of both
/// page arrays, and its rings.
const PER_THREAD: u64 = 32 + 8;

/// Granules of the replies of 1 MiB that may be in flight.
const IN_FLIGHT: u64 = 64 * 16;

/// One reading of the shrinker looks at that many granules.
const CHECKS: u64 = 32;

/// The most granules that the threads hold when nothing is in flight.
pub fn threads_need(threads: u32) -> u64 {
    PER_THREAD * u64::from(threads)
}

/// The documented bound for payloads of 1 MiB, where there is enough memory.
pub fn bound(threads: u32) -> u64 {
    threads_need(threads) + IN_FLIGHT
}

/// The present state.
pub fn census() -> Result<Granules> {
    read()?.context("no pool of nfsd has granules: is this a kernel with them?")
}

/// The state after all granules have been looked at: the shrinker sorts them
/// when it is asked how many are idle.
pub fn settled() -> Result<Granules> {
    let readings = census()?.owned / CHECKS + 2;
    for path in entries(SHRINKERS, "sunrpc-granules")? {
        let path = path.join("count");
        for _ in 0..readings {
            fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        }
    }
    census()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_bound_is_met() {
        assert_eq!(bound(8), 1344);
    }
}
