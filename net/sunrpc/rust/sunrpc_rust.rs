// SPDX-License-Identifier: GPL-2.0

//! The part of the sunrpc module that is written in Rust.

pub mod svc_pages;
