// SPDX-License-Identifier: GPL-2.0

//! NFSv3 calls over TCP, written by hand: RFC 5531 and RFC 1813.

use crate::guest::paths::EXPORT;
use anyhow::{ensure, Context, Result};
use std::fs::File;
use std::io::{Read, Write};

const FILE_HANDLES: &str = "/proc/fs/nfsd/filehandle";

/// Longest file handle of NFSv3, in bytes.
const HANDLE_SIZE: u32 = 64;

/// The last fragment of a record.
const LAST_FRAGMENT: u32 = 1 << 31;

/// Program, version.
const NFS3: [u32; 2] = [100_003, 3];
const READ: u32 = 6;
const WRITE: u32 = 7;
const UNSTABLE: u32 = 0;

/// A file of the export, as the server names it.
#[derive(Clone, Debug)]
pub struct Handle(Vec<u8>);

impl Handle {
    /// Asks the server for the handle of the file `name`.
    pub fn of(name: &str) -> Result<Self> {
        let file = File::options().read(true).write(true).open(FILE_HANDLES);
        let mut file = file.with_context(|| format!("cannot open {FILE_HANDLES}"))?;
        let question = format!("* {EXPORT}/{name} {HANDLE_SIZE}\n");
        let asked = file.write_all(question.as_bytes());
        asked.with_context(|| format!("the server has no file handle for {name}"))?;
        let mut answer = String::new();
        file.read_to_string(&mut answer).context("cannot read a file handle")?;
        parse(&answer).with_context(|| format!("{answer:?} is no file handle"))
    }

    /// READ, as a record on the wire.
    pub fn read(&self, xid: u32, offset: u64, count: u32) -> Vec<u8> {
        let mut call = call(xid, READ);
        opaque(&mut call, &self.0);
        call.extend(offset.to_be_bytes());
        words(&mut call, &[count]);
        record(&call)
    }

    /// WRITE, as a record on the wire.
    pub fn write(&self, xid: u32, offset: u64, data: &[u8]) -> Vec<u8> {
        let mut call = call(xid, WRITE);
        opaque(&mut call, &self.0);
        call.extend(offset.to_be_bytes());
        words(&mut call, &[length(data), UNSTABLE]);
        opaque(&mut call, data);
        record(&call)
    }
}

/// `\x` and the bytes in hexadecimal.
fn parse(answer: &str) -> Option<Handle> {
    let digits = answer.trim().strip_prefix("\\x")?;
    let pairs = digits.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    pairs.map(byte).collect::<Option<Vec<u8>>>().filter(|bytes| !bytes.is_empty()).map(Handle)
}

/// The header of a call by root, AUTH_SYS.
fn call(xid: u32, procedure: u32) -> Vec<u8> {
    let mut call = Vec::new();
    words(&mut call, &[xid, 0, 2]);
    words(&mut call, &NFS3);
    words(&mut call, &[procedure]);
    // Flavor and length; stamp, name, uid, gid, groups; the verifier.
    words(&mut call, &[1, 20, 0, 0, 0, 0, 0, 0, 0]);
    call
}

fn words(call: &mut Vec<u8>, words: &[u32]) {
    call.extend(words.iter().flat_map(|word| word.to_be_bytes()));
}

fn opaque(call: &mut Vec<u8>, data: &[u8]) {
    words(call, &[length(data)]);
    call.extend(data);
    call.resize(call.len().next_multiple_of(4), 0);
}

fn length(data: &[u8]) -> u32 {
    u32::try_from(data.len()).unwrap_or(u32::MAX)
}

fn record(call: &[u8]) -> Vec<u8> {
    let mut record = Vec::with_capacity(call.len() + 4);
    words(&mut record, &[LAST_FRAGMENT | length(call)]);
    record.extend(call);
    record
}

/// Reads the whole reply to one READ, and compares its data.
pub fn expect(stream: &mut impl Read, xid: u32, data: &[u8]) -> Result<()> {
    let mut marker = [0; 4];
    stream.read_exact(&mut marker).context("the server does not reply")?;
    let size = u32::from_be_bytes(marker) & !LAST_FRAGMENT;
    ensure!(size < 2 << 20, "a reply of {size} bytes");
    let mut reply = vec![0; size as usize];
    stream.read_exact(&mut reply).context("a reply breaks off")?;
    ensure!(reply.starts_with(&xid.to_be_bytes()), "the reply is to another call");
    ensure!(reply.ends_with(data), "the data read by hand is wrong");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_parsed() {
        assert_eq!(parse("\\x01ff00\n").unwrap().0, [1, 0xff, 0]);
        assert!(parse("\\x\n").is_none());
        assert!(parse("01ff").is_none());
    }

    #[test]
    fn calls_are_padded_records() {
        let handle = Handle(vec![7; 5]);
        let read = handle.read(0x1234, 1 << 32, 4096);
        assert_eq!(read[..4], (LAST_FRAGMENT | (read.len() as u32 - 4)).to_be_bytes());
        // Header of 15 words, the handle, an offset, a count.
        assert_eq!(read.len(), 4 + 60 + 4 + 8 + 8 + 4);
        let write = handle.write(1, 0, &[1, 2, 3]);
        assert_eq!(write.len(), 4 + 60 + 4 + 8 + 8 + 4 + 4 + 4 + 4);
    }

    #[test]
    fn a_reply_is_compared() {
        let mut reply = record(&[0, 0, 0, 9, 1, 2, 3, 4]);
        assert!(expect(&mut reply.as_slice(), 9, &[1, 2, 3, 4]).is_ok());
        assert!(expect(&mut reply.as_slice(), 8, &[1, 2, 3, 4]).is_err());
        reply.pop();
        assert!(expect(&mut reply.as_slice(), 9, &[1, 2, 3, 4]).is_err());
    }
}
