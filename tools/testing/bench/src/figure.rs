// SPDX-License-Identifier: GPL-2.0

//! The figures of the report: what they are called, and how they come from
//! the counts.

use std::collections::BTreeMap;
use vm::counts::Counts;
use vm::granules;
use vm::job::Phase;
use vm::point::{Figures, Point};
use vm::settings::{Transport, GIB, MIB};

/// Which way the data went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// NFS READ.
    Read,
    /// NFS WRITE.
    Write,
}

/// Both, in the order of the report.
pub const WAYS: [Way; 2] = [Way::Read, Way::Write];

impl Way {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Way::Read => "READ",
            Way::Write => "WRITE",
        }
    }

    /// The phase of a point.
    pub fn phase(self, figures: &Figures) -> &Phase {
        match self {
            Way::Read => &figures.read,
            Way::Write => &figures.write,
        }
    }
}

/// How a figure comes from what was counted.
#[derive(Clone, Copy)]
pub enum Source {
    /// One figure for each direction.
    Phase(fn(&Phase, Way, &Point) -> Option<f64>),
    /// One figure for both together.
    Point(fn(&Figures, &Point) -> Option<f64>),
}

/// One figure.
pub struct Figure {
    /// Beginning of the names of its plots.
    pub stem: &'static str,
    /// Its name, with the unit.
    pub name: &'static str,
    /// How many digits after the point matter.
    pub digits: usize,
    /// What has to be known to read it, and when it does not apply.
    pub note: &'static str,
    /// Whether plots show it.
    pub plotted: bool,
    /// Where it comes from.
    pub source: Source,
}

impl Figure {
    /// The figure of one measurement; `way` does not matter to some.
    pub fn value(&self, figures: &Figures, way: Way, point: &Point) -> Option<f64> {
        match self.source {
            Source::Phase(value) => value(way.phase(figures), way, point),
            Source::Point(value) => value(figures, point),
        }
    }

    /// The directions that it tells apart.
    pub fn ways(&self) -> &'static [Way] {
        match self.source {
            Source::Phase(_) => &WAYS,
            Source::Point(_) => &WAYS[..1],
        }
    }
}

/// All figures, in the order of the report.
pub static FIGURES: [Figure; 14] = [
    Figure {
        stem: "bvecs",
        name: "bio_vecs at the file system, per MiB",
        digits: 2,
        note: "Counted at `vfs_iocb_iter_read()` and `vfs_iocb_iter_write()`. n/a: the READ was \
               spliced and no iterator was made.",
        plotted: true,
        source: Source::Phase(bvecs),
    },
    Figure {
        stem: "requests",
        name: "RDMA work requests of the server, per MiB",
        digits: 2,
        note: "`sqecount` of the `svcrdma_post_*_chunk` events. The floor is one for each segment \
               of the client. n/a: TCP.",
        plotted: true,
        source: Source::Phase(requests),
    },
    Figure {
        stem: "nfsd-pages",
        name: "pages allocated by nfsd threads, per GiB",
        digits: 0,
        note: "Pages of the bulk allocator and single allocations of all orders, without those of \
               the page cache. On a fresh server, granules are allocated once and then go round: \
               the fewer bytes are moved, the more of this cost falls on each.",
        plotted: true,
        source: Source::Phase(|phase, _, _| per_gib(phase, Counts::nfsd_pages)),
    },
    Figure {
        stem: "zone-lock",
        name: "pages that crossed zone->lock, per GiB",
        digits: 0,
        note: "Taken from the buddy lists (`kmem:mm_page_alloc_zone_locked`) and drained to them \
               (`kmem:mm_page_pcpu_drain`), by anybody: client, fio and page cache share the \
               guest.",
        plotted: true,
        source: Source::Phase(|phase, _, _| {
            per_gib(phase, |counts| counts.zone_locked_pages + counts.drained_pages)
        }),
    },
    Figure {
        stem: "nfsd-zone-lock",
        name: "pages that nfsd threads took under zone->lock, per GiB",
        digits: 0,
        note: "The part of the figure above that `kmem:mm_page_alloc_zone_locked` tells to be \
               nfsd's; who drains pages is not told apart.",
        plotted: true,
        source: Source::Phase(|phase, _, _| per_gib(phase, |counts| counts.zone_locked_by_nfsd)),
    },
    Figure {
        stem: "all-pages",
        name: "pages allocated by anybody, per GiB",
        digits: 0,
        note: "`pgalloc_*` of /proc/vmstat; the client's are in it.",
        plotted: false,
        source: Source::Phase(|phase, _, _| per_gib(phase, |counts| counts.vm_alloc)),
    },
    Figure {
        stem: "cache-pages",
        name: "page-cache pages allocated by nfsd threads, per GiB",
        digits: 0,
        note: "Movable pages: the file system's, which no kernel here changes.",
        plotted: false,
        source: Source::Phase(|phase, _, _| per_gib(phase, |counts| counts.movable_pages)),
    },
    Figure {
        stem: "cpu",
        name: "CPU ticks of the whole guest, per GiB",
        digits: 0,
        note: "Client, server and fio together, interrupts included. Under emulation a tick is \
               host time and says little about hardware.",
        plotted: true,
        source: Source::Phase(|phase, _, _| per_gib(phase, |counts| counts.cpu_ticks)),
    },
    Figure {
        stem: "nfsd-cpu",
        name: "CPU ticks of nfsd threads, per GiB",
        digits: 0,
        note: "Without the completions and interrupts that other contexts handle.",
        plotted: true,
        source: Source::Phase(|phase, _, _| per_gib(phase, |counts| counts.nfsd_ticks)),
    },
    Figure {
        stem: "throughput",
        name: "throughput, MiB/s",
        digits: 1,
        note: "Of fio, its start and the final fsync included; one client in the same guest.",
        plotted: false,
        source: Source::Phase(|phase, _, _| {
            (phase.seconds > 0.0).then(|| phase.bytes as f64 / MIB as f64 / phase.seconds)
        }),
    },
    Figure {
        stem: "granules",
        name: "memory in granules, KiB per thread",
        digits: 0,
        note: "Owned by the pools after the phase, idle or in use; from debugfs. n/a: the kernel \
               has none.",
        plotted: false,
        source: Source::Phase(|phase, _, point| {
            let owned = phase.counts.granules?.owned * granules::BYTES;
            Some(per_thread(owned / 1024, point))
        }),
    },
    Figure {
        stem: "fallback",
        name: "groups of pages that no granule filled, percent",
        digits: 2,
        note: "The rest of the slots are runs of a whole granule. n/a: the kernel has none.",
        plotted: false,
        source: Source::Phase(|phase, _, _| Some(phase.counts.granules?.fallback_share()? * 100.0)),
    },
    Figure {
        stem: "held",
        name: "memory of the threads after the load, KiB per thread",
        digits: 0,
        note: "What free memory gained when the threads stopped. n/a: aged servers go on.",
        plotted: false,
        source: Source::Point(|figures, point| Some(per_thread(figures.memory?.held, point))),
    },
    Figure {
        stem: "idle",
        name: "memory of the threads after their start, KiB per thread",
        digits: 0,
        note: "What free memory lost when they started. n/a: as above.",
        plotted: false,
        source: Source::Point(|figures, point| Some(per_thread(figures.memory?.idle, point))),
    },
];

