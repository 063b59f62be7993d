// SPDX-License-Identifier: GPL-2.0

//! Tracepoints of the server's transport.
//!
//! C header: [`include/trace/events/rpcrdma.h`](srctree/include/trace/events/rpcrdma.h)

use kernel::{
    bindings,
    ffi::{
        c_int,
        c_uint, //
    },
    tracepoint::declare_trace, //
};

declare_trace! {
    /// # Safety
    ///
    /// `cid` must point to a completion ID.
    pub(crate) unsafe fn svcrdma_dma_map_page(
        cid: *const bindings::rpc_rdma_cid,
        dma_addr: u64,
        length: u32,
    );

    /// # Safety
    ///
    /// `cid` must point to a completion ID.
    pub(crate) unsafe fn svcrdma_dma_map_err(
        cid: *const bindings::rpc_rdma_cid,
        dma_addr: u64,
        length: u32,
    );

    /// # Safety
    ///
    /// `ctxt` must point to a Send context.
    pub(crate) unsafe fn svcrdma_send_pullup(
        ctxt: *const bindings::svc_rdma_send_ctxt,
        msglen: c_uint,
    );

    /// # Safety
    ///
    /// `cid` must point to a completion ID.
    pub(crate) unsafe fn svcrdma_small_wrch_err(
        cid: *const bindings::rpc_rdma_cid,
        remaining: c_uint,
        seg_no: c_uint,
        num_segs: c_uint,
    );

    /// # Safety
    ///
    /// `cid` must point to a completion ID.
    pub(crate) unsafe fn svcrdma_page_overrun_err(
        cid: *const bindings::rpc_rdma_cid,
        pageno: c_uint,
    );

    /// # Safety
    ///
    /// `cid` must point to a completion ID.
    pub(crate) unsafe fn svcrdma_post_write_chunk(
        cid: *const bindings::rpc_rdma_cid,
        sqecount: c_int,
    );

    /// # Safety
    ///
    /// `cid` must point to a completion ID.
    pub(crate) unsafe fn svcrdma_post_reply_chunk(
        cid: *const bindings::rpc_rdma_cid,
        sqecount: c_int,
    );

    /// # Safety
    ///
    /// `cid` must point to a completion ID.
    pub(crate) unsafe fn svcrdma_post_read_chunk(
        cid: *const bindings::rpc_rdma_cid,
        sqecount: c_int,
    );
}
