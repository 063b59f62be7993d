// SPDX-License-Identifier: GPL-2.0

//! Read segments of zero length: nothing forbids them, and there is nothing
//! to read.

use super::Memory::{Call, Readable};
use super::Part::{Null, Segment, Word, Xid};
use super::{Case, Chunk, Cutting, From, Outcome, Part, Send, Size, Upto, Write, BARE_CALL};
use crate::header::{RDMA_MSG, RDMA_NOMSG};

const READ_CHUNK: &str = "RFC 8166 section 3.4.5";
const READ_LIST: &str = "RFC 8166 section 4.3.1";
const LONG_CALL: &str = "RFC 8166 section 3.5.3";

/// All of them.
pub fn cases() -> Vec<Case> {
    [data_chunks(), call_chunks(), chunks(), nulls(), nothing()].concat()
}

fn case(name: &str, rule: &'static str, write: Write) -> Case {
    let name = format!("write: zero-length segment {name}");
    Case::new(name, rule, Send::Write(write), Outcome::Reply)
}

/// The data, in segments of these lengths.
fn data_chunks() -> Vec<Case> {
    let table: [(&str, usize, &[Option<usize>]); 4] = [
        ("first", 5000, &[Some(0), None]),
        ("in the middle", 5000, &[Some(2000), Some(0), None]),
        ("last", 5000, &[None, Some(0)]),
        ("everywhere", 8192, &[Some(0), Some(0), Some(4096), Some(0), None, Some(0)]),
    ];
    let case = |(name, length, lengths): (&str, usize, &[Option<usize>])| {
        let cutting = Cutting::Lengths(lengths.to_vec());
        let chunks = vec![Chunk { from: From::Data(0), upto: Upto::EndOfData, cutting }];
        case(name, READ_CHUNK, Write { size: Size::Data(length), chunks, call: None })
    };
    table.map(case).into()
}

/// The whole Call, in segments of these lengths.
fn call_chunks() -> Vec<Case> {
    let table: [(&str, &[Option<usize>]); 4] = [
        ("first", &[Some(0), None]),
        ("in the middle", &[Some(2000), Some(0), None]),
        ("last", &[None, Some(0)]),
        ("everywhere", &[Some(0), Some(0), Some(4096), Some(0), None, Some(0)]),
    ];
    let case = |(name, lengths): (&str, &[Option<usize>])| {
        let call = Some(Cutting::Lengths(lengths.to_vec()));
        let name = format!("{name} in a Call chunk");
        case(&name, LONG_CALL, Write { size: Size::Data(5000), chunks: vec![], call })
    };
    table.map(case).into()
}

/// Chunks of nothing but such a segment, beside others.
fn chunks() -> Vec<Case> {
    let part = |from, upto| Chunk { from, upto, cutting: Cutting::Pieces(1) };
    let empty = |from| part(from, Upto::Bytes(0));
    let data = || part(From::Data(0), Upto::EndOfData);
    let page = |at| part(From::Data(at), Upto::Bytes(4096));
    let table = [
        ("in front of the data", vec![empty(From::Call(4)), data()]),
        ("behind the data", vec![data(), empty(From::End(0))]),
        ("between others", vec![page(0), empty(From::Data(4100)), page(4200)]),
    ];
    let mut cases = Vec::new();
    for (place, chunks) in table {
        for (what, call) in [("", None), (", and a Call chunk", Some(Cutting::Pieces(1)))] {
            let name = format!("as a chunk {place}{what}");
            let write = Write { size: Size::Data(9000), chunks: chunks.clone(), call };
            cases.push(case(&name, READ_LIST, write));
        }
    }
    cases
}

const EMPTY: Part = Segment(Readable, 0);

/// A Read segment and its position.
type Placed = (u32, Part);

/// A message whose Read list has these segments.
fn message(procedure: u32, reads: &[Placed], inline: &[Part]) -> Send {
    let mut parts = vec![Xid, Word(1), Word(32), Word(procedure)];
    let words = |(position, segment): &Placed| [Word(1), Word(*position), *segment];
    parts.extend(reads.iter().flat_map(words));
    parts.extend([Word(0); 3]);
    parts.extend_from_slice(inline);
    Send::Parts(parts)
}

/// NULL as a Call chunk.
fn nulls() -> Vec<Case> {
    let call = Segment(Call, BARE_CALL);
    let table: [(&str, &[Placed]); 3] = [
        ("in front of the call", &[(0, EMPTY), (0, call)]),
        ("behind the call", &[(0, call), (0, EMPTY)]),
        ("as a chunk at the end of the call", &[(0, call), (BARE_CALL, EMPTY)]),
    ];
    let case = |(name, reads): (&str, &[Placed])| {
        let send = message(RDMA_NOMSG, reads, &[]);
        let name = format!("header: zero-length Read segment {name}");
        Case::new(name, READ_CHUNK, send, Outcome::Reply)
    };
    table.map(case).into()
}

/// Read lists without any byte: the RFC does not say what they mean.
fn nothing() -> Vec<Case> {
    let at_end = (BARE_CALL, EMPTY);
    let table: [(&str, u32, &[Placed], &[Part]); 4] = [
        ("alone", RDMA_MSG, &[at_end], &[Null]),
        ("twice alone", RDMA_MSG, &[at_end, at_end], &[Null]),
        ("alone in two chunks", RDMA_MSG, &[(8, EMPTY), at_end], &[Null]),
        ("instead of a call", RDMA_NOMSG, &[(0, EMPTY)], &[]),
    ];
    let case = |(name, procedure, reads, inline): (&str, u32, &[Placed], &[Part])| {
        let send = message(procedure, reads, inline);
        let name = format!("header: zero-length Read segment {name}");
        let case = Case::new(name, READ_CHUNK, send, Outcome::BadChunk).or(Outcome::Closed);
        if procedure == RDMA_MSG {
            case.or(Outcome::Reply)
        } else {
            case
        }
    };
    table.map(case).into()
}
