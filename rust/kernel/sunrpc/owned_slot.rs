// SPDX-License-Identifier: GPL-2.0

//! Arrays of page pointers that own a reference to each page, such as `rq_pages`.
//!
//! C header: [`include/linux/sunrpc/svc.h`](srctree/include/linux/sunrpc/svc.h)

use core::{
    mem,
    ptr::{
        self,
        NonNull, //
    },
    slice, //
};

use crate::{
    bindings,
    ffi::c_uint, //
};

/// One element of an array of page pointers, with the reference to its page.
///
/// # Invariants
///
/// The pointer is null, or it points to the `struct page` of a page to which the slot has a
/// reference.
#[repr(transparent)]
pub struct OwnedSlot(*mut bindings::page);

impl OwnedSlot {
    /// Views an array of `nr_pages` page pointers as a slice of slots.
    ///
    /// # Safety
    ///
    /// - Unless `nr_pages` is zero, `pages` must be valid for reads and writes of `nr_pages`
    ///   pointers, and nobody else may refer to the array during `'a`.
    /// - Each pointer must be null, or point to the `struct page` of a page, with a reference to it
    ///   that belongs to the array.
    #[inline]
    pub unsafe fn slice_from_raw_mut<'a>(
        pages: *mut *mut bindings::page,
        nr_pages: c_uint,
    ) -> &'a mut [Self] {
        if nr_pages == 0 {
            return &mut [];
        }

        // SAFETY: `OwnedSlot` has the layout of a page pointer. The caller vouches for the array
        // and, which are the type invariants, for the pages.
        // CAST: `usize` has at least 32 bits.
        unsafe { slice::from_raw_parts_mut(pages.cast(), nr_pages as usize) }
    }

    /// Returns whether there is no page.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_null()
    }

    /// Returns the page pointer, null if the slot is empty.
    #[inline]
    pub fn as_ptr(&self) -> *mut bindings::page {
        self.0
    }

    /// Empties the slot. The reference to the page, if there is one, passes to the caller.
    #[inline]
    pub fn take(&mut self) -> Option<NonNull<bindings::page>> {
        NonNull::new(mem::replace(&mut self.0, ptr::null_mut()))
    }

    /// Makes an empty slot refer to `page`.
    ///
    /// # Safety
    ///
    /// `page` must point to a `struct page`. A reference to it passes to the slot.
    #[inline]
    pub unsafe fn set(&mut self, page: NonNull<bindings::page>) {
        // INVARIANT: The caller gives us the reference.
        self.0 = page.as_ptr();
    }
}
