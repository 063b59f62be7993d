// SPDX-License-Identifier: GPL-2.0

//! READ, and where its bytes went.

use super::lab::Lab;
use crate::header::{Header, Reply, RDMA_MSG};
use crate::nfs::{self, ReadResult};
use crate::pattern;
use crate::peer::{Peer, PATIENCE};
use crate::plan::{Outcome, Read};
use crate::rpc;
use crate::target::Target;
use crate::verbs::Access;
use crate::xdr::padding;
use anyhow::{bail, ensure, Result};

/// Memory that the Call offers for its Reply.
pub struct Offer {
    writes: Vec<Target>,
    reply: Option<Target>,
}

impl Offer {
    /// Registers memory for segments of these lengths.
    pub fn new(peer: &Peer, writes: &[Vec<usize>], reply: Option<&[usize]>) -> Result<Self> {
        let target = |lengths: &[usize]| Target::new(peer, lengths, Access::Write);
        let writes = writes.iter().map(|lengths| target(lengths)).collect::<Result<_>>()?;
        Ok(Self { writes, reply: reply.map(target).transpose()? })
    }

    /// The Call with its header.
    pub fn message(&self, xid: u32, call: &[u8]) -> Vec<u8> {
        let writes = self.writes.iter().map(Target::segments).collect();
        let reply = self.reply.as_ref().map(Target::segments);
        let header = Header { xid, procedure: RDMA_MSG, reads: Vec::new(), writes, reply };
        header.encode().raw(call).clone().into_bytes()
    }

    /// The RPC message of the Reply, from wherever it is.
    pub fn body(&self, reply: &Reply) -> Result<Vec<u8>> {
        match (&self.reply, &reply.reply) {
            (None, None) => Ok(reply.body.clone()),
            (Some(target), Some(echo)) if reply.body.is_empty() => target.written(echo),
            (Some(target), Some(echo)) => {
                ensure!(target.written(echo)?.is_empty(), "the reply is inline and in its chunk");
                Ok(reply.body.clone())
            }
            // RFC 8166 section 4.3.3: the chunk need not be returned unused.
            (Some(_), None) => Ok(reply.body.clone()),
            (None, Some(_)) => bail!("the reply has a Reply chunk that nobody offered"),
        }
    }

    /// What each Write chunk received.
    pub fn payloads(&self, reply: &Reply) -> Result<Vec<Vec<u8>>> {
        let same = self.writes.len() == reply.writes.len();
        ensure!(same, "the reply has {} Write chunks", reply.writes.len());
        self.writes.iter().zip(&reply.writes).map(|(target, echo)| target.written(echo)).collect()
    }

    /// Whether the server has begun to write.
    pub fn is_touched(&self) -> bool {
        self.writes.iter().any(Target::is_touched)
    }
}

/// Reads from the source and compares.
pub fn perform(lab: &Lab, peer: &mut Peer, plan: &Read) -> Result<Outcome> {
    let wanted = lab.source_bytes(plan.offset, plan.count);
    match fetch(peer, lab.source(), plan)? {
        Ok(found) => {
            pattern::compare("data", &found, &wanted)?;
            Ok(Outcome::Reply)
        }
        Err(outcome) => Ok(outcome),
    }
}

/// Reads a file from its beginning into one segment.
pub fn whole(peer: &mut Peer, file: &[u8], length: usize) -> Result<Vec<u8>> {
    match fetch(peer, file, &super::lab::one_segment(length))? {
        Ok(found) => Ok(found),
        Err(outcome) => bail!("READ: {outcome}"),
    }
}

fn fetch(
    peer: &mut Peer,
    file: &[u8],
    plan: &Read,
) -> Result<std::result::Result<Vec<u8>, Outcome>> {
    let offer = Offer::new(peer, &plan.writes, plan.reply.as_deref())?;
    let xid = peer.new_xid();
    let call = nfs::read(xid, file, plan.offset, u32::try_from(plan.count)?);
    let reply = match super::reply(peer.exchange(xid, &offer.message(xid, &call), PATIENCE)?) {
        Ok(reply) => reply,
        Err(outcome) => return Ok(Err(outcome)),
    };
    let body = offer.body(&reply)?;
    let result = match rpc::reply(xid, &body)? {
        Ok(results) => nfs::read_result(results)?,
        Err(refusal) => return Ok(Err(Outcome::Refused(refusal))),
    };
    Ok(Ok(content(&result, offer.payloads(&reply)?)?))
}

/// The data, from the Write chunk or inline.
fn content(result: &ReadResult<'_>, payloads: Vec<Vec<u8>>) -> Result<Vec<u8>> {
    ensure!(result.count == result.length, "count and length of the data differ");
    let mut payloads = payloads.into_iter();
    if let Some(payload) = payloads.next() {
        ensure!(result.inline.is_empty(), "the data was not taken out of the reply");
        ensure!(payloads.all(|rest| rest.is_empty()), "a second Write chunk was used");
        ensure!(payload.len() == result.count as usize, "the Write chunk has another length");
        return Ok(payload);
    }
    let length = result.count as usize;
    let expected = length + padding(length);
    ensure!(result.inline.len() == expected, "{} bytes follow the length", result.inline.len());
    let (data, pad) = result.inline.split_at(length);
    ensure!(pad.iter().all(|byte| *byte == 0), "XDR padding is not zero");
    Ok(data.to_vec())
}
