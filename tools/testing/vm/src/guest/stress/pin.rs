// SPDX-License-Identifier: GPL-2.0

//! Takes every fourth page of memory, so that nothing is contiguous.
//!
//! Pages in pipes cannot be moved out of the way. Those that are to stay and
//! those that are to go take turns, one and three; then those that are to go
//! are freed. Two free pages may still be neighbours, which soft RDMA needs
//! for its packets, but hardly four.
//!
//! That leaves what the kernel keeps for bad times, whole. Once other pages
//! are free, it gives that, too: to sockets, whose messages it puts into eight
//! contiguous pages each while it has them.

use crate::guest::{paths, procfs};
use crate::settings::MIB;
use anyhow::{ensure, Context, Result};
use rustix::io::Errno;
use rustix::pipe::{fcntl_setpipe_size, pipe_with, PipeFlags};
use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};
use std::io::{ErrorKind, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

const PAGE: usize = 4096;

/// Pages that stay in a pipe.
const DEPTH: usize = 256;

/// Pages that go with each one that stays.
const GAP: usize = 3;

/// Contiguous memory that may be left, in pages: 8 MiB.
const CONTIGUOUS_LEFT: u64 = 2048;

/// Memory that has to be left in any case.
const LEFT: u64 = 96 * MIB;

/// Blocks of so many pages, as an order, are to be gone.
pub const ORDER: usize = 2;

/// Bytes that a socket takes until somebody reads.
const SOCKET: usize = 16 << 20;

/// `UNIX_SKB_FRAGS_SZ`, net/unix/af_unix.c: contiguous bytes of a message.
const MESSAGE: usize = 32 << 10;

/// Blocks of that order are what a message is put into.
const MESSAGE_ORDER: usize = 3;

type Pipe = (OwnedFd, OwnedFd);
type Socket = (UnixStream, UnixStream);

/// Memory in pieces, until it is dropped.
#[derive(Debug)]
pub struct Pinned {
    _stay: Vec<Pipe>,
    // Empty; what they are made of is contiguous, and would be free.
    _gone: Vec<Pipe>,
    _unread: Vec<Socket>,
}

/// Breaks free memory into pieces.
pub fn fragment() -> Result<Pinned> {
    let count = procfs::memory("MemFree")? as usize / PAGE / (DEPTH * (GAP + 1)) + 8;
    allow_files(count * 4)?;
    let (stay, go) = (pipes(count, DEPTH)?, pipes(count, DEPTH * (GAP + 1))?);
    let zeros = [0; PAGE * GAP];
    for (stay, go) in stay.iter().zip(&go) {
        if !plenty()? {
            break;
        }
        for _ in 0..DEPTH {
            // Consecutive pages, as a rule.
            put(stay, &zeros[..PAGE]).and_then(|()| put(go, &zeros)).context("a pipe is full")?;
        }
    }
    go.iter().try_for_each(drain).context("cannot empty a pipe")?;
    let unread = take_contiguous()?;
    let left = procfs::free_pages(ORDER)?;
    ensure!(
        left < 4 * CONTIGUOUS_LEFT,
        "memory is not in pieces: {left} pages of {} are in blocks of 4 or more",
        procfs::free_pages(0)?
    );
    Ok(Pinned { _stay: stay, _gone: go, _unread: unread })
}

/// Has messages put into the blocks that are left, for as long as they get
/// fewer.
fn take_contiguous() -> Result<Vec<Socket>> {
    paths::write("/proc/sys/net/core/wmem_default", &SOCKET.to_string())?;
    let mut sockets = Vec::new();
    let mut left = procfs::free_pages(MESSAGE_ORDER)?;
    while left > CONTIGUOUS_LEFT {
        let (writer, reader) = UnixStream::pair().context("no more sockets")?;
        fill(&writer).context("cannot fill a socket")?;
        sockets.push((writer, reader));
        let now = procfs::free_pages(MESSAGE_ORDER)?;
        if now >= left {
            break;
        }
        left = now;
    }
    Ok(sockets)
}

fn fill(mut writer: &UnixStream) -> std::io::Result<()> {
    writer.set_nonblocking(true)?;
    let zeros = [0; MESSAGE];
    loop {
        match writer.write(&zeros) {
            Ok(_) => continue,
            Err(err) if err.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(err) => return Err(err),
        }
    }
}

fn plenty() -> Result<bool> {
    let contiguous = procfs::free_pages(ORDER)? > CONTIGUOUS_LEFT;
    Ok(contiguous && procfs::memory("MemAvailable")? > LEFT)
}

fn put((_, write): &Pipe, pages: &[u8]) -> Result<(), Errno> {
    rustix::io::write(write, pages).map(drop)
}

fn drain((read, _): &Pipe) -> Result<(), Errno> {
    let mut buffer = [0; PAGE * GAP];
    loop {
        match rustix::io::read(read, &mut buffer) {
            Ok(_) => continue,
            Err(Errno::AGAIN) => return Ok(()),
            Err(err) => return Err(err),
        }
    }
}

/// Pipes of `depth` pages each, a power of two.
fn pipes(count: usize, depth: usize) -> Result<Vec<Pipe>> {
    let mut pipes = Vec::with_capacity(count);
    for _ in 0..count {
        let pipe = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).context("no more pipes")?;
        fcntl_setpipe_size(&pipe.1, depth * PAGE).context("cannot make a pipe larger")?;
        pipes.push(pipe);
    }
    Ok(pipes)
}

fn allow_files(more: usize) -> Result<()> {
    let wanted = more as u64 + 1024;
    let now = getrlimit(Resource::Nofile);
    if now.current.is_some_and(|limit| limit < wanted) {
        let limit = Rlimit { current: Some(wanted), maximum: now.maximum.map(|m| m.max(wanted)) };
        setrlimit(Resource::Nofile, limit).context("cannot open so many pipes")?;
    }
    Ok(())
}
