// SPDX-License-Identifier: GPL-2.0

//! Messages that the plan gives word by word.

use super::lab::Lab;
use crate::header::Segment;
use crate::nfs;
use crate::peer::Peer;
use crate::plan::{Memory, Outcome, Part};
use crate::rpc;
use crate::verbs::{Access, Region};
use crate::xdr::Writer;
use anyhow::Result;
use std::time::Duration;

/// Bytes of the memory that a segment names, whatever length it tells.
const MEMORY: usize = 65536;

/// Not the key of anything: adapters number their keys from small numbers or
/// at random, and an address of zero is never registered.
const UNKNOWN_KEY: u32 = 0xdead_beef;

/// Sends the message and tells what came of it.
pub fn perform(lab: &Lab, peer: &mut Peer, parts: &[Part], patience: Duration) -> Result<Outcome> {
    let xid = peer.new_xid();
    let mut regions = Vec::new();
    let mut writer = Writer::new();
    for part in parts {
        append(lab, peer, xid, *part, &mut writer, &mut regions)?;
    }
    let seen = peer.exchange(xid, &writer.into_bytes(), patience)?;
    let reply = match super::reply(seen) {
        Ok(reply) => reply,
        Err(outcome) => return Ok(outcome),
    };
    if reply.body.is_empty() {
        return Ok(Outcome::Reply);
    }
    Ok(rpc::reply(xid, &reply.body)?.map_or_else(Outcome::Refused, |_| Outcome::Reply))
}

fn append(
    lab: &Lab,
    peer: &Peer,
    xid: u32,
    part: Part,
    writer: &mut Writer,
    regions: &mut Vec<Region>,
) -> Result<()> {
    match part {
        Part::Xid => writer.word(xid),
        Part::Word(word) => writer.word(word),
        Part::Null => writer.raw(&nfs::null(xid)),
        Part::Read(count) => writer.raw(&nfs::read(xid, lab.source(), 0, count)),
        Part::Fill(byte, length) => writer.raw(&vec![byte; length]),
        Part::Segment(memory, length) => {
            let (handle, offset) = place(peer, xid, memory, regions)?;
            Segment { handle, length, offset }.encode(writer);
            writer
        }
    };
    Ok(())
}

/// Key and address.
fn place(peer: &Peer, xid: u32, memory: Memory, regions: &mut Vec<Region>) -> Result<(u32, u64)> {
    let access = match memory {
        Memory::Readable | Memory::Call | Memory::Withdrawn => Access::Read,
        Memory::Writable => Access::Write,
        Memory::Private => Access::None,
        Memory::Unknown => return Ok((UNKNOWN_KEY, 0)),
    };
    let mut region = peer.region(MEMORY, access)?;
    let place = (region.remote_key(), region.address(0));
    match memory {
        Memory::Call => region.write(0, &nfs::null(xid)),
        Memory::Withdrawn => region.withdraw(),
        _ => {}
    }
    regions.push(region);
    Ok(place)
}
