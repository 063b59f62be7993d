// SPDX-License-Identifier: GPL-2.0

//! The granules of a pool that are in no thread's hands.

use core::ops::DerefMut;

use super::{
    fifo::Fifo,
    granule::Granule, //
};

/// All granules of a pool that no thread has, and the count of those that exist.
///
/// Granules that were idle when they were looked at last are in a list of their own. The others
/// queue up in the order of their release, which is the order in which most become idle. One that
/// somebody pins goes to the end of the queue each time it is looked at, and is in nobody's way.
///
/// # Invariants
///
/// Either list has room for as many granules as are owned.
pub struct Depot<B> {
    idle: Fifo<B>,
    busy: Fifo<B>,
    owned: u32,
    bound: u32,
}

impl<G: Granule, B: DerefMut<Target = [Option<G>]>> Depot<B> {
    /// Creates an empty depot whose pool may own no granule yet.
    pub fn new(idle: B, busy: B) -> Self {
        // INVARIANT: No granule is owned.
        Self {
            idle: Fifo::new(idle),
            busy: Fifo::new(busy),
            owned: 0,
            bound: 0,
        }
    }

    /// Returns the number of granules that exist.
    #[inline]
    pub fn owned(&self) -> u32 {
        self.owned
    }

    /// Returns the number of granules that may exist.
    #[inline]
    pub fn bound(&self) -> u32 {
        self.bound
    }

    /// Returns the number of granules that there are places for.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.idle.capacity().min(self.busy.capacity())
    }

    /// Returns the number of granules known to be idle.
    #[inline]
    pub fn idle(&self) -> usize {
        self.idle.len()
    }

    /// Changes the number of granules that may exist.
    ///
    /// It ends up lower if there are not enough places. Granules in excess go when they are idle.
    pub fn set_bound(&mut self, bound: u32) {
        self.bound = bound.min(u32::try_from(self.capacity()).unwrap_or(u32::MAX));
    }

    /// Moves both lists to other places, and returns the former ones.
    pub fn relocate(&mut self, idle: B, busy: B) -> (B, B) {
        let owned = self.owned as usize;

        // INVARIANT: Nothing moves unless there is room for all that are owned.
        if idle.len() < owned || busy.len() < owned {
            return (idle, busy);
        }
        (self.idle.relocate(idle), self.busy.relocate(busy))
    }

    /// Takes an idle granule from the list of these.
    #[inline]
    pub fn take(&mut self) -> Option<G> {
        while let Some(granule) = self.idle.pop_newest() {
            if granule.is_idle() {
                return Some(granule);
            }
            // Somebody has a speculative reference: later, then.
            self.queue(granule);
        }
        None
    }

    /// Looks at up to `checks` granules in the queue, until `wanted` are known to be idle.
    #[inline]
    pub fn sort(&mut self, wanted: usize, checks: usize) {
        for _ in 0..checks.min(self.busy.len()) {
            if self.idle.len() >= wanted {
                break;
            }
            if let Some(granule) = self.busy.pop() {
                self.give(granule);
            }
        }
    }

    /// Takes a granule back from a thread.
    #[inline]
    pub fn give(&mut self, granule: G) {
        if granule.is_idle() {
            // INVARIANT: There is room for as many as are owned.
            if let Err(granule) = self.idle.push(granule) {
                self.queue(granule);
            }
        } else {
            self.queue(granule);
        }
    }

    #[inline]
    fn queue(&mut self, granule: G) {
        // By the type invariants, there is room. If there were not, the granule would be dropped,
        // and with it the owner's reference.
        let _ = self.busy.push(granule);
    }

    /// Counts a granule that is about to be created. Returns whether it may be.
    #[inline]
    pub fn reserve(&mut self) -> bool {
        let may = self.owned < self.bound;

        // INVARIANT: There are at least as many places as the bound says.
        self.owned = self.owned.saturating_add(u32::from(may));
        may
    }

    /// Takes back a granule that was counted and is no more, or never was.
    #[inline]
    pub fn forget(&mut self) {
        self.owned = self.owned.saturating_sub(1);
    }

    /// Takes an idle granule for good.
    pub fn retire(&mut self) -> Option<G> {
        let granule = self.take()?;

        self.forget();
        Some(granule)
    }

    /// Returns whether more granules exist than may.
    #[inline]
    pub fn is_beyond_bound(&self) -> bool {
        self.owned > self.bound
    }
}
