// SPDX-License-Identifier: GPL-2.0

//! The granules of a service pool.

use kernel::{
    alloc::flags::GFP_KERNEL,
    error::Result,
    new_mutex,
    new_spinlock,
    page::PAGE_SHIFT,
    prelude::*,
    sunrpc::{
        budget::Budget,
        depot::Depot,
        folio::{
            self,
            FolioGranule, //
        },
        refill::{
            Filled,
            Supply, //
        },
        shrinker::Shrink, //
    },
    sync::{
        Mutex,
        SpinLock, //
    },
    time::{
        Instant,
        Monotonic, //
    }, //
};

use crate::trace;

/// Places for granules, in memory that need not be contiguous.
pub(crate) type Places = KVVec<Option<FolioGranule>>;

/// The order of a granule: 64 KiB.
pub(crate) const ORDER: u8 = if PAGE_SHIFT < 16 {
    (16 - PAGE_SHIFT) as u8
} else {
    0
};

/// Attempts a second to get contiguous memory, and how many can be saved: 16 MiB and 64 MiB.
const ATTEMPTS: (u32, u32) = (256, 1024);

/// The same for single pages, which the page allocator always has, or memory is exhausted.
const SINGLE_ATTEMPTS: (u32, u32) = (1 << 16, 1 << 16);

/// How many granules that may be in use are looked at for each refill, and before there are more.
const CHECKS: (usize, usize) = (32, 512);

/// The Replies, or the sinks of RDMA Reads, that a pool may have in flight without falling back.
const IN_FLIGHT: u32 = 64;

/// Returns `count` empty places.
pub(crate) fn places(count: usize) -> Result<Places> {
    let mut places = Places::with_capacity(count, GFP_KERNEL)?;

    for _ in 0..count {
        places.push(None, GFP_KERNEL)?;
    }
    Ok(places)
}

/// What has happened to the granules of one size.
#[derive(Clone, Copy, Default)]
pub(crate) struct Stats {
    /// Groups filled from the ring of a thread.
    pub(crate) from_ring: u64,
    /// Groups filled from the pool.
    pub(crate) from_pool: u64,
    /// Groups left to the page allocator.
    pub(crate) fallback: u64,
    /// Attempts to get a granule from the page allocator.
    pub(crate) attempts: u64,
    /// Granules that the page allocator gave.
    pub(crate) grown: u64,
    /// Granules that went back to it, since memory was short.
    pub(crate) reclaimed: u64,
}

impl Stats {
    fn add(&mut self, filled: &Filled) {
        self.from_ring = self.from_ring.saturating_add(filled.from_ring.into());
        self.from_pool = self.from_pool.saturating_add(filled.from_pool.into());
        self.fallback = self.fallback.saturating_add(filled.fallback.into());
    }
}

/// The granules of one size.
struct Inner {
    depot: Depot<Places>,
    budget: Budget,
    stats: Stats,
}

/// What there is of one size: the numbers of granules owned, known to be idle, and allowed.
pub(crate) struct Census {
    pub(crate) owned: u32,
    pub(crate) idle: usize,
    pub(crate) bound: u32,
    pub(crate) stats: Stats,
}

/// The granules of one size, for all threads of a pool.
#[pin_data]
pub(crate) struct Class {
    #[pin]
    inner: SpinLock<Inner>,
    order: u8,
    node: i32,
    epoch: Instant<Monotonic>,
}

impl Class {
    fn new(node: i32, order: u8, (per_second, burst): (u32, u32)) -> impl PinInit<Self> {
        let inner = Inner {
            depot: Depot::new(Places::new(), Places::new()),
            budget: Budget::new(burst, per_second),
            stats: Stats::default(),
        };

        pin_init!(Self {
            inner <- new_spinlock!(inner, "svc_granules"),
            order,
            node,
            epoch: Instant::now(),
        })
    }

    /// Returns the time in ticks of [`Budget`].
    fn now(&self) -> u64 {
        // CAST: The clock does not run backwards.
        (self.epoch.elapsed().as_nanos() as u64) >> 20
    }

    /// Returns the number of pages in a granule.
    fn pages(&self) -> usize {
        1 << self.order
    }

    /// Allows for `bound` granules, `more` of which are on account of a thread that starts.
    fn set_bound(&self, bound: u32, more: u32) -> Result {
        let (idle, busy) = (places(bound as usize)?, places(bound as usize)?);
        let mut inner = self.inner.lock();
        // Places that are no longer used are freed when the lock is not held.
        let former = if bound > inner.depot.bound() {
            inner.depot.relocate(idle, busy)
        } else {
            (idle, busy)
        };

        inner.depot.set_bound(bound);
        inner.budget.grant(more);
        drop(inner);
        drop(former);
        self.trim();
        Ok(())
    }

    /// Frees idle granules that are too many.
    fn trim(&self) {
        loop {
            let mut inner = self.inner.lock();
            if !inner.depot.is_beyond_bound() {
                break;
            }
            let granule = inner.depot.retire();

            drop(inner);
            if granule.is_none() {
                break;
            }
        }
    }

