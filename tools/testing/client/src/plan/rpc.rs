// SPDX-License-Identifier: GPL-2.0

//! Valid transport headers in front of RPC messages that are not.

use super::Part::{Fill, Word, Xid};
use super::{Case, Outcome, Part, Send};
use crate::rpc::Refusal;

const RPC: &str = "RFC 5531 section 9";

const NFS: u32 = 100_003;

/// A header without chunks, and what stands where the RPC message should.
fn after_header(message: &[Part]) -> Send {
    let mut parts = vec![Xid, Word(1), Word(32), Word(0), Word(0), Word(0), Word(0)];
    parts.extend_from_slice(message);
    Send::Parts(parts)
}

/// The message and what must come of it.
pub fn cases() -> Vec<Case> {
    let refused = |refusal| Outcome::Refused(refusal);
    let table = [
        ("no message", Outcome::Dropped, vec![]),
        ("one word", Outcome::Dropped, vec![Xid]),
        ("40 bytes of ones", Outcome::Dropped, vec![Fill(0xff, 40)]),
        ("3000 bytes of ones", Outcome::Dropped, vec![Fill(0xff, 3000)]),
        ("40 bytes of zeros", refused(Refusal::RpcVersion), vec![Xid, Fill(0, 36)]),
        ("a Reply for a Call", Outcome::Dropped, vec![Xid, Word(1), Fill(0, 32)]),
        ("RPC version 3", refused(Refusal::RpcVersion), rpc(3, NFS, 3, 0)),
        ("unknown program", refused(Refusal::Program), rpc(2, 200_000, 3, 0)),
        ("NFS version 9", refused(Refusal::ProgramVersion), rpc(2, NFS, 9, 0)),
        ("NFS procedure 99", refused(Refusal::Procedure), rpc(2, NFS, 3, 99)),
        ("GETATTR without arguments", refused(Refusal::Arguments), rpc(2, NFS, 3, 1)),
        ("WRITE without arguments", refused(Refusal::Arguments), rpc(2, NFS, 3, 7)),
        ("unknown credentials", refused(Refusal::Credential), credential(99, 0)),
        ("credentials of 4 GiB", refused(Refusal::Credential), credential(0, u32::MAX)),
    ];
    let case = |(name, must, message): (&str, Outcome, Vec<Part>)| {
        let case = Case::new(format!("rpc: {name}"), RPC, after_header(&message), must);
        match must {
            Outcome::Refused(_) => case.or(Outcome::Dropped),
            _ => case,
        }
    };
    table.into_iter().map(case).collect()
}

/// A Call without credentials and arguments.
fn rpc(version: u32, program: u32, program_version: u32, procedure: u32) -> Vec<Part> {
    let mut parts = vec![Xid];
    parts.extend([0, version, program, program_version, procedure, 0, 0, 0, 0].map(Word));
    parts
}

/// A NULL call with odd credentials.
fn credential(flavor: u32, length: u32) -> Vec<Part> {
    let mut parts = vec![Xid];
    parts.extend([0, 2, NFS, 3, 0, flavor, length, 0, 0].map(Word));
    parts
}
