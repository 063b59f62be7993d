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
        folio::{
            self,
            FolioGranule, //
        },
        refill::{
            Filled,
            Supply, //
        },
        shrinker::Shrink,
        stock::{
            Census,
            Stock, //
        }, //
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

/// The granules of one size, for all threads of a pool.
#[pin_data]
pub(crate) struct Class {
    #[pin]
    stock: SpinLock<Stock<Places>>,
    order: u8,
    node: i32,
    epoch: Instant<Monotonic>,
}

impl Class {
    fn new(node: i32, order: u8, attempts: (u32, u32)) -> impl PinInit<Self> {
        let stock = Stock::new(Places::new(), Places::new(), attempts);

        pin_init!(Self {
            stock <- new_spinlock!(stock, "svc_granules"),
            order,
            node,
            epoch: Instant::now(),
        })
    }

    /// Returns the time in ticks of [`Stock`].
    fn now(&self) -> u64 {
        // CAST: The clock does not run backwards.
        (self.epoch.elapsed().as_nanos() as u64) >> 20
    }

    /// Returns the number of pages in a granule.
    fn pages(&self) -> usize {
        1 << self.order
    }

    /// Allows for `bound` granules, `more` of which are on account of a thread that starts.
    ///
    /// The caller sees to it that there is one call at a time.
    fn set_bound(&self, bound: u32, more: u32) -> Result {
        let capacity = self.stock.lock().capacity();
        if bound as usize > capacity {
            let count = (bound as usize).next_power_of_two();
            let (idle, busy) = (places(count)?, places(count)?);
            let former = self.stock.lock().relocate(idle, busy);

            // Not freed while the lock is held.
            drop(former);
        }
        self.stock.lock().set_bound(bound, more);
        self.trim();
        Ok(())
    }

    /// Frees idle granules that are too many.
    fn trim(&self) {
        loop {
            let granule = self.stock.lock().trim();
            if granule.is_none() {
                break;
            }
        }
    }

    /// Creates a granule, if it may be.
    fn grow(&self) -> Option<FolioGranule> {
        let now = self.now();
        if !self.stock.lock().reserve() {
            return None;
        }
        let mut asked = false;
        let granule = FolioGranule::alloc(self.node, self.order, || {
            let may = self.stock.lock().attempt(now);

            asked |= may;
            may
        });

        self.stock.lock().created(now, asked, granule.is_some());
        if asked {
            trace::grow(self.order, granule.is_some());
        }
        granule
    }

    /// Replaces a granule in parts by one that is whole, if there is one.
    fn mend(&self, granule: FolioGranule) -> FolioGranule {
        let now = self.now();
        if !self.stock.lock().reserve_mend(now) {
            return granule;
        }
        let whole = FolioGranule::alloc_whole(self.node, self.order);

        trace::grow(self.order, whole.is_some());
        let success = whole.is_some();
        let chosen = whole.unwrap_or(granule);
        self.stock.lock().mended(now, success);
        chosen
    }

    /// Adds to the statistics.
    pub(crate) fn account(&self, filled: &Filled) {
        self.stock.lock().account(filled);
    }

    /// Returns what there is.
    pub(crate) fn census(&self) -> Census {
        self.stock.lock().census()
    }
}

impl Supply<FolioGranule> for &Class {
    fn take(&mut self, wanted: usize, stash: &mut impl FnMut(FolioGranule)) {
        let mut in_parts = None;
        let missing = self.stock.lock().take(self.now(), wanted, &mut |granule| {
            if in_parts.is_some() || granule.is_whole() {
                stash(granule);
            } else {
                in_parts = Some(granule);
            }
        });

        if let Some(granule) = in_parts {
            stash(self.mend(granule));
        }
        for _ in 0..missing {
            match self.grow() {
                Some(granule) => stash(granule),
                None => break,
            }
        }
    }

    fn give(&mut self, mut next: impl FnMut() -> Option<FolioGranule>) {
        let mut stock = self.stock.lock();

        while let Some(granule) = next() {
            stock.give(granule);
        }
        // Freed when the lock is not held.
        let excess = stock.trim();

        drop(stock);
        drop(excess);
    }
}

impl Shrink for Class {
    fn node(&self) -> i32 {
        self.node
    }

    fn count(&self) -> usize {
        self.stock.lock().count_idle().saturating_mul(self.pages())
    }

    fn scan(&self, wanted: usize) -> usize {
        let now = self.now();
        let mut freed = 0usize;

        while freed < wanted {
            let granule = self.stock.lock().reclaim(now);
            if granule.is_none() {
                break;
            }
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

        let allowed = self.allow(&more, groups);
        if allowed.is_ok() {
            *need = more;
        } else {
            // Lower bounds need no memory.
            let _ = self.allow(&need, 0);
        }
        allowed
    }

    /// Undoes [`Pool::join`].
    pub(crate) fn leave(&self, groups: u32, singles: u32) {
        let mut need = self.need.lock();

        need.threads = need.threads.saturating_sub(1);
        need.groups = need.groups.saturating_sub(groups);
        need.singles = need.singles.saturating_sub(singles);
        // Lower bounds need no memory.
        let _ = self.allow(&need, 0);
    }

    fn allow(&self, need: &Need, more: u32) -> Result {
        // A pool without threads keeps nothing.
        let threads = need.threads.min(1);
        let in_flight = need.payload.saturating_mul(IN_FLIGHT);
        // CAST: There are fewer granules than pages, and more bits than there is memory.
        let affordable =
            ((folio::total_pages() / folio::nr_nodes()) >> (ORDER as usize + 4)) as u32;
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
    fn node(&self) -> i32 {
        self.granules.node()
    }

    fn count(&self) -> usize {
        self.granules.count().saturating_add(self.singles.count())
    }

    fn scan(&self, wanted: usize) -> usize {
        let freed = self.granules.scan(wanted);

        freed.saturating_add(self.singles.scan(wanted.saturating_sub(freed)))
    }
}
