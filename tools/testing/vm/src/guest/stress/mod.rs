// SPDX-License-Identifier: GPL-2.0

//! Scenarios that wear the server out, one after the other in one boot.

pub mod ageing;
pub mod counts;
pub mod disconnect;
pub mod failing;
pub mod figures;
pub mod flood;
pub mod fragmented;
pub mod granules;
pub mod hog;
pub mod little;
pub mod load;
pub mod mixer;
pub mod pin;
pub mod random;
pub mod raw;
pub mod reader;
pub mod reclaim;
pub mod sends;
pub mod site;
pub mod stir;
pub mod threads;
pub mod watch;

use crate::guest::progress::Progress;
use crate::job::{Case, Outcome, Stress};
use crate::stress::share;
use anyhow::{Context, Result};
use site::Site;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How a scenario ended that found nothing wrong.
#[derive(Debug)]
pub enum End {
    /// It was played.
    Done(BTreeMap<String, u64>),
    /// It cannot be played, and why.
    Skipped(String),
}

impl End {
    /// It was played, and there is nothing to compare.
    pub fn done() -> Self {
        End::Done(BTreeMap::new())
    }
}

/// One scenario.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// Seconds without which it tells nothing.
    pub least: u64,
    /// Its share of the time, beside the others.
    pub weight: u64,
    /// Plays it for about that time.
    play: fn(&mut Site<'_>, Duration) -> Result<End>,
}

/// All of them, the most important ones first.
pub const SCENARIOS: [Scenario; 10] = [
    Scenario { name: "completions of Sends", least: 30, weight: 1, play: sends::play },
    Scenario { name: "ageing", least: 150, weight: 5, play: ageing::play },
    Scenario { name: "tcp reader that never reads", least: 75, weight: 2, play: reader::play },
    Scenario {
        name: "clients that disconnect at random",
        least: 60,
        weight: 2,
        play: disconnect::play,
    },
    Scenario { name: "threads up and down", least: 60, weight: 2, play: threads::play },
    Scenario { name: "fragmented memory", least: 120, weight: 2, play: fragmented::play },
    Scenario { name: "reclaim", least: 75, weight: 2, play: reclaim::play },
    Scenario { name: "little memory", least: 60, weight: 1, play: little::play },
    Scenario { name: "failing allocations", least: 75, weight: 1, play: failing::play },
    Scenario { name: "counts", least: 100, weight: 1, play: counts::play },
];

/// The scenario of that name.
pub fn find(name: &str) -> Option<&'static Scenario> {
    SCENARIOS.iter().find(|scenario| scenario.name == name)
}

/// Plays the scenarios of the job as far as its time goes; fails only if the
/// server cannot be set up or taken down.
pub fn run(job: &Stress, progress: &Progress) -> Result<Outcome> {
    let mut site = Site::start(job, progress)?;
    let deadline = Instant::now() + Duration::from_secs(job.seconds);
    let scenarios: Result<Vec<&Scenario>> = job.scenarios.iter().map(|name| known(name)).collect();
    let scenarios = scenarios?;
    for (at, scenario) in scenarios.iter().enumerate() {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = left.as_secs_f64().ceil() as u64;
        let weights = scenarios[at..].iter().map(|scenario| scenario.weight).sum();
        let time = share::of(left, scenario.least, scenario.weight, weights);
        progress.case(&case(scenario, &mut site, time, left))?;
        site.clear()?;
    }
    site.stop()?;
    Ok(Outcome::Done)
}

fn known(name: &str) -> Result<&'static Scenario> {
    find(name).with_context(|| format!("there is no scenario '{name}'"))
}

fn case(scenario: &Scenario, site: &mut Site<'_>, time: Option<u64>, left: u64) -> Case {
    let mut case = Case { name: scenario.name.to_owned(), ..Case::default() };
    let Some(time) = time else {
        case.skipped = Some(share::too_little(left, scenario.least));
        return case;
    };
    site.say(format!("{}, about {time} s", scenario.name));
    match (scenario.play)(site, Duration::from_secs(time)) {
        Ok(End::Done(figures)) => case.figures = figures,
        Ok(End::Skipped(reason)) => case.skipped = Some(reason),
        Err(err) => case.failure = Some(format!("{err:#}")),
    }
    case
}
