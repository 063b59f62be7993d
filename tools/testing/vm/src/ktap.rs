// SPDX-License-Identifier: GPL-2.0

//! Reads KUnit's results (KTAP) out of a kernel log.

use crate::klog::without_time;
use regex::Regex;
use std::sync::OnceLock;

/// Result of one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It passed.
    Pass,
    /// It failed; the lines before the result say why.
    Fail(String),
    /// It was left out.
    Skip(String),
}

/// One test, named by the path of its suites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// `suite.case` or `suite.case.parameter`.
    pub name: String,
    /// Its result.
    pub verdict: Verdict,
}

/// A result line: `[not ]ok N name # SKIP reason`.
struct Line<'a> {
    depth: usize,
    passed: bool,
    name: &'a str,
    directive: &'a str,
}

/// A level of nesting that is open.
#[derive(Debug, Default)]
struct Level {
    planned: Option<usize>,
    results: usize,
    tests: Vec<Test>,
    notes: Vec<String>,
}

/// The tests in a log. A suite without its plan, or with fewer results than
/// planned, counts as a failed test of its own.
pub fn parse(log: &str) -> Vec<Test> {
    let mut levels = vec![Level::default()];
    for line in log.lines().map(without_time) {
        if let Some((depth, count)) = plan(line) {
            open(&mut levels, depth);
            levels[depth].planned = Some(count);
        } else if let Some(line) = result(line) {
            open(&mut levels, line.depth);
            close(&mut levels, &line);
        } else if let Some(level) = levels.last_mut() {
            level.notes.push(line.trim().to_owned());
        }
    }
    finish(levels)
}

/// Adds levels down to `depth`; deeper ones stay, for the result that closes
/// them.
fn open(levels: &mut Vec<Level>, depth: usize) {
    while levels.len() <= depth {
        levels.push(Level::default());
    }
}

/// Takes a result, together with the deeper levels that it sums up.
fn close(levels: &mut Vec<Level>, line: &Line<'_>) {
    let deeper = levels.split_off(line.depth + 1);
    let mut tests = Vec::new();
    let mut notes = std::mem::take(&mut levels[line.depth].notes);
    for mut level in deeper {
        tests.extend(missing(&level));
        tests.append(&mut level.tests);
        notes.append(&mut level.notes);
    }
    let failed = tests.iter().any(|test| matches!(test.verdict, Verdict::Fail(_)));
    for test in &mut tests {
        test.name = format!("{}.{}", line.name, test.name);
    }
    let level = &mut levels[line.depth];
    level.results += 1;
    // The result of a suite says nothing beyond those of its cases.
    let implied = !tests.is_empty() && (line.passed || failed);
    level.tests.append(&mut tests);
    if !implied {
        level.tests.push(Test { name: line.name.to_owned(), verdict: verdict(line, &notes) });
    }
}

fn verdict(line: &Line<'_>, notes: &[String]) -> Verdict {
    if let Some(reason) = line.directive.strip_prefix("SKIP") {
        return Verdict::Skip(reason.trim().to_owned());
    }
    if line.passed {
        return Verdict::Pass;
    }
    let start = notes.iter().position(|note| note.contains("FAILED at") || note.contains("EXPECT"));
    let notes = notes.iter().skip(start.unwrap_or(notes.len())).take(6).map(String::as_str);
    Verdict::Fail(notes.collect::<Vec<_>>().join("; "))
}

fn missing(level: &Level) -> Option<Test> {
    let reason = match level.planned {
        Some(planned) if planned == level.results => return None,
        Some(planned) => format!("{} results of {planned} planned", level.results),
        None if level.results == 0 => return None,
        None => "the plan is missing".to_owned(),
    };
    Some(Test { name: "plan".to_owned(), verdict: Verdict::Fail(reason) })
}

/// At the end of the log every level must be complete.
fn finish(levels: Vec<Level>) -> Vec<Test> {
    let mut tests = Vec::new();
    for level in levels {
        let missing = missing(&level);
        tests.extend(level.tests);
        tests.extend(missing);
    }
    tests
}

