// SPDX-License-Identifier: GPL-2.0

//! Granules of pages.
//!
//! C headers: [`include/linux/mm.h`](srctree/include/linux/mm.h),
//! [`include/linux/page_ref.h`](srctree/include/linux/page_ref.h)

use core::ptr::NonNull;

use crate::{
    alloc::flags::{
        __GFP_NOWARN, //
        GFP_NOWAIT,
    },
    bindings,
    sunrpc::{
        granule::Granule,
        owned_slot::OwnedSlot,
        parts::Parts, //
    },
};

/// Returns the number of pages of the machine.
pub fn total_pages() -> usize {
    // SAFETY: The number can be asked for at any time.
    unsafe { bindings::totalram_pages() }
}

/// Returns the number of NUMA nodes of the machine.
pub fn nr_nodes() -> usize {
    // SAFETY: The number can be asked for at any time.
    let nr_nodes = unsafe { bindings::num_online_nodes() };

    usize::try_from(nr_nodes).unwrap_or(1).max(1)
}

/// Returns whether pages are cleared when they are freed.
pub fn are_cleared_on_free() -> bool {
    // SAFETY: What the kernel is told on its command line can be asked for at any time.
    unsafe { bindings::want_init_on_free() }
}

/// A reference to a folio, which is put when it is dropped.
///
/// # Invariants
///
/// `head` is the first page of a folio of `1 << order` pages, and a reference to that is ours.
struct FolioRef {
    head: NonNull<bindings::page>,
    order: u8,
}

impl FolioRef {
    /// Allocates a folio of `1 << order` pages on the NUMA node `node`, or on any if that is -1.
    ///
    /// Does not wait, and does not touch the reserves of memory.
    fn alloc(node: i32, order: u8) -> Option<Self> {
        let here = match node {
            ..0 => 0,
            _ => bindings::__GFP_THISNODE,
        };
        let gfp = (GFP_NOWAIT | __GFP_NOWARN).as_raw()
            | bindings::__GFP_COMP
            | bindings::__GFP_NOMEMALLOC
            | here;
        // SAFETY: Pages can be allocated at any time.
        let head = NonNull::new(unsafe { bindings::alloc_pages_node(node, gfp, order.into()) })?;

        // INVARIANT: The allocation gave us a reference.
        Some(Self { head, order })
    }

    /// Returns pointers to the pages.
    #[inline]
    fn pages(&self) -> impl Iterator<Item = *mut bindings::page> {
        let head = self.head.as_ptr();

        // The pages of a folio are adjacent.
        (0..1usize << self.order).map(move |at| head.wrapping_add(at))
    }

    /// Returns whether `page` is one of the pages.
    #[inline]
    fn contains(&self, page: *mut bindings::page) -> bool {
        let head = self.head.as_ptr();

        (head..head.wrapping_add(1 << self.order)).contains(&page)
    }

    /// Returns whether any of the pages has failed. That of one that is not the first can be told
    /// from the page only.
    ///
    /// Not inlined, since modules do not see how many have failed.
    #[inline(never)]
    fn has_failed(&self) -> bool {
        // SAFETY: By the type invariants, these are pages that are not freed.
        unsafe {
            bindings::any_page_has_failed() && self.pages().any(|page| bindings::PageHWPoison(page))
        }
    }
}

impl Drop for FolioRef {
    fn drop(&mut self) {
        // A page that failed must not reach the page allocator, which looks at the first one only.
        if !self.has_failed() {
            // SAFETY: By the type invariants, the reference is ours.
            unsafe { bindings::put_page(self.head.as_ptr()) };
        }
    }
}

/// One reference to each of the equally large folios that fill a group of slots.
///
/// It is one folio where the page allocator has one, else two, or four.
pub struct FolioGranule(Parts<FolioRef>);

// SAFETY: A reference to a page can be put by any thread.
unsafe impl Send for FolioGranule {}

// SAFETY: The reference count of a page is atomic.
unsafe impl Sync for FolioGranule {}

