// SPDX-License-Identifier: GPL-2.0

//! Many calls, and an end of the connection in the middle of them.

use super::lab::Lab;
use super::read::Offer;
use super::write::{self, Message};
use crate::header::Header;
use crate::nfs;
use crate::pattern;
use crate::peer::{Hello, Peer};
use crate::plan::{pieces, Burst, Calls, Ending, Moment, Outcome, LARGEST_PAYLOAD};
use anyhow::{ensure, Result};
use std::thread;
use std::time::{Duration, Instant};

const SEGMENTS: usize = 16;
/// The server's adapter gives up within that time.
const GIVE_UP: Duration = Duration::from_secs(120);
/// The server begins to write within that time.
const BEGIN: Duration = Duration::from_secs(20);
/// The end of a connection is known within that time.
const NOTICE: Duration = Duration::from_secs(5);
/// Sets of memory that the messages share: the server may write to them in any
/// order, and nobody looks at them.
const SHARED: usize = 4;

/// Sends the calls and ends the connection.
pub fn perform(lab: &mut Lab, burst: &Burst) -> Result<Outcome> {
    let mut peer = Peer::with_receives(lab.server(), Hello::Plain, burst.receives)?;
    peer.endpoint.repost_receives(false);
    let memory = prepare(lab, &mut peer, burst)?;
    send(&mut peer, &memory.messages)?;
    wait(burst.moment, &memory.offers)?;
    match burst.ending {
        Ending::Disconnect => peer.endpoint.disconnect()?,
        Ending::Drop => {}
        Ending::Silence => fall_silent(lab, &mut peer)?,
    }
    Ok(Outcome::Closed)
}

/// Sends all, or as many as the server takes: on iWARP a reply that finds no
/// Receive ends the connection at once.
fn send(peer: &mut Peer, messages: &[Vec<u8>]) -> Result<()> {
    for message in messages {
        let Err(err) = peer.endpoint.send(message) else { continue };
        let over = peer.endpoint.wait_for_disconnect(NOTICE)?;
        return if over { Ok(()) } else { Err(err) };
    }
    Ok(())
}

/// Messages and the memory that they name.
#[derive(Default)]
struct Prepared {
    messages: Vec<Vec<u8>>,
    offers: Vec<Offer>,
    _calls: Vec<Message>,
}

fn prepare(lab: &mut Lab, peer: &mut Peer, burst: &Burst) -> Result<Prepared> {
    let mut prepared = Prepared::default();
    if burst.of == Calls::Read {
        let writes = [pieces(LARGEST_PAYLOAD, SEGMENTS)];
        let offers = (0..SHARED).map(|_| Offer::new(peer, &writes, None));
        prepared.offers = offers.collect::<Result<_>>()?;
    }
    for number in 0..burst.calls {
        let xid = peer.new_xid();
        let message = match burst.of {
            Calls::Null => null(xid),
            Calls::Read => {
                let call = nfs::read(xid, lab.source(), 0, LARGEST_PAYLOAD as u32);
                prepared.offers[number % SHARED].message(xid, &call)
            }
            Calls::Write => {
                let message = write(lab, peer, xid)?;
                let bytes = message.bytes.clone();
                prepared._calls.push(message);
                bytes
            }
        };
        prepared.messages.push(message);
    }
    Ok(prepared)
}

fn null(xid: u32) -> Vec<u8> {
    let header = Header { xid, ..Header::default() };
    header.encode().raw(&nfs::null(xid)).clone().into_bytes()
}

fn write(lab: &mut Lab, peer: &Peer, xid: u32) -> Result<Message> {
    let data = pattern::bytes(lab.new_seed(), 0, LARGEST_PAYLOAD);
    let plan = write::usual(data.len(), SEGMENTS);
    write::message(peer, xid, lab.sink(), 0, &data, &plan)
}

fn wait(moment: Moment, offers: &[Offer]) -> Result<()> {
    match moment {
        Moment::AtOnce => {}
        Moment::Seconds(seconds) => thread::sleep(Duration::from_secs(seconds)),
        Moment::Written => {
            let deadline = Instant::now() + BEGIN;
            while !offers.iter().any(Offer::is_touched) {
                ensure!(Instant::now() < deadline, "the server writes nothing");
            }
        }
    }
    Ok(())
}

/// While the server waits for this client, another one must be served.
fn fall_silent(lab: &mut Lab, peer: &mut Peer) -> Result<()> {
    peer.endpoint.fall_silent()?;
    lab.check_bystander()?;
    let noticed = peer.endpoint.wait_for_disconnect(GIVE_UP)?;
    ensure!(noticed, "the server still waits after {} s", GIVE_UP.as_secs());
    Ok(())
}
