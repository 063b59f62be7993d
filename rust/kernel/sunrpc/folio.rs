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
        page_array::PageSlot,
        parts::Parts, //
    },
};

/// Returns the number of pages of the machine.
pub fn total_pages() -> usize {
    // SAFETY: The number can be asked for at any time.
    unsafe { bindings::totalram_pages() }
}

/// A reference to a folio, which is put when it is dropped.
///
/// # Invariants
///
/// It points to the head of a folio, and a reference to that is ours.
struct FolioRef(NonNull<bindings::page>);

impl FolioRef {
    /// Allocates a folio of `1 << order` pages on the NUMA node `node`.
    ///
    /// Does not wait, and does not touch the reserves of memory.
    fn alloc(node: i32, order: u8) -> Option<Self> {
        let gfp = (GFP_NOWAIT | __GFP_NOWARN).as_raw()
            | bindings::__GFP_COMP
            | bindings::__GFP_NOMEMALLOC;
        // SAFETY: Pages can be allocated at any time.
        let head = NonNull::new(unsafe { bindings::alloc_pages_node(node, gfp, order.into()) })?;

        // INVARIANT: The allocation gave us a reference.
        Some(Self(head))
    }
}

impl Drop for FolioRef {
    fn drop(&mut self) {
        // SAFETY: By the type invariants, the reference is ours.
        unsafe { bindings::put_page(self.0.as_ptr()) };
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

    #[inline]
    fn folios(&self) -> impl Iterator<Item = NonNull<bindings::page>> + '_ {
        self.0.iter().map(|folio| folio.0)
    }

    /// Clears the pages if the page allocator would do so before it hands them out again.
    #[inline]
    fn refresh(&self) {
        // SAFETY: What the kernel is told on its command line can be asked for at any time.
        let init = unsafe {
            bindings::want_init_on_alloc(GFP_NOWAIT.as_raw()) || bindings::want_init_on_free()
        };
        if !init {
            return;
        }
        for page in self.folios() {
            let folio: *mut bindings::folio = page.as_ptr().cast();

            // SAFETY: By the type invariants, this is a folio to which we hold a reference.
            unsafe { bindings::folio_zero_range(folio, 0, bindings::folio_size(folio)) };
        }
    }

    /// Returns whether `page` is one of the folio that starts at `head`.
    #[inline]
    fn contains(&self, head: NonNull<bindings::page>, page: *mut bindings::page) -> bool {
        // The pages of a folio are adjacent.
        let end = head.as_ptr().wrapping_add(1usize << self.0.order);

        (head.as_ptr()..end).contains(&page)
    }

    /// Puts what `slots` refer to, and empties them.
    #[inline]
    fn clear(former: Option<&Self>, slots: &mut [PageSlot]) {
        if let Some(former) = former {
            former.clear_own(slots);
        }
        for page in slots.iter_mut().filter_map(PageSlot::take) {
            // SAFETY: The slot's reference is put, and the slot is empty.
            unsafe { bindings::put_page(page.as_ptr()) };
        }
    }

    /// Empties those of `slots` that refer to our pages, and puts their references folio by folio.
    #[inline]
    fn clear_own(&self, slots: &mut [PageSlot]) {
        for head in self.folios() {
            let mut nr_refs = 0i32;

            for slot in slots.iter_mut() {
                if self.contains(head, slot.as_ptr()) && slot.take().is_some() {
                    nr_refs = nr_refs.saturating_add(1);
                }
            }
            if nr_refs > 0 {
                // SAFETY: These were the references of the slots, and our own one is left.
                unsafe { bindings::page_ref_sub(head.as_ptr(), nr_refs) };
            }
        }
    }
}

impl Granule for FolioGranule {
    type Slot = PageSlot;

    #[inline]
    fn is_idle(&self) -> bool {
        // SAFETY: By the type invariants, we hold a reference to each folio. An acquire orders what
        // others did before they put theirs, before what we do next.
        self.folios().all(|page| unsafe {
            let refs = bindings::atomic_read_acquire(&raw const (*page.as_ptr())._refcount);

            // A page that failed is in use for good.
            refs == 1 && !bindings::folio_contain_hwpoisoned_page(page.as_ptr().cast())
        })
    }

    #[inline]
    fn fill(&self, former: Option<&Self>, slots: &mut [PageSlot]) {
        Self::clear(former, slots);
        self.refresh();
        for (head, slots) in self.folios().zip(slots.chunks_mut(1 << self.0.order)) {
            let nr_refs = i32::try_from(slots.len()).unwrap_or(0);

            // SAFETY: By the type invariants, we hold a reference, so that there can be more.
            unsafe { bindings::page_ref_add(head.as_ptr(), nr_refs) };
            for (at, slot) in slots.iter_mut().enumerate() {
                // SAFETY: The folio has this page, since there are no more slots in a chunk than
                // pages in a folio. One of the references that were added is the slot's.
                unsafe { slot.set(NonNull::new_unchecked(head.as_ptr().wrapping_add(at))) };
            }
        }
    }

    #[inline]
    fn occupies(&self, slots: &[PageSlot]) -> bool {
        self.folios()
            .any(|head| slots.iter().any(|slot| self.contains(head, slot.as_ptr())))
    }
}
