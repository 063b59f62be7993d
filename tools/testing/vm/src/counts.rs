// SPDX-License-Identifier: GPL-2.0

//! Totals of kernel events, and their differences.

use crate::granules::Granules;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Iterators that reached the file system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileIo {
    /// Calls.
    pub calls: u64,
    /// bio_vecs, summed over the calls.
    pub bvecs: u64,
    /// Bytes, summed over the calls.
    pub bytes: u64,
}

/// RDMA work requests of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posts {
    /// Chunks posted.
    pub chunks: u64,
    /// Send queue entries that these took.
    pub requests: u64,
}

/// Events since the counters were installed, or in an interval.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// RDMA Reads that the server posted (NFS WRITE).
    pub rdma_read: Posts,
    /// RDMA Writes that the server posted for Write chunks (NFS READ).
    pub rdma_write: Posts,
    /// RDMA Writes that the server posted for Reply chunks.
    pub rdma_reply: Posts,
    /// `vfs_iocb_iter_read()` from nfsd threads.
    pub fs_read: FileIo,
    /// `vfs_iocb_iter_write()` from nfsd threads.
    pub fs_write: FileIo,
    /// Buffers that the file system spliced into replies; 0 where not counted.
    pub spliced: u64,
    /// Pages of the bulk allocator to nfsd threads.
    pub bulk_pages: u64,
    /// Single allocations of nfsd threads outside of the page cache, by order.
    pub by_order: BTreeMap<u32, u64>,
    /// Pages that nfsd threads allocated as movable: the page cache.
    pub movable_pages: u64,
    /// Pages taken from the buddy lists under zone->lock, by anybody.
    pub zone_locked_pages: u64,
    /// The same, by nfsd threads.
    #[serde(default)]
    pub zone_locked_by_nfsd: u64,
    /// Pages drained to the buddy lists under zone->lock, by anybody.
    pub drained_pages: u64,
    /// `pgalloc_*` of /proc/vmstat: all pages allocated, by anybody.
    pub vm_alloc: u64,
    /// `pgfree` of /proc/vmstat.
    pub vm_free: u64,
    /// Bytes that nfsd says it read.
    pub nfsd_read: u64,
    /// Bytes that nfsd says it wrote.
    pub nfsd_written: u64,
    /// CPU time of the whole guest, in ticks.
    pub cpu_ticks: u64,
    /// CPU time of the nfsd threads, in ticks.
    pub nfsd_ticks: u64,
    /// Granules of the server, in a kernel that has them.
    #[serde(default)]
    pub granules: Option<Granules>,
}

impl FileIo {
    fn since(self, earlier: Self) -> Self {
        Self {
            calls: self.calls.saturating_sub(earlier.calls),
            bvecs: self.bvecs.saturating_sub(earlier.bvecs),
            bytes: self.bytes.saturating_sub(earlier.bytes),
        }
    }
}

impl Posts {
    fn since(self, earlier: Self) -> Self {
        Self {
            chunks: self.chunks.saturating_sub(earlier.chunks),
            requests: self.requests.saturating_sub(earlier.requests),
        }
    }
}

impl Counts {
    /// What happened between `earlier` and this snapshot.
    pub fn since(&self, earlier: &Self) -> Self {
        let less = |a: u64, b: u64| a.saturating_sub(b);
        Self {
            rdma_read: self.rdma_read.since(earlier.rdma_read),
            rdma_write: self.rdma_write.since(earlier.rdma_write),
            rdma_reply: self.rdma_reply.since(earlier.rdma_reply),
            fs_read: self.fs_read.since(earlier.fs_read),
            fs_write: self.fs_write.since(earlier.fs_write),
            spliced: less(self.spliced, earlier.spliced),
            bulk_pages: less(self.bulk_pages, earlier.bulk_pages),
            by_order: orders_since(&self.by_order, &earlier.by_order),
            movable_pages: less(self.movable_pages, earlier.movable_pages),
            zone_locked_pages: less(self.zone_locked_pages, earlier.zone_locked_pages),
            zone_locked_by_nfsd: less(self.zone_locked_by_nfsd, earlier.zone_locked_by_nfsd),
            drained_pages: less(self.drained_pages, earlier.drained_pages),
            vm_alloc: less(self.vm_alloc, earlier.vm_alloc),
            vm_free: less(self.vm_free, earlier.vm_free),
            nfsd_read: less(self.nfsd_read, earlier.nfsd_read),
            nfsd_written: less(self.nfsd_written, earlier.nfsd_written),
            cpu_ticks: less(self.cpu_ticks, earlier.cpu_ticks),
            nfsd_ticks: less(self.nfsd_ticks, earlier.nfsd_ticks),
            granules: self.granules.map(|now| now.since(&earlier.granules.unwrap_or_default())),
        }
    }

    /// Pages that nfsd threads allocated outside of the page cache.
    pub fn nfsd_pages(&self) -> u64 {
        let single: u64 = self.by_order.iter().map(|(order, count)| count << order).sum();
        self.bulk_pages + single
    }
}

fn orders_since(now: &BTreeMap<u32, u64>, earlier: &BTreeMap<u32, u64>) -> BTreeMap<u32, u64> {
    let before = |order| earlier.get(order).copied().unwrap_or(0);
    let differences =
        now.iter().map(|(order, count)| (*order, count.saturating_sub(before(order))));
    differences.filter(|(_, count)| *count > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_weighted_by_order() {
        let counts = Counts {
            bulk_pages: 100,
            by_order: BTreeMap::from([(0, 7), (4, 2)]),
            movable_pages: 1000,
            ..Counts::default()
        };
        assert_eq!(counts.nfsd_pages(), 100 + 7 + 32);
    }

    #[test]
    fn a_difference_drops_what_did_not_happen() {
        let earlier = Counts {
            bulk_pages: 10,
            by_order: BTreeMap::from([(0, 5), (3, 1)]),
            rdma_read: Posts { chunks: 1, requests: 8 },
            ..Counts::default()
        };
        let now = Counts {
            bulk_pages: 25,
            by_order: BTreeMap::from([(0, 5), (3, 4), (4, 2)]),
            rdma_read: Posts { chunks: 3, requests: 24 },
            ..Counts::default()
        };
        let passed = now.since(&earlier);
        assert_eq!(passed.bulk_pages, 15);
        assert_eq!(passed.by_order, BTreeMap::from([(3, 3), (4, 2)]));
        assert_eq!(passed.rdma_read, Posts { chunks: 2, requests: 16 });
    }
}
