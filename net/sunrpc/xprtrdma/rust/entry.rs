// SPDX-License-Identifier: GPL-2.0

//! C entry points.
//!
//! C header: [`include/linux/sunrpc/svc_rdma.h`](srctree/include/linux/sunrpc/svc_rdma.h)

use kernel::{
    bindings,
    ffi::c_int,
    prelude::*,
    sunrpc::views::{
        xdr_buf_from_raw,
        ChunkList, //
    }, //
};

use crate::{
    context::{
        CallContext,
        SendContext,
        Transport, //
    },
    read,
    send,
    write, //
};

/// Returns `value` on success, or a negative errno.
fn to_int(result: Result, value: c_int) -> c_int {
    result.map_or_else(|err| err.to_errno(), |()| value)
}

/// Maps the part of a Reply that is in no chunk for the Send, or copies it behind the header.
///
/// Returns zero, or the errno of [`send::map_reply`].
///
/// # Safety
///
/// All pointers must be valid. Nobody else may refer to `sctxt`, and nobody may change the chunk
/// lists and the Reply, during the call.
#[export]
pub unsafe extern "C" fn svc_rdma_map_reply_msg(
    rdma: *mut bindings::svcxprt_rdma,
    sctxt: *mut bindings::svc_rdma_send_ctxt,
    write_pcl: *const bindings::svc_rdma_pcl,
    reply_pcl: *const bindings::svc_rdma_pcl,
    xdr: *const bindings::xdr_buf,
) -> c_int {
    // SAFETY: The caller vouches for all pointers.
    let result = unsafe {
        xdr_buf_from_raw(xdr).and_then(|reply| {
            send::map_reply(
                &mut SendContext::from_raw(Transport::from_raw(rdma), sctxt),
                ChunkList::from_raw(write_pcl),
                ChunkList::from_raw(reply_pcl),
                &reply,
            )
        })
    };
    to_int(result, 0)
}

/// Chains the RDMA Writes for the payloads of a Reply in front of the Send.
///
/// Returns zero, or the errno of [`write::write_list`].
///
/// # Safety
///
/// As [`svc_rdma_map_reply_msg`].
#[export]
pub unsafe extern "C" fn svc_rdma_prepare_write_list(
    rdma: *mut bindings::svcxprt_rdma,
    rctxt: *const bindings::svc_rdma_recv_ctxt,
    sctxt: *mut bindings::svc_rdma_send_ctxt,
    xdr: *const bindings::xdr_buf,
) -> c_int {
    // SAFETY: The caller vouches for all pointers.
    let result = unsafe {
        xdr_buf_from_raw(xdr).and_then(|reply| {
            write::write_list(
                &mut SendContext::from_raw(Transport::from_raw(rdma), sctxt),
                ChunkList::from_raw(&raw const (*rctxt).rc_write_pcl),
                &reply,
            )
        })
    };
    to_int(result, 0)
}

/// Chains the RDMA Writes for the Reply chunk in front of the Send.
///
/// Returns the number of bytes in the Reply chunk, or the errno of [`write::reply_chunk`].
///
/// # Safety
///
/// As [`svc_rdma_map_reply_msg`].
#[export]
pub unsafe extern "C" fn svc_rdma_prepare_reply_chunk(
    rdma: *mut bindings::svcxprt_rdma,
    write_pcl: *const bindings::svc_rdma_pcl,
    reply_pcl: *const bindings::svc_rdma_pcl,
    sctxt: *mut bindings::svc_rdma_send_ctxt,
    xdr: *const bindings::xdr_buf,
) -> c_int {
    // SAFETY: The caller vouches for all pointers.
    let written = unsafe {
        xdr_buf_from_raw(xdr).and_then(|reply| {
            write::reply_chunk(
                &mut SendContext::from_raw(Transport::from_raw(rdma), sctxt),
                ChunkList::from_raw(write_pcl),
                ChunkList::from_raw(reply_pcl),
                &reply,
            )
        })
    };
    written.map_or_else(
        |err| err.to_errno(),
        |len| c_int::try_from(len).unwrap_or(c_int::MAX),
    )
}

/// Posts the RDMA Reads that bring in the chunks of a Call.
///
/// Returns one, or the errno of [`read::process_read_list`].
///
/// # Safety
///
/// All pointers must be valid, and `rqstp` must be the calling thread's. Nobody else may refer to
/// `head` during the call.
#[export]
pub unsafe extern "C" fn svc_rdma_process_read_list(
    rdma: *mut bindings::svcxprt_rdma,
    rqstp: *mut bindings::svc_rqst,
    head: *mut bindings::svc_rdma_recv_ctxt,
) -> c_int {
    // SAFETY: The caller vouches for all pointers.
    let call = unsafe { CallContext::from_raw(Transport::from_raw(rdma), rqstp, head) };

    to_int(read::process_read_list(call), 1)
}
