// SPDX-License-Identifier: GPL-2.0

//! READs that are cut short, and calls that use the same pages afterwards.

use super::lab::{self, Lab, SOURCE_LENGTH};
use super::{folder, read};
use crate::peer::Peer;
use crate::plan::{CutShort, Folder, Outcome, Read, LARGEST_PAYLOAD};
use crate::rpc::Refusal;
use crate::splice::Vectors;
use anyhow::{ensure, Context, Result};

/// More than the server has threads, so that each gets its share.
const ROUNDS: usize = 12;

/// Begins with a READ that is cut short, and looks for its pages in the
/// Replies and in the file.
pub fn perform(lab: &Lab, peer: &mut Peer, plan: &CutShort) -> Result<Outcome> {
    for _ in 0..ROUNDS {
        cut_short(lab, peer, plan)?;
        list(lab, peer)?;
    }
    for _ in 0..ROUNDS {
        cut_short(lab, peer, plan)?;
        read_vectors(lab, peer)?;
    }
    for round in 0..ROUNDS {
        check(lab, peer).with_context(|| format!("READ {round} afterwards"))?;
    }
    Ok(Outcome::Reply)
}

fn cut_short(lab: &Lab, peer: &mut Peer, plan: &CutShort) -> Result<()> {
    let writes = vec![plan.room.clone()];
    let plan = Read { count: plan.count, writes, ..Read::default() };
    let outcome = read::perform(lab, peer, &plan)?;
    let refused = matches!(outcome, Outcome::BadChunk | Outcome::Refused(Refusal::System));
    ensure!(refused, "{outcome} where the Write chunk is too short");
    Ok(())
}

/// READDIR writes into the pages of its Reply.
fn list(lab: &Lab, peer: &mut Peer) -> Result<()> {
    let plan = Folder { count: 32768, writes: vec![], reply: Some(vec![65536]) };
    lab::want_reply(folder::perform(lab, peer, &plan)?).context("READDIR")
}

/// So does a READ that does not splice; its bytes are from another place, so
/// that the file changes where they go into it.
fn read_vectors(lab: &Lab, peer: &mut Peer) -> Result<()> {
    let _vectors = Vectors::choose()?;
    let offset = (SOURCE_LENGTH - LARGEST_PAYLOAD - 1) as u64;
    source(lab, peer, offset, LARGEST_PAYLOAD).context("READ without splice")
}

/// All bytes of the file are what they were.
fn check(lab: &Lab, peer: &mut Peer) -> Result<()> {
    source(lab, peer, 0, LARGEST_PAYLOAD)?;
    source(lab, peer, LARGEST_PAYLOAD as u64, SOURCE_LENGTH - LARGEST_PAYLOAD)
}

fn source(lab: &Lab, peer: &mut Peer, offset: u64, count: usize) -> Result<()> {
    let plan = Read { offset, ..lab::one_segment(count) };
    lab::want_reply(read::perform(lab, peer, &plan)?)
}
