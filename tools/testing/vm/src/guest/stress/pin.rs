// SPDX-License-Identifier: GPL-2.0

//! Takes every fourth page of memory, so that nothing is contiguous.
//!
//! Pages in pipes cannot be moved out of the way. Those that are to stay and
//! those that are to go take turns, one and three; then those that are to go
//! are freed. Two free pages may still be neighbours, which soft RDMA needs
//! for its packets, but hardly four.

use crate::guest::procfs;
use crate::settings::MIB;
use anyhow::{ensure, Context, Result};
use rustix::io::Errno;
use rustix::pipe::{fcntl_setpipe_size, pipe_with, PipeFlags};
use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};
use std::os::fd::OwnedFd;

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

type Pipe = (OwnedFd, OwnedFd);

/// Memory in pieces, until it is dropped.
#[derive(Debug)]
pub struct Pinned {
    _stay: Vec<Pipe>,
    // Empty; what they are made of is contiguous, and would be free.
    _gone: Vec<Pipe>,
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
    let left = procfs::free_pages(ORDER)?;
    ensure!(
        left < 4 * CONTIGUOUS_LEFT,
        "memory is not in pieces: {left} pages of {} are in blocks of 4 or more",
        procfs::free_pages(0)?
    );
    Ok(Pinned { _stay: stay, _gone: go })
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
