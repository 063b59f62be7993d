// SPDX-License-Identifier: GPL-2.0

//! Transport headers that no correct client sends, word by word.

use super::Memory::{Call, Private, Readable, Unknown, Withdrawn, Writable};
use super::Part::{Fill, Null, Read, Segment, Word, Xid};
use super::{Case, Memory, Outcome, Part, Send, BARE_CALL};
use crate::header::{RDMA_DONE, RDMA_ERROR, RDMA_MSG, RDMA_MSGP, RDMA_NOMSG};
use crate::peer::Hello;
use crate::rpc::Refusal;

const DISCARD: &str = "RFC 8166 section 4.5";
const VERSION: &str = "RFC 8166 section 4.5.1";
const XDR: &str = "RFC 8166 section 4.5.2";
const CHUNK: &str = "RFC 8166 section 4.5.3";
const TRANSPORT: &str = "RFC 8166 section 4.5.5";
const POSITION: &str = "RFC 8166 section 3.4.5";
const INLINE: &str = "RFC 8166 section 3.3.2";
const LONG_CALL: &str = "RFC 8166 section 3.5.3";
const CREDIT: &str = "RFC 8166 section 3.3.1";
const MSGP: &str = "RFC 8166 section 4.6.1";
const DONE: &str = "RFC 8166 section 4.6.2";
const PROCEDURE: &str = "RFC 8166 section 4.2.4";
const BOOLEAN: &str = "RFC 4506 section 4.4";

/// Bytes of the smallest header.
const SMALLEST: usize = 28;
/// More than the server can count in its pages, in 32 bits times 16.
const HUGE: u32 = 0x1000_0000;
/// Rounded up to a page it is 0.
const NEARLY: u32 = 0xffff_f000;
const END: Part = Word(0);
const MORE: Part = Word(1);

/// All of them.
pub fn cases() -> Vec<Case> {
    let parts = [
        fixed_part(),
        truncated(),
        discriminators(),
        counts(),
        positions(),
        lengths(),
        order(),
        keys(),
        long_calls(),
        tolerated(),
    ];
    parts.concat()
}

fn header(version: u32, procedure: u32) -> Vec<Part> {
    vec![Xid, Word(version), Word(32), Word(procedure)]
}

/// A message of that type, from the Read list on.
fn message(procedure: u32, lists: &[Part]) -> Vec<Part> {
    [header(1, procedure), lists.to_vec()].concat()
}

fn case(name: &str, rule: &'static str, parts: Vec<Part>, must: Outcome) -> Case {
    Case::new(format!("header: {name}"), rule, Send::Parts(parts), must)
}

/// A bad header of an RDMA_MSG.
fn bad(name: &str, rule: &'static str, lists: &[Part]) -> Case {
    case(name, rule, message(RDMA_MSG, lists), Outcome::BadChunk)
}

/// One Read segment at `position`, then nothing.
fn read(position: u32, memory: Memory, length: u32) -> [Part; 6] {
    [MORE, Word(position), Segment(memory, length), END, END, END]
}

/// One Write chunk of one segment, then nothing.
fn write(memory: Memory, length: u32) -> [Part; 6] {
    [END, MORE, Word(1), Segment(memory, length), END, END]
}

/// A Reply chunk of one segment.
fn reply(memory: Memory, length: u32) -> [Part; 5] {
    [END, END, MORE, Word(1), Segment(memory, length)]
}

fn with_null(lists: &[Part]) -> Vec<Part> {
    [lists, &[Null]].concat()
}

fn fixed_part() -> Vec<Case> {
    let lists = [END, END, END, Null];
    let of = |version, procedure| [header(version, procedure), lists.to_vec()].concat();
    let mut cases: Vec<Case> = [0, 2, 0x0100_0000, u32::MAX]
        .map(|version| {
            let name = format!("version {version:#x}");
            case(&name, VERSION, of(version, RDMA_MSG), Outcome::WrongVersion)
        })
        .into();
    cases.push(case("version 2 and nothing else", VERSION, header(2, 0), Outcome::WrongVersion));
    cases.last_mut().into_iter().for_each(|case| case.may.push(Outcome::Dropped));
    for procedure in [5, 6, 0x0100_0000, u32::MAX] {
        let name = format!("type {procedure:#x}");
        cases.push(case(&name, PROCEDURE, of(1, procedure), Outcome::BadChunk));
    }
    cases.push(case("RDMA_MSGP", MSGP, of(1, RDMA_MSGP), Outcome::BadChunk));
    cases.push(case("RDMA_DONE", DONE, of(1, RDMA_DONE), Outcome::Dropped));
    cases.push(case("RDMA_ERROR", DISCARD, of(1, RDMA_ERROR), Outcome::Dropped));
    let nothing = message(RDMA_NOMSG, &[END, END, END]);
    cases.push(case("RDMA_NOMSG without a chunk", CHUNK, nothing, Outcome::BadChunk));
    let inline = message(RDMA_NOMSG, &lists);
    cases.push(case("RDMA_NOMSG with an inline message", CHUNK, inline, Outcome::BadChunk));
    for case in cases.iter_mut().rev().take(2) {
        case.may.extend([Outcome::Dropped, Outcome::Reply]);
    }
    cases
}

