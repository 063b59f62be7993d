// SPDX-License-Identifier: GPL-2.0

//! The NFS server: threads, listeners, payload limit and I/O modes.

use crate::guest::{exec, paths};
use crate::settings::{IoMode, Server};
use anyhow::{ensure, Context, Result};
use std::fs;
use std::thread;
use std::time::Duration;

/// Port of NFS over RDMA.
pub const RDMA_PORT: u16 = 20049;

const NFSD: &str = "/proc/fs/nfsd";

/// Starts the threads and opens the listeners, TCP and RDMA.
///
/// An RDMA device must be there before.
pub fn start(server: &Server) -> Result<()> {
    // These three are fixed once threads run.
    set("max_block_size", &server.payload.to_string())?;
    set("nfsv4leasetime", "10")?;
    set("nfsv4gracetime", "10")?;
    exec::step("rpc.nfsd", &["--no-udp", &server.threads.to_string()])?;
    set("portlist", &format!("rdma {RDMA_PORT}"))?;
    end_grace()?;
    check(server)
}

/// Clients may only open files once the grace period is over.
fn end_grace() -> Result<()> {
    // Fails if there were no clients to wait for; what counts is the state.
    let _ = set("v4_end_grace", "Y");
    wait_for("v4_end_grace", "Y").context("the grace period of the server does not end")
}

/// Waits until the kernel shows `value`, under emulation this may take long.
fn wait_for(name: &str, value: &str) -> Result<()> {
    for _ in 0..300 {
        if get(name)?.trim() == value {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(100));
    }
    anyhow::bail!("{NFSD}/{name} is {} and not {value}", get(name)?.trim())
}

/// Changes the number of threads of a server that runs.
pub fn set_threads(count: u32) -> Result<()> {
    set("threads", &count.to_string())
}

/// Stops the threads.
pub fn stop() -> Result<()> {
    exec::step("rpc.nfsd", &["0"])?;
    wait_for("threads", "0").context("the threads of the server do not stop")
}

/// Chooses how the server does file I/O.
pub fn set_io_mode(mode: IoMode) -> Result<()> {
    for name in ["io_cache_read", "io_cache_write"] {
        let path = format!("{}/nfsd/{name}", paths::DEBUGFS);
        paths::write(&path, &mode.nfsd_value().to_string())?;
    }
    Ok(())
}

fn check(server: &Server) -> Result<()> {
    let Server { threads, payload: limit, .. } = server;
    let running = get("threads")?;
    let wanted = threads.to_string();
    ensure!(running.trim() == wanted, "nfsd runs {} threads, not {threads}", running.trim());
    let ports = get("portlist")?;
    for port in [format!("rdma {RDMA_PORT}"), "tcp 2049".to_owned()] {
        ensure!(ports.lines().any(|line| line == port), "nfsd does not listen on {port}");
    }
    let payload = get("max_block_size")?;
    ensure!(
        payload.trim() == limit.to_string(),
        "nfsd's payload limit is {} and not {limit}",
        payload.trim()
    );
    Ok(())
}

fn set(name: &str, value: &str) -> Result<()> {
    paths::write(&format!("{NFSD}/{name}"), &format!("{value}\n"))
}

fn get(name: &str) -> Result<String> {
    let path = format!("{NFSD}/{name}");
    fs::read_to_string(&path).with_context(|| format!("cannot read {path} in the guest"))
}
