// SPDX-License-Identifier: GPL-2.0

//! Arrays of page pointers, such as `rq_pages` and `xdr_buf::pages`.
//!
//! C headers: [`include/linux/sunrpc/svc.h`](srctree/include/linux/sunrpc/svc.h),
//! [`include/linux/bvec.h`](srctree/include/linux/bvec.h)

use core::{
    mem::MaybeUninit,
    slice, //
};

use crate::{
    bindings,
    ffi::c_uint,
    sunrpc::extent::{
        Extent,
        Slot, //
    },
};

/// One element of an array of page pointers.
///
/// # Invariants
///
/// The pointer is null, or it points to the `struct page` of a page that is not freed as long as
/// the slot exists.
#[repr(transparent)]
pub struct PageSlot(*mut bindings::page);

impl PageSlot {
    /// Views an array of `nr_pages` page pointers as a slice of slots.
    ///
    /// # Safety
    ///
    /// - Unless `nr_pages` is zero, `pages` must be valid for reads of `nr_pages` pointers.
    /// - Each of these pointers must be null, or point to the `struct page` of a page that is not
    ///   freed during `'a`.
    /// - Nobody may write to the array during `'a`.
    #[inline]
    pub unsafe fn slice_from_raw<'a>(
        pages: *const *mut bindings::page,
        nr_pages: c_uint,
    ) -> &'a [Self] {
        if nr_pages == 0 {
            return &[];
        }

        // SAFETY: `PageSlot` has the layout of a page pointer. The caller vouches for the array
        // and, which are the type invariants, for the pages.
        // CAST: `usize` has at least 32 bits.
        unsafe { slice::from_raw_parts(pages.cast(), nr_pages as usize) }
    }

    /// Returns whether the pages in two neighbouring slots have adjacent frame numbers.
    ///
    /// Neither slot is empty, and the two `struct page` are adjacent.
    #[inline]
    fn frame_precedes(&self, next: &Self) -> bool {
        // With a virtual memory map, the frame number is the index of the `struct page`.
        if cfg!(CONFIG_SPARSEMEM_VMEMMAP) {
            return true;
        }

        // SAFETY: By the type invariants, both pointers point to a `struct page`.
        let (pfn, next_pfn) =
            unsafe { (bindings::page_to_pfn(self.0), bindings::page_to_pfn(next.0)) };

        pfn.wrapping_add(1) == next_pfn
    }

    /// Returns whether two pages are both ordinary memory, or both belong to the same device.
    #[inline]
    fn shares_pgmap(&self, next: &Self) -> bool {
        // SAFETY: By the type invariants, both pointers point to a `struct page`.
        unsafe { bindings::zone_device_pages_have_same_pgmap(self.0, next.0) }
    }

    /// Returns whether two pages that are adjacent to Linux are adjacent on the bus, too.
    #[cfg(all(CONFIG_XEN, CONFIG_BLOCK))]
    #[inline]
    fn bus_precedes(&self, next: &Self) -> bool {
        let page = bindings::bio_vec {
            bv_page: self.0,
            // CAST: The page size fits in 32 bits.
            bv_len: crate::page::PAGE_SIZE as u32,
            bv_offset: 0,
        };

        // SAFETY: `page` describes a page, and `next` points to a `struct page`, by the type
        // invariants.
        unsafe { !bindings::xen_domain() || bindings::xen_biovec_phys_mergeable(&page, next.0) }
    }

    /// Returns whether two pages that are adjacent to Linux are adjacent on the bus, too.
    ///
    /// Only the block layer tells.
    #[cfg(all(CONFIG_XEN, not(CONFIG_BLOCK)))]
    #[inline]
    fn bus_precedes(&self, _next: &Self) -> bool {
        // SAFETY: The type of the domain can be asked for at any time.
        unsafe { !bindings::xen_domain() }
    }

    /// Returns whether two pages that are adjacent to Linux are adjacent on the bus, too.
    #[cfg(not(CONFIG_XEN))]
    #[inline]
    fn bus_precedes(&self, _next: &Self) -> bool {
        true
    }
}

impl Slot for PageSlot {
    #[inline]
    fn is_empty(&self) -> bool {
        self.0.is_null()
    }

    /// Follows the rule by which the block layer merges pages, `bvec_try_merge_page()`.
    #[inline]
    fn precedes(&self, next: &Self) -> bool {
        // KMSAN keeps the shadow of each page in a place of its own. What follows a `struct page`
        // is not at address zero, so that an empty slot does not pass.
        !cfg!(CONFIG_KMSAN)
            && self.0.wrapping_add(1) == next.0
            && self.frame_precedes(next)
            && self.shares_pgmap(next)
            && self.bus_precedes(next)
    }
}

impl Extent<'_, PageSlot> {
    /// Returns the `bio_vec` that describes the extent.
    #[inline]
    pub fn to_bvec(&self) -> bindings::bio_vec {
        bindings::bio_vec {
            bv_page: self.first().0,
            bv_len: self.len(),
            bv_offset: self.offset(),
        }
    }
}

/// Fills an array of `bio_vec`, or only pretends to.
///
/// # Invariants
///
/// `next` is null, or the place of the next `bio_vec` in an array that has room for all that are
/// pushed.
pub struct BvecWriter {
    next: *mut MaybeUninit<bindings::bio_vec>,
}

impl BvecWriter {
    /// Returns a writer that starts at `bvecs`, or one that drops everything if `bvecs` is null.
    ///
    /// # Safety
    ///
    /// Unless `bvecs` is null, it must be valid for writes of as many `bio_vec` as are pushed into
    /// the writer.
    #[inline]
    pub unsafe fn from_raw(bvecs: *mut bindings::bio_vec) -> Self {
        // INVARIANT: The caller vouches for the array.
        Self { next: bvecs.cast() }
    }

    /// Appends the `bio_vec` that describes `extent`.
    #[inline]
    pub fn push(&mut self, extent: &Extent<'_, PageSlot>) {
        // SAFETY: By the type invariants, `next` is null or has room for this `bio_vec`.
        if let Some(place) = unsafe { self.next.as_mut() } {
            place.write(extent.to_bvec());
            // INVARIANT: The caller of `from_raw()` vouches for room for the next one, if any.
            self.next = self.next.wrapping_add(1);
        }
    }
}