/// A header with all three lists, cut off behind each of its words.
fn truncated() -> Vec<Case> {
    let words = |segment: u32| {
        let segment = [Word(segment), Word(64), Word(0), Word(4096)];
        let read = [&[MORE, Word(BARE_CALL)], &segment[..], &[END]].concat();
        let write = [&[MORE, Word(1)], &segment[..], &[END]].concat();
        let reply = [&[MORE, Word(1)], &segment[..]].concat();
        [header(1, RDMA_MSG), read, write, reply].concat()
    };
    let whole = words(1);
    let case = |count: usize| {
        let parts = whole[..count].to_vec();
        let name = format!("cut off behind {count} words");
        // A receiver cannot trust the transaction id of so short a message.
        if count * 4 < SMALLEST {
            return case(&name, DISCARD, parts, Outcome::Dropped).or(Outcome::BadChunk);
        }
        case(&name, XDR, parts, Outcome::BadChunk)
    };
    let mut cases: Vec<Case> = (1..whole.len()).map(case).collect();
    let odd = [&whole[..8], &[Fill(0, 3)]].concat();
    cases.push(self::case("cut off within a word", XDR, odd, Outcome::BadChunk));
    cases
}

/// A list goes on where it says 1, and ends where it says 0.
fn discriminators() -> Vec<Case> {
    let mut cases = Vec::new();
    for word in [2, 0x0100_0000, u32::MAX] {
        let mut lists = read(BARE_CALL, Readable, 64);
        lists[0] = Word(word);
        cases.push(lenient(&format!("Read list goes on with {word:#x}"), &lists));
        let mut lists = write(Writable, 64);
        lists[1] = Word(word);
        cases.push(lenient(&format!("Write list goes on with {word:#x}"), &lists));
        let mut lists = reply(Writable, 4096);
        lists[2] = Word(word);
        cases.push(lenient(&format!("Reply chunk is present with {word:#x}"), &lists));
    }
    cases
}

/// Some servers take any word but 0 for 1.
fn lenient(name: &str, lists: &[Part]) -> Case {
    bad(name, BOOLEAN, &with_null(lists)).or(Outcome::Reply)
}

/// Numbers of segments.
fn counts() -> Vec<Case> {
    let mut cases = Vec::new();
    for count in [0, 2, 260, 261, HUGE, HUGE + 1, u32::MAX] {
        let mut lists = write(Writable, 64);
        lists[2] = Word(count);
        cases.push(bad(&format!("Write chunk of {count:#x} segments"), XDR, &with_null(&lists)));
        let mut lists = reply(Writable, 4096);
        lists[3] = Word(count);
        cases.push(bad(&format!("Reply chunk of {count:#x} segments"), XDR, &with_null(&lists)));
    }
    // Two segments, the second of which is the rest of the message, are what
    // they are.
    for case in cases.iter_mut().filter(|case| case.name.contains(" 0x2 ")) {
        case.may.extend([Outcome::Dropped, Outcome::Reply]);
    }
    let none = [END, MORE, Word(0), END, END, Null];
    let name = "Write chunk of no segment where R_keys may be invalidated";
    cases.push(bad(name, XDR, &none).on(Hello::Invalidate));
    let none = [END, END, MORE, Word(0), Null];
    let name = "Reply chunk of no segment where R_keys may be invalidated";
    cases.push(bad(name, XDR, &none).on(Hello::Invalidate));
    cases.push(bad("Read list without an end", XDR, &[[MORE; 6]; 100].concat()));
    cases.push(bad("Write list without an end", XDR, &[[END; 1], [MORE; 1]].concat()));
    cases
}

