// SPDX-License-Identifier: GPL-2.0

//! The transport header of RPC-over-RDMA version 1, RFC 8166 section 4.
//!
//! [`Header`] writes whatever it is told; [`parse`] reads what a server may
//! send and nothing else.

use crate::xdr::{Reader, Writer};
use anyhow::{bail, ensure, Result};

/// The protocol's version.
pub const VERSION: u32 = 1;

/// Credits that each Call asks for.
pub const CREDITS: u32 = 32;

/// An RPC message follows the header.
pub const RDMA_MSG: u32 = 0;
/// The RPC message is in a chunk.
pub const RDMA_NOMSG: u32 = 1;
/// Obsolete: padded message.
pub const RDMA_MSGP: u32 = 2;
/// Obsolete: end of the Reads.
pub const RDMA_DONE: u32 = 3;
/// The other side could not handle a message.
pub const RDMA_ERROR: u32 = 4;

const ERR_VERS: u32 = 1;
const ERR_CHUNK: u32 = 2;

/// Remote memory, as it goes over the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The R_key.
    pub handle: u32,
    /// Length in bytes.
    pub length: u32,
    /// Remote address.
    pub offset: u64,
}

/// One entry of the Read list; entries of one position are one chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadSegment {
    /// Where in the XDR stream of the Call the chunk belongs, in bytes.
    pub position: u32,
    /// The memory.
    pub segment: Segment,
}

/// A header of a Call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Transaction id, the same as that of the RPC message.
    pub xid: u32,
    /// RDMA_MSG or RDMA_NOMSG.
    pub procedure: u32,
    /// The Read list.
    pub reads: Vec<ReadSegment>,
    /// The Write list; each chunk is a list of segments.
    pub writes: Vec<Vec<Segment>>,
    /// The Reply chunk.
    pub reply: Option<Vec<Segment>>,
}

impl Segment {
    /// Appends handle, length and offset.
    pub fn encode(&self, writer: &mut Writer) {
        writer.word(self.handle).word(self.length).hyper(self.offset);
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self> {
        let (handle, length) = (reader.word()?, reader.word()?);
        Ok(Self { handle, length, offset: reader.hyper()? })
    }
}

impl Header {
    /// The header, ready for the RPC message to be appended.
    pub fn encode(&self) -> Writer {
        let mut writer = Writer::new();
        writer.words(&[self.xid, VERSION, CREDITS, self.procedure]);
        for read in &self.reads {
            writer.word(1).word(read.position);
            read.segment.encode(&mut writer);
        }
        writer.word(0);
        for chunk in &self.writes {
            writer.word(1);
            encode_chunk(chunk, &mut writer);
        }
        writer.word(0);
        writer.word(u32::from(self.reply.is_some()));
        self.reply.iter().for_each(|chunk| encode_chunk(chunk, &mut writer));
        writer
    }
}

fn encode_chunk(segments: &[Segment], writer: &mut Writer) {
    writer.word(u32::try_from(segments.len()).unwrap_or(u32::MAX));
    segments.iter().for_each(|segment| segment.encode(writer));
}

/// What the server sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A Reply.
    Reply(Reply),
    /// RDMA_ERROR, ERR_VERS: the versions the server knows, from and to.
    WrongVersion {
        /// Transaction id.
        xid: u32,
        /// Lowest and highest version.
        known: (u32, u32),
    },
    /// RDMA_ERROR, ERR_CHUNK.
    BadChunk {
        /// Transaction id.
        xid: u32,
    },
}

/// A Reply: the server's copies of the chunks tell how much it wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Transaction id.
    pub xid: u32,
    /// Credits that the server grants.
    pub credits: u32,
    /// The Write list.
    pub writes: Vec<Vec<Segment>>,
    /// The Reply chunk.
    pub reply: Option<Vec<Segment>>,
    /// The RPC message that follows, empty for RDMA_NOMSG.
    pub body: Vec<u8>,
}

/// Reads a message of the server.
pub fn parse(bytes: &[u8]) -> Result<Answer> {
    let mut reader = Reader::new(bytes);
    let (xid, version) = (reader.word()?, reader.word()?);
    let (credits, procedure) = (reader.word()?, reader.word()?);
    if procedure == RDMA_ERROR {
        return error(xid, &mut reader);
    }
    ensure!(version == VERSION, "the reply has version {version}");
    ensure!(procedure == RDMA_MSG || procedure == RDMA_NOMSG, "the reply has type {procedure}");
    ensure!(!reader.flag()?, "the reply has a Read list");
    let mut writes = Vec::new();
    while reader.flag()? {
        writes.push(decode_chunk(&mut reader)?);
    }
    let reply = if reader.flag()? { Some(decode_chunk(&mut reader)?) } else { None };
    let body = reader.rest().to_vec();
    let inline = procedure == RDMA_MSG;
    ensure!(inline != body.is_empty(), "a reply of type {procedure} has {} bytes", body.len());
    ensure!(inline || reply.is_some(), "RDMA_NOMSG without a Reply chunk");
    Ok(Answer::Reply(Reply { xid, credits, writes, reply, body }))
}

