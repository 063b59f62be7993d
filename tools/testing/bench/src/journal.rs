// SPDX-License-Identifier: GPL-2.0

//! The file of raw results, which is only ever appended to.

use crate::record::{Line, FORMAT};
use anyhow::{ensure, Context, Result};
use serde::de::DeserializeOwned;
use serde::Serialize;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

/// The results so far; none if there is no file.
///
/// A last line without an end is that of an interrupted call, and is passed
/// over.
pub fn load<T: Line + DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let text = read(path)?;
    let whole = &text[..complete(&text)];
    let lines = whole.lines().enumerate().filter(|(_, line)| !line.is_empty());
    let records = lines.map(|(at, line)| {
        parse(line).with_context(|| format!("{} line {}: remove it", path.display(), at + 1))
    });
    records.collect()
}

/// Adds results, all of them or none.
pub fn append<T: Line + Serialize>(path: &Path, records: &[T]) -> Result<()> {
    let mut lines = String::new();
    for record in records {
        lines += &serde_json::to_string(record).context("cannot encode JSON")?;
        lines.push('\n');
    }
    let kept = complete(&read(path)?) as u64;
    let file = OpenOptions::new().create(true).append(true).open(path);
    let mut file = file.with_context(|| format!("cannot open {}", path.display()))?;
    let written = file.set_len(kept).and_then(|()| file.write_all(lines.as_bytes()));
    written.with_context(|| format!("cannot write {}", path.display()))
}

fn parse<T: Line + DeserializeOwned>(line: &str) -> Result<T> {
    let record: T = serde_json::from_str(line)?;
    ensure!(record.format() == FORMAT, "format {} instead of {FORMAT}", record.format());
    Ok(record)
}

fn read(path: &Path) -> Result<String> {
    match fs::read_to_string(path) {
        Err(err) if err.kind() == ErrorKind::NotFound => Ok(String::new()),
        other => other.with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Length of what consists of whole lines.
fn complete(text: &str) -> usize {
    text.rfind('\n').map_or(0, |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canned;
    use crate::record::Record;

    #[test]
    fn results_come_back_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        assert!(load::<Record>(&path).unwrap().is_empty());
        let records = canned::records();
        append(&path, &records[..1]).unwrap();
        append(&path, &records[1..]).unwrap();
        assert_eq!(load::<Record>(&path).unwrap(), records);
    }

    #[test]
    fn an_interrupted_line_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        let records = canned::records();
        append(&path, &records[..1]).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{text}{}", &text[..40])).unwrap();
        assert_eq!(load::<Record>(&path).unwrap(), records[..1]);
        append(&path, &records[1..2]).unwrap();
        assert_eq!(load::<Record>(&path).unwrap(), records[..2]);
    }

    #[test]
    fn a_damaged_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        fs::write(&path, "\n{}\n").unwrap();
        let err = format!("{:#}", load::<Record>(&path).unwrap_err());
        assert!(err.contains("results.jsonl line 2: remove it"), "{err}");
    }

    #[test]
    fn a_line_of_this_format_is_understood() {
        let record: Record = parse(canned::LINE).unwrap();
        assert_eq!(record.kernel.flavour, "plain");
        let read = record.sample.outcome.unwrap().read;
        assert_eq!(read.counts.rdma_write.requests, 1792);
        let other = canned::LINE.replace("\"format\":1", "\"format\":0");
        assert_eq!(parse::<Record>(&other).unwrap_err().to_string(), "format 0 instead of 1");
    }
}
