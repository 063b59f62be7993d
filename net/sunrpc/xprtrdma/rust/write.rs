// SPDX-License-Identifier: GPL-2.0

//! RDMA Writes to the Write list and to the Reply chunk.
//!
//! C counterpart:
//! [`net/sunrpc/xprtrdma/svc_rdma_build.c`](srctree/net/sunrpc/xprtrdma/svc_rdma_build.c)

use kernel::{
    prelude::*,
    sunrpc::{
        chunk::{
            try_for_each_nonpayload,
            ChunkOverflow,
            RemoteRange,
            SegmentCursor, //
        },
        views::{
            Chunk,
            ChunkList,
            XdrBuf, //
        },
        write_chunk::try_for_each_write,
    }, //
};

use crate::context::{
    ChunkContext,
    Direction,
    RwContext,
    SendContext,
    Transport,
    WriteChunk, //
};

/// The reason why a message does not get into a chunk.
enum Unwritten {
    /// The chunk is too small.
    Overflow(ChunkOverflow),
    /// Resources are exhausted.
    Failed(Error),
}

impl From<ChunkOverflow> for Unwritten {
    fn from(overflow: ChunkOverflow) -> Self {
        Self::Overflow(overflow)
    }
}

/// Builds the RDMA Writes that move a message to the segments of a chunk, from `cursor` on.
fn write_message(
    rdma: Transport<'_>,
    context: &mut ChunkContext<'_>,
    msg: &XdrBuf<'_>,
    segments: &[RemoteRange],
    cursor: &mut SegmentCursor,
) -> Result {
    let cap = rdma.max_bvec_len();
    let written = try_for_each_write(msg, segments, cursor, |remote, source| {
        RwContext::filled(rdma, &source, cap)
            .and_then(|ctxt| ctxt.hand_over(context, remote, Direction::Write))
            .map_err(Unwritten::Failed)
    });

    written.map_err(|why| match why {
        Unwritten::Failed(err) => err,
        Unwritten::Overflow(ChunkOverflow(remaining)) => {
            let num_segs = u32::try_from(segments.len()).unwrap_or(u32::MAX);
            context.trace_overflow(remaining, cursor.seg_no, num_segs);
            E2BIG
        }
    })
}

/// Chains the RDMA Writes for one Write chunk in front of the Send.
fn write_chunk(send: &mut SendContext<'_>, chunk: &Chunk, reply: &XdrBuf<'_>) -> Result {
    let payload = chunk
        .payload()
        .and_then(|payload| reply.range(payload.position, payload.length))
        .ok_or(EMSGSIZE)?;
    let rdma = send.transport();
    let mut write = WriteChunk::new(rdma, chunk)?;
    let mut cursor = SegmentCursor::default();

    write_message(
        rdma,
        &mut write.context(),
        &payload,
        chunk.segments(),
        &mut cursor,
    )?;
    send.link_write_chunk(write)
}

/// Chains the RDMA Writes for all payloads of the Reply in front of the Send.
///
/// Fails with [`E2BIG`] if a chunk is too small, with [`EINVAL`] if the Send Queue is, with
/// [`EMSGSIZE`] if a payload exceeds the Reply, and with [`ENOMEM`] or [`EIO`] if resources are
/// exhausted.
pub(crate) fn write_list(
    send: &mut SendContext<'_>,
    write_list: ChunkList<'_>,
    reply: &XdrBuf<'_>,
) -> Result {
    let with_payload = |chunk: &&Chunk| chunk.payload().is_some();

    write_list
        .iter()
        .take_while(with_payload)
        .try_for_each(|chunk| write_chunk(send, chunk, reply))
}

/// Chains the RDMA Writes that move the Reply, less its payloads, to the Reply chunk.
///
/// Returns the number of bytes that go there.
///
/// Fails as [`write_list`] does.
pub(crate) fn reply_chunk(
    send: &mut SendContext<'_>,
    write_list: ChunkList<'_>,
    reply_list: ChunkList<'_>,
    reply: &XdrBuf<'_>,
) -> Result<u32> {
    let chunk = reply_list.first().ok_or(EINVAL)?;
    let total = u32::try_from(reply.len()).map_err(|_| EMSGSIZE)?;
    let rdma = send.transport();
    let mut context = send.reply_chunk(chunk);
    let mut cursor = SegmentCursor::default();
    let mut written = 0u32;

    try_for_each_nonpayload::<Error>(total, write_list.payloads(), |offset, len| {
        let part = reply.range(offset, len).ok_or(EMSGSIZE)?;
        // OVERFLOW: The parts do not overlap, and the Reply has a `u32` of bytes.
        written = written.wrapping_add(len);
        write_message(rdma, &mut context, &part, chunk.segments(), &mut cursor)
    })?;
    send.link_reply_chunk();
    Ok(written)
}
