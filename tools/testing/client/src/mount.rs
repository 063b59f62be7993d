// SPDX-License-Identifier: GPL-2.0

//! The file handle of the export, from mountd over TCP, RFC 1813 appendix I.

use crate::nfs::Handle;
use crate::rpc::{self, Credential};
use crate::xdr::{Reader, Writer};
use anyhow::{bail, ensure, Context, Result};
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;

const PORTMAP_PORT: u16 = 111;
const TCP: u32 = 6;
const PATIENCE: Duration = Duration::from_secs(30);
/// Marks the last fragment of a record, RFC 5531 section 11.
const LAST: u32 = 1 << 31;
/// No answer is longer, in bytes.
const LONGEST: u32 = 65536;

/// The root of the export `path` of `server`.
pub fn root(server: IpAddr, path: &str) -> Result<Handle> {
    let port = mountd_port(server).context("cannot find mountd")?;
    let mut arguments = Writer::new();
    arguments.opaque(path.as_bytes());
    let address = SocketAddr::new(server, port);
    let answer = ask(address, rpc::MOUNT, 1, arguments).context("mountd does not answer")?;
    let mut reader = Reader::new(&answer);
    match reader.word()? {
        0 => Ok(reader.opaque()?.to_vec()),
        status => bail!("mountd refuses {path}: status {status}"),
    }
}

fn mountd_port(server: IpAddr) -> Result<u16> {
    let mut arguments = Writer::new();
    arguments.words(&[rpc::MOUNT.0, rpc::MOUNT.1, TCP, 0]);
    let answer = ask(SocketAddr::new(server, PORTMAP_PORT), rpc::PORTMAP, 3, arguments)?;
    let port = u16::try_from(Reader::new(&answer).word()?)?;
    ensure!(port != 0, "mountd is not registered");
    Ok(port)
}

/// One Call over a connection of its own; gives back the results.
fn ask(
    server: SocketAddr,
    program: (u32, u32),
    procedure: u32,
    arguments: Writer,
) -> Result<Vec<u8>> {
    const XID: u32 = 1;
    let mut message = rpc::call(XID, program, procedure, Credential::Root);
    message.raw(&arguments.into_bytes());
    let mut record = Writer::new();
    record.word(LAST | u32::try_from(message.len())?).raw(&message.into_bytes());
    let mut stream = TcpStream::connect_timeout(&server, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(&record.into_bytes())?;
    let answer = receive(&mut stream)?;
    match rpc::reply(XID, &answer)? {
        Ok(results) => Ok(results.rest().to_vec()),
        Err(refusal) => bail!("the call was refused: {refusal}"),
    }
}

fn receive(stream: &mut TcpStream) -> Result<Vec<u8>> {
    let mut marker = [0; 4];
    stream.read_exact(&mut marker)?;
    let marker = u32::from_be_bytes(marker);
    ensure!(marker & LAST != 0, "the answer comes in fragments");
    let length = marker & !LAST;
    ensure!(length <= LONGEST, "the answer has {length} bytes");
    let mut answer = vec![0; length as usize];
    stream.read_exact(&mut answer)?;
    Ok(answer)
}
