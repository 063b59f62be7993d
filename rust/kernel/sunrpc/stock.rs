// SPDX-License-Identifier: GPL-2.0

//! What a pool has of one size of granules, and when it asks for more.

use core::ops::DerefMut;

use super::{
    budget::Budget,
    depot::Depot,
    granule::Granule,
    refill::Filled, //
};

/// How many granules that may be in use are looked at for each refill, and before there are more.
const CHECKS: (usize, usize) = (32, 512);

/// Attempts a second to replace a granule in parts, and how many can be saved.
const MENDS: (u32, u32) = (16, 16);

/// What has happened to the granules of one size.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    /// Groups filled from the ring of a thread.
    pub from_ring: u64,
    /// Groups filled from the pool.
    pub from_pool: u64,
    /// Groups left to the page allocator.
    pub fallback: u64,
    /// Attempts to get a granule from the page allocator.
    pub attempts: u64,
    /// Granules that the page allocator gave.
    pub grown: u64,
    /// Granules that went back to it, since memory was short.
    pub reclaimed: u64,
}

/// What there is of one size.
#[derive(Clone, Copy, Debug)]
pub struct Census {
    /// Granules that exist.
    pub owned: u32,
    /// Granules known to be idle.
    pub idle: usize,
    /// Granules that may exist.
    pub bound: u32,
    /// What has happened.
    pub stats: Stats,
}

/// The granules of one size that are in no thread's hands, and what limits their number.
///
/// Time is in the ticks of [`Budget`].
pub struct Stock<B> {
    depot: Depot<B>,
    growth: Budget,
    mends: Budget,
    stats: Stats,
}

impl<G: Granule, B: DerefMut<Target = [Option<G>]>> Stock<B> {
    /// Creates a stock without granules, in lists without places.
    ///
    /// `per_second` attempts to create a granule are made a second, of which `burst` can be saved.
    pub fn new(idle: B, busy: B, (per_second, burst): (u32, u32)) -> Self {
        Self {
            depot: Depot::new(idle, busy),
            growth: Budget::new(burst, per_second),
            mends: Budget::new(MENDS.1, MENDS.0),
            stats: Stats::default(),
        }
    }

    /// Returns how many granules there are places for.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.depot.capacity()
    }

    /// Moves to lists with more places, and returns the former ones.
    pub fn relocate(&mut self, idle: B, busy: B) -> (B, B) {
        self.depot.relocate(idle, busy)
    }

    /// Allows for `bound` granules, and for `more` attempts at once.
    pub fn set_bound(&mut self, bound: u32, more: u32) {
        self.depot.set_bound(bound);
        self.growth.grant(more);
    }

    /// Takes up to `wanted` idle granules. Returns how many are missing and may be created.
    #[inline]
    pub fn take(&mut self, now: u64, wanted: usize, stash: &mut impl FnMut(G)) -> usize {
        let mut left = wanted;

        self.depot
            .sort(wanted, wanted.saturating_mul(2).saturating_add(CHECKS.0));
        let may_grow = self.depot.owned() < self.depot.bound() && self.growth.may_spend(now);
        if may_grow {
            self.depot.sort(wanted, CHECKS.1);
        }
        while left > 0 {
            match self.depot.take() {
                Some(granule) => stash(granule),
                None => break,
            }
            left = left.saturating_sub(1);
        }
        if may_grow {
            left
        } else {
            0
        }
    }

    /// Takes a granule back from a thread.
    #[inline]
    pub fn give(&mut self, granule: G) {
        self.depot.give(granule);
    }

    /// Counts a granule that is about to be created. Returns whether it may be.
    pub fn reserve(&mut self) -> bool {
        self.depot.reserve()
    }

    /// Returns whether the page allocator may be asked once more for a granule.
    pub fn attempt(&mut self, now: u64) -> bool {
        let may = self.growth.spend(now);

        self.stats.attempts = self.stats.attempts.saturating_add(may.into());
        may
    }

    /// Notes whether the granule that was counted was created. If not, and the page allocator was
    /// `asked`, it is left alone for a while.
    pub fn created(&mut self, now: u64, asked: bool, success: bool) {
        if success {
            self.growth.succeeded();
            self.stats.grown = self.stats.grown.saturating_add(1);
            return;
        }
        self.depot.forget();
        if asked {
            self.growth.failed(now);
        }
    }

    /// Counts a granule that is about to replace one in parts. Returns whether it may be.
    ///
    /// The failures do not delay the creation of others, since parts do, too.
    pub fn reserve_mend(&mut self, now: u64) -> bool {
        let may = self.mends.may_spend(now) && self.depot.reserve();
        if may {
            self.mends.spend(now);
            self.stats.attempts = self.stats.attempts.saturating_add(1);
        }
        may
    }

    /// Notes whether the granule was replaced. Either way, there is one fewer than counted.
    pub fn mended(&mut self, now: u64, success: bool) {
        self.depot.forget();
        if success {
            self.mends.succeeded();
            self.stats.grown = self.stats.grown.saturating_add(1);
        } else {
            self.mends.failed(now);
        }
    }

    /// Gives up an idle granule if there are more than may be.
    #[inline]
    pub fn trim(&mut self) -> Option<G> {
        if !self.depot.is_beyond_bound() {
            return None;
        }
        self.depot.sort(1, CHECKS.0);
        self.depot.retire()
    }

    /// Gives up an idle granule since memory is short, and creates none for a second.
    pub fn reclaim(&mut self, now: u64) -> Option<G> {
        let granule = self.depot.retire()?;

        self.growth.hold(now);
        self.mends.hold(now);
        self.stats.reclaimed = self.stats.reclaimed.saturating_add(1);
        Some(granule)
    }

    /// Looks for idle granules, and returns how many are known.
    pub fn count_idle(&mut self) -> usize {
        self.depot.sort(usize::MAX, CHECKS.0);
        self.depot.idle()
    }

    /// Adds what came of filling an array to the statistics.
    #[inline]
    pub fn account(&mut self, filled: &Filled) {
        let stats = &mut self.stats;

        stats.from_ring = stats.from_ring.saturating_add(filled.from_ring.into());
        stats.from_pool = stats.from_pool.saturating_add(filled.from_pool.into());
        stats.fallback = stats.fallback.saturating_add(filled.fallback.into());
    }

    /// Returns what there is.
    pub fn census(&self) -> Census {
        Census {
            owned: self.depot.owned(),
            idle: self.depot.idle(),
            bound: self.depot.bound(),
            stats: self.stats,
        }
    }
}
