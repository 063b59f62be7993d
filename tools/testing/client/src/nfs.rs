// SPDX-License-Identifier: GPL-2.0

//! The calls of NFSv3 that the cases need, RFC 1813.

use crate::rpc::{self, Credential};
use crate::xdr::{Reader, Writer};
use anyhow::{bail, ensure, Result};

/// A file handle.
pub type Handle = Vec<u8>;

/// Bytes of the attributes of a file.
const ATTRIBUTES: usize = 84;
/// Bytes of the attributes before a change.
const ATTRIBUTES_BEFORE: usize = 24;

const UNSTABLE: u32 = 0;
const FILE_SYNC: u32 = 2;
const UNCHECKED: u32 = 0;

/// Bytes in front of the data of a READ reply: RPC header, status,
/// attributes, count, end of file, length.
pub const READ_REPLY: u32 = 24 + 4 + 4 + 84 + 4 + 4 + 4;

fn call(xid: u32, procedure: u32) -> Writer {
    rpc::call(xid, rpc::NFS, procedure, Credential::Root)
}

/// NULL.
pub fn null(xid: u32) -> Vec<u8> {
    rpc::call(xid, rpc::NFS, 0, Credential::None).into_bytes()
}

/// GETATTR.
pub fn getattr(xid: u32, file: &[u8]) -> Vec<u8> {
    let mut writer = call(xid, 1);
    writer.opaque(file);
    writer.into_bytes()
}

/// SETATTR of the size, in bytes.
pub fn set_size(xid: u32, file: &[u8], size: u64) -> Vec<u8> {
    let mut writer = call(xid, 2);
    writer.opaque(file).words(&[0, 0, 0]).word(1).hyper(size).words(&[0, 0, 0]);
    writer.into_bytes()
}

/// LOOKUP.
pub fn lookup(xid: u32, folder: &[u8], name: &str) -> Vec<u8> {
    let mut writer = call(xid, 3);
    writer.opaque(folder).opaque(name.as_bytes());
    writer.into_bytes()
}

/// READ.
pub fn read(xid: u32, file: &[u8], offset: u64, count: u32) -> Vec<u8> {
    let mut writer = call(xid, 6);
    writer.opaque(file).hyper(offset).word(count);
    writer.into_bytes()
}

/// WRITE, and where in it the data begins, in bytes.
pub fn write(xid: u32, file: &[u8], offset: u64, data: &[u8]) -> (Vec<u8>, usize) {
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    let mut writer = call(xid, 7);
    writer.opaque(file).hyper(offset).word(length).word(FILE_SYNC);
    let start = writer.len() + 4;
    writer.opaque(data);
    (writer.into_bytes(), start)
}

/// CREATE of an ordinary file that may exist already.
pub fn create(xid: u32, folder: &[u8], name: &str) -> Vec<u8> {
    let mut writer = call(xid, 8);
    writer.opaque(folder).opaque(name.as_bytes()).word(UNCHECKED);
    writer.words(&[1, 0o644, 0, 0, 0, 0, 0]);
    writer.into_bytes()
}

/// MKDIR.
pub fn mkdir(xid: u32, folder: &[u8], name: &str) -> Vec<u8> {
    let mut writer = call(xid, 9);
    writer.opaque(folder).opaque(name.as_bytes());
    writer.words(&[1, 0o755, 0, 0, 0, 0, 0]);
    writer.into_bytes()
}

/// READDIR from the beginning, of at most `count` bytes.
pub fn readdir(xid: u32, folder: &[u8], count: u32) -> Vec<u8> {
    let mut writer = call(xid, 16);
    writer.opaque(folder).hyper(0).hyper(0).word(count);
    writer.into_bytes()
}

/// The results of a READ.
#[derive(Debug, PartialEq, Eq)]
pub struct ReadResult<'a> {
    /// Bytes that were read.
    pub count: u32,
    /// Whether they reach to the end of the file.
    pub eof: bool,
    /// Length that stands in front of the data.
    pub length: u32,
    /// What follows in the message, padding included; empty if the data
    /// went into a Write chunk.
    pub inline: &'a [u8],
}

/// Fails unless the server's status is NFS3_OK.
pub fn ok(results: &mut Reader<'_>) -> Result<()> {
    match results.word()? {
        0 => Ok(()),
        status => bail!("the server's status is {status}"),
    }
}

