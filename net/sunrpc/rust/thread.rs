// SPDX-License-Identifier: GPL-2.0

//! The granules in the page arrays of a thread.

use core::slice;

use kernel::{
    prelude::*,
    sunrpc::{
        owned_slot::OwnedSlot,
        refill::{
            Filled,
            Groups, //
        }, //
    },
    sync::Arc, //
};

use crate::{
    pool::{
        places,
        Class,
        Places,
        Pool,
        ORDER, //
    },
    trace, //
};

/// The number of granules that a thread keeps for itself after it has released them, a part of
/// those in a page array.
const RING_SHARE: usize = 4;

/// The number of groups that a thread fills before it says so to the pool.
const UNACCOUNTED: u32 = 128;

/// Returns the bookkeeping for `count` groups of `size` slots.
fn groups(size: usize, count: usize) -> Result<Groups<Places>> {
    Ok(Groups::new(
        size,
        places(count)?,
        places(ring_len(count))?,
        places(count)?,
    ))
}

/// Returns the number of granules in the ring for `count` groups.
fn ring_len(count: usize) -> usize {
    (count / RING_SHARE).max(RING_SHARE)
}

/// One kind of groups, and where their granules come from.
struct Filler {
    groups: Groups<Places>,
    unaccounted: Filled,
}

impl Filler {
    fn new(size: usize, count: usize) -> Result<Self> {
        Ok(Self {
            groups: groups(size, count)?,
            unaccounted: Filled::default(),
        })
    }

    /// Returns the most granules that the thread can have of its own.
    fn need(&self) -> u32 {
        let count = self.groups.len();

        u32::try_from(count.saturating_add(ring_len(count))).unwrap_or(u32::MAX)
    }

    /// Fills `slots`, the first `used` of which may be empty. Returns how many of these are filled
    /// for certain, from the first one on.
    fn fill(&mut self, slots: &mut [OwnedSlot], used: usize, mut class: &Class) -> usize {
        let filled = self.groups.refill(slots, used, &mut class);

        trace::fill(&filled);
        self.unaccounted.add(&filled);
        // The figures of the pool may be a little old, which saves a lock.
        if filled.fallback > 0 || self.unaccounted.total() > UNACCOUNTED {
            class.account(&self.unaccounted);
            self.unaccounted = Filled::default();
        }
        if filled.fallback > 0 {
            slots
                .iter()
                .take(used)
                .take_while(|slot| !slot.is_empty())
                .count()
        } else {
            used.min(self.groups.slots())
        }
    }

    fn give_back(&mut self, mut class: &Class) {
        self.groups.give_back(&mut class);
        class.account(&self.unaccounted);
    }
}

/// What a thread has of the pool's granules.
pub(crate) struct Thread {
    pool: Arc<Pool>,
    call: Filler,
    reply: Filler,
    head: Filler,
}

impl Thread {
    /// Creates the bookkeeping for page arrays of `max_pages` slots.
    ///
    /// Fails with [`EINVAL`] if they are too small for it to be worth while.
    pub(crate) fn new(pool: Arc<Pool>, max_pages: usize) -> Result<KBox<Self>> {
        let size = 1usize << ORDER;
        let groups = max_pages.saturating_sub(1) >> ORDER;
        if groups < RING_SHARE {
            return Err(EINVAL);
        }
        let thread = KBox::new(
            Self {
                pool,
                call: Filler::new(size, max_pages >> ORDER)?,
                reply: Filler::new(size, groups)?,
                head: Filler::new(1, 1)?,
            },
            GFP_KERNEL,
        )?;

        thread
            .pool
            .join(thread.need(), thread.head.need(), groups as u32)?;
        Ok(thread)
    }

    fn need(&self) -> u32 {
        self.call.need().saturating_add(self.reply.need())
    }

    /// Fills the pages for a Call, the first `used` of which may be missing.
    ///
    /// Returns how many of these are filled for certain, from the first one on.
    pub(crate) fn fill_call(&mut self, slots: &mut [OwnedSlot], used: usize) -> usize {
        self.call.fill(slots, used, &self.pool.granules)
    }

    /// Fills the pages for a Reply, the first `used` of which may be missing.
    ///
    /// The first page, which is not part of a payload, is a granule of its own. Returns how many of
    /// the pages are filled for certain, from the first one on.
    pub(crate) fn fill_reply(&mut self, slots: &mut [OwnedSlot], used: usize) -> usize {
        let Some((head, payload)) = slots.split_first_mut() else {
            return 0;
        };
        let Some(used) = used.checked_sub(1) else {
            return 0;
        };
        let head = slice::from_mut(head);
        let heads = self.head.fill(head, 1, &self.pool.singles);
        let payloads = match used {
            0 => 0,
            used => self.reply.fill(payload, used, &self.pool.granules),
        };

        match heads {
            0 => 0,
            heads => heads.saturating_add(payloads),
        }
    }

    /// Gives all granules back to the pool.
    pub(crate) fn leave(&mut self) {
        self.call.give_back(&self.pool.granules);
        self.reply.give_back(&self.pool.granules);
        self.head.give_back(&self.pool.singles);
        self.pool.leave(self.need(), self.head.need());
    }
}
