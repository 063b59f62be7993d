// SPDX-License-Identifier: GPL-2.0

//! What the completion of a Send leaves to do: no work item is queued for it,
//! and what the last Sends of a burst hold is released without another RPC.

use crate::guest::paths::{EXPORT, MOUNT};
use crate::guest::stress::site::{session, Site};
use crate::guest::stress::End;
use crate::guest::tracefs::{self, Histogram};
use crate::guest::{client, export};
use crate::settings::{Transport, Version};
use anyhow::{ensure, Context, Result};
use rustix::fs::OFlags;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::thread;
use std::time::{Duration, Instant};

/// Threads that read, and how often each.
const READERS: usize = 8;
const READS: usize = 40;

/// Bytes of a READ: the reply fits into an inline message, and is too long to
/// be copied into one piece, so that its pages are mapped.
const LENGTH: usize = 2000;

/// What the last Sends hold is released within that time, even under
/// emulation.
const SOON: Duration = Duration::from_secs(10);
/// Calls stop to arrive within that time.
const QUIET: Duration = Duration::from_secs(2);

pub fn play(site: &mut Site<'_>, _time: Duration) -> Result<End> {
    fs::write(format!("{EXPORT}/sends"), data()).context("cannot write to the export")?;
    site.host.mount(&session(Version::V3, Transport::Rdma))?;
    let events = Events::attach()?;
    burst()?;
    let (calls, mapped) = events.released()?;
    let queued = events.work_of_svcrdma()?;
    events.detach()?;
    client::unmount()?;
    export::forget_cached()?;
    site.say(format!("{calls} calls, {mapped} pages mapped and unmapped, no work item"));
    ensure!(queued.is_empty(), "svcrdma queued work items: {}", queued.join(", "));
    Ok(End::done())
}

fn data() -> Vec<u8> {
    (0..READERS * READS * LENGTH).map(|at| (at % 251) as u8).collect()
}

/// All read at the same time, and then nobody.
fn burst() -> Result<()> {
    thread::scope(|scope| {
        let readers: Vec<_> =
            (0..READERS).map(|number| scope.spawn(move || read(number))).collect();
        readers.into_iter().try_for_each(|reader| reader.join().ok().context("a reader died")?)
    })
}

fn read(number: usize) -> Result<()> {
    let mut options = OpenOptions::new();
    let file = options.read(true).custom_flags(OFlags::DIRECT.bits() as i32);
    let file = file.open(format!("{MOUNT}/sends")).context("cannot open the file")?;
    let all = data();
    for turn in 0..READS {
        let start = (number * READS + turn) * LENGTH;
        let mut found = [0; LENGTH];
        file.read_exact_at(&mut found, start as u64).context("cannot read the file")?;
        ensure!(found == all[start..start + LENGTH], "wrong data at {start}");
    }
    Ok(())
}

struct Events {
    calls: Histogram,
    mapped: Histogram,
    unmapped: Histogram,
    work: Histogram,
}

impl Events {
    fn attach() -> Result<Self> {
        let by = |event, key| Histogram::attach(event, &format!("hist:keys={key}"));
        Ok(Self {
            calls: by("rpcrdma/svcrdma_wc_recv", "cq_id")?,
            mapped: by("rpcrdma/svcrdma_dma_map_page", "cq_id")?,
            unmapped: by("rpcrdma/svcrdma_dma_unmap_page", "cq_id")?,
            work: by("workqueue/workqueue_queue_work", "function")?,
        })
    }

    /// Waits until calls have stopped, and then until what is mapped has been
    /// unmapped; fails if that takes long, or another call.
    fn released(&self) -> Result<(u64, u64)> {
        thread::sleep(QUIET);
        let (calls, mapped) = (hits(&self.calls)?, hits(&self.mapped)?);
        ensure!(mapped as usize >= READERS * READS, "only {mapped} pages were mapped for Sends");
        let deadline = Instant::now() + SOON;
        loop {
            let unmapped = hits(&self.unmapped)?;
            ensure!(hits(&self.calls)? == calls, "there are other calls");
            if unmapped == mapped {
                return Ok((calls, mapped));
            }
            let held = mapped.abs_diff(unmapped);
            ensure!(Instant::now() < deadline, "{held} pages stay mapped until the next call");
            thread::sleep(Duration::from_millis(200));
        }
    }

    /// Functions of svcrdma that a work item was queued for.
    fn work_of_svcrdma(&self) -> Result<Vec<String>> {
        let own = tracefs::functions("svc_rdma")?;
        let rows = self.work.rows()?;
        let queued = rows.iter().map(|row| Ok(own.get(&row.key("function")?).cloned()));
        Ok(queued.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    fn detach(self) -> Result<()> {
        let all = [self.calls, self.mapped, self.unmapped, self.work];
        all.into_iter().try_for_each(Histogram::detach)
    }
}

fn hits(histogram: &Histogram) -> Result<u64> {
    histogram.rows()?.iter().map(|row| row.hits()).sum()
}