/// Reads the results of READ.
pub fn read_result<'a>(mut results: Reader<'a>) -> Result<ReadResult<'a>> {
    ok(&mut results)?;
    skip_attributes(&mut results)?;
    let (count, eof) = (results.word()?, results.flag()?);
    Ok(ReadResult { count, eof, length: results.word()?, inline: results.rest() })
}

/// Reads the results of WRITE: the number of bytes written.
pub fn write_result(mut results: Reader<'_>) -> Result<u32> {
    ok(&mut results)?;
    skip_change(&mut results)?;
    let (count, committed) = (results.word()?, results.word()?);
    ensure!((UNSTABLE..=FILE_SYNC).contains(&committed), "the commitment is {committed}");
    results.raw(8)?;
    at_end(&results)?;
    Ok(count)
}

/// Reads the results of CREATE, MKDIR: the new file handle.
pub fn create_result(mut results: Reader<'_>) -> Result<Handle> {
    ok(&mut results)?;
    ensure!(results.flag()?, "the server gives no file handle");
    Ok(results.opaque()?.to_vec())
}

/// Reads the results of LOOKUP: the file handle.
pub fn lookup_result(mut results: Reader<'_>) -> Result<Handle> {
    ok(&mut results)?;
    Ok(results.opaque()?.to_vec())
}

/// Reads the results of GETATTR: the size of the file, in bytes.
pub fn getattr_result(mut results: Reader<'_>) -> Result<u64> {
    ok(&mut results)?;
    results.raw(20)?;
    results.hyper()
}

/// Reads the results of READDIR: names, and whether these are all.
pub fn readdir_result(mut results: Reader<'_>) -> Result<(Vec<String>, bool)> {
    ok(&mut results)?;
    skip_attributes(&mut results)?;
    results.raw(8)?;
    let mut names = Vec::new();
    while results.flag()? {
        results.hyper()?;
        names.push(String::from_utf8_lossy(results.opaque()?).into_owned());
        results.hyper()?;
    }
    let all = results.flag()?;
    at_end(&results)?;
    Ok((names, all))
}

fn skip_attributes(results: &mut Reader<'_>) -> Result<()> {
    if results.flag()? {
        results.raw(ATTRIBUTES)?;
    }
    Ok(())
}

fn skip_change(results: &mut Reader<'_>) -> Result<()> {
    if results.flag()? {
        results.raw(ATTRIBUTES_BEFORE)?;
    }
    skip_attributes(results)
}

fn at_end(results: &Reader<'_>) -> Result<()> {
    ensure!(results.rest().is_empty(), "the reply has {} bytes too many", results.rest().len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_of_a_write_is_found() {
        let (bytes, start) = write(1, &[1; 28], 5, b"abcde");
        assert_eq!(&bytes[start..], b"abcde\0\0\0");
        assert_eq!(bytes[start - 4..start], 5_u32.to_be_bytes());
        assert_eq!(start % 4, 0);
    }

    #[test]
    fn a_read_result_keeps_what_follows() {
        let mut message = Writer::new();
        message.words(&[0, 1]).raw(&[3; 84]).words(&[6, 1, 6]).raw(b"abcdef\0\0");
        let bytes = message.into_bytes();
        let result = read_result(Reader::new(&bytes)).unwrap();
        assert_eq!(result, ReadResult { count: 6, eof: true, length: 6, inline: b"abcdef\0\0" });
        assert_eq!(bytes.len() + 24, READ_REPLY as usize + 8);
    }

    #[test]
    fn a_status_is_an_error() {
        let bytes = 70_u32.to_be_bytes();
        let err = write_result(Reader::new(&bytes)).unwrap_err().to_string();
        assert_eq!(err, "the server's status is 70");
    }

    #[test]
    fn folders_are_listed() {
        let mut message = Writer::new();
        message.words(&[0, 0]).hyper(0);
        message.word(1).hyper(5).opaque(b"name").hyper(1).words(&[0, 1]);
        let bytes = message.into_bytes();
        let (names, all) = readdir_result(Reader::new(&bytes)).unwrap();
        assert_eq!((names.as_slice(), all), (&["name".to_owned()][..], true));
    }
}
