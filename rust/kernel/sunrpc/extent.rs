// SPDX-License-Identifier: GPL-2.0

//! Physically contiguous extents of an array of page slots.
//!
//! An [`Extent`] is what one `bio_vec` can describe. [`Extents`] is the only place that decides
//! where one extent ends and the next one begins: whoever counts them and whoever fills an array
//! with them drives the same iterator, so that the two cannot disagree.
//!
//! C counterpart: [`net/sunrpc/svc_pages.c`](srctree/net/sunrpc/svc_pages.c)
//!
//! This file depends on nothing but `core` and the page size, and it is also built for the host,
//! where property tests compare it with a model that looks at one byte at a time.

use core::iter::FusedIterator;

use crate::page::{
    PAGE_SHIFT,
    PAGE_SIZE, //
};

/// A slot of a page array.
pub trait Slot {
    /// Returns whether the slot holds no page.
    fn is_empty(&self) -> bool;

    /// Returns whether one `bio_vec` may run on from the page in this slot to the page in `next`.
    ///
    /// `self` is not empty. The answer is `false` when `next` is empty.
    fn precedes(&self, next: &Self) -> bool;
}

/// A physically contiguous range of bytes in a page array.
#[derive(Debug, PartialEq, Eq)]
pub struct Extent<'a, S> {
    first: &'a S,
    offset: u32,
    len: u32,
}

impl<'a, S> Extent<'a, S> {
    /// Returns the slot that holds the first page.
    #[inline]
    pub fn first(&self) -> &'a S {
        self.first
    }

    /// Returns where in the first page the extent begins, in bytes, less than [`PAGE_SIZE`].
    #[inline]
    pub fn offset(&self) -> u32 {
        self.offset
    }

    /// Returns the number of bytes in the extent, never zero.
    #[inline]
    #[expect(clippy::len_without_is_empty)]
    pub fn len(&self) -> u32 {
        self.len
    }
}

/// An iterator over the extents of a range of bytes in a page array.
///
/// Each extent is as long as the cap and the pages allow. An extent that the cap ends, ends on a
/// page boundary, unless the cap is less than a page. The iterator ends at the end of the range, at
/// an empty slot and at the end of the array; [`Extents::remaining`] tells which it was.
///
/// # Invariants
///
/// - `offset` is less than [`PAGE_SIZE`].
/// - `cap` is not zero.
/// - `remaining` is not zero, or `slots` is empty.
#[derive(Debug)]
pub struct Extents<'a, S> {
    slots: &'a [S],
    offset: u32,
    remaining: u32,
    cap: u32,
}

impl<'a, S: Slot> Extents<'a, S> {
    /// Returns an iterator over the `len` bytes that start `offset` bytes into the first of
    /// `slots`, in extents of at most `cap` bytes.
    ///
    /// Returns [`None`] when there is no extent to begin with: no slot, an empty first slot,
    /// an offset of [`PAGE_SIZE`] or more, a zero length or a zero cap.
    #[inline]
    pub fn new(slots: &'a [S], offset: u32, len: u32, cap: u32) -> Option<Self> {
        if slots.first()?.is_empty() || offset as usize >= PAGE_SIZE || len == 0 || cap == 0 {
            return None;
        }

        // INVARIANT: All have just been checked.
        Some(Self {
            slots,
            offset,
            remaining: len,
            cap,
        })
    }

    /// Returns the number of bytes that no extent has described yet.
    #[inline]
    pub fn remaining(&self) -> u32 {
        self.remaining
    }

    /// Hands each extent to `emit`, in order.
    ///
    /// Returns the number of extents, or zero when they do not describe the whole range.
    #[inline]
    pub fn describe(mut self, mut emit: impl FnMut(Extent<'a, S>)) -> u32 {
        let mut nents = 0u32;

        for extent in self.by_ref() {
            emit(extent);
            // OVERFLOW: Each extent takes at least one of at most `u32::MAX` bytes.
            nents = nents.wrapping_add(1);
        }

        if self.remaining == 0 {
            nents
        } else {
            0
        }
    }

    /// Returns how many bytes the next extent has, were all pages contiguous.
    #[inline]
    fn limit(&self) -> u32 {
        if self.remaining <= self.cap {
            return self.remaining;
        }
        if (self.cap as usize) < PAGE_SIZE {
            return self.cap;
        }
        let end = u64::from(self.offset) + u64::from(self.cap);

        // OVERFLOW: What lies past the last page boundary is less than a page, `cap` is not.
        self.cap.wrapping_sub((end % PAGE_SIZE as u64) as u32)
    }

    /// Returns how many of the first `span` slots are contiguous, at least one.
    #[inline]
    fn run(&self, span: usize) -> usize {
        let slots = self.slots.get(..span).unwrap_or(self.slots);

        slots
            .windows(2)
            .position(|pair| !matches!(pair, [page, next] if page.precedes(next)))
            .map_or(slots.len(), |last| last.wrapping_add(1))
    }
}

impl<'a, S: Slot> Iterator for Extents<'a, S> {
    type Item = Extent<'a, S>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let first = self.slots.first().filter(|slot| !slot.is_empty())?;

        let offset = u64::from(self.offset);
        let limit = offset + u64::from(self.limit());
        let run = self.run(limit.div_ceil(PAGE_SIZE as u64) as usize);
        let end = limit.min((run as u64) << PAGE_SHIFT);

        // OVERFLOW: The first page alone extends beyond the offset.
        // CAST: The extent is no longer than the limit, which is a `u32`.
        let len = end.wrapping_sub(offset) as u32;
        let extent = Extent {
            first,
            offset: self.offset,
            len,
        };

        // OVERFLOW: The limit does not exceed what remains.
        self.remaining = self.remaining.wrapping_sub(len);
        if self.remaining == 0 {
            // INVARIANT: Nothing is left to be described.
            self.slots = &[];
            return Some(extent);
        }

        // BOUNDS: The extent ends in the run, and the run is a part of `slots`.
        self.slots = self
            .slots
            .get((end >> PAGE_SHIFT) as usize..)
            .unwrap_or_default();
        // INVARIANT: The remainder is less than a page.
        self.offset = (end % PAGE_SIZE as u64) as u32;
        Some(extent)
    }
}

impl<S: Slot> FusedIterator for Extents<'_, S> {}