/// Places of Read chunks in the Call.
fn positions() -> Vec<Case> {
    let at = |position| with_null(&read(position, Readable, 64));
    let two = |first: u32, length: u32, second: u32| {
        let read = |position, length| [MORE, Word(position), Segment(Readable, length)];
        let lists = [&read(first, length)[..], &read(second, 64), &[END, END, END, Null]];
        lists.concat()
    };
    let mut cases: Vec<Case> = [1, 2, 3, 39, 41]
        .map(|position| bad(&format!("Read chunk at position {position}"), POSITION, &at(position)))
        .into();
    let beyond = [BARE_CALL + 4, 4096, 0x7fff_fffc, 0xffff_fffc];
    cases.extend(beyond.map(|position| {
        let name = format!("Read chunk at position {position:#x}, behind the message");
        bad(&name, POSITION, &at(position))
    }));
    cases.extend([
        bad("Read chunks overlap by a word", POSITION, &two(8, 64, 68)),
        bad("Read chunks overlap nearly wholly", POSITION, &two(8, 64, 12)),
        bad("Read chunks overlap, in the wrong order", POSITION, &two(12, 64, 8)),
        bad("second Read chunk far behind the message", POSITION, &two(8, 64, 0x7fff_fff0)),
        bad("second Read chunk just behind the message", POSITION, &two(8, 64, 108)),
        bad(
            "Read chunk behind a long call",
            POSITION,
            &[
                [MORE, Word(0), Segment(Call, BARE_CALL)],
                [MORE, Word(BARE_CALL + 4), Segment(Readable, 64)],
                [END, END, END],
            ]
            .concat(),
        ),
    ]);
    cases
}

/// Lengths of segments that no memory has.
fn lengths() -> Vec<Case> {
    let reads = |lengths: &[u32]| {
        let each = lengths.iter().flat_map(|length| [MORE, Word(40), Segment(Readable, *length)]);
        each.chain([END, END, END, Null]).collect::<Vec<_>>()
    };
    let mut cases: Vec<Case> = [u32::MAX, NEARLY, NEARLY + 1, 0x8000_0000, 0x0010_4001]
        .map(|length| bad(&format!("Read segment of {length:#x} bytes"), CHUNK, &reads(&[length])))
        .into();
    let sums: [(&str, &[u32]); 5] = [
        ("wrap to 0", &[0x8000_0000, 0x8000_0000]),
        ("wrap to 1", &[u32::MAX, 2]),
        ("wrap to a page", &[NEARLY, 0x2000]),
        ("pass the pages by a page", &[0x0010_0000, 0x5000]),
        ("pass the pages though each is small", &[0xf000; 20]),
    ];
    cases.extend(sums.map(|(name, lengths)| {
        bad(&format!("Read segments whose lengths {name}"), CHUNK, &reads(lengths))
    }));
    let long = |length| [&[MORE, Word(0), Segment(Readable, length)], &[END; 3][..]].concat();
    cases.extend([u32::MAX, NEARLY, 0x0010_4004].map(|length| {
        let name = format!("long call of {length:#x} bytes");
        case(&name, CHUNK, message(RDMA_NOMSG, &long(length)), Outcome::BadChunk)
    }));
    cases.extend(write_lengths());
    cases
}

/// A server need not look at lengths that it does not use up.
fn write_lengths() -> Vec<Case> {
    let two = |first: u32, second: u32| {
        let segments = [Segment(Writable, first), Segment(Writable, second)];
        [&[END, MORE, Word(2)], &segments[..], &[END, END, Read(5000)]].concat()
    };
    let case = |name: &str, first, second| {
        let case = bad(&format!("Write segments whose lengths {name}"), CHUNK, &two(first, second));
        case.or(Outcome::Refused(Refusal::System)).or(Outcome::Reply)
    };
    vec![
        case("wrap to 1", u32::MAX, 2),
        case("wrap to 0", 0x8000_0000, 0x8000_0000),
        case("wrap to a page", NEARLY, 0x2000),
    ]
}

/// Lists in the wrong order, or twice: what is too much is read as an RPC
/// message, of which there is none.
fn order() -> Vec<Case> {
    let reply = reply(Writable, 4096);
    let again = [&reply[..], &reply[2..], &[Null]].concat();
    let list = [&reply[..], &[MORE, Word(1), Segment(Writable, 64), END, Null]].concat();
    let read = [&reply[..], &[MORE, Word(40), Segment(Readable, 64), END, Null]].concat();
    let case = |name, lists: &[Part]| {
        let case = case(name, XDR, message(RDMA_MSG, lists), Outcome::Dropped);
        case.or(Outcome::BadChunk)
    };
    vec![
        case("two Reply chunks", &again),
        case("Write list behind the Reply chunk", &list),
        case("Read list behind the Reply chunk", &read),
        case("four lists", &[END, END, END, END, Null]),
    ]
}

