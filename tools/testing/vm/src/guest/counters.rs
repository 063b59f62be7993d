// SPDX-License-Identifier: GPL-2.0

//! Counts events in the guest's kernel.
//!
//! The kernel sums up by itself, in histograms, so that counting costs little
//! and does not depend on how fast anybody reads.

use crate::counts::{Counts, FileIo, Posts};
use crate::guest::{granules, procfs, tracefs};
use anyhow::{bail, Result};
use tracefs::Histogram;

/// Only what the server's threads do; they are all named so.
const NFSD: &str = "if COMM == \"nfsd\"";

/// `ITER_BVEC` of `enum iter_type`, include/linux/uio.h.
const ITER_BVEC: u64 = 2;

/// `MIGRATE_MOVABLE` of `enum migratetype`, include/linux/mmzone.h: page cache
/// is allocated so, pages for requests and replies are not.
const MIGRATE_MOVABLE: u64 = 1;

/// Pages that leave the buddy lists.
const ZONE_LOCKED: &str = "kmem/mm_page_alloc_zone_locked";

/// Buffers spliced into a reply come through this function.
const SPLICE_ACTOR: &str = "nfsd_splice_actor";

/// The installed counters.
#[derive(Debug)]
pub struct Counters {
    rdma_read: Histogram,
    rdma_write: Histogram,
    rdma_reply: Histogram,
    fs_read: Histogram,
    fs_write: Histogram,
    spliced: Option<Histogram>,
    bulk: Histogram,
    single: Histogram,
    zone_locked: Histogram,
    zone_locked_nfsd: Histogram,
    drained: Histogram,
}

impl Counters {
    /// Sets the probes and triggers; they stay until the guest ends.
    pub fn install() -> Result<Self> {
        tracefs::mount()?;
        define_probes()?;
        let posts = |event: &str| Histogram::attach(event, "hist:keys=sqecount");
        let iterators = format!("hist:keys=type,segs:vals=bytes {NFSD}");
        Ok(Self {
            rdma_read: posts("rpcrdma/svcrdma_post_read_chunk")?,
            rdma_write: posts("rpcrdma/svcrdma_post_write_chunk")?,
            rdma_reply: posts("rpcrdma/svcrdma_post_reply_chunk")?,
            fs_read: Histogram::attach("rig/fs_read", &iterators)?,
            fs_write: Histogram::attach("rig/fs_write", &iterators)?,
            spliced: splice_counter()?,
            bulk: Histogram::attach("rig/bulk", &format!("hist:keys=wanted,filled {NFSD}"))?,
            single: Histogram::attach(
                "kmem/mm_page_alloc",
                &format!("hist:keys=order,migratetype {NFSD}"),
            )?,
            zone_locked: Histogram::attach(ZONE_LOCKED, "hist:keys=order")?,
            zone_locked_nfsd: Histogram::attach_second(
                ZONE_LOCKED,
                &format!("hist:keys=order {NFSD}"),
            )?,
            drained: Histogram::attach("kmem/mm_page_pcpu_drain", "hist:keys=order")?,
        })
    }

    /// The totals so far.
    pub fn snapshot(&self) -> Result<Counts> {
        tracefs::check_probes()?;
        let mut counts = Counts {
            rdma_read: posts(&self.rdma_read)?,
            rdma_write: posts(&self.rdma_write)?,
            rdma_reply: posts(&self.rdma_reply)?,
            fs_read: file_io(&self.fs_read)?,
            fs_write: file_io(&self.fs_write)?,
            spliced: self.spliced.as_ref().map_or(Ok(0), hits)?,
            zone_locked_pages: pages(&self.zone_locked)?,
            zone_locked_by_nfsd: pages(&self.zone_locked_nfsd)?,
            drained_pages: pages(&self.drained)?,
            cpu_ticks: procfs::cpu_ticks()?,
            nfsd_ticks: procfs::thread_ticks("nfsd")?,
            granules: granules::read()?,
            ..Counts::default()
        };
        (counts.nfsd_read, counts.nfsd_written) = procfs::nfsd_bytes()?;
        (counts.vm_alloc, counts.vm_free) = procfs::vm_pages()?;
        self.allocations(&mut counts)?;
        Ok(counts)
    }

    /// Removes all of it, where the machine goes on afterwards.
    pub fn remove(self) -> Result<()> {
        let spliced = self.spliced.is_some();
        let rdma = [self.rdma_read, self.rdma_write, self.rdma_reply];
        let files = [self.fs_read, self.fs_write, self.bulk];
        let pages = [self.single, self.zone_locked, self.zone_locked_nfsd, self.drained];
        let all = rdma.into_iter().chain(files).chain(pages).chain(self.spliced);
        // Every one is tried, whatever became of those before.
        let detached: Vec<Result<()>> = all.map(Histogram::detach).collect();
        detached.into_iter().collect::<Result<()>>()?;
        tracefs::remove_instance()?;
        let probes = ["rig/fs_read", "rig/fs_write", "rig/bulk"].into_iter();
        let mut probes = probes.chain(spliced.then_some("rig/spliced"));
        probes.try_for_each(tracefs::remove_probe)
    }