    /// Takes idle granules from the depot. Returns how many are missing and may be created.
    fn take_idle(&self, wanted: usize, stash: &mut impl FnMut(FolioGranule)) -> usize {
        let now = self.now();
        let mut left = wanted;
        let mut inner = self.inner.lock();
        let Inner { depot, budget, .. } = &mut *inner;

        depot.sort(wanted, wanted.saturating_mul(2).saturating_add(CHECKS.0));
        let may_grow = depot.owned() < depot.bound() && budget.may_spend(now);
        if may_grow {
            depot.sort(wanted, CHECKS.1);
        }
        while left > 0 {
            match depot.take() {
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

    /// Creates a granule, if it may be.
    fn grow(&self) -> Option<FolioGranule> {
        let now = self.now();
        if !self.inner.lock().depot.reserve() {
            return None;
        }
        let mut attempted = false;
        let granule = FolioGranule::alloc(self.node, self.order, |_| {
            let mut inner = self.inner.lock();
            let may = inner.budget.spend(now);

            inner.stats.attempts = inner.stats.attempts.saturating_add(may.into());
            attempted |= may;
            may
        });
        let mut inner = self.inner.lock();

        if granule.is_some() {
            inner.budget.succeeded();
            inner.stats.grown = inner.stats.grown.saturating_add(1);
        } else {
            inner.depot.forget();
            if attempted {
                inner.budget.failed(now);
            }
        }
        drop(inner);
        if attempted {
            trace::grow(self.order, granule.is_some());
        }
        granule
    }

    /// Adds to the statistics.
    pub(crate) fn account(&self, filled: &Filled) {
        self.inner.lock().stats.add(filled);
    }

    /// Returns what there is.
    pub(crate) fn census(&self) -> Census {
        let inner = self.inner.lock();

        Census {
            owned: inner.depot.owned(),
            idle: inner.depot.idle(),
            bound: inner.depot.bound(),
            stats: inner.stats,
        }
    }
}

impl Supply<FolioGranule> for &Class {
    fn take(&mut self, wanted: usize, stash: &mut impl FnMut(FolioGranule)) {
        for _ in 0..self.take_idle(wanted, stash) {
            match self.grow() {
                Some(granule) => stash(granule),
                None => break,
            }
        }
    }

    fn give(&mut self, mut next: impl FnMut() -> Option<FolioGranule>) {
        let mut inner = self.inner.lock();

        while let Some(granule) = next() {
            inner.depot.give(granule);
        }
    }
}

impl Shrink for Class {
    fn count(&self) -> usize {
        let mut inner = self.inner.lock();

        inner.depot.sort(usize::MAX, CHECKS.0);
        inner.depot.idle().saturating_mul(self.pages())
    }

    fn scan(&self, wanted: usize) -> usize {
        let now = self.now();
        let mut freed = 0usize;

        while freed < wanted {
            let mut inner = self.inner.lock();
            inner.budget.hold(now);
            let Some(granule) = inner.depot.retire() else {
                break;
            };

            inner.stats.reclaimed = inner.stats.reclaimed.saturating_add(1);
            drop(inner);
            drop(granule);
            freed = freed.saturating_add(self.pages());
        }
        if freed > 0 {
            trace::reclaim(self.order, freed);
        }
        freed
    }
}

/// How many granules the threads of a pool need.
#[derive(Clone, Copy, Default)]
struct Need {
    threads: u32,
    groups: u32,
    singles: u32,
    payload: u32,
}

/// The granules of a service pool.
#[pin_data]
pub(crate) struct Pool {
    #[pin]
    need: Mutex<Need>,
    /// Granules of 64 KiB.
    #[pin]
    pub(crate) granules: Class,
    /// Single pages, for what comes before the payload of a Reply.
    #[pin]
    pub(crate) singles: Class,
}

impl Pool {
    /// Creates a pool on the NUMA node `node`, or on none in particular if that is -1.
    pub(crate) fn new(node: i32) -> impl PinInit<Self> {
        pin_init!(Self {
            need <- new_mutex!(Need::default(), "svc_granules_need"),
            granules <- Class::new(node, ORDER, ATTEMPTS),
            singles <- Class::new(node, 0, SINGLE_ATTEMPTS),
        })
    }

    /// Makes room for a thread with `groups` groups, of which a payload fills `payload`, and with
    /// `singles` single pages.
    pub(crate) fn join(&self, groups: u32, singles: u32, payload: u32) -> Result {
        let mut need = self.need.lock();
        let more = Need {
            threads: need.threads.saturating_add(1),
            groups: need.groups.saturating_add(groups),
            singles: need.singles.saturating_add(singles),
            payload: need.payload.max(payload),
        };

        self.allow(&more, groups)?;
        *need = more;
        Ok(())
    }

    /// Undoes [`Pool::join`].
    pub(crate) fn leave(&self, groups: u32, singles: u32) {
        let mut need = self.need.lock();

        need.threads = need.threads.saturating_sub(1);
        need.groups = need.groups.saturating_sub(groups);
        need.singles = need.singles.saturating_sub(singles);
        // If there is no memory for shorter lists, the bound stays as it is.
        let _ = self.allow(&need, 0);
    }

    fn allow(&self, need: &Need, more: u32) -> Result {
        // A pool without threads keeps nothing.
        let threads = need.threads.min(1);
        let in_flight = need.payload.saturating_mul(IN_FLIGHT);
        // CAST: There are fewer granules than pages, and more bits than there is memory.
        let affordable = (folio::total_pages() >> (ORDER as usize + 4)) as u32;
        let spare = in_flight.min(affordable).saturating_mul(threads);

        self.granules
            .set_bound(need.groups.saturating_add(spare), more)?;
        self.singles.set_bound(
            need.singles
                .saturating_add(IN_FLIGHT.saturating_mul(16).saturating_mul(threads)),
            0,
        )
    }
}

impl Shrink for Pool {
    fn count(&self) -> usize {
        self.granules.count().saturating_add(self.singles.count())
    }

    fn scan(&self, wanted: usize) -> usize {
        let freed = self.granules.scan(wanted);

        freed.saturating_add(self.singles.scan(wanted.saturating_sub(freed)))
    }
}
