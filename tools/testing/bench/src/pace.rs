// SPDX-License-Identifier: GPL-2.0

//! How far the benchmark is, and how long it will still take.

use std::time::Duration;

/// Work done of the work to do, in units of the plan's costs.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    total: u64,
    done: u64,
}

impl Pace {
    /// Nothing done yet.
    pub fn new(total: u64) -> Self {
        Self { total, done: 0 }
    }

    /// That much more is done.
    pub fn advance(&mut self, work: u64) {
        self.done = self.done.saturating_add(work).min(self.total);
    }

    /// Work done, and to do in all.
    pub fn position(&self) -> (u64, u64) {
        (self.done, self.total)
    }

    /// The time that is left if the rest is as fast as the work done in
    /// `elapsed`; none before there is any.
    pub fn left(&self, elapsed: Duration) -> Option<Duration> {
        let share = (self.total - self.done) as f64 / self.done as f64;
        (self.done > 0).then(|| elapsed.mul_f64(share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_as_fast_as_the_beginning() {
        let mut pace = Pace::new(100);
        assert_eq!(pace.left(Duration::from_secs(5)), None);
        pace.advance(25);
        assert_eq!(pace.left(Duration::from_secs(10)), Some(Duration::from_secs(30)));
        pace.advance(200);
        assert_eq!(pace.position(), (100, 100));
        assert_eq!(pace.left(Duration::from_secs(10)), Some(Duration::ZERO));
    }
}
