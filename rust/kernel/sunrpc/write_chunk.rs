// SPDX-License-Identifier: GPL-2.0

//! How a message goes into the segments of a Write chunk or a Reply chunk.
//!
//! C function: `svc_rdma_xb_write()`. RFC 8166, Sections 3.4.5 and 3.4.6. This file is also built
//! for the host.

use super::{
    chunk::{
        ChunkOverflow,
        RemoteRange,
        SegmentCursor, //
    },
    extent::Slot,
    xdr_buf::{
        Incomplete,
        Linear,
        PageList,
        Piece,
        XdrBuf, //
    },
};

/// A part of a message that one R/W context moves to one remote segment.
///
/// Linear memory and pages do not share a context: where they meet is no page boundary, and neither
/// memory registration nor an IOMMU can make them contiguous.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a, S> {
    /// Directly mapped memory.
    Linear(Linear),
    /// A range of the page list.
    Pages(PageList<'a, S>),
}

impl<'a, S: Slot> Source<'a, S> {
    /// Hands each piece of the part to `f`, in order, until one fails.
    ///
    /// No piece is longer than `cap` bytes, which is not zero.
    #[inline]
    pub fn try_for_each_piece<E: From<Incomplete>>(
        &self,
        cap: u32,
        f: impl FnMut(Piece<'a, S>) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Self::Linear(linear) => linear.try_for_each_piece(cap, f),
            Self::Pages(pages) => pages.try_for_each_piece(cap, f),
        }
    }
}

/// Hands each part of `msg` to `f`, together with the remote range that it goes to.
///
/// The message is laid out in `segments` from `cursor` on, which moves with it.
#[inline]
pub fn try_for_each_write<'a, S: Slot, E: From<ChunkOverflow>>(
    msg: &XdrBuf<'a, S>,
    segments: &[RemoteRange],
    cursor: &mut SegmentCursor,
    mut f: impl FnMut(RemoteRange, Source<'a, S>) -> Result<(), E>,
) -> Result<(), E> {
    let XdrBuf {
        mut head,
        mut pages,
        mut tail,
    } = *msg;

    while head.len() > 0 {
        let remote = cursor.take(segments, head.len())?;
        f(remote, Source::Linear(head.take_front(remote.length)))?;
    }
    while pages.len() > 0 {
        let remote = cursor.take(segments, pages.len())?;
        f(remote, Source::Pages(pages.take_front(remote.length)))?;
    }
    while tail.len() > 0 {
        let remote = cursor.take(segments, tail.len())?;
        f(remote, Source::Linear(tail.take_front(remote.length)))?;
    }
    Ok(())
}
