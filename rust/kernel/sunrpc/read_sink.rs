// SPDX-License-Identifier: GPL-2.0

//! How the parts of an RPC Call that arrive by RDMA Read come together in a page array.
//!
//! C header: [`include/linux/sunrpc/svc_rdma.h`](srctree/include/linux/sunrpc/svc_rdma.h)
//!
//! RFC 8166, Sections 3.4.4 and 3.5. All numbers come from the wire. This file is also built for
//! the host.

use crate::page::{
    PAGE_SHIFT,
    PAGE_SIZE, //
};

/// More bytes than the page array has room for.
#[derive(Debug, PartialEq, Eq)]
pub struct PageOverrun;

/// The place in the page array where the next byte goes.
///
/// # Invariants
///
/// - `offset` is less than [`PAGE_SIZE`].
/// - The place is not beyond the end of the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SinkCursor {
    page: u32,
    offset: u32,
    max_pages: u32,
}

impl SinkCursor {
    /// Returns the start of an array of `max_pages` pages.
    #[inline]
    pub fn new(max_pages: u32) -> Self {
        // INVARIANT: The start is not beyond the end.
        Self {
            page: 0,
            offset: 0,
            max_pages,
        }
    }

    /// Returns the index of the page that the next byte goes to.
    #[inline]
    pub fn page(&self) -> u32 {
        self.page
    }

    /// Returns where in that page the next byte goes, in bytes.
    #[inline]
    pub fn offset(&self) -> u32 {
        self.offset
    }

    /// Returns the number of pages that hold a byte.
    ///
    /// A page that two segments share counts once.
    #[inline]
    pub fn pages_used(&self) -> u32 {
        // OVERFLOW: A partial page is in the array, so that `page` is less than `max_pages`.
        self.page.saturating_add(u32::from(self.offset > 0))
    }

    /// Makes room for `len` bytes, and returns the place where they go.
    ///
    /// When there is not enough room, the cursor does not move.
    #[inline]
    pub fn take(&mut self, len: u32) -> Result<Self, PageOverrun> {
        let place = *self;
        let begin = (u64::from(self.page) << PAGE_SHIFT) + u64::from(self.offset);
        let end = begin + u64::from(len);

        if end > u64::from(self.max_pages) << PAGE_SHIFT {
            return Err(PageOverrun);
        }
        // CAST: The end is in the array, which has a `u32` of pages.
        // INVARIANT: It has just been checked, and the remainder is less than a page.
        self.page = (end >> PAGE_SHIFT) as u32;
        self.offset = (end % PAGE_SIZE as u64) as u32;
        Ok(place)
    }
}

/// Where a Read chunk belongs in the unreduced Call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<C> {
    /// The position of its first byte in the unreduced Call, in bytes.
    pub position: u32,
    /// Its length, in bytes.
    pub length: u32,
    /// What it is to the caller.
    pub chunk: C,
}

/// One step in putting a Call together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<C> {
    /// The next bytes are of the reduced Call: an offset and a length, in bytes.
    Body(u32, u32),
    /// The next bytes are a Read chunk.
    Chunk(C),
}

/// The positions are out of order, overlap, or lie beyond the body.
#[derive(Debug, PartialEq, Eq)]
pub struct BadPosition;

/// Puts a Call together from its body, of `body_len` bytes, and the Read chunks that were taken out
/// of it.
///
/// Hands the steps to `f`, in the order of the unreduced Call. The body is what the Receive buffer
/// holds or, for a Long Call, the position-zero Read chunk.
#[inline]
pub fn try_for_each_step<C, E: From<BadPosition>>(
    body_len: u32,
    chunks: impl IntoIterator<Item = Place<C>>,
    mut f: impl FnMut(Step<C>) -> Result<(), E>,
) -> Result<(), E> {
    let mut body = 0u32;
    let mut position = 0u32;

    for place in chunks {
        let gap = place.position.checked_sub(position).ok_or(BadPosition)?;
        let end = body.checked_add(gap).ok_or(BadPosition)?;
        if end > body_len {
            return Err(BadPosition.into());
        }
        if gap > 0 {
            f(Step::Body(body, gap))?;
        }
        f(Step::Chunk(place.chunk))?;
        body = end;
        position = place
            .position
            .checked_add(place.length)
            .ok_or(BadPosition)?;
    }

    let rest = body_len.saturating_sub(body);
    if rest > 0 {
        f(Step::Body(body, rest))?;
    }
    Ok(())
}