/// Memory that cannot be reached: the adapter of the client refuses.
fn keys() -> Vec<Case> {
    let closed = |name: &str, lists: &[Part]| {
        case(name, TRANSPORT, message(RDMA_MSG, lists), Outcome::Closed)
    };
    // Soft-iWARP lets the other side read from any memory that is registered.
    let unless_served = |case: Case| case.or(Outcome::Reply);
    let mut cases = Vec::new();
    for (what, memory) in [
        ("of no memory", Unknown),
        ("of memory without remote access", Private),
        ("of memory that is registered no more", Withdrawn),
    ] {
        let lists = with_null(&read(BARE_CALL, memory, 64));
        let case = closed(&format!("Read chunk with an R_key {what}"), &lists);
        cases.push(if memory == Private { unless_served(case) } else { case });
        let lists = [&write(memory, 8192)[..], &[Read(5000)]].concat();
        cases.push(closed(&format!("Write chunk with an R_key {what}"), &lists));
        let lists = with_null(&reply(memory, 4096));
        cases.push(closed(&format!("Reply chunk with an R_key {what}"), &lists));
    }
    let lists = with_null(&read(BARE_CALL, Writable, 64));
    cases.push(unless_served(closed("Read chunk with an R_key for writing", &lists)));
    let lists = [&write(Readable, 8192)[..], &[Read(5000)]].concat();
    cases.push(closed("Write chunk with an R_key for reading", &lists));
    let lists = [&read(BARE_CALL, Readable, 0x0010_0000)[..], &[Null]].concat();
    cases.push(closed("Read chunk longer than its memory", &lists));
    let second = [MORE, Word(40), Segment(Readable, 64), MORE, Word(40), Segment(Unknown, 64)];
    let lists = [&second[..], &[END, END, END, Null]].concat();
    cases.push(closed("second of two Read segments cannot be reached", &lists));
    let call = [MORE, Word(0), Segment(Unknown, 64), END, END, END];
    let parts = message(RDMA_NOMSG, &call);
    cases.push(case("long call that cannot be reached", TRANSPORT, parts, Outcome::Closed));
    cases
}

/// Calls whose message is in a chunk at position zero.
fn long_calls() -> Vec<Case> {
    let call = [MORE, Word(0), Segment(Call, BARE_CALL)];
    let data = [MORE, Word(BARE_CALL), Segment(Readable, 64)];
    let end = [END; 3];
    let good = |name: &str, procedure, lists: &[&[Part]]| {
        case(name, LONG_CALL, message(procedure, &lists.concat()), Outcome::Reply)
    };
    let inline = [Null];
    vec![
        good("long call", RDMA_NOMSG, &[&call, &end]),
        good("long call, its chunk before another", RDMA_NOMSG, &[&call, &data, &end]),
        good("long call, its chunk behind another", RDMA_NOMSG, &[&data, &call, &end]),
        good("long call in an RDMA_MSG", RDMA_MSG, &[&call, &end]).or(Outcome::BadChunk),
        good("long call in an RDMA_MSG, and a call inline", RDMA_MSG, &[&call, &end, &inline])
            .or(Outcome::BadChunk),
    ]
}

/// Odd, but nothing is wrong; and one that is too long.
fn tolerated() -> Vec<Case> {
    let good =
        |name: &str, lists: &[Part]| case(name, XDR, message(RDMA_MSG, lists), Outcome::Reply);
    let mut no_credit = message(RDMA_MSG, &[END, END, END, Null]);
    no_credit[2] = Word(0);
    let mut all_credits = no_credit.clone();
    all_credits[2] = Word(u32::MAX);
    vec![
        good("Read chunk behind the whole message", &with_null(&read(BARE_CALL, Readable, 64))),
        good("Write chunk that nothing goes into", &with_null(&write(Writable, 64))),
        good("Reply chunk for a small reply", &with_null(&reply(Writable, 4096))),
        good("Write chunk of 4 GiB", &with_null(&write(Writable, u32::MAX))),
        good("16 bytes behind the message", &[END, END, END, Null, Fill(0, 16)]),
        case("no credit is asked for", CREDIT, no_credit, Outcome::Reply).or(Outcome::BadChunk),
        case("all credits are asked for", CREDIT, all_credits, Outcome::Reply),
        case("4096 bytes", INLINE, long(4096), Outcome::Reply),
        case("4097 bytes", INLINE, long(4097), Outcome::Closed),
        case("16 KiB", INLINE, long(16384), Outcome::Closed),
        case("no byte", DISCARD, vec![], Outcome::Dropped).or(Outcome::BadChunk),
    ]
}

/// A NULL call in a message of that many bytes.
fn long(total: usize) -> Vec<Part> {
    let rest = total - SMALLEST - BARE_CALL as usize;
    message(RDMA_MSG, &[END, END, END, Null, Fill(0, rest)])
}
