// SPDX-License-Identifier: GPL-2.0

//! The sources of `rust/kernel/sunrpc` that depend on nothing but `core`, built for the host.
//!
//! The module tree mirrors the kernel crate, so that the very same files compile in both.

/// Stands in for `kernel::page`.
pub mod page {
    /// A bitwise shift for the page size.
    pub const PAGE_SHIFT: usize = if cfg!(feature = "pages-64k") { 16 } else { 12 };

    /// The number of bytes in a page.
    pub const PAGE_SIZE: usize = 1 << PAGE_SHIFT;
}

pub mod message;
pub mod sunrpc;
