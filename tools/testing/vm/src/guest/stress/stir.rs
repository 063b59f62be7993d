// SPDX-License-Identifier: GPL-2.0

//! Keeps the network of an idle guest going.
//!
//! A packet that was received on one CPU is freed by another one, which it
//! came from, together with the pages of the server in it, but only when that
//! one receives something itself.

use anyhow::{Context, Result};
use rustix::thread::{sched_getaffinity, sched_setaffinity, CpuSet};
use std::net::UdpSocket;

/// Where nobody listens.
const NOWHERE: (&str, u16) = ("127.0.0.1", 9);

/// Has every CPU receive a packet.
pub fn packets() -> Result<()> {
    let before = sched_getaffinity(None).context("cannot tell the CPUs")?;
    for cpu in (0..CpuSet::MAX_CPU).filter(|cpu| before.is_set(*cpu)) {
        let mut only = CpuSet::new();
        only.set(cpu);
        sched_setaffinity(None, &only).context("cannot choose a CPU")?;
        let socket = UdpSocket::bind(("127.0.0.1", 0)).context("cannot open a socket")?;
        // It is refused, which takes a packet as well.
        let _ = socket.send_to(b"x", NOWHERE);
    }
    sched_setaffinity(None, &before).context("cannot choose all CPUs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_may_run_anywhere_again() {
        let before = sched_getaffinity(None).unwrap();
        packets().unwrap();
        assert_eq!(sched_getaffinity(None).unwrap(), before);
    }
}
