// SPDX-License-Identifier: GPL-2.0

//! RDMA Reads that bring in the chunks of a Call.
//!
//! C counterpart:
//! [`net/sunrpc/xprtrdma/svc_rdma_build.c`](srctree/net/sunrpc/xprtrdma/svc_rdma_build.c)

use kernel::{
    page::PAGE_SIZE,
    prelude::*,
    sunrpc::{
        chunk::{
            RemoteRange,
            SegmentCursor, //
        },
        page_array::PageSlot,
        read_sink::{
            try_for_each_step,
            Place,
            SinkCursor,
            Step, //
        },
        views::Chunk,
        write_chunk::Source,
        xdr_buf::PageList, //
    }, //
};

use crate::context::{
    CallContext,
    Direction,
    RwContext, //
};

/// A Call that is being put together.
struct Builder<'a, 'b> {
    call: &'b mut CallContext<'a>,
    cursor: SinkCursor,
    read_bytes: u32,
    max_bvec_len: u32,
}

impl<'a> Builder<'a, '_> {
    /// Makes room for `len` bytes, and returns the pages that they go to.
    fn sink(&mut self, len: u32) -> Result<PageList<'a, PageSlot>> {
        let place = self.cursor.take(len).inspect_err(|_| {
            self.call
                .chunk_context()
                .trace_page_overrun(self.cursor.page());
        })?;
        // CAST: The page size fits in 32 bits.
        let base = place
            .page()
            .checked_mul(PAGE_SIZE as u32)
            .and_then(|base| base.checked_add(place.offset()))
            .ok_or(EINVAL)?;

        self.read_bytes = self.read_bytes.checked_add(len).ok_or(EINVAL)?;
        Ok(PageList::new(self.call.pages(), base, len))
    }

    /// Builds the RDMA Reads for one range of remote memory.
    fn read(&mut self, remote: RemoteRange) -> Result {
        if remote.length == 0 {
            return Ok(());
        }
        let sink = self.sink(remote.length)?;
        let ctxt = RwContext::filled(
            self.call.transport(),
            &Source::Pages(sink),
            self.max_bvec_len,
        )?;

        ctxt.hand_over(&mut self.call.chunk_context(), remote, Direction::Read)
    }

    /// Builds the RDMA Reads for a chunk.
    fn read_chunk(&mut self, chunk: &Chunk) -> Result {
        if chunk.segments().is_empty() {
            return Err(EINVAL);
        }
        chunk
            .segments()
            .iter()
            .try_for_each(|segment| self.read(*segment))
    }

    /// Builds the RDMA Reads for a range of a chunk.
    fn read_range(&mut self, chunk: &Chunk, offset: u32, len: u32) -> Result {
        let mut cursor = SegmentCursor::default();
        let mut skip = offset;
        let mut left = len;

        while skip > 0 {
            let passed = cursor.take(chunk.segments(), skip).map_err(|_| EINVAL)?;
            skip = skip.saturating_sub(passed.length);
        }
        while left > 0 {
            let remote = cursor.take(chunk.segments(), left).map_err(|_| EINVAL)?;
            self.read(remote)?;
            left = left.saturating_sub(remote.length);
        }
        Ok(())
    }

    /// Copies a range of the Receive buffer.
    fn copy_inline(&mut self, offset: u32, len: u32) -> Result {
        let begin = offset as usize;
        let end = begin.checked_add(len as usize).ok_or(EINVAL)?;
        let mut bytes = self.call.inline_body().get(begin..end).ok_or(EINVAL)?;
        let sink = self.sink(len)?;

        sink.try_for_each_piece(u32::MAX, |piece| {
            let (now, rest) = bytes.split_at_checked(piece.len() as usize).ok_or(EINVAL)?;
            bytes = rest;
            self.call.copy_to(&piece, now)
        })
    }

    /// A Call that consists of its body and of more than one Read chunk, or whose body is a chunk
    /// itself.
    fn interleave(&mut self, body_len: u32, call_chunk: Option<&Chunk>) -> Result {
        let places = self.call.read_list().iter().map(|chunk| Place {
            position: chunk.position(),
            length: chunk.length(),
            chunk,
        });

        try_for_each_step::<_, Error>(body_len, places, |step| match (step, call_chunk) {
            (Step::Chunk(chunk), _) => self.read_chunk(chunk),
            (Step::Body(offset, len), Some(chunk)) => self.read_range(chunk, offset, len),
            (Step::Body(offset, len), None) => self.copy_inline(offset, len),
        })
    }

    /// Puts the whole Call together.
    fn build(&mut self) -> Result {
        let mut chunks = self.call.read_list().iter();
        // CAST: The Receive buffer has less than 4 GiB.
        let inline_len = self.call.inline_body().len() as u32;

        match (self.call.call_chunk(), chunks.next(), chunks.next()) {
            (Some(call), None, _) => self.read_chunk(call),
            (Some(call), Some(_), _) => self.interleave(call.length(), Some(call)),
            (None, Some(chunk), None) if chunk.position() > inline_len => Err(EINVAL),
            (None, Some(chunk), None) => self.read_chunk(chunk),
            (None, _, _) => self.interleave(inline_len, None),
        }
    }
}

/// Posts the RDMA Reads that bring in all chunks of a Call.
///
/// Fails with [`EINVAL`] if the chunks or their positions make no sense or exceed the pages, with
/// [`ENOMEM`] or [`EIO`] if resources are exhausted, and with [`ENOTCONN`] if posting fails.
/// Pages and R/W contexts that were used by then belong to the Receive context.
pub(crate) fn process_read_list(call: &mut CallContext<'_>) -> Result {
    let mut builder = Builder {
        cursor: SinkCursor::new(call.max_pages()),
        read_bytes: 0,
        max_bvec_len: call.transport().max_bvec_len(),
        call,
    };
    let built = builder.build();
    let (nr_pages, read_bytes) = (builder.cursor.pages_used(), builder.read_bytes);

    call.hand_over(nr_pages, read_bytes);
    built?;
    call.post()
}
