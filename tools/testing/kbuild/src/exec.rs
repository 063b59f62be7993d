// SPDX-License-Identifier: GPL-2.0

//! Runs other programs: quietly, with a clean environment where it matters,
//! and with errors that say what to look at.

use anyhow::{bail, Context, Result};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Variables that a build needs from the caller; the rest would only make it
/// depend on who calls.
const KEPT: [&str; 7] = ["HOME", "PATH", "TMPDIR", "TERM", "USER", "http_proxy", "https_proxy"];

/// A command for `program` whose environment holds no more than a build
/// needs, in the C locale, and which ends when this process ends.
pub fn clean(program: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "TERM", "--", program]);
    command.env_clear().env("LC_ALL", "C");
    for name in KEPT {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.stdin(Stdio::null());
    command
}

/// Runs `command` with its output appended to `log`.
///
/// The error names `what` failed, the log, and the first line of the output
/// that looks like a reason.
pub fn logged(what: &str, command: &mut Command, log: &Path) -> Result<()> {
    let mut file = append(log)?;
    let start = file.metadata().map(|meta| meta.len()).unwrap_or(0);
    writeln!(file, "$ {command:?}").with_context(|| format!("cannot write {}", log.display()))?;
    let both = file.try_clone().with_context(|| format!("cannot write {}", log.display()))?;
    let status = command.stdin(Stdio::null()).stdout(both).stderr(file).status();
    let status =
        status.with_context(|| format!("{what}: cannot run {:?}", command.get_program()))?;
    if status.success() {
        return Ok(());
    }
    let reason = tail_reason(log, start).unwrap_or_else(|| status.to_string());
    bail!("{what} failed: {reason} (the log is {})", log.display())
}

/// Runs `command` and gives back what it printed; the error carries the first
/// line of its complaint.
pub fn output(what: &str, command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output();
    let output =
        output.with_context(|| format!("{what}: cannot run {:?}", command.get_program()))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let reason = reason_in(&stderr).unwrap_or_else(|| output.status.to_string());
        bail!("{what} failed: {reason}");
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a program of that name is on the PATH.
pub fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let sbin = ["/usr/sbin", "/sbin"].map(Into::into);
    std::env::split_paths(&path).chain(sbin).any(|folder| folder.join(program).is_file())
}

fn append(log: &Path) -> Result<File> {
    let mut options = File::options();
    options.create(true).append(true);
    options.open(log).with_context(|| format!("cannot write {}", log.display()))
}

fn tail_reason(log: &Path, start: u64) -> Option<String> {
    let bytes = std::fs::read(log).ok()?;
    let start = usize::try_from(start).ok()?;
    reason_in(&String::from_utf8_lossy(bytes.get(start..)?))
}

/// The first line that names an error, else the last that is not empty.
fn reason_in(text: &str) -> Option<String> {
    let mut lines =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("$ "));
    let named = lines.clone().find(|line| names_error(line));
    named.or_else(|| lines.next_back()).map(str::to_owned)
}

fn names_error(line: &str) -> bool {
    let lower = line.to_lowercase();
    ["error:", "error[", "fatal:", "e: ", "no space left"].iter().any(|mark| lower.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_the_first_error() {
        let text = "reading\nE: no such package\nE: later\ndone\n";
        assert_eq!(reason_in(text).as_deref(), Some("E: no such package"));
        assert_eq!(reason_in("a\nb\n\n").as_deref(), Some("b"));
        assert_eq!(reason_in("\n"), None);
    }

    #[test]
    fn a_failure_names_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("x.log");
        let mut command = Command::new("sh");
        command.args(["-c", "echo before; echo 'fatal: it broke' >&2; exit 3"]);
        let err = logged("the step", &mut command, &log).unwrap_err().to_string();
        assert!(err.starts_with("the step failed: fatal: it broke"), "{err}");
        assert!(err.contains("x.log"));
    }
}