fn error(xid: u32, reader: &mut Reader<'_>) -> Result<Answer> {
    let answer = match reader.word()? {
        ERR_VERS => Answer::WrongVersion { xid, known: (reader.word()?, reader.word()?) },
        ERR_CHUNK => Answer::BadChunk { xid },
        code => bail!("RDMA_ERROR has the unknown code {code}"),
    };
    ensure!(reader.rest().is_empty(), "RDMA_ERROR has {} bytes too many", reader.rest().len());
    Ok(answer)
}

fn decode_chunk(reader: &mut Reader<'_>) -> Result<Vec<Segment>> {
    let count = reader.word()?;
    (0..count).map(|_| Segment::decode(reader)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: Segment = Segment { handle: 7, length: 8, offset: 9 };

    fn words(bytes: &[u8]) -> Vec<u32> {
        let words = bytes.chunks_exact(4).map(|word| word.try_into().unwrap());
        words.map(u32::from_be_bytes).collect()
    }

    #[test]
    fn a_header_without_chunks_has_28_bytes() {
        let header = Header { xid: 5, ..Header::default() };
        assert_eq!(words(&header.encode().into_bytes()), [5, 1, CREDITS, 0, 0, 0, 0]);
    }

    #[test]
    fn lists_are_encoded_in_their_order() {
        let header = Header {
            xid: 5,
            procedure: RDMA_NOMSG,
            reads: vec![ReadSegment { position: 0, segment: SEGMENT }],
            writes: vec![vec![SEGMENT, SEGMENT], vec![]],
            reply: Some(vec![SEGMENT]),
        };
        let expected = [
            vec![5, 1, CREDITS, 1],
            vec![1, 0, 7, 8, 0, 9, 0],
            vec![1, 2, 7, 8, 0, 9, 7, 8, 0, 9, 1, 0, 0],
            vec![1, 1, 7, 8, 0, 9],
        ];
        assert_eq!(words(&header.encode().into_bytes()), expected.concat());
    }

    #[test]
    fn replies_are_read_back() {
        let mut message = Writer::new();
        message.words(&[5, 1, 32, 0, 0, 1, 1]);
        SEGMENT.encode(&mut message);
        message.words(&[0, 0, 0xabcd]);
        let reply = Reply {
            xid: 5,
            credits: 32,
            writes: vec![vec![SEGMENT]],
            reply: None,
            body: vec![0, 0, 0xab, 0xcd],
        };
        assert_eq!(parse(&message.into_bytes()).unwrap(), Answer::Reply(reply));
    }

    #[test]
    fn errors_are_read_back() {
        let message = |words: &[u32]| Writer::new().words(words).clone().into_bytes();
        let found = parse(&message(&[5, 9, 32, 4, 1, 1, 1])).unwrap();
        assert_eq!(found, Answer::WrongVersion { xid: 5, known: (1, 1) });
        let found = parse(&message(&[5, 1, 32, 4, 2])).unwrap();
        assert_eq!(found, Answer::BadChunk { xid: 5 });
        for wrong in [&[5, 1, 32, 4, 3][..], &[5, 1, 32, 4, 2, 0], &[5, 1, 32, 4], &[5, 1, 32]] {
            assert!(parse(&message(wrong)).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_server_may_not_send_just_anything() {
        let message = |words: &[u32]| Writer::new().words(words).clone().into_bytes();
        for wrong in [
            &[5, 2, 32, 0, 0, 0, 0, 1][..],
            &[5, 1, 32, 0, 1, 0, 0, 1],
            &[5, 1, 32, 0, 0, 2, 0, 1],
            &[5, 1, 32, 0, 0, 1, 0xffff_ffff],
            &[5, 1, 32, 0, 0, 0, 0],
            &[5, 1, 32, 1, 0, 0, 0],
            &[5, 1, 32, 2, 0, 0, 0, 1],
        ] {
            assert!(parse(&message(wrong)).is_err(), "{wrong:?}");
        }
    }
}
