// SPDX-License-Identifier: GPL-2.0

//! What a transfer costs, in events, and how much it may.

use crate::counts::{FileIo, Posts};
use crate::guest::stress::site::Site;
use crate::guest::{client, transfer};
use crate::job::{Measured, Phase, Workload};
use crate::settings::{Session, GIB, MIB};
use anyhow::{ensure, Result};
use std::fmt;

/// Pages of a GiB.
const PAGES: u64 = GIB / 4096;

/// bio_vecs for each MiB: one for each granule, and one for a page of its own.
const BVECS: u64 = 17;

/// RDMA work requests for each MiB: one for each segment of the client.
const REQUESTS: u64 = 8;

/// Events of one direction. Of all but bytes, a hundred times as many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    /// bio_vecs for each MiB.
    pub bvecs: u64,
    /// RDMA work requests for each MiB.
    pub requests: u64,
    /// Pages that nfsd's threads allocated, for each GiB.
    pub pages: u64,
}

impl Figures {
    fn new(phase: &Phase, io: FileIo, posts: Posts) -> Self {
        let bytes = phase.bytes.max(1);
        let per_mib = |events: u64| events.saturating_mul(100 * MIB) / bytes;
        let pages = u128::from(phase.counts.nfsd_pages()) * u128::from(GIB);
        let pages = u64::try_from(pages / u128::from(bytes)).unwrap_or(u64::MAX);
        Self { bvecs: per_mib(io.bvecs), requests: per_mib(posts.requests), pages }
    }

    /// Those of a READ.
    pub fn read(phase: &Phase) -> Self {
        Self::new(phase, phase.counts.fs_read, phase.counts.rdma_write)
    }

    /// Those of a WRITE.
    pub fn write(phase: &Phase) -> Self {
        Self::new(phase, phase.counts.fs_write, phase.counts.rdma_read)
    }

    /// Fails if there are more bio_vecs or work requests than there should
    /// be, or more pages than `percent` of the payload.
    pub fn check(&self, what: &str, percent: u64) -> Result<()> {
        let limits = [
            ("bio_vecs", self.bvecs, BVECS * 100),
            ("work requests", self.requests, REQUESTS * 100),
            ("pages", self.pages, PAGES * percent / 100),
        ];
        for (name, found, most) in limits {
            ensure!(found <= most, "{what}: too many {name}: {self}");
        }
        Ok(())
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}.{:02} bio_vecs and {}.{:02} RDMA work requests per MiB, {} pages per GiB",
            self.bvecs / 100,
            self.bvecs % 100,
            self.requests / 100,
            self.requests % 100,
            self.pages
        )
    }
}

/// Moves `size` bytes to and fro with the session, verified.
pub fn measure(site: &mut Site<'_>, session: &Session, size: u64) -> Result<Measured> {
    let workload = Workload { size, fsx: None, fsx_operations: 0, seed: site.seed };
    site.host.mount(session)?;
    let measured = transfer::run(session, &workload, &site.counters, site.progress())?;
    client::unmount()?;
    Ok(measured)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::Counts;

    fn phase(bvecs: u64, requests: u64, pages: u64) -> Phase {
        let counts = Counts {
            fs_read: FileIo { calls: 1, bvecs, bytes: 4 * MIB },
            rdma_write: Posts { chunks: 1, requests },
            bulk_pages: pages,
            ..Counts::default()
        };
        Phase { bytes: 4 * MIB, seconds: 1.0, counts }
    }

    #[test]
    fn events_are_per_mib_and_pages_per_gib() {
        let figures = Figures::read(&phase(4 * 16, 4 * 8, 1));
        assert_eq!(figures, Figures { bvecs: 1600, requests: 800, pages: 256 });
        assert!(figures.check("x", 1).is_ok());
    }

    #[test]
    fn what_is_too_much_is_told() {
        let err = |bvecs, requests, pages| {
            let err = Figures::read(&phase(bvecs, requests, pages)).check("x", 1).unwrap_err();
            err.to_string()
        };
        assert!(err(69, 32, 0).starts_with("x: too many bio_vecs: 17.25 bio_vecs"));
        assert!(err(64, 33, 0).starts_with("x: too many work requests"));
        assert!(err(64, 32, 11).starts_with("x: too many pages"));
    }
}
