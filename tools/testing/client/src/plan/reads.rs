// SPDX-License-Identifier: GPL-2.0

//! READ and READDIR into Write chunks and Reply chunks of every geometry.

use super::{pieces, Case, Folder, Outcome, Read, Send, LARGEST_PAYLOAD};
use crate::nfs::READ_REPLY;
use crate::rpc::Refusal;

const WRITE_CHUNK: &str = "RFC 8166 section 3.4.6";
const WRITE_LIST: &str = "RFC 8166 section 4.3.2";
const REPLY_CHUNK: &str = "RFC 8166 section 4.3.3";
const LONG_REPLY: &str = "RFC 8166 section 3.5.3";
const TOO_SMALL: &str = "RFC 8166 section 4.5.3";

const LARGEST: usize = LARGEST_PAYLOAD;

/// All of them.
pub fn cases() -> Vec<Case> {
    let parts = [write_chunks(), many_segments(), short(), reply_chunks(), folders()];
    parts.concat()
}

fn read(offset: u64, count: usize, writes: Vec<Vec<usize>>) -> Send {
    Send::Read(Read { offset, count, writes, reply: None })
}

/// The chunk holds the data, or more.
fn write_chunks() -> Vec<Case> {
    let case = |name: &str, offset: u64, count: usize, chunk: &[usize]| {
        let name = format!("write chunk: {name}");
        let send = read(offset, count, vec![chunk.to_vec()]);
        Case::new(name, WRITE_CHUNK, send, Outcome::Reply)
    };
    let mut cases = vec![
        case("exact, 1 byte", 0, 1, &[1]),
        case("exact, 3 bytes at offset 4095", 4095, 3, &[3]),
        case("exact, one page", 0, 4096, &[4096]),
        case("exact, 4097 bytes", 0, 4097, &[4097]),
        case("exact, 5000 bytes at offset 100", 100, 5000, &[5000]),
        case("exact, 64 KiB", 0, 65536, &[65536]),
        case("exact, 128 KiB at offset 1", 1, 131_072, &[131_072]),
        case("exact, largest payload", 0, LARGEST, &[LARGEST]),
        case("exact, largest payload at offset 4095", 4095, LARGEST, &[LARGEST]),
        case("longer than the data", 0, 5000, &[8192]),
        case("far longer than the data", 0, 5000, &[LARGEST]),
        case("room for XDR padding", 0, 4097, &[4100]),
        case("empty result", 0, 0, &[4096]),
        case("second segment unused", 0, 5000, &[5000, 5000]),
        case("second segment partly used", 0, 5000, &[3000, 5000]),
        case("zero-length segment first", 0, 5000, &[0, 5000]),
        case("zero-length segment in the middle", 0, 5000, &[2000, 0, 3000]),
        case("zero-length segment last", 0, 5000, &[5000, 0]),
        case("zero-length segments everywhere", 0, 5000, &[0, 0, 2500, 0, 2500, 0]),
    ];
    let two = vec![vec![5000], vec![4096]];
    let name = "write chunk: a second chunk is not used";
    cases.push(Case::new(name, WRITE_LIST, read(0, 5000, two), Outcome::Reply));
    cases
}

/// The data is spread over segments of odd lengths.
fn many_segments() -> Vec<Case> {
    let mut cases = Vec::new();
    for count in [2, 3, 4, 7, 8, 15, 16] {
        for (what, offset, total) in [("5003 bytes", 1, 5003), ("257 KiB", 4094, 257 << 10)] {
            let name = format!("write chunk: {what} over {count} segments");
            let send = read(offset, total, vec![pieces(total, count)]);
            cases.push(Case::new(name, WRITE_CHUNK, send, Outcome::Reply));
        }
    }
    let send = read(0, LARGEST, vec![pieces(LARGEST, 16)]);
    let name = "write chunk: largest payload over 16 segments";
    cases.push(Case::new(name, WRITE_CHUNK, send, Outcome::Reply));
    let send = read(3, 17, vec![vec![1; 17]]);
    let name = "write chunk: 17 bytes over 17 segments";
    cases.push(Case::new(name, WRITE_CHUNK, send, Outcome::Reply));
    cases
}

