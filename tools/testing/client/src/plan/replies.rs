// SPDX-License-Identifier: GPL-2.0

//! Replies without chunks: what is pulled up into one buffer, and what is
//! gathered from pages.

use super::{Case, Outcome, Read, Send, PAGE};
use crate::nfs::READ_REPLY;

/// Bytes of a transport header without chunks.
const HEADER: usize = 28;
/// Replies below that many bytes are pulled up.
const PULL_UP: usize = 512;
/// Replies beyond that many bytes are too long to be sent.
const INLINE: usize = 4096;

const SHORT: &str = "RFC 8166 section 3.5.1";
const TOO_LONG: &str = "RFC 8166 section 4.5.3";

/// Payload of a READ whose reply, transport header included, has `total`
/// bytes.
fn payload(total: usize) -> usize {
    total - HEADER - READ_REPLY as usize
}

fn inline(offset: u64, count: usize) -> Send {
    Send::Read(Read { offset, count, ..Read::default() })
}

/// READs whose data comes inline.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (what, threshold) in [("pull-up threshold", PULL_UP), ("inline threshold", INLINE)] {
        cases.extend(around(what, threshold));
    }
    cases.extend(offsets());
    cases.extend(too_long());
    cases
}

/// Every length of data within a word of the threshold.
fn around(what: &str, threshold: usize) -> Vec<Case> {
    let exact = payload(threshold);
    let case = |count: usize| {
        let name = format!("reply: {what}, {count} bytes of data where {exact} reach it");
        let case = Case::new(name, SHORT, inline(0, count), Outcome::Reply);
        if count > exact && threshold == INLINE {
            return case.or(Outcome::BadChunk);
        }
        case
    };
    (exact - 5..=exact + 5).map(case).collect()
}

/// Data that does not begin where a page does.
fn offsets() -> Vec<Case> {
    let table = [
        ("empty", 0, 0),
        ("one byte", 1, 1),
        ("page offset 100, pulled up", 100, 300),
        ("page offset 100, 3000 bytes", 100, 3000),
        ("page offset 4095, one byte of a page", 4095, 1),
        ("page offset 4095, two bytes of two pages", 4095, 2),
        ("page offset 4000, two pages pulled up", 4000, 301),
        ("page offset 4000, two pages gathered", 4000, 3001),
        ("page offset 100 of the eighth page", 8 * 4096 + 100, 3001),
    ];
    let case = |(name, offset, count)| {
        Case::new(format!("reply: {name}"), SHORT, inline(offset, count), Outcome::Reply)
    };
    table.map(case).into()
}

/// Data for which a correct client offers a chunk.
fn too_long() -> Vec<Case> {
    let case = |name: &str, offset: u64, count: usize| {
        let name = format!("reply: {name} without a chunk");
        Case::new(name, TOO_LONG, inline(offset, count), Outcome::BadChunk)
    };
    vec![
        case("two pages", 0, 2 * PAGE).or(Outcome::Reply),
        case("three pages from page offset 4095", 4095, PAGE + 2).or(Outcome::Reply),
        case("three whole pages", 0, 3 * PAGE),
        case("five pages", 0, 5 * PAGE),
        case("eight pages from page offset 1", 1, 8 * PAGE),
    ]
}
