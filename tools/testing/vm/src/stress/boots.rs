// SPDX-License-Identifier: GPL-2.0

//! The guests in which the server is worn out, the most important ones first.

use crate::guest::stress::{find, Scenario};
use crate::qemu::Guest;
use crate::settings::{Device, IoMode, Session, Transport, Version, MIB};

/// Seconds until a guest is up, and to take it down.
const UP_AND_DOWN: u64 = 45;

/// What a guest is booted for.
#[derive(Clone, Debug)]
pub enum Work {
    /// Scenarios, by name.
    Scenarios(Vec<&'static str>),
    /// All cases of the crafted client.
    Crafted(Device),
    /// Transfers with each of these settings.
    Matrix(Vec<Session>),
}

/// One guest.
#[derive(Clone, Debug)]
pub struct Boot {
    /// Its name in results.
    pub title: String,
    /// Memory in bytes, unless it is the usual one.
    pub memory: Option<u64>,
    /// CPUs, unless it is the usual number.
    pub cpus: Option<u32>,
    /// The set of test-only patches or options that the kernel needs.
    pub variant: Option<&'static str>,
    /// Kernel parameters.
    pub parameters: Vec<&'static str>,
    /// What it does.
    pub work: Work,
}

impl Boot {
    fn new(title: impl Into<String>, work: Work) -> Self {
        let (title, parameters) = (title.into(), Vec::new());
        Self { title, memory: None, cpus: None, variant: None, parameters, work }
    }

    /// Seconds without which it is not worth a boot.
    pub fn least(&self) -> u64 {
        let work = match &self.work {
            Work::Scenarios(_) => self.scenarios().map(|scenario| scenario.least).min(),
            Work::Crafted(_) => Some(240),
            Work::Matrix(_) => Some(300),
        };
        work.unwrap_or(0) + UP_AND_DOWN
    }

    /// Its share of the time, beside the others.
    pub fn weight(&self) -> u64 {
        match &self.work {
            Work::Scenarios(_) => self.scenarios().map(|scenario| scenario.weight).sum(),
            Work::Crafted(_) | Work::Matrix(_) => 2,
        }
    }

    /// Of that many seconds, those for the scenarios.
    pub fn seconds(time: u64) -> u64 {
        time.saturating_sub(UP_AND_DOWN)
    }

    fn scenarios(&self) -> impl Iterator<Item = &'static Scenario> + '_ {
        let names = match &self.work {
            Work::Scenarios(names) => names.as_slice(),
            Work::Crafted(_) | Work::Matrix(_) => &[],
        };
        names.iter().filter_map(|name| find(name))
    }

    /// Names of the results to expect, for those that are left out.
    pub fn names(&self) -> Vec<String> {
        match &self.work {
            Work::Scenarios(names) => {
                names.iter().map(|name| format!("{}: {name}", self.title)).collect()
            }
            Work::Crafted(_) | Work::Matrix(_) => vec![self.title.clone()],
        }
    }

    /// What is left of it if only scenarios, or guests, are wanted whose name
    /// contains `part`.
    pub fn only(mut self, part: &str) -> Option<Self> {
        if self.title.contains(part) {
            return Some(self);
        }
        let Work::Scenarios(names) = &mut self.work else {
            return None;
        };
        names.retain(|name| name.contains(part));
        (!names.is_empty()).then_some(self)
    }

