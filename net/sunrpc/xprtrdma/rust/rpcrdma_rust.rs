// SPDX-License-Identifier: GPL-2.0

//! The part of the rpcrdma module that is written in Rust: what the server's chunk lists and its
//! Sends are built with.
//!
//! Completion handlers, context caches and the functions that post work requests are C.

mod context;
mod read;
mod send;
mod trace;
mod write;

pub mod entry;
