// SPDX-License-Identifier: GPL-2.0

//! Abstractions for the server side of SUNRPC.
//!
//! C headers: [`include/linux/sunrpc/svc_pages.h`](srctree/include/linux/sunrpc/svc_pages.h),
//! [`include/linux/sunrpc/xdr.h`](srctree/include/linux/sunrpc/xdr.h),
//! [`include/linux/sunrpc/svc_rdma_pcl.h`](srctree/include/linux/sunrpc/svc_rdma_pcl.h)
//!
//! SUNRPC can be a module while this crate is part of the kernel image. What is here therefore
//! relies on data layouts, on inline C functions and on symbols of the kernel image only. Functions
//! that the sunrpc, rpcrdma or ib_core modules export are for the leaf crates in `net/sunrpc` to
//! call.

pub mod budget;
pub mod chunk;
pub mod depot;
mod errno;
pub mod extent;
pub mod fifo;
pub mod folio;
pub mod granule;
pub mod owned_slot;
pub mod page_array;
pub mod parts;
pub mod read_sink;
pub mod refill;
pub mod send;
pub mod shrinker;
pub mod stock;
#[cfg(CONFIG_SUNRPC_XPRT_RDMA)]
pub mod views;
pub mod write_chunk;
pub mod xdr_buf;
