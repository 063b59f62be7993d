// SPDX-License-Identifier: GPL-2.0

//! Time-outs that tell a guest that hangs from a machine that is busy.

use std::time::{Duration, Instant};

/// A moment, by the clock and by the processor time that QEMU has had.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    at: Instant,
    cpu: Duration,
}

impl Moment {
    /// The present; `cpu` is what QEMU has had so far.
    pub fn now(cpu: Duration) -> Self {
        Self { at: Instant::now(), cpu }
    }

    /// Wall time since `earlier`.
    pub fn since(self, earlier: Self) -> Duration {
        self.at.duration_since(earlier.at)
    }
}

/// Whether `limit` has passed. While QEMU got less than half of that time
/// from the processor, the limit is `stretch` times as long.
pub fn exhausted(since: Moment, now: Moment, limit: Duration, stretch: u32) -> bool {
    let passed = now.since(since);
    let ran = now.cpu.saturating_sub(since.cpu);
    passed > limit && (ran > limit / 2 || passed > limit * stretch)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(100);

    fn late(passed: u64, ran: u64, stretch: u32) -> bool {
        let since = Moment { at: Instant::now(), cpu: Duration::from_secs(7) };
        let now = Moment {
            at: since.at + Duration::from_secs(passed),
            cpu: since.cpu + Duration::from_secs(ran),
        };
        exhausted(since, now, LIMIT, stretch)
    }

    #[test]
    fn a_guest_that_runs_has_the_plain_limit() {
        assert!(!late(99, 99, 4));
        assert!(late(101, 101, 4));
        assert!(late(101, 51, 4));
    }

    #[test]
    fn a_guest_that_hardly_runs_has_more() {
        assert!(!late(101, 20, 4));
        assert!(!late(399, 20, 4));
        assert!(late(401, 20, 4));
        assert!(late(101, 0, 1));
    }
}
