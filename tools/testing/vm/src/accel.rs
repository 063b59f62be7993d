// SPDX-License-Identifier: GPL-2.0

//! Chooses what executes the guest.
//!
//! A /dev/kvm that opens proves nothing: some hosts have one whose guests
//! hang at their first instruction. So a guest is booted, with a time-out,
//! and the answer is remembered until host, kernel or QEMU change.

use crate::boot::{self, Tools};
use crate::job::{self, Job};
use crate::qemu::{Guest, QEMU};
use crate::settings::{Machine, GIB};
use crate::watch::Limits;
use anyhow::{ensure, Result};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const DEVICE: &str = "/dev/kvm";

/// A guest under KVM is up long before.
const PATIENCE: Duration = Duration::from_secs(30);

/// What executes the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Accel {
    /// The processor
    Kvm,
    /// QEMU's emulation
    Tcg,
    /// Emulation in which time is the number of instructions, on one CPU
    Icount,
}

/// A remembered answer.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Remembered {
    host: String,
    accel: Accel,
}

impl Accel {
    /// Options for virtme-run.
    pub fn virtme_options(self) -> Vec<String> {
        let words: &[&str] = match self {
            Accel::Kvm => &[],
            Accel::Tcg => &["--disable-kvm", "--qemu-opt=-accel", "--qemu-opt=tcg,thread=multi"],
            Accel::Icount => &[
                "--disable-kvm",
                "--qemu-opt=-accel",
                "--qemu-opt=tcg,thread=single",
                "--qemu-opt=-icount",
                "--qemu-opt=shift=0,sleep=off",
            ],
        };
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    /// How much longer than under KVM things may take.
    pub fn slowness(self) -> u32 {
        match self {
            Accel::Kvm => 1,
            Accel::Tcg => 5,
            Accel::Icount => 20,
        }
    }
}

impl fmt::Display for Accel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Accel::Kvm => "kvm",
            Accel::Tcg => "tcg",
            Accel::Icount => "icount",
        })
    }
}

/// The forced accelerator, else the remembered one, else what a probe with
/// the kernel `image` says.
pub fn choose(tools: &Tools, image: &Path, forced: Option<Accel>) -> Result<Accel> {
    if let Some(accel) = forced {
        let usable = accel != Accel::Kvm || opens();
        ensure!(usable, "ACCEL=kvm, but {DEVICE} cannot be opened: use ACCEL=tcg");
        return Ok(accel);
    }
    let host = host();
    let path = tools.state.join("accel.json");
    if let Ok(known) = job::load::<Remembered>(&path) {
        if known.host == host {
            return Ok(known.accel);
        }
    }
    let accel = if opens() && probe(tools, image)? { Accel::Kvm } else { Accel::Tcg };
    fs::create_dir_all(&tools.state)?;
    job::store(&path, &Remembered { host, accel })?;
    Ok(accel)
}

fn opens() -> bool {
    File::options().read(true).write(true).open(DEVICE).is_ok()
}

/// Whether a guest comes up and reports.
fn probe(tools: &Tools, image: &Path) -> Result<bool> {
    eprintln!("trying a guest with {DEVICE}, {} s at most", PATIENCE.as_secs());
    let guest = Guest {
        image: image.to_owned(),
        accel: Accel::Kvm,
        machine: Machine { memory: GIB, cpus: 1 },
        append: vec!["kunit.enable=0".to_owned()],
        interactive: false,
    };
    let limits = Limits { boot: PATIENCE, silence: PATIENCE, total: Some(PATIENCE), stretch: 1 };
    let finished = boot::run(tools, &guest, &Job::Nothing, limits, Vec::new())?;
    let works = finished.reported();
    let found = if works { "it works" } else { "it does not work, guests are emulated" };
    eprintln!("{DEVICE}: {found}");
    finished.discard();
    Ok(works)
}

/// What the answer depends on.
fn host() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let version = Command::new(QEMU).arg("--version").output().map(|output| output.stdout);
    let version = String::from_utf8_lossy(&version.unwrap_or_default()).into_owned();
    let version = version.lines().next().unwrap_or_default().to_owned();
    let device = if opens() { "opens" } else { "is closed" };
    format!("{} {} {version}, {DEVICE} {device}", boot.trim(), release.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(folder: &Path) -> Tools {
        Tools { virtme: "/none".into(), runs: folder.join("runs"), state: folder.join("state") }
    }

    #[test]
    fn the_forced_one_is_taken_without_a_probe() {
        let folder = tempfile::tempdir().unwrap();
        let tools = tools(folder.path());
        let accel = choose(&tools, Path::new("/none"), Some(Accel::Tcg)).unwrap();
        assert_eq!(accel, Accel::Tcg);
        assert!(!tools.state.exists());
    }

    #[test]
    fn an_answer_for_this_host_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let tools = tools(folder.path());
        fs::create_dir_all(&tools.state).unwrap();
        let known = Remembered { host: host(), accel: Accel::Kvm };
        job::store(&tools.state.join("accel.json"), &known).unwrap();
        assert_eq!(choose(&tools, Path::new("/none"), None).unwrap(), Accel::Kvm);
    }
}
