// SPDX-License-Identifier: GPL-2.0

//! The progress of a kernel build: one refreshing line on a terminal, else a
//! line now and then.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Seconds between lines when there is no terminal.
const PERIOD: Duration = Duration::from_secs(20);

/// What is counted.
#[derive(Clone, Debug)]
pub struct Meter {
    /// What is built.
    pub title: String,
    /// Objects that are there already.
    pub done: usize,
    /// Objects when all is built, if known.
    pub expected: Option<usize>,
}

impl Meter {
    /// Counts up from nothing to an unknown number.
    pub fn open(title: &str) -> Self {
        Self { title: title.to_owned(), done: 0, expected: None }
    }
}

/// Follows the output of make.
pub struct Progress {
    meter: Meter,
    started: Instant,
    last: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Starts the clock.
    pub fn start(meter: Meter) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{msg}");
            let bar = ProgressBar::new_spinner();
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        });
        let now = Instant::now();
        Self { meter, started: now, last: now, bar }
    }

    /// Takes a line of the output into account.
    pub fn line(&mut self, line: &str) {
        if is_object(line) {
            self.meter.done += 1;
        }
        if let Some(bar) = &self.bar {
            bar.set_message(self.text());
        } else if self.last.elapsed() >= PERIOD {
            println!("{}", self.text());
            self.last = Instant::now();
        }
    }

    /// Removes the refreshing line, if there is one.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn text(&self) -> String {
        let Meter { title, done, expected } = &self.meter;
        let elapsed = clock(self.started.elapsed());
        match expected {
            Some(expected) => {
                format!("{title}: {done} of {} objects, {elapsed}", expected.max(done))
            }
            None => format!("{title}: {done} objects, {elapsed}"),
        }
    }
}

/// Minutes and seconds.
pub fn clock(time: Duration) -> String {
    format!("{}:{:02}", time.as_secs() / 60, time.as_secs() % 60)
}

/// Make's short form of a command that writes an object: `  CC      a/b.o`.
fn is_object(line: &str) -> bool {
    line.starts_with("  ") && line.ends_with(".o") && line.split_whitespace().count() <= 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_counted() {
        let lines = [
            "  CC      a.o",
            "  RUSTC L rust/kernel.o",
            "  AR      x/built-in.a",
            "a.c: b.o",
            "  CC [M]  m.o",
        ];
        let meter = Meter { title: "ours".into(), done: 5, expected: Some(7) };
        let now = Instant::now();
        let mut progress = Progress { meter, started: now, last: now, bar: None };
        lines.iter().for_each(|line| progress.line(line));
        assert_eq!(progress.text(), "ours: 8 of 8 objects, 0:00");
    }

    #[test]
    fn clocks_have_minutes() {
        assert_eq!(clock(Duration::from_secs(125)), "2:05");
    }
}
