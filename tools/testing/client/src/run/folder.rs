// SPDX-License-Identifier: GPL-2.0

//! READDIR, and the names it gives.

use super::lab::Lab;
use super::read::Offer;
use crate::nfs;
use crate::peer::{Peer, PATIENCE};
use crate::plan::{Folder, Outcome};
use crate::rpc;
use anyhow::{ensure, Result};

/// Lists the folder; what does not fit may be missing at the end.
pub fn perform(lab: &Lab, peer: &mut Peer, plan: &Folder) -> Result<Outcome> {
    let offer = Offer::new(peer, &plan.writes, plan.reply.as_deref())?;
    let xid = peer.new_xid();
    let call = nfs::readdir(xid, lab.folder(), plan.count);
    let reply = match super::reply(peer.exchange(xid, &offer.message(xid, &call), PATIENCE)?) {
        Ok(reply) => reply,
        Err(outcome) => return Ok(outcome),
    };
    let unused = offer.payloads(&reply)?.iter().all(Vec::is_empty);
    ensure!(unused, "names went into a Write chunk");
    let body = offer.body(&reply)?;
    match rpc::reply(xid, &body)? {
        Ok(results) => {
            let (names, all) = nfs::readdir_result(results)?;
            check(&names, all, lab.names())?;
            Ok(Outcome::Reply)
        }
        Err(refusal) => Ok(Outcome::Refused(refusal)),
    }
}

fn check(found: &[String], all: bool, known: &[String]) -> Result<()> {
    ensure!(!found.is_empty(), "the folder is empty");
    for name in found {
        ensure!(known.binary_search(name).is_ok(), "{name:?} is not in the folder");
    }
    ensure!(!all || found.len() == known.len(), "{} names, not {}", found.len(), known.len());
    Ok(())
}
