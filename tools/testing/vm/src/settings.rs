// SPDX-License-Identifier: GPL-2.0

//! What can be chosen for a run: device, protocol version, I/O mode, sizes.

use anyhow::{bail, ensure, Context, Result};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One mebibyte, in bytes.
pub const MIB: u64 = 1 << 20;

/// One gibibyte, in bytes.
pub const GIB: u64 = 1 << 30;

/// Longest DMA segment, in bytes, unless chosen.
pub const MAX_SEGMENT: u32 = 64 << 10;

/// The software RDMA device of the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Device {
    /// Soft-RoCE
    Rxe,
    /// Soft-iWARP
    Siw,
    /// Soft-RoCE that maps memory for a DMA device, with a kernel for tests
    RxeDma,
}

/// The NFS version of the client's mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub enum Version {
    /// NFSv3
    #[value(name = "3")]
    V3,
    /// NFSv4.1
    #[value(name = "4.1")]
    V41,
    /// NFSv4.2
    #[value(name = "4.2")]
    V42,
}

/// How server and client do file I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IoMode {
    /// Through the page cache, on both sides
    Buffered,
    /// The server drops its page cache behind the I/O, the client caches
    Dontcache,
    /// Past the page cache, on both sides
    Direct,
}

/// What carries the mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// RPC over RDMA
    Rdma,
    /// RPC over TCP
    Tcp,
}

/// What protects the client's RPCs.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Security {
    /// Nothing; the client names a user.
    #[default]
    Sys,
    /// Kerberos says who the user is.
    Krb5,
    /// Each message has a checksum besides.
    Krb5i,
    /// Each message is encrypted.
    Krb5p,
}

/// The virtual machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Memory, in bytes.
    pub memory: u64,
    /// Virtual CPUs.
    pub cpus: u32,
}

/// Server and mount inside the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// RDMA device.
    pub device: Device,
    /// NFS version.
    pub version: Version,
    /// I/O mode of the server.
    pub io: IoMode,
    /// Transport of the mount.
    pub transport: Transport,
    /// Server threads.
    pub threads: u32,
    /// Longest DMA segment of [`Device::RxeDma`], in bytes.
    pub max_segment: u32,
    /// The server's payload limit, in bytes.
    pub payload: u64,
    /// What protects the client's RPCs.
    #[serde(default)]
    pub security: Security,
}

/// What a session needs of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Server {
    /// RDMA device.
    pub device: Device,
    /// Longest DMA segment of [`Device::RxeDma`], in bytes.
    pub max_segment: u32,
    /// Threads.
    pub threads: u32,
    /// Payload limit, in bytes.
    pub payload: u64,
}

impl Server {
    /// A server with the payload limit that most have.
    pub fn new(device: Device, threads: u32) -> Self {
        Self { device, max_segment: MAX_SEGMENT, threads, payload: MIB }
    }
}

impl Session {
    /// A session with a server of eight threads.
    pub fn new(device: Device, version: Version, io: IoMode, transport: Transport) -> Self {
        let Server { threads, max_segment, payload, .. } = Server::new(device, 8);
        let security = Security::Sys;
        Self { device, version, io, transport, threads, max_segment, payload, security }
    }

    /// What the session needs of the server.
    pub fn server(&self) -> Server {
        let Self { device, max_segment, threads, payload, .. } = *self;
        Server { device, max_segment, threads, payload }
    }
}

impl Device {
    /// The kind of RDMA link.
    pub fn link_type(self) -> &'static str {
        match self {
            Device::Rxe | Device::RxeDma => "rxe",
            Device::Siw => "siw",
        }
    }

    /// The set of test-only patches that a kernel needs for it.
    pub fn patch_set(self) -> Option<&'static str> {
        (self == Device::RxeDma).then_some("dma")
    }
}

impl IoMode {
    /// The value of nfsd's `io_cache_read` and `io_cache_write`.
    pub fn nfsd_value(self) -> u8 {
        match self {
            IoMode::Buffered => 0,
            IoMode::Dontcache => 1,
            IoMode::Direct => 2,
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        value_name(self, f)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        value_name(self, f)
    }
}

impl fmt::Display for IoMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        value_name(self, f)
    }
}

impl fmt::Display for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        value_name(self, f)
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        value_name(self, f)
    }
}

