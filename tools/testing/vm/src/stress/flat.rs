// SPDX-License-Identifier: GPL-2.0

//! Whether counts stay the same, whatever the number of CPUs and threads.

use anyhow::{ensure, Result};
use std::collections::BTreeMap;

/// Counts by name; the first word says what is counted.
pub type Counts = BTreeMap<String, u64>;

/// Fails if, of counts of the same kind, the largest exceeds the smallest by
/// more than a tenth.
pub fn check(counts: &[Counts]) -> Result<()> {
    let mut ranges: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (name, count) in counts.iter().flatten() {
        let kind = name.split(' ').next().unwrap_or(name);
        let range = ranges.entry(kind).or_insert((*count, *count));
        *range = (range.0.min(*count), range.1.max(*count));
    }
    for (kind, (least, most)) in ranges {
        ensure!((most - least) * 10 <= most, "{kind} range from {least} to {most}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(list: &[(&str, u64)]) -> Counts {
        list.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    #[test]
    fn a_tenth_is_allowed() {
        let same =
            [counts(&[("requests 8", 1000), ("requests 64", 950)]), counts(&[("requests 8", 900)])];
        assert!(check(&same).is_ok());
        let err = check(&[counts(&[("requests 8", 1000), ("requests 64", 899)])]).unwrap_err();
        assert_eq!(err.to_string(), "requests range from 899 to 1000");
    }
}
