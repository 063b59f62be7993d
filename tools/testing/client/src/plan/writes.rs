// SPDX-License-Identifier: GPL-2.0

//! WRITE from Read chunks of every geometry.

use super::{
    Case, Chunk, Cutting, From, Outcome, Send, Size, Upto, Write, LARGEST_PAYLOAD, PAGE, PAGES,
};

const SHORT: &str = "RFC 8166 section 3.5.1";
const READ_CHUNK: &str = "RFC 8166 section 3.4.5";
const ROUND_UP: &str = "RFC 8166 section 3.4.5.2";
const READ_LIST: &str = "RFC 8166 section 4.3.1";
const LONG_CALL: &str = "RFC 8166 section 3.5.3";
const RESOURCES: &str = "RFC 8166 section 4.5.3";

const LARGEST: usize = LARGEST_PAYLOAD;

/// All that keep within the server's pages.
pub fn cases() -> Vec<Case> {
    let parts = [inline(), one_chunk(), round_up(), segments(), several(), long_calls()];
    parts.concat()
}

/// Totals at the number of pages that the server has for one message.
///
/// A WRITE of more than the payload limit is cut short, RFC 1813 section
/// 3.3.7, so that these can be answered although no correct client sends them.
pub fn limits() -> Vec<Case> {
    [one_chunk_limits(), long_call_limits(), prefix_limits()].concat()
}

fn case(name: &str, rule: &'static str, size: Size, chunks: Vec<Chunk>) -> Case {
    let send = Send::Write(Write { size, chunks, call: None });
    Case::new(format!("write: {name}"), rule, send, Outcome::Reply)
}

fn chunk(from: From, upto: Upto, cutting: Cutting) -> Chunk {
    Chunk { from, upto, cutting }
}

/// The data without padding, in that many segments.
fn data(count: usize) -> Vec<Chunk> {
    vec![chunk(From::Data(0), Upto::EndOfData, Cutting::Pieces(count))]
}

fn inline() -> Vec<Case> {
    let case =
        |length| case(&format!("{length} bytes inline"), SHORT, Size::Data(length), Vec::new());
    [0, 1, 100, 1000, 3001, 3900].map(case).into()
}

fn one_chunk() -> Vec<Case> {
    let lengths = [1, 3, 4, 4095, 4096, 4097, 8191, 8192, 65536, 131_073, LARGEST - 1, LARGEST];
    let case = |length| {
        case(&format!("{length} bytes in one segment"), READ_CHUNK, Size::Data(length), data(1))
    };
    lengths.map(case).into()
}

fn round_up() -> Vec<Case> {
    let case = |length| {
        let name = format!("{length} bytes and their XDR padding in one segment");
        let chunks = vec![chunk(From::Data(0), Upto::EndOfCall, Cutting::Pieces(1))];
        case(&name, ROUND_UP, Size::Data(length), chunks)
    };
    let mut cases: Vec<Case> = [1, 2, 3, 4095, 4097, 65_537, LARGEST - 1].map(case).into();
    let cutting = Cutting::Lengths(vec![None, Some(3)]);
    let chunks = vec![chunk(From::Data(0), Upto::EndOfCall, cutting)];
    let name = "XDR padding in a segment of its own";
    cases.push(self::case(name, ROUND_UP, Size::Data(5001), chunks));
    cases
}

fn segments() -> Vec<Case> {
    let mut cases = Vec::new();
    for count in [2, 3, 4, 7, 8, 15, 16] {
        for length in [5003, 257 << 10] {
            let name = format!("{length} bytes over {count} segments");
            cases.push(case(&name, READ_CHUNK, Size::Data(length), data(count)));
        }
    }
    cases.push(case("largest payload over 16 segments", READ_CHUNK, Size::Data(LARGEST), data(16)));
    cases.push(case("61 bytes over 61 segments", READ_CHUNK, Size::Data(61), data(61)));
    cases.push(zero_length());
    cases
}

/// No data, in one segment.
fn zero_length() -> Case {
    let case = case("zero-length segment alone", READ_CHUNK, Size::Data(0), data(1));
    case.or(Outcome::BadChunk).or(Outcome::Closed)
}

/// More than one chunk: what is between them is inline.
fn several() -> Vec<Case> {
    let bytes = |from, length| chunk(from, Upto::Bytes(length), Cutting::Pieces(1));
    let rest = |from| chunk(from, Upto::EndOfData, Cutting::Pieces(1));
    let table = vec![
        ("two chunks, no gap", 9000, vec![bytes(From::Data(0), 4096), rest(From::Data(4096))]),
        (
            "two chunks, 4 bytes between",
            9000,
            vec![bytes(From::Data(0), 4096), rest(From::Data(4100))],
        ),
        (
            "two chunks, 1000 bytes between",
            70_001,
            vec![bytes(From::Data(0), 30_000), rest(From::Data(31_000))],
        ),
        (
            "two chunks, 1000 bytes between and behind",
            9000,
            vec![bytes(From::Data(100), 3000), bytes(From::Data(4100), 3900)],
        ),
        (
            "three chunks with gaps, the first not in the data",
            20_002,
            vec![bytes(From::Call(4), 36), bytes(From::Data(4), 10_000), rest(From::Data(10_500))],
        ),
        ("inline prefix of 4 bytes", 6000, vec![bytes(From::Call(4), 56), rest(From::Data(0))]),
        (
            "inline prefix of 1000 bytes",
            9000,
            vec![bytes(From::Call(1000), 4096), rest(From::Call(5100))],
        ),
        ("eight chunks of a page, 4 bytes between", 8 * 4100, eight()),
    ];
    let case = |(name, length, chunks)| case(name, READ_LIST, Size::Data(length), chunks);
    table.into_iter().map(case).collect()
}