impl FolioGranule {
    /// Allocates `1 << order` pages on the NUMA node `node`, in one folio or in smaller ones.
    ///
    /// `attempt` is asked before folios of one size are allocated, and may decline.
    pub fn alloc(node: i32, order: u8, attempt: impl FnMut() -> bool) -> Option<Self> {
        Parts::alloc(order, attempt, |order| FolioRef::alloc(node, order)).map(Self)
    }

    /// Allocates one folio of `1 << order` pages on the NUMA node `node`.
    pub fn alloc_whole(node: i32, order: u8) -> Option<Self> {
        Parts::alloc_all(order, 1, &mut |order| FolioRef::alloc(node, order)).map(Self)
    }

    /// Returns whether it is one folio.
    #[inline]
    pub fn is_whole(&self) -> bool {
        self.0.is_whole()
    }

    /// Clears the pages if the page allocator would do so before it hands them out again.
    #[inline]
    fn refresh(&self) {
        // SAFETY: What the kernel is told on its command line can be asked for at any time.
        if !unsafe { bindings::want_init_on_alloc(GFP_NOWAIT.as_raw()) } {
            return;
        }
        for part in self.0.iter() {
            let folio: *mut bindings::folio = part.head.as_ptr().cast();

            // SAFETY: By the type invariants, this is a folio to which we hold a reference.
            unsafe { bindings::folio_zero_range(folio, 0, bindings::folio_size(folio)) };
        }
    }

    /// Puts what `slots` refer to, and empties them.
    #[inline]
    fn clear(former: Option<&Self>, slots: &mut [OwnedSlot]) {
        if let Some(former) = former {
            former.clear_own(slots);
        }
        for page in slots.iter_mut().filter_map(OwnedSlot::take) {
            // SAFETY: The slot's reference is put, and the slot is empty.
            unsafe { bindings::put_page(page.as_ptr()) };
        }
    }

    /// Empties those of `slots` that refer to our pages, and puts their references folio by folio.
    #[inline]
    fn clear_own(&self, slots: &mut [OwnedSlot]) {
        for part in self.0.iter() {
            let mut nr_refs = 0i32;

            for slot in slots.iter_mut() {
                if part.contains(slot.as_ptr()) && slot.take().is_some() {
                    nr_refs = nr_refs.saturating_add(1);
                }
            }
            if nr_refs > 0 {
                // SAFETY: These were the references of the slots, and our own one is left.
                unsafe { bindings::page_ref_sub(part.head.as_ptr(), nr_refs) };
            }
        }
    }
}

impl Granule for FolioGranule {
    type Slot = OwnedSlot;

    #[inline]
    fn is_idle(&self) -> bool {
        self.0.iter().all(|part| {
            // SAFETY: By the type invariants, we hold a reference to the folio. An acquire orders
            // what others did before they put theirs, before what we do next.
            let refs = unsafe {
                bindings::atomic_read_acquire(&raw const (*part.head.as_ptr())._refcount)
            };

            // A page that failed is in use for good.
            refs == 1 && !part.has_failed()
        })
    }

    #[inline]
    fn fill(&self, former: Option<&Self>, slots: &mut [OwnedSlot]) {
        Self::clear(former, slots);
        self.refresh();
        for (part, slots) in self.0.iter().zip(slots.chunks_mut(1 << self.0.order)) {
            let nr_refs = i32::try_from(slots.len()).unwrap_or(0);

            // SAFETY: By the type invariants, we hold a reference, so that there can be more.
            unsafe { bindings::page_ref_add(part.head.as_ptr(), nr_refs) };
            for (page, slot) in part.pages().zip(slots) {
                // SAFETY: The folio has this page. There are no more slots in a chunk than pages in
                // a folio, and one of the references that were added is the slot's.
                unsafe { slot.set(NonNull::new_unchecked(page)) };
            }
        }
    }

    #[inline]
    fn occupies(&self, slots: &[OwnedSlot]) -> bool {
        self.0
            .iter()
            .any(|part| slots.iter().any(|slot| part.contains(slot.as_ptr())))
    }
}
