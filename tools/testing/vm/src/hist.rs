// SPDX-License-Identifier: GPL-2.0

//! Parser of the kernel's `hist` files in tracefs.

use anyhow::{ensure, Context, Result};
use std::collections::BTreeMap;

/// One line of a histogram.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    keys: BTreeMap<String, u64>,
    values: BTreeMap<String, u64>,
}

impl Row {
    /// The key `name`, a number.
    pub fn key(&self, name: &str) -> Result<u64> {
        self.keys.get(name).copied().with_context(|| format!("the histogram has no key {name}"))
    }

    /// The sum `name`.
    pub fn value(&self, name: &str) -> Result<u64> {
        self.values.get(name).copied().with_context(|| format!("the histogram has no sum {name}"))
    }

    /// How often the event came with these keys.
    pub fn hits(&self) -> Result<u64> {
        self.value("hitcount")
    }
}

/// Reads a `hist` file with numeric keys.
///
/// Fails if the kernel dropped events for want of room, since the sums are
/// then too small.
pub fn parse(text: &str) -> Result<Vec<Row>> {
    let lines = text.lines().map(str::trim);
    let rows =
        lines.clone().filter(|line| line.starts_with('{')).map(row).collect::<Result<_>>()?;
    for line in lines {
        if let Some(dropped) = line.strip_prefix("Dropped:") {
            ensure!(dropped.trim() == "0", "the kernel dropped {} events", dropped.trim());
        }
    }
    Ok(rows)
}

/// `{ order:  3, type: 1 } hitcount:  12  count:  4096`
fn row(line: &str) -> Result<Row> {
    let damaged = || format!("cannot understand the histogram line {line:?}");
    let (keys, values) = line.trim_start_matches('{').split_once('}').with_context(damaged)?;
    let keys = keys.split(',').map(pair).collect::<Option<_>>().with_context(damaged)?;
    let values = values.replace(':', " ");
    let words: Vec<&str> = values.split_whitespace().collect();
    let values =
        words.chunks(2).map(name_and_number).collect::<Option<_>>().with_context(damaged)?;
    Ok(Row { keys, values })
}

fn pair(text: &str) -> Option<(String, u64)> {
    let (name, number) = text.split_once(':')?;
    name_and_number(&[name.trim(), number.trim()])
}

fn name_and_number(words: &[&str]) -> Option<(String, u64)> {
    match words {
        [name, number] => Some(((*name).to_owned(), number.parse().ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# event histogram\n#\n\
        # trigger info: hist:keys=type,segs:vals=hitcount,bytes [active]\n#\n\n\
        { type:          2, segs:        256 } hitcount:         12  bytes:   12582912\n\
        { type:          2, segs:          1 } hitcount:          3  bytes:      30000\n\n\
        Totals:\n    Hits: 15\n    Entries: 2\n    Dropped: 0\n";

    #[test]
    fn rows_carry_keys_and_sums() {
        let rows = parse(TEXT).unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].key("segs").unwrap(), 256);
        assert_eq!(rows[0].key("type").unwrap(), 2);
        assert_eq!(rows[0].value("bytes").unwrap(), 12582912);
        assert_eq!(rows[1].hits().unwrap(), 3);
        assert!(rows[1].key("order").is_err());
    }

    #[test]
    fn an_empty_histogram_has_no_rows() {
        let text = "# event histogram\n\nTotals:\n    Hits: 0\n    Entries: 0\n    Dropped: 0\n";
        assert!(parse(text).unwrap().is_empty());
    }

    #[test]
    fn dropped_events_are_an_error() {
        let err = parse(&TEXT.replace("Dropped: 0", "Dropped: 4")).unwrap_err();
        assert_eq!(err.to_string(), "the kernel dropped 4 events");
    }

    #[test]
    fn a_key_that_is_no_number_is_an_error() {
        assert!(parse("{ comm: nfsd } hitcount: 1\n").is_err());
        assert!(parse("{ order: 1 } hitcount:\n").is_err());
    }
}
