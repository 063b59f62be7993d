// SPDX-License-Identifier: GPL-2.0

//! Named results and the closing line that counts them.

use anyhow::Result;
use std::fmt::Display;

/// What became of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The check held.
    Pass,
    /// The check did not hold; the text says why.
    Fail(String),
    /// The check could not be made; the text says why.
    Skip(String),
}

/// One named result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Name of the check, unique enough to find it in the output.
    pub name: String,
    /// Its result.
    pub verdict: Verdict,
}

/// Tries what was built, and records under the name what came of it.
pub type Try<'a, T> = &'a dyn Fn(&str, T, &mut Tally) -> Result<()>;

/// Results in the order in which they came.
#[derive(Debug, Default)]
pub struct Tally {
    outcomes: Vec<Outcome>,
}

impl Tally {
    /// An empty tally.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records and prints that `name` held.
    pub fn pass(&mut self, name: impl Into<String>) {
        self.record(name.into(), Verdict::Pass);
    }

    /// Records and prints that `name` failed because of `detail`.
    pub fn fail(&mut self, name: impl Into<String>, detail: impl Display) {
        self.record(name.into(), Verdict::Fail(detail.to_string()));
    }

    /// Records and prints that `name` was left out because of `reason`.
    pub fn skip(&mut self, name: impl Into<String>, reason: impl Display) {
        self.record(name.into(), Verdict::Skip(reason.to_string()));
    }

    /// Records a pass for `Ok` and a failure with the whole chain of causes
    /// for `Err`.
    pub fn result(&mut self, name: impl Into<String>, result: Result<()>) {
        match result {
            Ok(()) => self.pass(name),
            Err(err) => self.fail(name, format!("{err:#}")),
        }
    }

    /// Records and prints whether `name` was built, and tries it if it was.
    pub fn built<T>(&mut self, name: &str, built: Result<T>, attempt: Try<'_, T>) -> Result<()> {
        let product = match built {
            Ok(product) => product,
            Err(err) => {
                self.fail(format!("{name}: built"), format!("{err:#}"));
                return Ok(());
            }
        };
        self.pass(format!("{name}: built"));
        attempt(name, product, self)
    }

    /// Appends the results of `other`, which it has printed already.
    pub fn merge(&mut self, other: Tally) {
        self.outcomes.extend(other.outcomes);
    }

    /// The results so far.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// The closing line, `N passed, N failed, N skipped`.
    pub fn closing(&self) -> String {
        let (passed, failed, skipped) = self.counts();
        format!("{passed} passed, {failed} failed, {skipped} skipped")
    }

    /// Prints what failed and the closing line; true if nothing failed.
    pub fn print_closing(&self) -> bool {
        for outcome in &self.outcomes {
            if let Verdict::Fail(detail) = &outcome.verdict {
                println!("failed: {}: {}", outcome.name, first_line(detail));
            }
        }
        println!("{}", self.closing());
        self.counts().1 == 0
    }

    fn record(&mut self, name: String, verdict: Verdict) {
        match &verdict {
            Verdict::Pass => println!("ok    {name}"),
            Verdict::Fail(detail) => println!("FAIL  {name}: {detail}"),
            Verdict::Skip(reason) => println!("skip  {name}: {reason}"),
        }
        self.outcomes.push(Outcome { name, verdict });
    }

    fn counts(&self) -> (usize, usize, usize) {
        let count = |is: fn(&Verdict) -> bool| {
            let verdicts = self.outcomes.iter().map(|outcome| &outcome.verdict);
            verdicts.filter(|verdict| is(verdict)).count()
        };
        (
            count(|verdict| matches!(verdict, Verdict::Pass)),
            count(|verdict| matches!(verdict, Verdict::Fail(_))),
            count(|verdict| matches!(verdict, Verdict::Skip(_))),
        )
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_line_counts_each_kind() {
        let mut tally = Tally::new();
        tally.pass("a");
        tally.pass("b");
        tally.fail("c", "broken");
        assert_eq!(tally.closing(), "2 passed, 1 failed, 0 skipped");
        let mut more = Tally::new();
        more.skip("d", "no device");
        tally.merge(more);
        assert_eq!(tally.closing(), "2 passed, 1 failed, 1 skipped");
        assert!(!tally.print_closing());
    }

    #[test]
    fn a_result_keeps_its_causes() {
        let mut tally = Tally::new();
        tally.result("x", Err(anyhow::anyhow!("inner").context("outer")));
        let expected = Verdict::Fail("outer: inner".into());
        assert_eq!(tally.outcomes()[0].verdict, expected);
    }
}
