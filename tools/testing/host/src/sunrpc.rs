// SPDX-License-Identifier: GPL-2.0

//! Stands in for `kernel::sunrpc`.

// The kernel has a format of its own.
#[rustfmt::skip]
#[path = "../../../../rust/kernel/sunrpc/extent.rs"]
pub mod extent;
