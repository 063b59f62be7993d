// SPDX-License-Identifier: GPL-2.0

//! Sets up a server and its client, and takes them down again.
//!
//! Taking down is part of the test: what is still in use then has leaked.

use crate::guest::{client, export, kerberos, network, paths, procfs, rpc, server};
use crate::point::Memory;
use crate::settings::{Security, Server, Session};
use anyhow::{Context, Result};

/// A guest with the file system exported and the server running.
#[derive(Debug)]
pub struct Host {
    server: Server,
    kerberos: bool,
}

impl Host {
    /// Sets up everything up to the listeners.
    pub fn start(server: Server) -> Result<Self> {
        paths::prepare()?;
        network::ethernet()?;
        export::make()?;
        rpc::start()?;
        export::export("sys")?;
        network::add_device(&server)?;
        server::start(&server)?;
        Ok(Self { server, kerberos: false })
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

    /// Stops the server, does something, and starts it anew; nothing may be
    /// mounted.
    pub fn restart<T>(&self, meanwhile: impl FnOnce() -> Result<T>) -> Result<T> {
        server::stop()?;
        let result = meanwhile()?;
        server::start(&self.server)?;
        Ok(result)
    }

    /// Sets the I/O mode and mounts.
    pub fn mount(&mut self, session: &Session) -> Result<()> {
        self.use_server(session.server())?;
        if session.security != Security::Sys {
            self.use_kerberos()?;
        }
        server::set_io_mode(session.io)?;
        client::mount(session)
    }

    /// Sets up a realm, unless that is done.
    fn use_kerberos(&mut self) -> Result<()> {
        if !self.kerberos {
            kerberos::start().context("cannot set up Kerberos")?;
            export::export("sys:krb5:krb5i:krb5p")?;
            self.kerberos = true;
        }
        Ok(())
    }

    /// Stops everything; nothing may be mounted any more.
    pub fn stop(self) -> Result<()> {
        server::stop().context("while taking down")?;
        if self.kerberos {
            kerberos::stop().context("while taking down")?;
        }
        network::remove_device(self.server.device).context("while taking down")?;
        export::drop_it().context("while taking down")?;
        rpc::stop().context("while taking down")?;
        network::remove_ethernet().context("while taking down")
    }
}
