// SPDX-License-Identifier: GPL-2.0

//! Remembers what was measured, to show kernels beside each other.

use crate::accel::Accel;
use crate::job::{self, Measured};
use crate::settings::{Machine, Session};
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// Counts with what the counters of that number mean; older ones are ignored.
const FORMAT: u32 = 1;

/// What makes two measurements comparable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Server and mount.
    pub session: Session,
    /// The guest.
    pub machine: Machine,
    /// What executed it.
    pub accel: Accel,
    /// Payload, in bytes.
    pub size: u64,
}

/// A remembered measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Remembered {
    format: u32,
    settings: Settings,
    /// The figures.
    pub measured: Measured,
}

/// Remembers a measurement of the kernel `flavour`.
pub fn remember(
    state: &Path,
    flavour: &str,
    settings: &Settings,
    measured: &Measured,
) -> Result<()> {
    let path = file(state, flavour, settings);
    let folder = path.parent().unwrap_or(state);
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let settings = settings.clone();
    job::store(&path, &Remembered { format: FORMAT, settings, measured: measured.clone() })
}

/// The last measurement of the kernel `flavour` with these settings.
pub fn recall(state: &Path, flavour: &str, settings: &Settings) -> Option<Measured> {
    let known: Remembered = job::load(&file(state, flavour, settings)).ok()?;
    let same = known.format == FORMAT && known.settings == *settings;
    same.then_some(known.measured)
}

fn file(state: &Path, flavour: &str, settings: &Settings) -> PathBuf {
    let Settings { session, machine, accel, size } = settings;
    let name = format!(
        "{session} t{} m{} c{} s{size} {accel}",
        session.threads, machine.memory, machine.cpus
    );
    state.join("results").join(flavour).join(name.replace(' ', "-") + ".json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::Counts;
    use crate::job::Phase;
    use crate::settings::{Device, IoMode, Transport, Version, GIB, MIB};

    fn settings() -> Settings {
        Settings {
            session: Session::new(Device::Rxe, Version::V42, IoMode::Direct, Transport::Rdma),
            machine: Machine { memory: 4 * GIB, cpus: 2 },
            accel: Accel::Tcg,
            size: 256 * MIB,
        }
    }

    #[test]
    fn only_the_same_settings_are_recalled() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path();
        let phase = Phase { bytes: 1, seconds: 2.0, counts: Counts::default() };
        let measured =
            Measured { write: phase.clone(), read: phase, compared: 3, fsx_operations: 4 };
        let same = settings();
        remember(state, "plain", &same, &measured).unwrap();
        assert_eq!(recall(state, "plain", &same), Some(measured));
        assert_eq!(recall(state, "ours", &same), None);
        let mut other = settings();
        other.session.threads = 4;
        assert_eq!(recall(state, "plain", &other), None);
        fs::write(file(state, "plain", &same), "{").unwrap();
        assert_eq!(recall(state, "plain", &same), None);
    }
}
