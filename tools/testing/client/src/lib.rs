// SPDX-License-Identifier: GPL-2.0

//! A client of NFS over RDMA whose messages are written by hand.
//!
//! It sends what a correct client never would, and what a correct client
//! rarely does, and checks byte by byte what the server makes of it. The plan
//! of the tests is in [`plan`].

pub mod header;
pub mod idle;
pub mod mount;
pub mod nfs;
pub mod pattern;
pub mod peer;
pub mod plan;
pub mod reduce;
pub mod report;
pub mod rpc;
pub mod run;
pub mod splice;
pub mod target;
pub mod verbs;
pub mod xdr;
