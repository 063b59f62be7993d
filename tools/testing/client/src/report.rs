// SPDX-License-Identifier: GPL-2.0

//! What came of the cases: for programs and for people.

use crate::plan::Case;
use crate::run::Verdict;
use anyhow::{Context, Result};
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

/// One line for programs.
#[derive(Serialize)]
struct Line<'a> {
    name: &'a str,
    failure: Option<&'a str>,
}

/// Collects what came of each case.
#[derive(Default)]
pub struct Report {
    lines: Option<File>,
    passed: usize,
    failed: usize,
    deviations: usize,
}

impl Report {
    /// A report that also appends one JSON line a case to `path`.
    pub fn new(path: Option<&Path>) -> Result<Self> {
        let open = |path: &Path| {
            let file = OpenOptions::new().create(true).append(true).open(path);
            file.with_context(|| format!("cannot open {}", path.display()))
        };
        Ok(Self { lines: path.map(open).transpose()?, ..Self::default() })
    }

    /// Records and prints what came of `case`.
    pub fn case(&mut self, case: &Case, verdict: &Verdict) -> Result<()> {
        match verdict {
            Verdict::Pass => self.result(&case.name, None),
            Verdict::Fail(reason) => {
                self.result(&case.name, Some(&format!("{reason} ({})", case.rule)))
            }
            Verdict::Deviates(outcome) => {
                self.deviations += 1;
                self.result(&case.name, None)?;
                println!("note  {outcome}, where {} wants: {}", case.rule, case.must);
                Ok(())
            }
        }
    }

    /// Records and prints one result.
    pub fn result(&mut self, name: &str, failure: Option<&str>) -> Result<()> {
        match failure {
            None => {
                self.passed += 1;
                println!("pass  {name}");
            }
            Some(reason) => {
                self.failed += 1;
                println!("FAIL  {name}: {reason}");
            }
        }
        let Some(file) = &mut self.lines else { return Ok(()) };
        let line = serde_json::to_string(&Line { name, failure }).context("cannot encode JSON")?;
        // One write, so that a reader never sees half a line.
        file.write_all(format!("{line}\n").as_bytes()).context("cannot write a result")
    }

    /// Prints the end; true if nothing failed.
    pub fn finish(&self) -> bool {
        println!("{} outcomes are put up with, see the notes", self.deviations);
        println!("{} passed, {} failed", self.passed, self.failed);
        self.failed == 0
    }
}

/// The plan as a table.
pub fn list(cases: &[Case]) -> String {
    let width = cases.iter().map(|case| case.name.len()).max().unwrap_or(0);
    let line =
        |case: &Case| format!("{:<width$}  {:<29}  {}\n", case.name, case.rule, case.expectation());
    cases.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{self, Outcome};

    #[test]
    fn results_go_to_the_file_line_by_line() {
        let path = std::env::temp_dir().join(format!("rpcrdma-client-{}", std::process::id()));
        let mut report = Report::new(Some(&path)).unwrap();
        let case = &plan::all()[0];
        report.case(case, &Verdict::Deviates(Outcome::Closed)).unwrap();
        report.result("b", Some("it broke")).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], format!(r#"{{"name":"{}","failure":null}}"#, case.name));
        assert_eq!(lines[1], r#"{"name":"b","failure":"it broke"}"#);
        assert!(!report.finish());
    }

    #[test]
    fn the_list_has_a_line_a_case() {
        let cases = plan::all();
        let text = list(&cases);
        assert_eq!(text.lines().count(), cases.len());
        assert!(text.contains("RFC 8166 section 4.5.1"));
    }
}
