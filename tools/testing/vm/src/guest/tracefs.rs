// SPDX-License-Identifier: GPL-2.0

//! Events, probes and histogram triggers of the guest's kernel.

use crate::guest::exec;
use crate::hist::{self, Row};
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

const ROOT: &str = "/sys/kernel/tracing";

/// Has events and triggers of its own.
const INSTANCE: &str = "instances/rig";

/// A histogram that the kernel keeps for one event.
#[derive(Debug)]
pub struct Histogram {
    event: PathBuf,
    trigger: String,
}

/// Mounts tracefs if that has not been done.
pub fn mount() -> Result<()> {
    if Path::new(ROOT).join("kprobe_events").exists() {
        return Ok(());
    }
    exec::step("mount", &["-t", "tracefs", "tracefs", ROOT])?;
    let found = Path::new(ROOT).join("kprobe_events").exists();
    anyhow::ensure!(found, "the guest's kernel has no kprobe events: set CONFIG_KPROBE_EVENTS");
    Ok(())
}

/// Defines a probe, in the syntax of `kprobe_events`.
pub fn probe(definition: &str) -> Result<()> {
    let path = Path::new(ROOT).join("kprobe_events");
    append(&path, definition).with_context(|| format!("cannot set the probe {definition:?}"))
}

/// Defines an event that triggers raise, in the syntax of `synthetic_events`.
pub fn synthetic(definition: &str) -> Result<()> {
    let path = Path::new(ROOT).join("synthetic_events");
    append(&path, definition).with_context(|| format!("cannot set the event {definition:?}"))
}

/// Removes a probe, by the name of its event.
pub fn remove_probe(event: &str) -> Result<()> {
    let path = Path::new(ROOT).join("kprobe_events");
    append(&path, &format!("-:{event}")).with_context(|| format!("cannot remove {event}"))
}

/// Removes the second set of events.
pub fn remove_instance() -> Result<()> {
    let path = Path::new(ROOT).join(INSTANCE);
    fs::remove_dir(&path).with_context(|| format!("cannot remove {}", path.display()))
}

/// Fails if a probe was passed over, for want of room or within another probe.
pub fn check_probes() -> Result<()> {
    let path = Path::new(ROOT).join("kprobe_profile");
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    match missed(&text) {
        Some((name, count)) => anyhow::bail!("the probe {name} missed {count} events"),
        None => Ok(()),
    }
}

/// The first probe with misses, of lines `name hits misses`.
fn missed(profile: &str) -> Option<(&str, u64)> {
    profile.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let name = words.next()?;
        let count = words.nth(1)?.parse().ok()?;
        (count > 0).then_some((name, count))
    })
}

/// Whether the kernel has a function of that name.
pub fn has_function(name: &str) -> bool {
    let symbols = fs::read_to_string("/proc/kallsyms").unwrap_or_default();
    symbols.lines().any(|line| line.split_whitespace().nth(2) == Some(name))
}

/// Functions of the kernel whose name begins with `start`, by address.
pub fn functions(start: &str) -> Result<BTreeMap<u64, String>> {
    let symbols = fs::read_to_string("/proc/kallsyms").context("cannot read /proc/kallsyms")?;
    let found = named(&symbols, start);
    anyhow::ensure!(!found.is_empty(), "the guest's kernel shows no function {start}*");
    Ok(found)
}

fn named(symbols: &str, start: &str) -> BTreeMap<u64, String> {
    let each = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let address = u64::from_str_radix(words.first()?, 16).ok()?;
        let name = words.get(2).filter(|name| name.starts_with(start))?;
        (address != 0).then(|| (address, (*name).to_owned()))
    };
    symbols.lines().filter_map(each).collect()
}

impl Histogram {
    /// Attaches the trigger to an event such as `kmem/mm_page_alloc`.
    pub fn attach(event: &str, trigger: &str) -> Result<Self> {
        Self::attach_below(Path::new(ROOT), event, trigger)
    }

    /// Like [`Histogram::attach`], for an event that has a trigger already.
    pub fn attach_second(event: &str, trigger: &str) -> Result<Self> {
        let instance = Path::new(ROOT).join(INSTANCE);
        fs::create_dir_all(&instance).context("cannot create an instance of the tracer")?;
        Self::attach_below(&instance, event, trigger)
    }

    fn attach_below(root: &Path, event: &str, trigger: &str) -> Result<Self> {
        let event = root.join("events").join(event);
        append(&event.join("trigger"), trigger)
            .with_context(|| format!("cannot set the trigger {trigger:?}"))?;
        Ok(Self { event, trigger: trigger.to_owned() })
    }

    /// Removes the trigger, and with it the rows.
    pub fn detach(self) -> Result<()> {
        append(&self.event.join("trigger"), &format!("!{}", self.trigger))
            .with_context(|| format!("cannot remove the trigger {:?}", self.trigger))
    }

    /// The rows so far.
    pub fn rows(&self) -> Result<Vec<Row>> {
        let path = self.event.join("hist");
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        hist::parse(&text).with_context(|| format!("cannot use {}", path.display()))
    }
}

fn append(path: &Path, line: &str) -> Result<()> {
    let file = OpenOptions::new().append(true).open(path);
    let mut file = file.with_context(|| format!("cannot open {}", path.display()))?;
    let written = file.write_all(format!("{line}\n").as_bytes());
    written.with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_by_the_start_of_their_name() {
        let symbols = "ffffffff81000010 T svc_rdma_a\nffffffff81000020 t svc_b\n0 T svc_rdma_c\n";
        let found = named(symbols, "svc_rdma");
        assert_eq!(
            found.into_iter().collect::<Vec<_>>(),
            [(0xffff_ffff_8100_0010, "svc_rdma_a".into())]
        );
    }

    #[test]
    fn misses_are_found() {
        assert_eq!(missed("  fs_read   120   0\n  bulk  7  0\n"), None);
        assert_eq!(missed("  fs_read   120   0\n  bulk  7  3\n"), Some(("bulk", 3)));
        assert_eq!(missed(""), None);
    }
}
