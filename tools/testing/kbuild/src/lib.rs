// SPDX-License-Identifier: GPL-2.0

//! Gets kernel sources, builds kernels, makes the patch series and runs the
//! static gate.
//!
//! Everything that is downloaded or built lives in one cache folder outside
//! of the checkout, see [`cache`].

pub mod cache;
pub mod config;
pub mod exec;
pub mod flavour;
pub mod format_patch;
pub mod gate;
pub mod git;
pub mod host;
pub mod kernel;
pub mod lock;
pub mod make;
pub mod modules_check;
pub mod overlay;
pub mod progress;
pub mod recipients;
pub mod replay;
pub mod repo;
pub mod seed;
pub mod series;
pub mod series_check;
pub mod source;
pub mod tally;
pub mod tree;
pub mod unsafety;
