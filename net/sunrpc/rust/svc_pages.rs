// SPDX-License-Identifier: GPL-2.0

//! C entry points to the extents of a page array.
//!
//! C header: [`include/linux/sunrpc/svc_pages.h`](srctree/include/linux/sunrpc/svc_pages.h)

use kernel::{
    bindings,
    do_once_lite,
    ffi::c_uint,
    prelude::*,
    sunrpc::{
        extent::Extents,
        page_array::{
            BvecWriter,
            PageSlot, //
        },
    },
    warn_on, //
};

/// Views a range of a page array as extents, and complains about a range that has none.
///
/// # Safety
///
/// As [`PageSlot::slice_from_raw`].
#[inline]
unsafe fn extents_or_warn<'a>(
    pages: *const *mut bindings::page,
    nr_pages: c_uint,
    offset: c_uint,
    len: c_uint,
    max_bvec_len: c_uint,
) -> Option<Extents<'a, PageSlot>> {
    // SAFETY: Just what the caller vouches for.
    let slots = unsafe { PageSlot::slice_from_raw(pages, nr_pages) };
    let extents = Extents::new(slots, offset, len, max_bvec_len);

    if extents.is_none() {
        do_once_lite! { warn_on!(true); }
    }
    extents
}

/// Builds one `bio_vec` from physically contiguous pages.
///
/// Returns the number of bytes described, or zero if an argument is out of its range. All lengths
/// and offsets are in bytes.
///
/// # Safety
///
/// - `bv` must be null or valid for writes.
/// - `pages` must be valid for reads of `nr_pages` pointers, each of which is null or points to a
///   page to which the caller holds a reference.
#[export]
pub unsafe extern "C" fn svc_pages_to_bvec(
    bv: *mut bindings::bio_vec,
    pages: *const *mut bindings::page,
    nr_pages: c_uint,
    offset: c_uint,
    len: c_uint,
    max_bvec_len: c_uint,
) -> c_uint {
    // SAFETY: The caller holds the array and the pages for the duration of the call.
    let extents = unsafe { extents_or_warn(pages, nr_pages, offset, len, max_bvec_len) };
    // SAFETY: One `bio_vec` is pushed, and `bv` is null or has room for it.
    let mut writer = unsafe { BvecWriter::from_raw(bv) };

    extents
        .and_then(|mut extents| extents.next())
        .inspect(|extent| writer.push(extent))
        .map_or(0, |extent| extent.len())
}

/// Builds `bio_vec`s for a range of a page array.
///
/// Returns the number of `bio_vec`s, or zero if an argument is out of its range or the range
/// includes an empty slot or exceeds the array. All lengths and offsets are in bytes.
///
/// # Safety
///
/// - `bvecs` must be null or valid for writes of as many `bio_vec` as the same call with null
///   returns, which must not be zero.
/// - `pages` must be valid for reads of `nr_pages` pointers, each of which is null or points to a
///   page to which the caller holds a reference.
#[export]
pub unsafe extern "C" fn svc_pages_to_bvecs(
    bvecs: *mut bindings::bio_vec,
    pages: *const *mut bindings::page,
    nr_pages: c_uint,
    offset: c_uint,
    len: c_uint,
    max_bvec_len: c_uint,
) -> c_uint {
    // SAFETY: The caller holds the array and the pages for the duration of the call.
    let extents = unsafe { extents_or_warn(pages, nr_pages, offset, len, max_bvec_len) };
    // SAFETY: The same extents are pushed that the caller has had counted.
    let mut writer = unsafe { BvecWriter::from_raw(bvecs) };

    extents.map_or(0, |extents| extents.describe(|extent| writer.push(&extent)))
}
