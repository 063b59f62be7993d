// SPDX-License-Identifier: GPL-2.0

//! How often a pool may ask the page allocator for contiguous memory.

/// The shortest and the longest pause after a failure, in ticks.
const PAUSE: (u64, u64) = (16, 4096);

/// The ticks of about a second, as a shift.
const SECOND_SHIFT: u32 = 10;

/// A number of attempts a second, with a pause after each failure.
///
/// The pauses double from one failure to the next, up to four seconds, so that memory that is
/// fragmented for good costs next to nothing.
///
/// Time is in ticks, of which 1024 make a second or so, of a clock that does not run backwards.
pub struct Budget {
    left: u32,
    burst: u32,
    per_second: u32,
    filled_at: u64,
    resume_at: u64,
    pause: u64,
}

impl Budget {
    /// Creates a budget of `per_second` attempts a second, of which up to `burst` can be saved.
    pub const fn new(burst: u32, per_second: u32) -> Self {
        Self {
            left: burst,
            burst,
            per_second,
            filled_at: 0,
            resume_at: 0,
            pause: PAUSE.0,
        }
    }

    /// Adds what has accrued up to `now`.
    fn accrue(&mut self, now: u64) {
        let elapsed = now.saturating_sub(self.filled_at);
        let earned = elapsed.saturating_mul(self.per_second.into()) >> SECOND_SHIFT;

        // What is less than an attempt is not lost: the time stays where it was.
        if earned > 0 {
            let left = u64::from(self.left).saturating_add(earned);

            // CAST: It does not exceed a `u32`. What was granted beyond the burst is kept.
            self.left = (left.min(self.burst.into()) as u32).max(self.left);
            self.filled_at = now;
        }
    }

    /// Adds attempts that are not a matter of time: a thread starts.
    pub fn grant(&mut self, attempts: u32) {
        self.left = self.left.saturating_add(attempts);
    }

    /// Returns whether there is an attempt to spend.
    #[inline]
    pub fn may_spend(&mut self, now: u64) -> bool {
        if now < self.resume_at {
            return false;
        }
        self.accrue(now);
        self.left > 0
    }

    /// Spends one attempt. Returns whether there was one.
    #[inline]
    pub fn spend(&mut self, now: u64) -> bool {
        let may = self.may_spend(now);

        self.left = self.left.saturating_sub(u32::from(may));
        may
    }

    /// Notes that an attempt has failed.
    pub fn failed(&mut self, now: u64) {
        self.resume_at = now.saturating_add(self.pause);
        self.pause = self.pause.saturating_mul(2).min(PAUSE.1);
    }

    /// Notes that an attempt has succeeded.
    pub fn succeeded(&mut self) {
        self.pause = PAUSE.0;
    }

    /// Notes that memory is short: there is no attempt for a second.
    pub fn hold(&mut self, now: u64) {
        self.resume_at = self.resume_at.max(now.saturating_add(1 << SECOND_SHIFT));
    }
}
