// SPDX-License-Identifier: GPL-2.0

//! Read chunks beside a Call chunk. The position of a chunk counts the bytes
//! of the whole Call, those of the chunks in front of it included; the Call
//! chunk has none of these.

use super::Memory::{Call, Readable};
use super::Part::{Segment, Word, Xid};
use super::{
    Case, Chunk, Cutting, From, Outcome, Part, Send, Size, Upto, Write, BARE_CALL, LARGEST_PAYLOAD,
};
use crate::header::RDMA_NOMSG;
use crate::rpc::Refusal;

const POSITION: &str = "RFC 8166 section 3.4.5";
const LONG_CALL: &str = "RFC 8166 section 3.5.3";

const LARGEST: usize = LARGEST_PAYLOAD;
/// Bytes of the chunks beside a NULL call.
const DATA: u32 = 64;

/// All of them.
pub fn cases() -> Vec<Case> {
    [writes(), nulls()].concat()
}

/// WRITEs whose chunks begin far behind the length of the Call chunk.
fn writes() -> Vec<Case> {
    let part = |from, upto| Chunk { from, upto, cutting: Cutting::Pieces(1) };
    let bytes = |at, length| part(From::Data(at), Upto::Bytes(length));
    let rest = |at| part(From::Data(at), Upto::EndOfData);
    let page = |number: usize| bytes(number * 4100, 4096);
    let table = [
        ("two, no gap", 9000, vec![bytes(0, 4096), rest(4096)]),
        ("two, 4 bytes between", 9000, vec![bytes(0, 4096), rest(4100)]),
        ("two, the rest of the data behind", 9000, vec![bytes(0, 4096), bytes(4100, 4096)]),
        (
            "two, the first not in the data",
            5000,
            vec![part(From::Call(4), Upto::Bytes(36)), rest(0)],
        ),
        (
            "three, 1000 bytes between",
            20_001,
            vec![bytes(0, 4096), bytes(5096, 4096), rest(10_192)],
        ),
        ("eight of a page, 4 bytes between", 8 * 4100, (0..8).map(page).collect()),
        ("two, the largest payload", LARGEST, vec![bytes(0, LARGEST - 8192), rest(LARGEST - 4096)]),
    ];
    let case = |(name, length, chunks): (&str, usize, Vec<Chunk>)| {
        let call = Some(Cutting::Pieces(1));
        let send = Send::Write(Write { size: Size::Data(length), chunks, call });
        let name = format!("write: Read chunks beside a Call chunk: {name}");
        Case::new(name, LONG_CALL, send, Outcome::Reply)
    };
    table.into_iter().map(case).collect()
}

/// A NULL call as Call chunk, and chunks of 64 bytes at these positions.
fn nulls() -> Vec<Case> {
    let end = BARE_CALL;
    let behind = end + DATA;
    let table: [(&str, &[u32], Outcome); 10] = [
        ("within it", &[8], Outcome::Refused(Refusal::RpcVersion)),
        ("a word behind its end", &[end + 4], Outcome::BadChunk),
        ("far behind its end", &[0x7fff_fffc], Outcome::BadChunk),
        ("at the last position there is", &[0xffff_fffc], Outcome::BadChunk),
        ("two, the second at its end", &[end, behind], Outcome::Reply),
        ("two, the second a word behind its end", &[end, behind + 4], Outcome::BadChunk),
        ("two, the second far behind its end", &[end, 0xffff_fffc], Outcome::BadChunk),
        ("two that overlap by a word", &[end, behind - 4], Outcome::BadChunk),
        ("two that overlap nearly wholly", &[end, end + 4], Outcome::BadChunk),
        ("three, the last overlaps", &[end, behind, behind + 4], Outcome::BadChunk),
    ];
    let case = |(name, positions, must): (&str, &[u32], Outcome)| {
        let name = format!("header: Read chunk beside a Call chunk: {name}");
        Case::new(name, POSITION, long_call(positions), must)
    };
    table.map(case).into()
}

fn long_call(positions: &[u32]) -> Send {
    let read = |position, memory, length| [Word(1), Word(position), Segment(memory, length)];
    let mut parts: Vec<Part> = vec![Xid, Word(1), Word(32), Word(RDMA_NOMSG)];
    parts.extend(read(0, Call, BARE_CALL));
    parts.extend(positions.iter().flat_map(|position| read(*position, Readable, DATA)));
    parts.extend([Word(0); 3]);
    Send::Parts(parts)
}
