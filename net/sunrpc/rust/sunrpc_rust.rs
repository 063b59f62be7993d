// SPDX-License-Identifier: GPL-2.0

//! The part of the sunrpc module that is written in Rust.

mod pool;
pub mod svc_granules;
pub mod svc_pages;
mod thread;
mod trace;
