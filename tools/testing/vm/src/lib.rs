// SPDX-License-Identifier: GPL-2.0

//! Boots guests, runs an NFS server and its client in them, counts events and
//! judges the kernel's log.

pub mod accel;
pub mod bench;
pub mod boot;
pub mod cases;
pub mod console;
pub mod counts;
pub mod crafted;
pub mod digest;
pub mod e2e;
pub mod fault;
pub mod follow;
pub mod granules;
pub mod guest;
pub mod hist;
pub mod interrupt;
pub mod job;
pub mod klog;
pub mod ktap;
pub mod kunit;
pub mod modules;
pub mod patience;
pub mod point;
pub mod policy;
pub mod qemu;
pub mod results;
pub mod rundir;
pub mod settings;
pub mod stress;
pub mod table;
pub mod vmm;
pub mod watch;
