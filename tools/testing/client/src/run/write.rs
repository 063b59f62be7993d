// SPDX-License-Identifier: GPL-2.0

//! WRITE, and what became of its bytes.

use super::cut::{lengths, Stream};
use super::lab::{self, Lab};
use crate::header::{Header, ReadSegment, RDMA_MSG, RDMA_NOMSG};
use crate::nfs;
use crate::pattern;
use crate::peer::{Peer, PATIENCE};
use crate::plan::{Chunk, Cutting, From, Outcome, Size, Upto, Write, LARGEST_PAYLOAD};
use crate::reduce::{reduce, Reduced};
use crate::rpc;
use crate::target::Target;
use anyhow::{ensure, Result};

/// A Call with the memory that its Read chunks name.
pub struct Message {
    /// The message.
    pub bytes: Vec<u8>,
    // Registered for as long as the server may read.
    _targets: Vec<Target>,
}

/// Writes to the sink, and compares what it holds then.
pub fn perform(lab: &mut Lab, peer: &mut Peer, plan: &Write) -> Result<Outcome> {
    let stream = Stream::new(plan.size, lab.sink())?;
    let data = pattern::bytes(lab.new_seed(), 0, stream.length);
    let outcome = send(peer, lab.sink(), 0, &data, plan)?;
    if outcome == Outcome::Reply {
        let length = data.len().min(LARGEST_PAYLOAD);
        let found = lab.sink_bytes(length)?;
        pattern::compare("what was written", &found, &data[..length])?;
    }
    Ok(outcome)
}

/// Writes in the usual way: the data in one Read chunk of one segment.
pub fn simple(peer: &mut Peer, file: &[u8], offset: u64, data: &[u8]) -> Result<()> {
    let plan = usual(data.len(), 1);
    lab::want_reply(send(peer, file, offset, data, &plan)?)
}

/// The usual form of a WRITE.
pub fn usual(length: usize, segments: usize) -> Write {
    let cutting = Cutting::Pieces(segments);
    let chunk = Chunk { from: From::Data(0), upto: Upto::EndOfData, cutting };
    Write { size: Size::Data(length), chunks: vec![chunk], call: None }
}

fn send(peer: &mut Peer, file: &[u8], offset: u64, data: &[u8], plan: &Write) -> Result<Outcome> {
    let xid = peer.new_xid();
    let message = message(peer, xid, file, offset, data, plan)?;
    let reply = match super::reply(peer.exchange(xid, &message.bytes, PATIENCE)?) {
        Ok(reply) => reply,
        Err(outcome) => return Ok(outcome),
    };
    match rpc::reply(xid, &reply.body)? {
        Ok(results) => {
            let count = nfs::write_result(results)? as usize;
            let wanted = data.len().min(LARGEST_PAYLOAD);
            ensure!(count == wanted, "{count} bytes were written, not {wanted}");
            Ok(Outcome::Reply)
        }
        Err(refusal) => Ok(Outcome::Refused(refusal)),
    }
}

/// The Call as the plan has it.
pub fn message(
    peer: &Peer,
    xid: u32,
    file: &[u8],
    offset: u64,
    data: &[u8],
    plan: &Write,
) -> Result<Message> {
    let (call, start) = nfs::write(xid, file, offset, data);
    let stream = Stream { start, length: data.len() };
    let cuts = plan.chunks.iter().map(|chunk| stream.cut(chunk)).collect::<Result<Vec<_>>>()?;
    let Reduced { rest, chunks } = reduce(&call, &cuts)?;
    let mut header = Header { xid, procedure: RDMA_MSG, ..Header::default() };
    let mut targets = Vec::new();
    let mut inline = rest;
    if let Some(cutting) = &plan.call {
        header.procedure = RDMA_NOMSG;
        add(peer, &mut header, &mut targets, 0, &inline, cutting)?;
        inline = Vec::new();
    }
    for ((position, content), chunk) in chunks.iter().zip(&plan.chunks) {
        add(peer, &mut header, &mut targets, *position, content, &chunk.cutting)?;
    }
    let bytes = header.encode().raw(&inline).clone().into_bytes();
    Ok(Message { bytes, _targets: targets })
}

fn add(
    peer: &Peer,
    header: &mut Header,
    targets: &mut Vec<Target>,
    position: u32,
    content: &[u8],
    cutting: &Cutting,
) -> Result<()> {
    let target = Target::holding(peer, content, &lengths(cutting, content.len()))?;
    let segments = target.segments().into_iter();
    header.reads.extend(segments.map(|segment| ReadSegment { position, segment }));
    targets.push(target);
    Ok(())
}