    /// Makes the guest what it has to be.
    pub fn apply(&self, guest: &mut Guest) {
        guest.machine.memory = self.memory.unwrap_or(guest.machine.memory);
        guest.machine.cpus = self.cpus.unwrap_or(guest.machine.cpus);
        guest.append.extend(self.parameters.iter().map(|parameter| (*parameter).to_owned()));
    }
}

/// All guests.
pub fn all() -> Vec<Boot> {
    let scenarios = [
        "completions of Sends",
        "ageing",
        "tcp reader that never reads",
        "clients that disconnect at random",
        "threads up and down",
        "fragmented memory",
        "reclaim",
    ];
    let little = Boot::new("stress, 512 MiB", Work::Scenarios(vec!["little memory"]));
    // The latter two free what may still be in use, which KASAN sees.
    let checked = ["failing allocations", "clients that disconnect at random", "reclaim"];
    let checked = Boot::new("stress, ours-stress", Work::Scenarios(checked.to_vec()));
    let mut boots = vec![
        Boot::new("stress", Work::Scenarios(scenarios.to_vec())),
        Boot { memory: Some(512 * MIB), ..little },
        Boot { variant: Some("stress"), ..checked },
    ];
    boots.extend([2, 4, 8, 16].map(counts));
    boots.extend([Device::Rxe, Device::Siw].map(crafted));
    boots.extend([(0, 0), (0, 1), (1, 0), (1, 1)].map(|(bounce, register)| dma(bounce, register)));
    boots
}

fn counts(cpus: u32) -> Boot {
    let boot = Boot::new(format!("stress, {cpus} CPUs"), Work::Scenarios(vec!["counts"]));
    Boot { cpus: Some(cpus), ..boot }
}

fn crafted(device: Device) -> Boot {
    Boot::new(format!("crafted client {device}"), Work::Crafted(device))
}

/// With bounce buffers for all DMA, and with memory registration for all.
fn dma(bounce: usize, register: usize) -> Boot {
    const BOUNCE: [&[&str]; 2] = [&[], &["swiotlb=force"]];
    const REGISTER: [&[&str]; 2] = [&[], &["ib_core.force_mr=1"]];
    let parameters = [BOUNCE[bounce], REGISTER[register]].concat();
    let title = format!("rxe-dma {}", parameters.join(" "));
    let boot = Boot::new(title.trim(), Work::Matrix(dma_sessions()));
    Boot { variant: Some("dma"), parameters, ..boot }
}

/// A guest with bounce buffers for all DMA, and a few of the settings: every
/// version, segment and payload once.
pub fn quick_dma() -> (Boot, Vec<Session>) {
    let sessions = dma_sessions().into_iter().step_by(DIAGONAL).collect();
    (dma(1, 0), sessions)
}

/// From one row and column to the next ones, of three.
const DIAGONAL: usize = 4;

/// Of versions, segments and payloads, every pair meets once.
fn dma_sessions() -> Vec<Session> {
    const VERSIONS: [Version; 3] = [Version::V3, Version::V41, Version::V42];
    const SEGMENTS: [u32; 3] = [4 << 10, 64 << 10, 1 << 20];
    const PAYLOADS: [u64; 3] = [4 << 10, MIB, 4 * MIB];
    let mut sessions = Vec::new();
    for (row, version) in VERSIONS.into_iter().enumerate() {
        for (column, max_segment) in SEGMENTS.into_iter().enumerate() {
            let payload = PAYLOADS[(row + column) % PAYLOADS.len()];
            let session = Session::new(Device::RxeDma, version, IoMode::Direct, Transport::Rdma);
            sessions.push(Session { max_segment, payload, ..session });
        }
    }
    sessions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::stress::SCENARIOS;
    use std::collections::BTreeSet;

    #[test]
    fn every_scenario_is_played() {
        let boots = all();
        let played: BTreeSet<&str> =
            boots.iter().flat_map(Boot::scenarios).map(|scenario| scenario.name).collect();
        assert_eq!(played.len(), SCENARIOS.len());
        assert!(boots.iter().all(|boot| boot.least() > 0 && boot.weight() > 0));
    }

    #[test]
    fn names_are_distinct() {
        let names: Vec<String> = all().iter().flat_map(Boot::names).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        let sessions: BTreeSet<String> = dma_sessions().iter().map(Session::to_string).collect();
        assert_eq!(sessions.len(), 9);
    }

    #[test]
    fn a_few_settings_have_each_value_once() {
        let (boot, sessions) = quick_dma();
        assert_eq!(boot.parameters, ["swiotlb=force"]);
        let values = |of: fn(&Session) -> u64| sessions.iter().map(of).collect::<BTreeSet<_>>();
        assert_eq!(sessions.len(), 3);
        assert_eq!(values(|session| session.payload).len(), 3);
        assert_eq!(values(|session| session.max_segment.into()).len(), 3);
    }

    #[test]
    fn a_part_of_a_name_chooses() {
        let chosen = |part: &str| -> Vec<String> {
            all().into_iter().filter_map(|boot| boot.only(part)).flat_map(|b| b.names()).collect()
        };
        assert_eq!(chosen("reclaim"), ["stress: reclaim", "stress, ours-stress: reclaim"]);
        assert_eq!(chosen("16 CPUs"), ["stress, 16 CPUs: counts"]);
        assert_eq!(chosen("siw"), ["crafted client siw"]);
        assert_eq!(chosen("swiotlb=force ib_core").len(), 1);
        assert!(chosen("nothing").is_empty());
    }
}
