// SPDX-License-Identifier: GPL-2.0

//! Whether counts stay the same, whatever the number of CPUs and threads.

use anyhow::{ensure, Result};
use std::collections::BTreeMap;

/// Counts by name; the first word says what is counted.
pub type Counts = BTreeMap<String, u64>;

/// One percent of the pages of a GiB: fewer are none, and their number is
/// that of the granules that happened to be missing.
pub const FEW_PAGES: u64 = 2621;

/// bio_vecs for each MiB: one for each granule, and one for a page of its own.
pub const BVECS: u64 = 17;

/// Fails if, of counts of the same kind, the largest exceeds the smallest by
/// more than a tenth.
///
/// Unless these are bio_vecs, and no more than granules. Fewer there are where
/// granules happen to be neighbours, which depends on what else is allocated
/// while a pool grows, and not on what a READ does.
pub fn check(counts: &[Counts]) -> Result<()> {
    let mut ranges: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (name, count) in counts.iter().flatten() {
        let kind = name.split(' ').next().unwrap_or(name);
        let range = ranges.entry(kind).or_insert((*count, *count));
        *range = (range.0.min(*count), range.1.max(*count));
    }
    for (kind, (least, most)) in ranges {
        let few = match kind {
            "pages" => most <= FEW_PAGES,
            "bvecs" => most <= BVECS * 100,
            _ => false,
        };
        ensure!(few || (most - least) * 10 <= most, "{kind} range from {least} to {most}");
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
        let same = [counts(&[("bvecs 8", 2000), ("bvecs 64", 1900)]), counts(&[("bvecs 8", 1800)])];
        assert!(check(&same).is_ok());
        let err = check(&[counts(&[("bvecs 8", 2000), ("bvecs 64", 1799)])]).unwrap_err();
        assert_eq!(err.to_string(), "bvecs range from 1799 to 2000");
    }

    #[test]
    fn granules_may_be_neighbours() {
        assert!(check(&[counts(&[("bvecs 8", 900), ("bvecs 64", 1700)])]).is_ok());
        assert!(check(&[counts(&[("bvecs 8", 900), ("bvecs 64", 1701)])]).is_err());
        assert!(check(&[counts(&[("requests 8", 700), ("requests 64", 800)])]).is_err());
    }

    #[test]
    fn few_pages_are_as_good_as_none() {
        assert!(check(&[counts(&[("pages 8", 0), ("pages 64", 2000)])]).is_ok());
        assert!(check(&[counts(&[("pages 8", 0), ("pages 64", 3000)])]).is_err());
    }
}