/// The chunk does not hold the data.
fn short() -> Vec<Case> {
    let table: [(&str, usize, &[usize]); 5] = [
        ("one byte too short", 5000, &[4999]),
        ("two segments, one byte too short", 5000, &[2500, 2499]),
        ("one page for two", 8192, &[4096]),
        ("only zero-length segments", 5000, &[0, 0]),
        ("half of the largest payload", LARGEST, &[LARGEST / 2]),
    ];
    let case = |(name, count, chunk): (&str, usize, &[usize])| {
        let send = read(0, count, vec![chunk.to_vec()]);
        let name = format!("write chunk: {name}");
        Case::new(name, TOO_SMALL, send, Outcome::BadChunk).or(Outcome::Refused(Refusal::System))
    };
    table.map(case).into()
}

/// The whole reply goes into the Reply chunk.
fn reply_chunks() -> Vec<Case> {
    let exact = |count: usize| READ_REPLY as usize + count.next_multiple_of(4);
    let case = |name: &str, offset: u64, count: usize, reply: Vec<usize>| {
        let send = Send::Read(Read { offset, count, writes: vec![], reply: Some(reply) });
        Case::new(format!("reply chunk: {name}"), LONG_REPLY, send, Outcome::Reply)
    };
    let mut cases = vec![
        case("exact, 0 bytes of data", 0, 0, vec![exact(0)]),
        case("exact, 1 byte of data", 1, 1, vec![exact(1)]),
        case("exact, 5003 bytes of data", 1, 5003, vec![exact(5003)]),
        case("exact, 64 KiB of data", 100, 65536, vec![exact(65536)]),
        case("exact, largest payload", 0, LARGEST, vec![exact(LARGEST)]),
        case("longer than the reply", 0, 5000, vec![LARGEST]),
        case("zero-length segment first", 0, 5000, vec![0, exact(5000)]),
        case("zero-length segment in the middle", 0, 5000, vec![100, 0, exact(5000)]),
        case("zero-length segment last", 0, 5000, vec![exact(5000), 0]),
    ];
    for count in [2, 3, 8, 16] {
        let name = format!("5003 bytes of data over {count} segments");
        cases.push(case(&name, 4093, 5003, pieces(exact(5003), count)));
    }
    cases.push(case("largest payload over 16 segments", 1, LARGEST, pieces(exact(LARGEST), 16)));
    for (name, total) in [("one word too short", exact(5000) - 4), ("no room", 0), ("tiny", 4)] {
        let mut case = case(name, 0, 5000, vec![total]);
        (case.rule, case.must) = (TOO_SMALL, Outcome::BadChunk);
        cases.push(case);
    }
    cases.extend(both());
    cases
}

/// The data goes into a Write chunk, the rest into the Reply chunk.
fn both() -> Vec<Case> {
    let rest = READ_REPLY as usize;
    let table: [(&str, usize, &[usize], &[usize]); 4] = [
        ("exact", 8192, &[8192], &[rest]),
        ("XDR padding is dropped", 5003, &[5003], &[rest]),
        ("many segments", 70_001, &[1, 60_000, 0, 20_000], &[7, 0, 500]),
        ("largest payload", LARGEST, &[LARGEST], &[4096]),
    ];
    let case = |(name, count, write, reply): (&str, usize, &[usize], &[usize])| {
        let (writes, reply) = (vec![write.to_vec()], Some(reply.to_vec()));
        let send = Send::Read(Read { offset: 1, count, writes, reply });
        let name = format!("write and reply chunk: {name}");
        Case::new(name, REPLY_CHUNK, send, Outcome::Reply)
    };
    table.map(case).into()
}

fn folders() -> Vec<Case> {
    let case = |name: &str, writes: Vec<Vec<usize>>, reply: Vec<usize>| {
        let send = Send::Folder(Folder { count: 32768, writes, reply: Some(reply) });
        Case::new(format!("reply chunk: READDIR {name}"), LONG_REPLY, send, Outcome::Reply)
    };
    vec![
        case("into one segment", vec![], vec![65536]),
        case("into 16 segments", vec![], pieces(65536, 16)),
        case("with a Write chunk that it has no use for", vec![vec![4096]], vec![65536]),
    ]
}
