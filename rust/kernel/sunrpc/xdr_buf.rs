// SPDX-License-Identifier: GPL-2.0

//! An RPC message in its three parts: head, page list and tail.
//!
//! C header: [`include/linux/sunrpc/xdr.h`](srctree/include/linux/sunrpc/xdr.h)
//!
//! What is here reads no byte of the message. It decides which memory a range of bytes is in. This
//! file is also built for the host.

use crate::page::{
    PAGE_SHIFT,
    PAGE_SIZE, //
};

use super::extent::{
    Extent,
    Extents,
    Slot, //
};

/// A range of bytes in directly mapped memory, as a `struct kvec` describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    base: *const u8,
    len: u32,
}

impl Linear {
    /// Describes the `len` bytes at `base`.
    #[inline]
    pub const fn new(base: *const u8, len: u32) -> Self {
        Self { base, len }
    }

    /// Returns the address of the first byte.
    #[inline]
    pub fn base(&self) -> *const u8 {
        self.base
    }

    /// Returns the number of bytes.
    #[inline]
    #[expect(clippy::len_without_is_empty)]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Returns a part of the range, given as its begin and its length.
    #[inline]
    fn part(&self, (begin, len): (u32, u32)) -> Self {
        Self::new(self.base.wrapping_add(begin as usize), len)
    }

    /// Takes up to `len` bytes from the front.
    #[inline]
    pub fn take_front(&mut self, len: u32) -> Self {
        let front = Self::new(self.base, len.min(self.len));

        *self = Self::new(
            self.base.wrapping_add(front.len as usize),
            self.len.saturating_sub(front.len),
        );
        front
    }

    /// Hands each piece to `f`, as [`XdrBuf::try_for_each_piece`] does.
    #[inline]
    pub fn try_for_each_piece<'a, S: 'a, E: From<Incomplete>>(
        mut self,
        cap: u32,
        mut f: impl FnMut(Piece<'a, S>) -> Result<(), E>,
    ) -> Result<(), E> {
        while self.len > 0 {
            let piece = self.take_front(cap);
            if piece.len == 0 {
                return Err(Incomplete.into());
            }
            f(Piece::Linear(piece))?;
        }
        Ok(())
    }
}

/// A range of bytes in an array of pages.
#[derive(Debug)]
pub struct PageList<'a, S> {
    slots: &'a [S],
    base: u32,
    len: u32,
}

impl<S> Clone for PageList<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for PageList<'_, S> {}

impl<'a, S: Slot> PageList<'a, S> {
    /// Describes the `len` bytes that start `base` bytes into the array `slots`.
    ///
    /// `base` counts from the start of the array. It can exceed a page.
    #[inline]
    pub fn new(slots: &'a [S], base: u32, len: u32) -> Self {
        Self { slots, base, len }
    }

    /// Returns the number of bytes.
    #[inline]
    #[expect(clippy::len_without_is_empty)]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Returns a part of the range, given as its begin and its length.
    #[inline]
    fn part(&self, (begin, len): (u32, u32)) -> Self {
        Self::new(self.slots, self.base.saturating_add(begin), len)
    }

    /// Takes up to `len` bytes from the front.
    #[inline]
    pub fn take_front(&mut self, len: u32) -> Self {
        let front = Self::new(self.slots, self.base, len.min(self.len));

        self.base = self.base.saturating_add(front.len);
        self.len = self.len.saturating_sub(front.len);
        front
    }

    /// Returns the extents of the range, of at most `cap` bytes each.
    ///
    /// Returns [`None`] if there are no extents: the range is empty, `cap` is zero, or the first
    /// page is missing or beyond the end of the array.
    #[inline]
    pub fn extents(&self, cap: u32) -> Option<Extents<'a, S>> {
        let slots = self.slots.get(self.base as usize >> PAGE_SHIFT..)?;
        // CAST: The remainder is less than a page.
        let offset = (self.base as usize % PAGE_SIZE) as u32;

        Extents::new(slots, offset, self.len, cap)
    }

    /// Hands each piece to `f`, as [`XdrBuf::try_for_each_piece`] does.
    #[inline]
    pub fn try_for_each_piece<E: From<Incomplete>>(
        &self,
        cap: u32,
        mut f: impl FnMut(Piece<'a, S>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.len == 0 {
            return Ok(());
        }
        let mut extents = self.extents(cap).ok_or(Incomplete)?;

        for extent in extents.by_ref() {
            f(Piece::Extent(extent))?;
        }
        if extents.remaining() > 0 {
            return Err(Incomplete.into());
        }
        Ok(())
    }
}

/// A piece of a message that one scatter/gather entry can describe.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a, S> {
    /// Directly mapped memory.
    Linear(Linear),
    /// Contiguous pages.
    Extent(Extent<'a, S>),
}

impl<S> Piece<'_, S> {
    /// Returns the number of bytes, never zero.
    #[inline]
    #[expect(clippy::len_without_is_empty)]
    pub fn len(&self) -> u32 {
        match self {
            Self::Linear(linear) => linear.len,
            Self::Extent(extent) => extent.len(),
        }
    }
}

/// The page list has a missing page, or is shorter than the message says.
#[derive(Debug, PartialEq, Eq)]
pub struct Incomplete;

/// A message, or a range of one, that is not looked into.
#[derive(Debug)]
pub struct XdrBuf<'a, S> {
    /// What comes before the page list.
    pub head: Linear,
    /// The page list.
    pub pages: PageList<'a, S>,
    /// What comes after the page list.
    pub tail: Linear,
}

impl<S> Clone for XdrBuf<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for XdrBuf<'_, S> {}

impl<'a, S: Slot> XdrBuf<'a, S> {
    /// Returns the number of bytes in all three parts.
    #[inline]
    #[expect(clippy::len_without_is_empty)]
    pub fn len(&self) -> u64 {
        u64::from(self.head.len) + u64::from(self.pages.len) + u64::from(self.tail.len)
    }

    /// Returns the `len` bytes that start at byte `offset`, or [`None`] if they exceed the message.
    ///
    /// C function: `xdr_buf_subsegment()`.
    #[inline]
    pub fn range(&self, offset: u32, len: u32) -> Option<Self> {
        if u64::from(offset) + u64::from(len) > self.len() {
            return None;
        }
        let (mut skip, mut left) = (offset, len);
        let mut overlap = |part_len: u32| {
            let begin = skip.min(part_len);
            let len = left.min(part_len.saturating_sub(begin));

            skip = skip.saturating_sub(begin);
            left = left.saturating_sub(len);
            (begin, len)
        };

        Some(Self {
            head: self.head.part(overlap(self.head.len)),
            pages: self.pages.part(overlap(self.pages.len)),
            tail: self.tail.part(overlap(self.tail.len)),
        })
    }

    /// Hands each piece of the message to `f`, in order, until one fails.
    ///
    /// No piece is longer than `cap` bytes, which is not zero. Whoever counts pieces and whoever
    /// maps them calls this, and sees the same.
    #[inline]
    pub fn try_for_each_piece<E: From<Incomplete>>(
        &self,
        cap: u32,
        mut f: impl FnMut(Piece<'a, S>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.head.try_for_each_piece(cap, &mut f)?;
        self.pages.try_for_each_piece(cap, &mut f)?;
        self.tail.try_for_each_piece(cap, &mut f)
    }
}
