// SPDX-License-Identifier: GPL-2.0

//! Checks that the counters agree with each other.
//!
//! A probe at a wrong offset, a mount that bypasses the server, or a cache
//! that answers in its place would otherwise yield figures that look fine.

use crate::counts::FileIo;
use crate::job::Phase;
use crate::settings::{IoMode, Session, Transport};
use anyhow::{ensure, Result};

/// Checks the counts of a phase that wrote.
pub fn write(session: &Session, phase: &Phase) -> Result<()> {
    let counts = &phase.counts;
    ensure!(
        counts.nfsd_written >= phase.bytes,
        "nfsd counted {} bytes written, the client {}",
        counts.nfsd_written,
        phase.bytes
    );
    agrees("written", counts.fs_write, counts.nfsd_written)?;
    uses_rdma(session, counts.rdma_read.requests)
}

/// Checks the counts of a phase that read.
pub fn read(session: &Session, phase: &Phase) -> Result<()> {
    let counts = &phase.counts;
    ensure!(
        counts.nfsd_read >= phase.bytes,
        "nfsd counted {} bytes read, the client {}",
        counts.nfsd_read,
        phase.bytes
    );
    match session.io {
        // A buffered READ is spliced and never becomes an iterator.
        IoMode::Buffered if counts.fs_read.calls == 0 => {}
        _ => agrees("read", counts.fs_read, counts.nfsd_read)?,
    }
    // Protected payloads are no chunks of their own, they go with the Reply.
    uses_rdma(session, counts.rdma_write.requests + counts.rdma_reply.requests)
}

/// Direct READs are widened to the alignment of the file system, and may
/// reach past the end of the file; READs after the end count no bytes.
fn agrees(what: &str, io: FileIo, nfsd: u64) -> Result<()> {
    let most = nfsd + nfsd / 16 + (1 << 20);
    ensure!(
        (nfsd..=most).contains(&io.bytes),
        "the probe counted {} bytes {what}, nfsd {nfsd}: struct iov_iter may have changed",
        io.bytes
    );
    ensure!(
        io.bvecs >= io.calls && io.bvecs * 4096 <= most.max(io.calls * 4096) * 16,
        "the probe counted {} bio_vecs in {} calls: struct iov_iter may have changed",
        io.bvecs,
        io.calls
    );
    Ok(())
}

fn uses_rdma(session: &Session, requests: u64) -> Result<()> {
    match session.transport {
        Transport::Rdma => ensure!(requests > 0, "no RDMA work request was counted"),
        Transport::Tcp => ensure!(requests == 0, "{requests} RDMA work requests on a TCP mount"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io(calls: u64, bvecs: u64, bytes: u64) -> FileIo {
        FileIo { calls, bvecs, bytes }
    }

    #[test]
    fn sums_that_agree_pass() {
        assert!(agrees("read", io(64, 64 * 256, 64 << 20), 64 << 20).is_ok());
        assert!(agrees("read", io(64, 64, 64 << 20), 64 << 20).is_ok());
    }

    #[test]
    fn a_wrong_offset_is_noticed() {
        assert!(agrees("read", io(64, 64, 0xffff_8880_0000_0000), 64 << 20).is_err());
        assert!(agrees("read", io(64, 64, 0), 64 << 20).is_err());
        assert!(agrees("read", io(64, 0xffff_8880_0000, 64 << 20), 64 << 20).is_err());
        assert!(agrees("read", io(64, 0, 64 << 20), 64 << 20).is_err());
    }
}
