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
            try_for_each_part,
            RemoteRange, //
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

impl Builder<'_, '_> {
    /// Makes room for `len` bytes, and returns where they go.
    fn make_room(&mut self, len: u32) -> Result<SinkCursor> {
        let place = self.cursor.take(len).inspect_err(|_| {
            self.call
                .chunk_context()
                .trace_page_overrun(self.cursor.page());
        })?;

        self.read_bytes = self.read_bytes.checked_add(len).ok_or(EINVAL)?;
        Ok(place)
    }

    /// Returns the pages that hold `len` bytes from `place` on.
    fn sink(&self, place: &SinkCursor, len: u32) -> Result<PageList<'_, PageSlot>> {
        let slots = self.call.pages().get(place.page() as usize..);

        Ok(PageList::new(slots.ok_or(EINVAL)?, place.offset(), len))
    }

    /// Builds the RDMA Reads for one range of remote memory.
    fn read(&mut self, remote: RemoteRange) -> Result {
        if remote.length == 0 {
            return Ok(());
        }
        let (rdma, cap) = (self.call.transport(), self.max_bvec_len);
        let place = self.make_room(remote.length)?;
        let sink = self.sink(&place, remote.length)?;
        let ctxt = RwContext::filled(rdma, &Source::Pages(sink), cap)?;

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
        try_for_each_part::<Error>(chunk.segments(), offset, len, |remote| self.read(remote))
    }

    /// Copies a range of the Receive buffer.
    fn copy_inline(&mut self, offset: u32, len: u32) -> Result {
        let begin = offset as usize;
        let end = begin.checked_add(len as usize).ok_or(EINVAL)?;
        let mut bytes = self.call.inline_body().get(begin..end).ok_or(EINVAL)?;
        let place = self.make_room(len)?;

        // CAST: The page size fits in 32 bits.
        self.sink(&place, len)?
            .try_for_each_piece(PAGE_SIZE as u32, |piece| {
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
pub(crate) fn process_read_list(mut call: CallContext<'_>) -> Result {
    let mut builder = Builder {
        cursor: SinkCursor::new(call.max_pages()),
        read_bytes: 0,
        max_bvec_len: call.transport().max_bvec_len(),
        call: &mut call,
    };
    let built = builder.build();
    let (end, read_bytes) = (builder.cursor, builder.read_bytes);

    call.hand_over(&end, read_bytes);
    built?;
    call.post()
}
