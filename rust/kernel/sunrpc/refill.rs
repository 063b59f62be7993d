// SPDX-License-Identifier: GPL-2.0

//! How the page array of a thread gets granules.
//!
//! The array is divided in groups of as many slots as a granule has pages. When any slot of a group
//! was used, the whole group is exchanged for an idle granule, so that groups never degrade.

use core::ops::DerefMut;

use super::{
    fifo::Fifo,
    granule::Granule, //
};

/// Where a thread gets granules from, and brings them back to.
pub trait Supply<G> {
    /// Appends up to `wanted` idle granules to `stash`.
    fn take(&mut self, wanted: usize, stash: &mut impl FnMut(G));

    /// Takes granules back, idle or not, until `next` has no more.
    fn give(&mut self, next: impl FnMut() -> Option<G>);
}

/// What came of filling an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filled {
    /// Groups that were exchanged for a granule of the thread's own ring.
    pub from_ring: u32,
    /// Groups that were exchanged for a granule of the pool.
    pub from_pool: u32,
    /// Groups that are left to the page allocator.
    pub fallback: u32,
}

impl Filled {
    /// Returns the number of groups.
    #[inline]
    pub fn total(&self) -> u32 {
        self.from_ring
            .saturating_add(self.from_pool)
            .saturating_add(self.fallback)
    }

    /// Adds what came of filling another time.
    pub fn add(&mut self, other: &Self) {
        self.from_ring = self.from_ring.saturating_add(other.from_ring);
        self.from_pool = self.from_pool.saturating_add(other.from_pool);
        self.fallback = self.fallback.saturating_add(other.fallback);
    }
}

/// The granules of one page array of one thread.
///
/// Those that the thread has released a short while ago are in a ring, and are used again without
/// a lock when they are idle. All others go back to the pool at once.
pub struct Groups<B> {
    /// The granule that each group was filled with.
    filled: B,
    /// What was released last.
    ring: Fifo<B>,
    /// Has room for all groups.
    stash: Fifo<B>,
    /// The number of slots in a group.
    size: usize,
}

impl<G: Granule, B: DerefMut<Target = [Option<G>]>> Groups<B> {
    /// Creates the bookkeeping for groups of `size` slots, all of them empty.
    ///
    /// There are as many groups as `filled` has places, and `stash` has no fewer.
    pub fn new(size: usize, filled: B, ring: B, stash: B) -> Self {
        Self {
            filled,
            ring: Fifo::new(ring),
            stash: Fifo::new(stash),
            size,
        }
    }

    /// Returns the number of groups.
    #[inline]
    pub fn len(&self) -> usize {
        self.filled.len()
    }

    /// Returns the number of slots in all groups.
    #[inline]
    pub fn slots(&self) -> usize {
        self.filled.len().saturating_mul(self.size)
    }

    /// Returns whether there are no groups.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.filled.is_empty()
    }

    /// Exchanges each group that has one of the first `used` slots for an idle granule.
    ///
    /// Slots of a group for which there is none are left as they are, some of them empty.
    #[inline]
    pub fn refill(
        &mut self,
        slots: &mut [G::Slot],
        used: usize,
        supply: &mut impl Supply<G>,
    ) -> Filled {
        let touched = match self.size {
            0 => 0,
            size => used.div_ceil(size).min(self.filled.len()),
        };
        let from_ring = self.take_from_ring(touched);
        let missing = touched.saturating_sub(from_ring);
        if missing > 0 {
            let stash = &mut self.stash;
            supply.take(missing, &mut |granule| {
                // The stash has room for all groups.
                let _ = stash.push(granule);
            });
        }

        let idle = self.stash.len().min(touched);
        self.exchange(slots, touched, idle);
        if !self.stash.is_empty() {
            let stash = &mut self.stash;
            supply.give(|| stash.pop());
        }
        Filled {
            from_ring: from_ring as u32,
            from_pool: idle.saturating_sub(from_ring) as u32,
            fallback: touched.saturating_sub(idle) as u32,
        }
    }

    /// Moves idle granules from the ring to the stash. Returns their number.
    #[inline]
    fn take_from_ring(&mut self, wanted: usize) -> usize {
        while self.stash.len() < wanted {
            match self.ring.pop_if(G::is_idle) {
                Some(granule) => {
                    // The stash has room for all groups.
                    let _ = self.stash.push(granule);
                }
                None => break,
            }
        }
        self.stash.len()
    }

    /// Exchanges the first `touched` groups for the first `idle` granules in the stash.
    #[inline]
    fn exchange(&mut self, slots: &mut [G::Slot], touched: usize, idle: usize) {
        let groups = self
            .filled
            .iter_mut()
            .zip(slots.chunks_exact_mut(self.size.max(1)));

        for (at, (filled, slots)) in groups.take(touched).enumerate() {
            let granule = (at < idle).then(|| self.stash.pop()).flatten();
            let former = match granule {
                Some(granule) => {
                    granule.fill(filled.as_ref(), slots);
                    filled.replace(granule)
                }
                None => filled.take_if(|former| !former.occupies(slots)),
            };

            if let Some(Err(former)) = former.map(|former| self.ring.push(former)) {
                // The oldest makes room, so that one that is pinned does not block the others.
                let surplus = match self.ring.pop() {
                    Some(oldest) => {
                        let _ = self.ring.push(former);
                        oldest
                    }
                    None => former,
                };
                // One was popped for each that is pushed, or the stash had room for it.
                let _ = self.stash.push(surplus);
            }
        }
    }

    /// Gives all granules back, those that slots still refer to included.
    pub fn give_back(&mut self, supply: &mut impl Supply<G>) {
        let mut filled = self.filled.iter_mut();
        let (ring, stash) = (&mut self.ring, &mut self.stash);

        supply.give(|| {
            filled
                .find_map(Option::take)
                .or_else(|| ring.pop())
                .or_else(|| stash.pop())
        });
    }
}
