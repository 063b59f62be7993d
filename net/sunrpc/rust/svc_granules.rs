// SPDX-License-Identifier: GPL-2.0

//! C entry points to the granules of a service pool.
//!
//! C header: [`include/linux/sunrpc/svc_granules.h`](srctree/include/linux/sunrpc/svc_granules.h)

use core::ptr;

use kernel::{
    bindings,
    ffi::{
        c_int,
        c_uint,
        c_ulong, //
    },
    prelude::*,
    seq_file::{
        seq_print,
        SeqFile, //
    },
    sunrpc::{
        folio,
        owned_slot::OwnedSlot,
        shrinker::Shrinker, //
    },
    sync::Arc, //
};

use crate::{
    pool::{
        Class,
        Pool, //
    },
    thread::Thread, //
};

/// Memory of fewer pages than these, 256 MiB, is too little to set some of it aside.
const MIN_TOTAL_PAGES: usize = 256 << (20 - kernel::page::PAGE_SHIFT);

/// A pool that gives memory back when there is little.
struct Registered {
    // Dropped before the pool is.
    _shrinker: Shrinker<Pool>,
    pool: Arc<Pool>,
}

impl Registered {
    fn new(node: c_int) -> Result<KBox<Self>> {
        let pool = Arc::pin_init(Pool::new(node), GFP_KERNEL)?;
        // SAFETY: The pool exists as long as the shrinker does.
        let shrinker = unsafe { Shrinker::new(c"sunrpc-granules", &raw const *pool)? };

        Ok(KBox::new(
            Self {
                _shrinker: shrinker,
                pool,
            },
            GFP_KERNEL,
        )?)
    }
}

/// Creates the granules of a service pool on the NUMA node `node`, or on none in particular if that
/// is -1.
///
/// Returns null if memory is exhausted, if there is too little of it in the first place, or if
/// pages are to be cleared when they are freed.
#[export]
pub extern "C" fn svc_granules_pool_create(node: c_int) -> *mut bindings::svc_granules_pool {
    let small = folio::total_pages() < MIN_TOTAL_PAGES;
    // What is idle would not be cleared until it is used again.
    if cfg!(CONFIG_KMSAN) || folio::are_cleared_on_free() || small {
        return ptr::null_mut();
    }
    Registered::new(node).map_or(ptr::null_mut(), |pool| KBox::into_raw(pool).cast())
}

/// Gives all granules of a pool back to the page allocator.
///
/// # Safety
///
/// `pool` must be null, or come from [`svc_granules_pool_create`]. It is not used again.
#[export]
pub unsafe extern "C" fn svc_granules_pool_destroy(pool: *mut bindings::svc_granules_pool) {
    if !pool.is_null() {
        // SAFETY: The caller vouches for the pool.
        drop(unsafe { KBox::from_raw(pool.cast::<Registered>()) });
    }
}

/// Creates the bookkeeping for a thread whose page arrays have `max_pages` entries.
///
/// Returns null if memory is exhausted, if the arrays are too small, or if `pool` is null.
///
/// # Safety
///
/// `pool` must be null, or come from [`svc_granules_pool_create`].
#[export]
pub unsafe extern "C" fn svc_granules_create(
    pool: *mut bindings::svc_granules_pool,
    max_pages: c_ulong,
) -> *mut bindings::svc_granules {
    if pool.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: The caller vouches for the pool.
    let pool = unsafe { (*pool.cast::<Registered>()).pool.clone() };

    Thread::new(pool, max_pages).map_or(ptr::null_mut(), |thread| KBox::into_raw(thread).cast())
}

/// Gives all granules of a thread back to its pool.
///
/// # Safety
///
/// `granules` must be null, or come from [`svc_granules_create`]. It is not used again.
#[export]
pub unsafe extern "C" fn svc_granules_destroy(granules: *mut bindings::svc_granules) {
    if !granules.is_null() {
        // SAFETY: The caller vouches for the pointer.
        unsafe { KBox::from_raw(granules.cast::<Thread>()) }.leave();
    }
}

/// Calls `fill` with a thread's granules and its page array. Returns what it does, or zero if there
/// are no granules.
///
/// # Safety
///
/// As [`svc_granules_fill_call`].
unsafe fn with_slots(
    granules: *mut bindings::svc_granules,
    pages: *mut *mut bindings::page,
    nr_pages: c_ulong,
    fill: impl FnOnce(&mut Thread, &mut [OwnedSlot]) -> usize,
) -> c_ulong {
    if granules.is_null() {
        return 0;
    }
    // CAST: No page array has more than a `u32` of entries.
    // SAFETY: The caller vouches for both.
    let (thread, slots) = unsafe {
        (
            &mut *granules.cast::<Thread>(),
            OwnedSlot::slice_from_raw_mut(pages, nr_pages as c_uint),
        )
    };
    fill(thread, slots)
}

/// Fills the page array for Calls, of which the first `used` entries may be empty, as far as there
/// are granules.
///
/// Entries beyond `used` may be exchanged, too. Returns how many entries from the first one on are
/// filled for certain, at most `used`, and zero if `granules` is null.
///
/// # Safety
///
/// - `granules` must be null, or come from [`svc_granules_create`], and belong to the caller.
/// - `pages` must be valid for `nr_pages` entries that nobody else uses. Each is null, or has a
///   reference to the page that it points to.
#[export]
pub unsafe extern "C" fn svc_granules_fill_call(
    granules: *mut bindings::svc_granules,
    pages: *mut *mut bindings::page,
    nr_pages: c_ulong,
    used: c_ulong,
) -> c_ulong {
    // SAFETY: The caller vouches for the arguments.
    unsafe {
        with_slots(granules, pages, nr_pages, |thread, slots| {
            thread.fill_call(slots, used)
        })
    }
}

/// Fills the page array for Replies, as [`svc_granules_fill_call`] does the one for Calls.
///
/// # Safety
///
/// As [`svc_granules_fill_call`].
#[export]
pub unsafe extern "C" fn svc_granules_fill_reply(
    granules: *mut bindings::svc_granules,
    pages: *mut *mut bindings::page,
    nr_pages: c_ulong,
    used: c_ulong,
) -> c_ulong {
    // SAFETY: The caller vouches for the arguments.
    unsafe {
        with_slots(granules, pages, nr_pages, |thread, slots| {
            thread.fill_reply(slots, used)
        })
    }
}

/// Prints what there is of one size of granules.
fn show(file: &SeqFile, name: &str, class: &Class) {
    let census = class.census();
    let stats = census.stats;

    seq_print!(
        file,
        "{name}: owned {} idle {} bound {} ring {} pool {} fallback {} attempts {} grown {} reclaimed {}\n",
        census.owned,
        census.idle,
        census.bound,
        stats.from_ring,
        stats.from_pool,
        stats.fallback,
        stats.attempts,
        stats.grown,
        stats.reclaimed
    );
}

/// Prints the counters of a pool.
///
/// # Safety
///
/// `pool` must come from [`svc_granules_pool_create`], and `file` must be the caller's.
#[export]
pub unsafe extern "C" fn svc_granules_show(
    file: *mut bindings::seq_file,
    pool: *mut bindings::svc_granules_pool,
) {
    // SAFETY: The caller vouches for both.
    let (file, pool) = unsafe { (SeqFile::from_raw(file), &(*pool.cast::<Registered>()).pool) };

    show(file, "granules", &pool.granules);
    show(file, "singles", &pool.singles);
}
