// SPDX-License-Identifier: GPL-2.0

//! Results that a guest hands out one by one.

use crate::job::Case;
use kbuild::tally::Tally;

/// Records the case in `line` under `prefix`, and gives it back.
pub fn record(tally: &mut Tally, prefix: &str, line: &str) -> Option<Case> {
    let case: Case = serde_json::from_str(line).ok()?;
    let name = format!("{prefix}: {}", case.name);
    match (&case.failure, &case.skipped) {
        (Some(reason), _) => tally.fail(name, reason),
        (None, Some(reason)) => tally.skip(name, reason),
        (None, None) => tally.pass(name),
    }
    Some(case)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_recorded_under_its_name() {
        let mut tally = Tally::new();
        let mut name = |line| record(&mut tally, "e2e", line).map(|case| case.name);
        let failed = r#"{"name":"rxe v3 direct","failure":"fio failed"}"#;
        assert_eq!(name(failed).as_deref(), Some("rxe v3 direct"));
        let skipped = r#"{"name":"a","failure":null,"skipped":"no time","figures":{"x":1}}"#;
        assert_eq!(name(skipped).as_deref(), Some("a"));
        assert_eq!(name("{\"name\":"), None);
        assert_eq!(tally.closing(), "0 passed, 1 failed, 1 skipped");
    }
}