/// Objects that nfsd threads allocated outside of the page cache, per GiB, by
/// order; the bulk allocator's are of order 0.
pub fn orders(phase: &Phase) -> BTreeMap<u32, f64> {
    let mut orders = phase.counts.by_order.clone();
    *orders.entry(0).or_default() += phase.counts.bulk_pages;
    let scaled = orders.into_iter().map(|(order, count)| (order, scale(count, phase, GIB)));
    scaled.collect()
}

fn bvecs(phase: &Phase, way: Way, _: &Point) -> Option<f64> {
    let io = match way {
        Way::Read => phase.counts.fs_read,
        Way::Write => phase.counts.fs_write,
    };
    (io.calls > 0).then(|| scale(io.bvecs, phase, MIB))
}

fn requests(phase: &Phase, way: Way, point: &Point) -> Option<f64> {
    let posts = match way {
        Way::Read => phase.counts.rdma_write,
        Way::Write => phase.counts.rdma_read,
    };
    let rdma = point.session.transport == Transport::Rdma;
    rdma.then(|| scale(posts.requests, phase, MIB))
}

fn per_gib(phase: &Phase, count: impl Fn(&Counts) -> u64) -> Option<f64> {
    Some(scale(count(&phase.counts), phase, GIB))
}

fn scale(count: u64, phase: &Phase, unit: u64) -> f64 {
    count as f64 * unit as f64 / phase.bytes.max(1) as f64
}

fn per_thread(amount: u64, point: &Point) -> f64 {
    amount as f64 / f64::from(point.session.threads.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canned;

    fn value(stem: &str, flavour: &str, way: Way) -> Option<f64> {
        let records = canned::records();
        let record = records.iter().find(|record| record.kernel.flavour == flavour).unwrap();
        let figures = record.sample.outcome.as_ref().unwrap();
        let figure = FIGURES.iter().find(|figure| figure.stem == stem).unwrap();
        figure.value(figures, way, &record.sample.point)
    }

    #[test]
    fn counts_are_scaled_to_their_unit() {
        assert_eq!(value("requests", "plain", Way::Read), Some(56.0));
        assert_eq!(value("requests", "ours", Way::Read), Some(8.0));
        assert_eq!(value("bvecs", "ours", Way::Write), Some(16.0));
        assert_eq!(value("nfsd-pages", "plain", Way::Read), Some(262_144.0));
        assert_eq!(value("zone-lock", "plain", Way::Write), Some(320.0));
    }

    #[test]
    fn what_does_not_apply_has_no_value() {
        assert_eq!(value("bvecs", "plain", Way::Read), None);
        assert_eq!(value("granules", "plain", Way::Read), None);
        assert_eq!(value("granules", "ours", Way::Read), Some(320.0));
        assert_eq!(value("fallback", "ours", Way::Read), Some(10.0));
        assert_eq!(value("held", "plain", Way::Read), Some(4096.0));
    }

    #[test]
    fn orders_have_the_bulk_allocators_pages() {
        let records = canned::records();
        let figures = records[0].sample.outcome.as_ref().unwrap();
        assert_eq!(orders(&figures.read), BTreeMap::from([(0, 261_376.0), (3, 96.0)]));
    }
}
