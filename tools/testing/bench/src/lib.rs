// SPDX-License-Identifier: GPL-2.0

//! The benchmark apart from running it: which points to measure, the file of
//! raw results, and the report and plots that are made from that file alone.

#[cfg(test)]
mod canned;
pub mod chart;
pub mod dataset;
#[cfg(feature = "plots")]
pub mod draw;
pub mod figure;
pub mod journal;
pub mod markdown;
pub mod pace;
pub mod plan;
pub mod real;
pub mod record;
pub mod replay;
pub mod report;
pub mod stats;
