// SPDX-License-Identifier: GPL-2.0

//! Ordinary calls, with and without private data.

use super::{Case, Folder, Outcome, Part, Send};
use crate::peer::Hello;

const RULE: &str = "RFC 8166 section 3.5.1";
const PRIVATE: &str = "RFC 8797 section 4";

/// What a correct client does.
pub fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = hellos().into();
    cases.push(Case::new(
        "call: GETATTR, LOOKUP, SETATTR, CREATE inline",
        RULE,
        Send::Others,
        Outcome::Reply,
    ));
    cases.extend([512, 1024, 4000].map(|count| {
        let folder = Folder { count, writes: vec![], reply: None };
        let name = format!("call: READDIR of {count} bytes inline");
        Case::new(name, RULE, Send::Folder(folder), Outcome::Reply)
    }));
    cases
}

fn hellos() -> [Case; 3] {
    let hellos = [
        ("no private data", Hello::Absent),
        ("private data", Hello::Plain),
        ("private data that permits remote invalidation", Hello::Invalidate),
    ];
    hellos.map(|(name, hello)| {
        let null = vec![
            Part::Xid,
            Part::Word(1),
            Part::Word(32),
            Part::Word(0),
            Part::Word(0),
            Part::Word(0),
            Part::Word(0),
            Part::Null,
        ];
        let name = format!("call: NULL after {name}");
        Case::new(name, PRIVATE, Send::Parts(null), Outcome::Reply).on(hello)
    })
}
