// SPDX-License-Identifier: GPL-2.0

//! Calls without much data.

use super::lab::Lab;
use crate::nfs;
use crate::peer::Peer;
use crate::plan::Outcome;
use crate::rpc;
use crate::xdr::Reader;
use anyhow::{bail, ensure, Result};

/// A size that no other case leaves behind, in bytes.
const SIZE: u64 = 12_345;

/// Creates, looks up, resizes and measures a file.
pub fn perform(lab: &Lab, peer: &mut Peer) -> Result<Outcome> {
    let created = call(peer, |xid| nfs::create(xid, lab.root(), "others"), nfs::create_result)?;
    let found = call(peer, |xid| nfs::lookup(xid, lab.root(), "others"), nfs::lookup_result)?;
    ensure!(created == found, "LOOKUP finds another file than CREATE made");
    call(peer, |xid| nfs::set_size(xid, &found, SIZE), |mut results| nfs::ok(&mut results))?;
    let size = call(peer, |xid| nfs::getattr(xid, &found), nfs::getattr_result)?;
    ensure!(size == SIZE, "the file has {size} bytes, not {SIZE}");
    Ok(Outcome::Reply)
}

fn call<T>(
    peer: &mut Peer,
    build: impl FnOnce(u32) -> Vec<u8>,
    parse: impl FnOnce(Reader<'_>) -> Result<T>,
) -> Result<T> {
    let xid = peer.new_xid();
    let body = peer.inline(xid, &build(xid))?;
    match rpc::reply(xid, &body)? {
        Ok(results) => parse(results),
        Err(refusal) => bail!("a call was refused: {refusal}"),
    }
}