fn eight() -> Vec<Chunk> {
    let page = |at: usize| chunk(From::Data(at * 4100), Upto::Bytes(4096), Cutting::Pieces(2));
    (0..8).map(page).collect()
}

fn long_calls() -> Vec<Case> {
    let case = |name: &str, length: usize, chunks: Vec<Chunk>, call: Cutting| {
        let mut case = case(name, LONG_CALL, Size::Data(length), Vec::new());
        case.send = Send::Write(Write { size: Size::Data(length), chunks, call: Some(call) });
        case
    };
    let page = |from| chunk(from, Upto::Bytes(4096), Cutting::Pieces(1));
    vec![
        case("long call, 0 bytes of data", 0, vec![], Cutting::Pieces(1)),
        case("long call, 100 bytes of data", 100, vec![], Cutting::Pieces(1)),
        case("long call, 5001 bytes of data", 5001, vec![], Cutting::Pieces(1)),
        case("long call over 2 segments", 5001, vec![], Cutting::Pieces(2)),
        case("long call over 16 segments", 70_001, vec![], Cutting::Pieces(16)),
        case("long call, largest payload", LARGEST, vec![], Cutting::Pieces(4)),
        case("long call with a data chunk", 5000, data(1), Cutting::Pieces(1)),
        case("long call with a data chunk, 3 segments each", 70_000, data(3), Cutting::Pieces(3)),
        case("long call with a data chunk without its padding", 5001, data(1), Cutting::Pieces(1)),
        case("long call with the largest payload as a chunk", LARGEST, data(2), Cutting::Pieces(1)),
        case(
            "long call with two data chunks, 104 bytes between",
            9000,
            vec![page(From::Data(0)), page(From::Data(4200))],
            Cutting::Pieces(2),
        )
        .or(Outcome::BadChunk)
        .or(Outcome::Closed),
    ]
}

fn one_chunk_limits() -> Vec<Case> {
    let whole = PAGES * PAGE;
    let fits = [
        ("one byte more than the largest payload", LARGEST + 1),
        ("one page less than there are", whole - PAGE),
        ("as many pages as there are", whole),
    ];
    let mut cases: Vec<Case> =
        fits.map(|(name, length)| case(name, RESOURCES, Size::Data(length), data(1))).into();
    for (name, length) in [("one word more", whole + 4), ("one page more", whole + PAGE)] {
        let name = format!("{name} than there are pages");
        let mut case = case(&name, RESOURCES, Size::Data(length), data(1));
        case.must = Outcome::BadChunk;
        cases.push(case);
    }
    cases
}

fn long_call_limits() -> Vec<Case> {
    let whole = PAGES * PAGE;
    let case = |name: &str, total: usize, count: usize, must: Outcome| {
        let call = Some(Cutting::Pieces(count));
        let send = Send::Write(Write { size: Size::Stream(total), chunks: vec![], call });
        Case::new(format!("write: long call, {name}"), RESOURCES, send, must)
    };
    vec![
        case("one page less than there are", whole - PAGE, 1, Outcome::Reply),
        case("as many pages as there are", whole, 1, Outcome::Reply),
        case("as many pages as there are, 5 segments", whole, 5, Outcome::Reply),
        case("one word more than there are pages", whole + 4, 1, Outcome::BadChunk),
        case("one page more than there are", whole + PAGE, 2, Outcome::BadChunk),
    ]
}

/// What is inline counts as well when it is copied into the pages.
fn prefix_limits() -> Vec<Case> {
    let mut cases = Vec::new();
    for prefix in [4, 100, 1000] {
        for (what, total, must) in [
            ("one page less than there are", (PAGES - 1) * PAGE, Outcome::Reply),
            ("as many pages as there are", PAGES * PAGE, Outcome::Reply),
            ("one word more than there are pages", PAGES * PAGE + 4, Outcome::BadChunk),
            ("100 bytes more than there are pages", PAGES * PAGE + 100, Outcome::BadChunk),
            ("one page more than there are", (PAGES + 1) * PAGE, Outcome::BadChunk),
        ] {
            let name = format!("inline prefix of {prefix} bytes, {what}");
            cases.push(prefixed(&name, prefix, total, must));
        }
    }
    cases
}

/// The last 100 bytes are a second chunk that begins where the first ends.
fn prefixed(name: &str, prefix: usize, total: usize, must: Outcome) -> Case {
    const LAST: usize = 100;
    let first = Upto::Bytes(total - prefix - LAST);
    let chunks = vec![
        chunk(From::Call(prefix), first, Cutting::Pieces(1)),
        chunk(From::End(LAST), Upto::EndOfCall, Cutting::Pieces(1)),
    ];
    let mut case = case(name, RESOURCES, Size::Stream(total), chunks);
    case.must = must;
    // The server may find out after it has begun to build the Reads.
    if must == Outcome::BadChunk {
        case = case.or(Outcome::Closed);
    }
    case
}
