// SPDX-License-Identifier: GPL-2.0

//! Measures the points of the benchmark, many in one boot.

use crate::guest::counters::Counters;
use crate::guest::fio::Fio;
use crate::guest::paths::MOUNT;
use crate::guest::progress::Progress;
use crate::guest::session::Host;
use crate::guest::{ageing, client, paths, procfs, transfer};
use crate::job::Outcome;
use crate::point::{Age, Bench, Figures, Memory, Point, Sample};
use crate::settings::{Server, Transport};
use anyhow::{Context, Result};

/// What the server has done since its threads were started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Fresh,
    Used,
    Aged(Transport, u64),
}

struct Lab<'a> {
    job: &'a Bench,
    host: Host,
    counters: Counters,
    progress: &'a Progress,
    state: State,
}

/// Measures each point and hands out its sample; fails only if the server
/// cannot be set up or taken down.
pub fn run(job: &Bench, progress: &Progress) -> Result<Outcome> {
    let first = job.points.first().context("there is no point to measure")?;
    progress.say("setting up the server");
    let host = Host::start(first.session.server())?;
    let counters = Counters::install().context("cannot count events")?;
    let mut lab = Lab { job, host, counters, progress, state: State::Fresh };
    for point in &job.points {
        progress.say(format!("point {point}"));
        let outcome = lab.point(point).map_err(|err| format!("{err:#}"));
        lab.clear(outcome.is_ok())?;
        progress.case(&sample(point, outcome)?)?;
    }
    lab.host.stop()?;
    Ok(Outcome::Done)
}

fn sample(point: &Point, outcome: Result<Figures, String>) -> Result<Sample> {
    let (release, parameters) = (procfs::release()?, procfs::parameters()?);
    Ok(Sample { point: *point, release, parameters, outcome })
}

impl Lab<'_> {
    fn point(&mut self, point: &Point) -> Result<Figures> {
        let aged_by = self.prepare(point)?;
        self.host.mount(&point.session)?;
        if point.age == Age::Aged {
            // The figures shall be those of a server that goes on.
            self.transfer(point)?;
        }
        let mut figures = self.transfer(point)?;
        client::unmount()?;
        figures.aged_by = aged_by;
        figures.memory = (point.age == Age::Fresh).then(|| self.restart()).transpose()?;
        Ok(figures)
    }

    fn transfer(&mut self, point: &Point) -> Result<Figures> {
        let Point { session, block, size, .. } = point;
        transfer::allocate(*size).context("cannot allocate the backing file")?;
        let depth = Some(session.threads);
        let file = transfer::file();
        let fio = Fio { file: &file, size: *size, block: *block, depth, seed: self.job.seed };
        if self.state == State::Fresh {
            self.state = State::Used;
        }
        let (write, read) = transfer::both_ways(session, &fio, &self.counters, self.progress)?;
        Ok(Figures { write, read, memory: None, aged_by: None })
    }

    /// Makes the server as old as the point wants it; gives back the number
    /// of requests that made it so.
    fn prepare(&mut self, point: &Point) -> Result<Option<u64>> {
        self.use_server(point.session.server())?;
        match (point.age, self.state) {
            (Age::Fresh, State::Fresh) => Ok(None),
            (Age::Fresh, _) => self.restart().map(|_| None),
            (Age::Aged, State::Aged(by, requests)) if by == point.session.transport => {
                Ok(Some(requests))
            }
            (Age::Aged, _) => self.make_old(point).map(Some),
        }
    }

    fn use_server(&mut self, server: Server) -> Result<()> {
        if self.host.use_server(server)? {
            self.state = State::Fresh;
        }
        Ok(())
    }

    fn make_old(&mut self, point: &Point) -> Result<u64> {
        if self.state != State::Fresh {
            self.restart()?;
        }
        self.progress.say("ageing the server with a mixed load");
        self.state = State::Used;
        self.host.mount(&point.session)?;
        let before = procfs::nfsd_rpcs()?;
        ageing::run(&self.job.ageing, point.session.threads, self.job.seed)?;
        let requests = procfs::nfsd_rpcs()?.saturating_sub(before);
        client::unmount()?;
        self.state = State::Aged(point.session.transport, requests);
        Ok(requests)
    }

    fn restart(&mut self) -> Result<Memory> {
        let memory = self.host.restart_and_weigh()?;
        self.state = State::Fresh;
        Ok(memory)
    }

    /// A point that failed may have left its mount.
    fn clear(&mut self, passed: bool) -> Result<()> {
        if passed {
            return Ok(());
        }
        self.state = State::Used;
        if paths::is_mounted(MOUNT) {
            client::unmount().context("the failed point holds its mount")?;
        }
        Ok(())
    }
}
