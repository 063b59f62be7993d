// SPDX-License-Identifier: GPL-2.0

//! The replay of "one thread allocates, another one frees" in a kernel with
//! the test-only patches `policy`.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Policies, as the kernel calls them, in the order of the report.
pub const POLICIES: [&str; 5] = ["plain", "rfc", "split-4", "split-3", "granules"];

/// What the guest does.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Replay {
    /// Page arrays of 1 MiB in each run.
    pub rounds: u32,
    /// How often every policy runs.
    pub repetitions: u32,
}

/// Where the two threads run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// On one CPU.
    Same,
    /// On two CPUs.
    Two,
}

/// One run of one policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replayed {
    /// Its name.
    pub policy: String,
    /// Where the threads ran.
    pub place: Place,
    /// Counts from zero.
    pub repetition: u32,
    /// What the kernel counted.
    pub outcome: Outcome,
    /// Pages that the two threads took from the buddy lists.
    pub pages_taken: u64,
    /// Pages that the two threads drained to the buddy lists from lists of
    /// a CPU; larger blocks that go there at once are not among them.
    pub pages_drained: u64,
}

/// The kernel's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Pages that were filled.
    pub pages: u64,
    /// Contiguous extents that they made.
    pub extents: u64,
    /// Pages that came from the bulk allocator, one by one.
    pub single: u64,
    /// How often zone->lock was taken to allocate, by anybody.
    pub alloc_holds: u64,
    /// How often it was taken to free, by anybody.
    pub free_holds: u64,
    /// Wall time.
    pub ns: u64,
}

impl Outcome {
    /// `policy NAME cpus A B pages N extents N single N alloc_holds N ...`
    pub fn parse(text: &str) -> Result<Self> {
        let damaged = || format!("cannot understand {:?}", text.trim());
        let words: Vec<&str> = text.split_whitespace().skip(5).collect();
        let numbers = words.chunks_exact(2).map(|pair| Ok((pair[0], pair[1].parse()?)));
        let numbers = numbers.collect::<Result<BTreeMap<&str, u64>>>().with_context(damaged)?;
        let value = serde_json::to_value(numbers).with_context(damaged)?;
        serde_json::from_value(value).with_context(damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_line_is_read() {
        let text = "policy split-4 cpus 0 1 pages 512 extents 32 single 0 alloc_holds 33 \
                    free_holds 9 ns 12345\n";
        let outcome = Outcome::parse(text).unwrap();
        assert_eq!((outcome.pages, outcome.extents, outcome.alloc_holds), (512, 32, 33));
        assert_eq!((outcome.free_holds, outcome.ns), (9, 12345));
        assert!(Outcome::parse("nothing has run\n").is_err());
        assert!(Outcome::parse(&text.replace("512", "x")).is_err());
    }
}
