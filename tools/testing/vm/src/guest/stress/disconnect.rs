// SPDX-License-Identifier: GPL-2.0

//! TCP clients that go away in the middle of anything.

use crate::guest::client;
use crate::guest::paths::MOUNT;
use crate::guest::stress::flood::{self, Buffers, Target};
use crate::guest::stress::load::Load;
use crate::guest::stress::random::Random;
use crate::guest::stress::site::{Site, THREADS};
use crate::guest::stress::watch::Watch;
use crate::guest::stress::{granules, End};
use crate::settings::{Version, MIB};
use anyhow::{Context, Result};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

/// Most calls on a connection.
const CALLS: u64 = 6;

pub fn play(site: &mut Site<'_>, time: Duration) -> Result<End> {
    let _buffers = Buffers::enlarge()?;
    site.mount()?;
    let read = Target::create("broken-off", 2 * MIB, site.seed)?;
    let written = Target::create("half-written", 2 * MIB, site.seed)?;
    let watch = Watch::start(granules::bound(THREADS));
    let mut random = Random::new(site.seed);
    let mut count = 0_u64;
    let load = Load::start(site, MOUNT, Version::V42);
    let done = load.during(time, || {
        count += 1;
        connection(&read, &written, &mut random)
    });
    let (seen, done) = (watch.stop()?, done?);
    let after = site.all_idle(THREADS)?;
    read.compare()?;
    // Whatever came of the WRITEs, they wrote what was there.
    written.compare()?;
    client::unmount()?;
    site.say(format!("{done}; {count} connections broken off, at most {} granules", seen.most));
    site.say(format!("afterwards {after}"));
    Ok(End::done())
}

/// One connection: whole calls, perhaps a part of another, perhaps a part of
/// the replies.
fn connection(read: &Target, written: &Target, random: &mut Random) -> Result<()> {
    let mut stream = flood::connect()?;
    for xid in 0..random.below(CALLS) {
        let call = call(xid as u32, read, written, random);
        if stream.write_all(&call).is_err() {
            return Ok(());
        }
    }
    if random.below(2) == 0 {
        let call = call(CALLS as u32, read, written, random);
        let part = random.below(call.len() as u64) as usize;
        // The server may have closed it first.
        let _ = stream.write_all(&call[..part]);
    }
    take(&mut stream, random).context("cannot set a time-out")?;
    thread::sleep(Duration::from_millis(random.below(50)));
    Ok(())
}

fn call(xid: u32, read: &Target, written: &Target, random: &mut Random) -> Vec<u8> {
    let offset = random.below(MIB);
    let count = random.below(MIB) + 1;
    if random.below(3) == 0 {
        let data = &written.data[offset as usize..(offset + count) as usize];
        written.handle.write(xid, offset, data)
    } else {
        read.handle.read(xid, offset, count as u32)
    }
}

fn take(stream: &mut TcpStream, random: &mut Random) -> std::io::Result<()> {
    let mut part = vec![0; random.below(2 * MIB) as usize];
    stream.set_read_timeout(Some(Duration::from_millis(random.below(200) + 1)))?;
    let _ = stream.read(&mut part);
    Ok(())
}
