// SPDX-License-Identifier: GPL-2.0

//! The part of a Reply that goes into the RDMA Send.
//!
//! C counterpart:
//! [`net/sunrpc/xprtrdma/svc_rdma_map.c`](srctree/net/sunrpc/xprtrdma/svc_rdma_map.c)

use kernel::{
    page::PAGE_SIZE,
    prelude::*,
    sunrpc::{
        send::{
            choose,
            try_for_each_sent_piece,
            Transmit, //
        },
        views::{
            ChunkList,
            XdrBuf, //
        },
    }, //
};

use crate::context::SendContext;

/// Maps the Reply for the Send, or copies it behind the transport header.
///
/// With a Reply chunk, nothing but the header is sent.
///
/// Fails with [`E2BIG`] if the Reply is too large to be sent at all, with [`EMSGSIZE`] if its
/// payloads do not fit it, and with [`EIO`] if it cannot be mapped.
pub(crate) fn map_reply(
    send: &mut SendContext<'_>,
    write_list: ChunkList<'_>,
    reply_list: ChunkList<'_>,
    reply: &XdrBuf<'_>,
) -> Result {
    let header_len = send.header_len();
    let limits = send.transport().send_limits();

    send.send_buffer(header_len);
    if !reply_list.is_empty() {
        return Ok(());
    }
    match choose(reply, || write_list.payloads(), header_len, &limits)? {
        Transmit::PullUp => pull_up(send, write_list, reply, header_len),
        Transmit::Map => try_for_each_sent_piece::<_, Error>(
            reply,
            write_list.payloads(),
            limits.max_sge_len,
            |piece| send.map(&piece),
        ),
    }
}

/// Copies the Reply behind the transport header.
fn pull_up(
    send: &mut SendContext<'_>,
    write_list: ChunkList<'_>,
    reply: &XdrBuf<'_>,
    header_len: u32,
) -> Result {
    let mut end = header_len;

    // CAST: The page size fits in 32 bits.
    try_for_each_sent_piece::<_, Error>(reply, write_list.payloads(), PAGE_SIZE as u32, |piece| {
        end = send.copy(end, &piece)?;
        Ok(())
    })?;
    send.send_buffer(end);
    send.trace_pull_up(end.saturating_sub(header_len));
    Ok(())
}
