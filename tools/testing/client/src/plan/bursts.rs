// SPDX-License-Identifier: GPL-2.0

//! Clients that stop in the middle of something.

use super::{Burst, Calls, Case, Ending, Moment, Outcome, Send};

const RULE: &str = "RFC 8166 section 4.5.5";

/// Every kind of call with every kind of end.
pub fn cases() -> Vec<Case> {
    use Calls::{Null, Read, Write};
    use Ending::{Disconnect, Drop, Silence};
    use Moment::{AtOnce, Seconds, Written};
    let table = [
        ("32 NULL calls, disconnect", 32, Null, 32, AtOnce, Disconnect),
        ("32 NULL calls, drop", 32, Null, 32, AtOnce, Drop),
        ("no call, drop", 0, Null, 32, AtOnce, Drop),
        ("no call, disconnect", 0, Null, 32, AtOnce, Disconnect),
        ("Read chunks are offered, disconnect", 8, Write, 32, AtOnce, Disconnect),
        ("Read chunks are offered, drop", 8, Write, 32, AtOnce, Drop),
        ("Reads are never answered", 8, Write, 32, AtOnce, Silence),
        ("disconnect in the middle of a Write chunk", 8, Read, 32, Written, Disconnect),
        ("drop in the middle of a Write chunk", 8, Read, 32, Written, Drop),
        ("Writes are never acknowledged", 8, Read, 32, Written, Silence),
        ("Send queue full of replies, disconnect", 120, Null, 1, Seconds(2), Disconnect),
        ("Send queue full of Writes, disconnect", 64, Read, 1, Seconds(3), Disconnect),
        ("Send queue full of Writes, drop", 64, Read, 1, Seconds(3), Drop),
        ("Send queue full of Writes, silence", 64, Read, 1, Seconds(3), Silence),
    ];
    let case = |(name, calls, of, receives, moment, ending): (&str, usize, _, usize, _, _)| {
        let send = Send::Burst(Burst { calls, of, receives, moment, ending });
        Case::new(format!("end: {name}"), RULE, send, Outcome::Closed)
    };
    table.map(case).into()
}
