// SPDX-License-Identifier: GPL-2.0

//! The part of the sunrpc module that is written in Rust.

mod svc_pages;