    fn allocations(&self, counts: &mut Counts) -> Result<()> {
        for row in self.single.rows()? {
            let order = u32::try_from(row.key("order")?)?;
            if row.key("migratetype")? == MIGRATE_MOVABLE {
                counts.movable_pages += row.hits()? << order;
            } else {
                *counts.by_order.entry(order).or_default() += row.hits()?;
            }
        }
        let bulk = self.bulk.rows()?.iter().map(bulk_row).collect::<Result<Vec<_>>>()?;
        counts.bulk_pages = bulk_pages(&bulk);
        Ok(())
    }
}

/// The offsets are those of `struct iov_iter` on 64-bit machines; wrong ones
/// show up as a sum of bytes that does not agree with nfsd's own.
fn define_probes() -> Result<()> {
    for (name, function) in [("fs_read", "vfs_iocb_iter_read"), ("fs_write", "vfs_iocb_iter_write")]
    {
        let fields = "type=+0($arg3):u8 bytes=+24($arg3):u64 segs=+32($arg3):u64";
        tracefs::probe(&format!("p:rig/{name} {function} {fields}"))?;
    }
    // Room for as many threads in the allocator at a time: 64 of nfsd, and others.
    tracefs::probe("r256:rig/bulk alloc_pages_bulk_noprof wanted=$arg4:u32 filled=$retval:u64")
}

fn splice_counter() -> Result<Option<Histogram>> {
    if !tracefs::has_function(SPLICE_ACTOR) {
        return Ok(None);
    }
    tracefs::probe(&format!("p:rig/spliced {SPLICE_ACTOR} one=\\1:u8"))?;
    Histogram::attach("rig/spliced", "hist:keys=one").map(Some)
}

fn posts(histogram: &Histogram) -> Result<Posts> {
    let mut posts = Posts::default();
    for row in histogram.rows()? {
        posts.chunks += row.hits()?;
        posts.requests += row.hits()? * row.key("sqecount")?;
    }
    Ok(posts)
}

fn file_io(histogram: &Histogram) -> Result<FileIo> {
    let mut io = FileIo::default();
    for row in histogram.rows()? {
        if row.key("type")? != ITER_BVEC {
            bail!("a file system call of nfsd has an iterator of type {}", row.key("type")?);
        }
        io.calls += row.hits()?;
        io.bvecs += row.hits()? * row.key("segs")?;
        io.bytes += row.value("bytes")?;
    }
    Ok(io)
}

fn hits(histogram: &Histogram) -> Result<u64> {
    histogram.rows()?.iter().map(crate::hist::Row::hits).sum()
}

/// Sum of the pages of all rows, whose key is the order.
pub fn pages(histogram: &Histogram) -> Result<u64> {
    let mut pages = 0;
    for row in histogram.rows()? {
        pages += row.hits()? << row.key("order")?;
    }
    Ok(pages)
}

/// Calls of the bulk allocator that are alike.
#[derive(Clone, Copy, Debug)]
struct Bulk {
    calls: u64,
    wanted: u64,
    filled: u64,
}

fn bulk_row(row: &crate::hist::Row) -> Result<Bulk> {
    Ok(Bulk { calls: row.hits()?, wanted: row.key("wanted")?, filled: row.key("filled")? })
}

/// Pages that the bulk allocator itself handed out.
///
/// It returns how many slots are filled, those filled before included, and
/// takes single pages from the ordinary allocator, which has an event of its
/// own: always when one page is wanted, and when it cannot do better. So only
/// the call that completes an array counts, less the single pages that came
/// before it.
fn bulk_pages(rows: &[Bulk]) -> u64 {
    let arrays = rows.iter().copied().filter(|row| row.wanted > 1);
    let (full, part): (Vec<Bulk>, Vec<Bulk>) = arrays.partition(|row| row.filled >= row.wanted);
    let complete: u64 = full.iter().map(|row| row.calls * row.wanted).sum();
    let single: u64 = part.iter().filter(|row| row.filled > 0).map(|row| row.calls).sum();
    complete.saturating_sub(single)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_counted_once() {
        let rows = [
            Bulk { calls: 10, wanted: 256, filled: 256 },
            Bulk { calls: 3, wanted: 256, filled: 1 },
            Bulk { calls: 5, wanted: 1, filled: 1 },
            Bulk { calls: 2, wanted: 9, filled: 0 },
        ];
        assert_eq!(bulk_pages(&rows), 2560 - 3);
    }
}
