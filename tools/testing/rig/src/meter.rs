// SPDX-License-Identifier: GPL-2.0

//! Shows how far the benchmark is: a bar on a terminal, else a line for each
//! point.

use bench::pace::Pace;
use bench::plan::{self, Boot, BOOT_COST};
use indicatif::{ProgressBar, ProgressStyle};
use kbuild::progress::clock;
use std::io::IsTerminal;
use std::time::{Duration, Instant};
use vm::point::Point;

const TEMPLATE: &str = "[{bar:30}] {msg}";

/// Counts points.
pub struct Meter {
    pace: Pace,
    begun: Instant,
    points: (usize, usize),
    title: String,
    bar: Option<ProgressBar>,
}

impl Meter {
    /// `boots` are to do; all points are `total`, those of earlier calls
    /// included.
    pub fn new(total: usize, boots: &[Boot]) -> Self {
        let left: usize = boots.iter().map(|boot| boot.points.len()).sum();
        let done = total - left;
        if done > 0 {
            println!("{done} of {total} points were measured before, {left} are left");
        }
        let pace = Pace::new(boots.iter().map(cost).sum());
        let bar = std::io::stderr().is_terminal().then(|| bar(pace.position().1));
        let title = String::new();
        Self { pace, begun: Instant::now(), points: (done, total), title, bar }
    }

    /// That boot begins.
    pub fn boot(&mut self, boot: &Boot) {
        self.title = format!("{}, repetition {}", boot.flavour, boot.repetition + 1);
        self.show();
        self.pace.advance(BOOT_COST);
    }

    /// A point is done.
    pub fn point(&mut self, point: &Point) {
        self.pace.advance(plan::cost(point));
        self.points.0 += 1;
        match self.bar {
            Some(_) => self.show(),
            None => println!("{}: {point}", self.text()),
        }
    }

    /// Says one line.
    pub fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None => println!("{line}"),
        }
    }

    /// Removes the bar.
    pub fn finish(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn show(&self) {
        if let Some(bar) = &self.bar {
            bar.set_position(self.pace.position().0);
            bar.set_message(self.text());
        }
    }

    fn text(&self) -> String {
        let elapsed = self.begun.elapsed();
        let left = self.pace.left(elapsed).map_or("?".to_owned(), clock);
        let ((done, total), title) = (self.points, &self.title);
        format!("{done} of {total} points, {}, about {left} left, {title}", clock(elapsed))
    }
}

fn cost(boot: &Boot) -> u64 {
    BOOT_COST + boot.points.iter().map(plan::cost).sum::<u64>()
}

fn bar(length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template(TEMPLATE);
    let bar = ProgressBar::new(length);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}
