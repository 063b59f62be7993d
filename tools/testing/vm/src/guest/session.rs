// SPDX-License-Identifier: GPL-2.0

//! Sets up a server and its client, and takes them down again.
//!
//! Taking down is part of the test: what is still in use then has leaked.

use crate::guest::{client, export, network, paths, procfs, rpc, server};
use crate::point::Memory;
use crate::settings::{Server, Session};
use anyhow::{Context, Result};

/// A guest with the file system exported and the server running.
#[derive(Debug)]
pub struct Host {
    server: Server,
}

impl Host {
    /// Sets up everything up to the listeners.
    pub fn start(server: Server) -> Result<Self> {
        paths::prepare()?;
        network::ethernet()?;
        export::make()?;
        rpc::start()?;
        export::export()?;
        network::add_device(&server)?;
        server::start(&server)?;
        Ok(Self { server })
    }

    /// Exchanges the RDMA device; the server starts anew. Gives back whether
    /// that was necessary.
    pub fn use_server(&mut self, server: Server) -> Result<bool> {
        if server == self.server {
            return Ok(false);
        }
        server::stop()?;
        network::remove_device(self.server.device)?;
        network::add_device(&server)?;
        self.server = server;
        server::start(&server)?;
        Ok(true)
    }

    /// Stops the threads and starts them anew; gives back what memory they
    /// took before and take now.
    pub fn restart_and_weigh(&self) -> Result<Memory> {
        let loaded = procfs::memory("MemFree")? >> 10;
        server::stop()?;
        let without = procfs::memory("MemFree")? >> 10;
        server::start(&self.server)?;
        let fresh = procfs::memory("MemFree")? >> 10;
        let taken = |free: u64| without.saturating_sub(free);
        Ok(Memory { held: taken(loaded), idle: taken(fresh) })
    }

    /// Stops the server and starts it anew; nothing may be mounted.
    pub fn restart(&self) -> Result<()> {
        server::stop()?;
        server::start(&self.server)
    }

    /// Sets the I/O mode and mounts.
    pub fn mount(&mut self, session: &Session) -> Result<()> {
        self.use_server(session.server())?;
        server::set_io_mode(session.io)?;
        client::mount(session)
    }

    /// Stops everything; nothing may be mounted any more.
    pub fn stop(self) -> Result<()> {
        server::stop().context("while taking down")?;
        network::remove_device(self.server.device).context("while taking down")?;
        export::drop_it().context("while taking down")?;
        rpc::stop().context("while taking down")
    }
}
