// SPDX-License-Identifier: GPL-2.0

//! Tracepoints of the granules.
//!
//! C header: [`include/trace/events/sunrpc.h`](srctree/include/trace/events/sunrpc.h)

use kernel::{
    ffi::{
        c_uint,
        c_ulong, //
    },
    sunrpc::refill::Filled,
    tracepoint::declare_trace, //
};

declare_trace! {
    /// # Safety
    ///
    /// Always safe to call.
    unsafe fn svc_granules_exchange(ring: c_uint, pool: c_uint);

    /// # Safety
    ///
    /// Always safe to call.
    unsafe fn svc_granules_fallback(groups: c_uint);

    /// # Safety
    ///
    /// Always safe to call.
    unsafe fn svc_granules_grow(order: c_uint, success: bool);

    /// # Safety
    ///
    /// Always safe to call.
    unsafe fn svc_granules_reclaim(order: c_uint, pages: c_ulong);
}

/// Reports where groups got their granules from, and how many got none.
pub(crate) fn fill(filled: &Filled) {
    if filled.from_ring > 0 || filled.from_pool > 0 {
        // SAFETY: Always safe.
        unsafe { svc_granules_exchange(filled.from_ring, filled.from_pool) };
    }
    if filled.fallback > 0 {
        // SAFETY: Always safe.
        unsafe { svc_granules_fallback(filled.fallback) };
    }
}

/// Reports an attempt to get a granule from the page allocator.
pub(crate) fn grow(order: u8, success: bool) {
    // SAFETY: Always safe.
    unsafe { svc_granules_grow(order.into(), success) };
}

/// Reports that `pages` pages went back to the page allocator.
pub(crate) fn reclaim(order: u8, pages: usize) {
    // SAFETY: Always safe.
    unsafe { svc_granules_reclaim(order.into(), pages) };
}