/// `1..N`, indented by its depth.
fn plan(line: &str) -> Option<(usize, usize)> {
    static PLAN: OnceLock<Regex> = OnceLock::new();
    let pattern = PLAN.get_or_init(|| Regex::new(r"^( *)1\.\.(\d+)$").expect("constant"));
    let found = pattern.captures(line.trim_end())?;
    Some((found[1].len() / 4, found[2].parse().ok()?))
}

fn result(line: &str) -> Option<Line<'_>> {
    static RESULT: OnceLock<Regex> = OnceLock::new();
    let pattern = RESULT.get_or_init(|| {
        Regex::new(r"^( *)(not )?ok \d+(?: -)? ([^#]*?) *(?:# (.*))?$").expect("constant")
    });
    let found = pattern.captures(line.trim_end())?;
    Some(Line {
        depth: found.get(1)?.len() / 4,
        passed: found.get(2).is_none(),
        name: found.get(3)?.as_str(),
        directive: found.get(4).map_or("", |directive| directive.as_str()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
[    0.100000] KTAP version 1
[    0.100000] 1..2
[    0.100000]     KTAP version 1
[    0.100000]     # Subtest: svc_pages
[    0.100000]     # module: svc_pages_kunit
[    0.100000]     1..3
[    0.100000]     ok 1 svc_pages_one
[    0.100000]         KTAP version 1
[    0.100000]         # Subtest: svc_pages_cap
[    0.100000]         1..2
[    0.100000]         ok 1 cap of a page
[    0.100000]     # svc_pages_cap: EXPECTATION FAILED at net/sunrpc/svc_pages_kunit.c:12
[    0.100000]     Expected a == b, but
[    0.100000]         not ok 2 cap of a byte
[    0.100000]     # svc_pages_cap: pass:1 fail:1 skip:0 total:2
[    0.100000]     not ok 2 svc_pages_cap
[    0.100000]     ok 3 svc_pages_xen # SKIP not a Xen domain
[    0.100000] # svc_pages: pass:1 fail:1 skip:1 total:3
[    0.100000] not ok 1 svc_pages
[    0.100000]     # Subtest: rust_kernel_sunrpc
[    0.100000]     1..1
[    0.100000]     # rust_kernel_sunrpc.extent: the line between
[    0.100000]     ok 1 extent
[    0.100000] ok 2 rust_kernel_sunrpc
";

    fn names(tests: &[Test]) -> Vec<&str> {
        tests.iter().map(|test| test.name.as_str()).collect()
    }

    #[test]
    fn leaves_are_named_by_their_path() {
        let tests = parse(LOG);
        assert_eq!(
            names(&tests),
            [
                "svc_pages.svc_pages_one",
                "svc_pages.svc_pages_cap.cap of a page",
                "svc_pages.svc_pages_cap.cap of a byte",
                "svc_pages.svc_pages_xen",
                "rust_kernel_sunrpc.extent",
            ]
        );
        assert_eq!(tests[0].verdict, Verdict::Pass);
        assert_eq!(tests[3].verdict, Verdict::Skip("not a Xen domain".into()));
        let Verdict::Fail(why) = &tests[2].verdict else { panic!("{:?}", tests[2]) };
        assert!(why.contains("Expected a == b"), "{why}");
    }

    #[test]
    fn a_log_that_breaks_off_is_a_failure() {
        let cut = LOG.split_inclusive('\n').take(7).collect::<String>();
        let tests = parse(&cut);
        let failed = tests.iter().filter(|test| matches!(test.verdict, Verdict::Fail(_))).count();
        assert_eq!(failed, 2, "{tests:?}");
    }

    #[test]
    fn a_case_that_fails_without_parameters_is_told() {
        let log = "1..1\n    1..1\n    not ok 1 one\nnot ok 1 suite\n";
        let tests = parse(log);
        assert_eq!(names(&tests), ["suite.one"]);
        assert!(matches!(tests[0].verdict, Verdict::Fail(_)));
    }

    #[test]
    fn a_suite_that_fails_though_its_cases_pass_is_told() {
        let log = "1..1\n    1..1\n    ok 1 one\nnot ok 1 suite\n";
        assert_eq!(names(&parse(log)), ["suite.one", "suite"]);
    }

    #[test]
    fn an_ordinary_log_has_no_tests() {
        assert!(parse("[    0.1] Linux version 7.3.4\n[    0.2] ok then\n").is_empty());
    }
}
