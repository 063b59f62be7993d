// SPDX-License-Identifier: GPL-2.0

//! Connections of which the server gets more calls than replies are read.

use crate::guest::network::SERVER;
use crate::guest::paths::{self, EXPORT};
use crate::guest::pattern;
use crate::guest::stress::raw::{self, Handle};
use crate::settings::MIB;
use anyhow::{Context, Result};
use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

const PORT: u16 = 2049;

/// Least, initial and largest buffer of a socket, in bytes.
const BUFFERS: [(&str, &str); 2] =
    [("tcp_rmem", "4096 4194304 8388608"), ("tcp_wmem", "4096 4194304 8388608")];

/// A file that is read by hand.
#[derive(Debug)]
pub struct Target {
    /// Its handle.
    pub handle: Handle,
    /// Its content.
    pub data: Vec<u8>,
}

impl Target {
    /// Creates the file `name` with `size` bytes at the server.
    pub fn create(name: &str, size: u64, seed: u64) -> Result<Self> {
        let path = format!("{EXPORT}/{name}");
        let mut data = vec![0; size as usize];
        pattern::fill(&mut data, seed);
        fs::write(&path, &data).with_context(|| format!("cannot write {path}"))?;
        Ok(Self { handle: Handle::of(name)?, data })
    }

    /// Reads the first MiB by hand, and compares.
    pub fn compare(&self) -> Result<()> {
        let mut stream = connect()?;
        let data = &self.data[..MIB as usize];
        stream.write_all(&self.handle.read(4711, 0, MIB as u32)).context("cannot call")?;
        raw::expect(&mut stream, 4711, data)
    }
}

/// A connection to the server that does not wait for ever.
pub fn connect() -> Result<TcpStream> {
    let stream = TcpStream::connect((SERVER, PORT)).context("cannot connect to the server")?;
    let patience = Some(Duration::from_secs(100));
    stream.set_write_timeout(patience).context("cannot set a time-out")?;
    stream.set_read_timeout(patience).context("cannot set a time-out")?;
    Ok(stream)
}

/// Opens `connections`, each with `calls` READs of 1 MiB, and reads nothing.
pub fn open(target: &Target, connections: u32, calls: u32) -> Result<Vec<TcpStream>> {
    let mut open = Vec::new();
    for number in 0..connections {
        let mut stream = connect()?;
        for call in 0..calls {
            let read = target.handle.read(number << 16 | call, 0, MIB as u32);
            stream.write_all(&read).context("cannot call")?;
        }
        open.push(stream);
    }
    Ok(open)
}

/// Buffers of sockets that take whole replies, until it is dropped.
#[derive(Debug)]
pub struct Buffers {
    before: Vec<(String, String)>,
}

impl Buffers {
    /// Makes them large.
    pub fn enlarge() -> Result<Self> {
        let mut before = Vec::new();
        for (name, value) in BUFFERS {
            let path = format!("/proc/sys/net/ipv4/{name}");
            let old = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
            paths::write(&path, value)?;
            before.push((path, old));
        }
        Ok(Self { before })
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        for (path, value) in &self.before {
            let _ = fs::write(path, value);
        }
    }
}
