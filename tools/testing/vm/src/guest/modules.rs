// SPDX-License-Identifier: GPL-2.0

//! A kernel with the NFS server and RDMA as modules: they are loaded, serve,
//! and go again.

use crate::guest::progress::Progress;
use crate::guest::{exec, matrix, paths};
use crate::job::{Case, Modules, Outcome};
use crate::modules::{LOADS, UNLOADED};
use anyhow::{bail, ensure, Context, Result};
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Where the kernel and modprobe look for modules.
const FOLDER: &str = "/lib/modules";

/// What is loaded by hand; the rest follows by dependency, or on demand.
const LOADED: [&str; 4] = ["rdma_rxe", "siw", "nfsd", "rpcrdma"];

/// Work that the last user of a module left to be done later.
const PATIENCE: Duration = Duration::from_secs(60);

/// Loads, serves and unloads, twice: what the first turn left behind, the
/// second one stumbles over.
pub fn run(job: &Modules, progress: &Progress) -> Result<Outcome> {
    provide(&job.folder)?;
    for load in LOADS {
        exec::step("modprobe", &[&["-a"], LOADED.as_slice()].concat())?;
        matrix::play(&job.matrix, |name| format!("{load}: {name}"), progress)?;
        progress.say("unloading the modules");
        let failure = unload().err().map(|err| format!("{err:#}"));
        let left = failure.is_some();
        let name = format!("{load}: {UNLOADED}");
        progress.case(&Case { name, failure, ..Case::default() })?;
        if left {
            break;
        }
    }
    Ok(Outcome::Done)
}

/// Shows the kernel its modules; those of the machine are others.
fn provide(folder: &Path) -> Result<()> {
    ensure!(loaded()?.is_empty(), "the guest has modules before any was provided");
    paths::create(FOLDER)?;
    let folder = folder.to_str().context("the folder of the modules has no name in UTF-8")?;
    exec::step("mount", &["--bind", folder, FOLDER]).map(drop)
}

/// Removes all modules, those first that no other one uses.
fn unload() -> Result<()> {
    let begun = Instant::now();
    loop {
        let left = loaded()?;
        if left.is_empty() {
            return Ok(());
        }
        let unused: Vec<&Module> = left.iter().filter(|module| module.users == 0).collect();
        let removed = unused.iter().filter(|module| remove(&module.name).is_ok()).count();
        if removed == 0 && begun.elapsed() > PATIENCE {
            let names: Vec<&str> = left.iter().map(|module| module.name.as_str()).collect();
            bail!("these modules are still in use: {}", names.join(", "));
        }
        if removed == 0 {
            thread::sleep(Duration::from_millis(200));
        }
    }
}

fn remove(name: &str) -> Result<()> {
    exec::step("rmmod", &[name]).map(drop)
}

#[derive(Debug, PartialEq, Eq)]
struct Module {
    name: String,
    users: u64,
}

fn loaded() -> Result<Vec<Module>> {
    let text = fs::read_to_string("/proc/modules").context("cannot read /proc/modules")?;
    text.lines().map(parse).collect()
}

/// `name size users dependents state address`; what cannot be removed has `-`
/// for the number of its users.
fn parse(line: &str) -> Result<Module> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (name, users) = words.first().zip(words.get(2)).context("a line of /proc/modules")?;
    let users = users.parse().with_context(|| format!("the module {name} is there to stay"))?;
    Ok(Module { name: (*name).to_owned(), users })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_understood() {
        let line = "sunrpc 1024000 3 nfsd,rpcrdma, Live 0xffffffffc0000000";
        assert_eq!(parse(line).unwrap(), Module { name: "sunrpc".to_owned(), users: 3 });
        assert!(parse("sunrpc 1024000 - - Live 0x0").is_err());
        assert!(parse("").is_err());
    }
}