fn value_name(value: &impl ValueEnum, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let value = value.to_possible_value();
    f.write_str(value.as_ref().map_or("", |value| value.get_name()))
}

impl fmt::Display for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.transport {
            Transport::Rdma => write!(f, "{} v{} {}", self.device, self.version, self.io),
            Transport::Tcp => write!(f, "tcp v{} {}", self.version, self.io),
        }?;
        if self.security != Security::Sys {
            write!(f, " {}", self.security)?;
        }
        if self.device == Device::RxeDma {
            write!(f, " segments of {}", show_size(self.max_segment.into()))?;
        }
        if self.payload != MIB {
            write!(f, " payload of {}", show_size(self.payload))?;
        }
        Ok(())
    }
}

/// Parses a size such as `512M`, `4G` or a plain number of bytes.
///
/// A size of zero is refused.
pub fn parse_size(text: &str) -> Result<u64> {
    let (digits, unit) = match text.char_indices().next_back() {
        Some((at, 'K' | 'k')) => (&text[..at], 1 << 10),
        Some((at, 'M' | 'm')) => (&text[..at], MIB),
        Some((at, 'G' | 'g')) => (&text[..at], GIB),
        _ => (text, 1),
    };
    let number: u64 =
        digits.parse().ok().context("want a number of bytes, or one with K, M or G")?;
    let bytes = number.checked_mul(unit).context("too large")?;
    ensure!(bytes > 0, "want more than zero");
    Ok(bytes)
}

/// Writes a size with the largest unit that divides it.
pub fn show_size(bytes: u64) -> String {
    match bytes {
        _ if bytes % GIB == 0 => format!("{} GiB", bytes / GIB),
        _ if bytes % MIB == 0 => format!("{} MiB", bytes / MIB),
        _ if bytes % 1024 == 0 => format!("{} KiB", bytes / 1024),
        _ => format!("{bytes} bytes"),
    }
}

/// Refuses a payload that does not fit into the guest.
///
/// The file system lives in a RAM disk, and its page cache or the client's
/// may hold the payload once more.
pub fn check_fit(size: u64, memory: u64) -> Result<()> {
    ensure!(size % MIB == 0, "SIZE must be a whole number of MiB");
    let need = size.saturating_mul(2).saturating_add(1536 * MIB);
    if need > memory {
        bail!("SIZE={} needs a guest with MEM={}M or more", show_size(size), need.div_ceil(MIB));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_parsed() {
        assert_eq!(parse_size("4G").unwrap(), 4 * GIB);
        assert_eq!(parse_size("512M").unwrap(), 512 * MIB);
        assert_eq!(parse_size("64k").unwrap(), 65536);
        assert_eq!(parse_size("4096").unwrap(), 4096);
    }

    #[test]
    fn odd_sizes_are_refused() {
        for text in ["", "G", "0", "0M", "-1", "1.5G", "12T", "99999999999G", "4 G", "Mé"] {
            assert!(parse_size(text).is_err(), "{text:?} was taken");
        }
    }

    #[test]
    fn sizes_are_shown_in_the_largest_unit() {
        assert_eq!(show_size(2 * GIB), "2 GiB");
        assert_eq!(show_size(1536 * MIB), "1536 MiB");
        assert_eq!(show_size(1000), "1000 bytes");
    }

    #[test]
    fn a_payload_beyond_memory_is_refused() {
        assert!(check_fit(256 * MIB, 4 * GIB).is_ok());
        let err = check_fit(2 * GIB, 4 * GIB).unwrap_err().to_string();
        assert_eq!(err, "SIZE=2 GiB needs a guest with MEM=5632M or more");
        assert!(check_fit(MIB + 1, 4 * GIB).is_err());
    }

    #[test]
    fn sessions_have_short_names() {
        let mut session =
            Session::new(Device::Siw, Version::V41, IoMode::Dontcache, Transport::Rdma);
        assert_eq!(session.to_string(), "siw v4.1 dontcache");
        session.transport = Transport::Tcp;
        assert_eq!(session.to_string(), "tcp v4.1 dontcache");
        let mut session =
            Session::new(Device::RxeDma, Version::V3, IoMode::Direct, Transport::Rdma);
        session.payload = 4 * MIB;
        let name = "rxe-dma v3 direct segments of 64 KiB payload of 4 MiB";
        assert_eq!(session.to_string(), name);
    }
}
