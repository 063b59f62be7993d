// SPDX-License-Identifier: GPL-2.0

//! The table of the replay: what each policy costs in crossings of
//! zone->lock.

use crate::markdown::Table;
use crate::record::{Line, Setup};
use crate::stats::Spread;
use serde::{Deserialize, Serialize};
use vm::policy::{Place, Replayed, POLICIES};
use vm::settings::GIB;

const PAGE: f64 = 4096.0;

/// One run of one policy, as a line of JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyRecord {
    /// [`crate::record::FORMAT`].
    pub format: u32,
    /// What the guest ran on.
    pub setup: Setup,
    /// Digest of the kernel's image.
    pub image: String,
    /// The run.
    pub run: Replayed,
}

impl Line for PolicyRecord {
    fn format(&self) -> u32 {
        self.format
    }
}

/// What a column shows of a run.
struct Column {
    name: &'static str,
    value: fn(&Replayed) -> f64,
}

const COLUMNS: [Column; 7] = [
    Column {
        name: "times zone->lock was taken",
        value: |run| per_gib(run, run.outcome.alloc_holds + run.outcome.free_holds),
    },
    Column { name: "to allocate", value: |run| per_gib(run, run.outcome.alloc_holds) },
    Column { name: "to free", value: |run| per_gib(run, run.outcome.free_holds) },
    Column { name: "pages taken under it", value: |run| per_gib(run, run.pages_taken) },
    Column { name: "pages drained under it", value: |run| per_gib(run, run.pages_drained) },
    Column { name: "extents", value: |run| per_gib(run, run.outcome.extents) },
    Column { name: "single pages", value: |run| per_gib(run, run.outcome.single) },
];

/// The section of the report; empty without results.
pub fn render(records: &[PolicyRecord]) -> String {
    let Some(last) = records.last() else {
        return String::new();
    };
    let same = |record: &&PolicyRecord| record.setup == last.setup && record.image == last.image;
    let runs: Vec<&Replayed> = records.iter().filter(same).map(|record| &record.run).collect();
    let header =
        ["threads on", "policy"].into_iter().chain(COLUMNS.iter().map(|column| column.name));
    let mut table = Table::new(header.map(str::to_owned).collect(), 2);
    for place in [Place::Same, Place::Two] {
        POLICIES.iter().for_each(|policy| table.row(row(&runs, place, policy)));
    }
    format!(
        "## One thread allocates, another one frees\n\n\
         The replay of `make policy`: one kernel thread fills arrays of 256 pages, another one \
         frees them, for the policies plain (bulk allocator, order 0), rfc (folios of order 3), \
         split-4 and split-3 (the reverted commit: blocks of order 4 or 3, split, and freed as \
         single pages) and granules. All per GiB, medians, least and most. How often the lock was \
         taken is counted in the page allocator, for the whole guest; blocks above order 3 go back \
         without an event and are not among the pages drained.\n\n{}",
        table.render()
    )
}

fn row(runs: &[&Replayed], place: Place, policy: &str) -> Vec<String> {
    let chosen = runs.iter().filter(|run| run.place == place && run.policy == policy);
    let name = match place {
        Place::Same => "one CPU",
        Place::Two => "two CPUs",
    };
    let cells = COLUMNS.iter().map(|column| {
        let spread = Spread::of(chosen.clone().map(|run| (column.value)(run)));
        spread.map_or("not measured".to_owned(), |spread| show(&spread))
    });
    [name.to_owned(), policy.to_owned()].into_iter().chain(cells).collect()
}

fn show(spread: &Spread) -> String {
    let Spread { median, least, most, .. } = spread;
    if most - least < 1.0 {
        return format!("{median:.0}");
    }
    format!("{median:.0} ({least:.0} to {most:.0})")
}

fn per_gib(run: &Replayed, count: u64) -> f64 {
    count as f64 * GIB as f64 / (run.outcome.pages.max(1) as f64 * PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::FORMAT;
    use crate::{canned, journal};
    use vm::policy::Outcome;

    fn record(policy: &str, alloc_holds: u64) -> PolicyRecord {
        let outcome = Outcome { pages: 262_144, alloc_holds, free_holds: 10, ..Outcome::default() };
        let run = Replayed {
            policy: policy.to_owned(),
            place: Place::Two,
            repetition: 0,
            outcome,
            pages_taken: 7,
            pages_drained: 0,
        };
        let setup = canned::records()[0].setup.clone();
        PolicyRecord { format: FORMAT, setup, image: "x".to_owned(), run }
    }

    #[test]
    fn medians_of_each_policy_are_shown() {
        let records = [record("split-4", 100), record("split-4", 102), record("split-3", 50)];
        let text = render(&records);
        let line = text.lines().find(|line| line.contains("two CPUs") && line.contains("split-4"));
        assert!(line.unwrap().contains(" 111 (110 to 112) |"), "{text}");
        assert!(text.lines().any(|line| line.contains("granules |") && line.contains("not meas")));
        assert_eq!(render(&[]), "");
    }

    #[test]
    fn runs_are_kept_as_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy.jsonl");
        let records = [record("plain", 3)];
        journal::append(&path, &records).unwrap();
        assert_eq!(journal::load::<PolicyRecord>(&path).unwrap(), records);
    }
}
