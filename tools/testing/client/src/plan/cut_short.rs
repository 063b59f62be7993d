// SPDX-License-Identifier: GPL-2.0

//! READs that are cut short after the pages of the file were put into the
//! Reply: a later Reply must not be built in these pages.

use super::{Case, CutShort, Outcome, Send, LARGEST_PAYLOAD, PAGE};

const TOO_SMALL: &str = "RFC 8166 section 4.5.3";

const LARGEST: usize = LARGEST_PAYLOAD;

/// Every way in which a Write chunk is too short.
pub fn cases() -> Vec<Case> {
    let table: [(&str, usize, &[usize]); 6] = [
        ("a byte is missing, one page", PAGE, &[PAGE - 1]),
        ("a page is missing, 64 KiB", 65536, &[65536 - PAGE]),
        ("a byte is missing, largest payload", LARGEST, &[LARGEST - 1]),
        ("half is missing, largest payload", LARGEST, &[LARGEST / 2]),
        ("all is missing, largest payload", LARGEST, &[0]),
        ("last segment too short, largest payload", LARGEST, &[LARGEST / 2, LARGEST / 2 - PAGE]),
    ];
    let case = |(name, count, room): (&str, usize, &[usize])| {
        let send = Send::CutShort(CutShort { count, room: room.to_vec() });
        Case::new(format!("cut short: {name}"), TOO_SMALL, send, Outcome::Reply)
    };
    table.map(case).into()
}
