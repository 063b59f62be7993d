// SPDX-License-Identifier: GPL-2.0

//! Sends messages over one connection and tells what came back.

use crate::header::{self, Answer, Header, Reply};
use crate::nfs;
use crate::rpc;
use crate::verbs::{Access, Arrival, Endpoint, Region};
use anyhow::{bail, ensure, Result};
use std::net::SocketAddr;
use std::time::Duration;

/// An answer takes no longer, even under emulation.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The first message of a connection is sent again after that time.
const WARM_UP: Duration = Duration::from_secs(2);
/// So often at most.
const ATTEMPTS: usize = 10;

/// Receives that are posted.
pub const RECEIVES: usize = 32;

/// The private data of the request, RFC 8797.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hello {
    /// None: inline thresholds of 1024 bytes.
    Absent,
    /// Inline thresholds of 4096 bytes.
    Plain,
    /// The same, and the server may invalidate R_keys.
    Invalidate,
}

impl Hello {
    /// Magic number, version, flags, send and receive size in units of KiB,
    /// less one.
    fn bytes(self) -> Option<[u8; 8]> {
        let flags = match self {
            Hello::Absent => return None,
            Hello::Plain => 0,
            Hello::Invalidate => 1,
        };
        Some([0xf6, 0xab, 0x0e, 0x18, 1, flags, 3, 3])
    }
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A Reply.
    Reply(Reply),
    /// RDMA_ERROR with ERR_CHUNK.
    BadChunk,
    /// RDMA_ERROR with ERR_VERS.
    WrongVersion,
    /// The end of the connection.
    Closed,
    /// Nothing.
    Nothing,
}

/// A client with one connection.
pub struct Peer {
    /// The connection.
    pub endpoint: Endpoint,
    xid: u32,
}

impl Peer {
    /// Connects, and makes sure that messages get through.
    ///
    /// Soft-iWARP leaves what arrives while it finishes the connection where
    /// it is until more arrives, so the first message may need a second one.
    pub fn connect(server: SocketAddr, hello: Hello) -> Result<Self> {
        let mut this = Self::with_receives(server, hello, RECEIVES)?;
        for _ in 0..ATTEMPTS {
            let xid = this.new_xid();
            let header = Header { xid, ..Header::default() };
            let message = header.encode().raw(&nfs::null(xid)).clone().into_bytes();
            match this.exchange(xid, &message, WARM_UP)? {
                Seen::Reply(_) => return Ok(this),
                Seen::Nothing => {}
                seen => bail!("the first call got {seen:?}"),
            }
        }
        bail!("no call gets through the new connection")
    }

    /// Connects with that many Receives posted.
    pub fn with_receives(server: SocketAddr, hello: Hello, receives: usize) -> Result<Self> {
        let private = hello.bytes();
        let private = private.as_ref().map(|bytes| &bytes[..]);
        Ok(Self { endpoint: Endpoint::connect(server, receives, private)?, xid: first_xid() })
    }

    /// A transaction id that was not used before.
    pub fn new_xid(&mut self) -> u32 {
        self.xid = self.xid.wrapping_add(1);
        self.xid
    }

    /// Sends a whole message, and waits for the answer to `xid`.
    pub fn exchange(&mut self, xid: u32, message: &[u8], patience: Duration) -> Result<Seen> {
        self.endpoint.send(message)?;
        self.answer(xid, patience)
    }

    /// Waits for the answer to `xid`; answers to earlier Calls are passed
    /// over.
    pub fn answer(&mut self, xid: u32, patience: Duration) -> Result<Seen> {
        loop {
            let message = match self.endpoint.wait(patience)? {
                Arrival::Message(message) => message,
                Arrival::Closed => return Ok(Seen::Closed),
                Arrival::Nothing => return Ok(Seen::Nothing),
            };
            match header::parse(&message)? {
                Answer::Reply(reply) if reply.xid == xid => return Ok(Seen::Reply(reply)),
                Answer::Reply(_) => {}
                Answer::BadChunk { .. } => return Ok(Seen::BadChunk),
                Answer::WrongVersion { known: (1, 1), .. } => return Ok(Seen::WrongVersion),
                Answer::WrongVersion { known, .. } => bail!("ERR_VERS names versions {known:?}"),
            }
        }
    }

    /// Sends an RPC message inline, without chunks, and wants its Reply.
    pub fn inline(&mut self, xid: u32, message: &[u8]) -> Result<Vec<u8>> {
        let mut writer = Header { xid, ..Header::default() }.encode();
        writer.raw(message);
        match self.exchange(xid, &writer.into_bytes(), PATIENCE)? {
            Seen::Reply(reply) => Ok(reply.body),
            seen => bail!("instead of a reply: {seen:?}"),
        }
    }

    /// Fails unless a NULL call is answered.
    pub fn check_alive(&mut self) -> Result<()> {
        let xid = self.new_xid();
        let body = self.inline(xid, &nfs::null(xid))?;
        let Ok(results) = rpc::reply(xid, &body)? else { bail!("NULL was refused") };
        ensure!(results.rest().is_empty(), "NULL has results");
        Ok(())
    }

    /// Registers memory for the other side.
    pub fn region(&self, length: usize, access: Access) -> Result<Region> {
        self.endpoint.region(length, access)
    }
}

/// Different in each run, so that no Call meets an older one in the server's
/// cache of replies.
fn first_xid() -> u32 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0) as u32
}
