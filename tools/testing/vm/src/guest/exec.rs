// SPDX-License-Identifier: GPL-2.0

//! Runs the programs that set up the guest.

use anyhow::{bail, ensure, Context, Result};
use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Where the programs are, whatever the caller's PATH says.
pub const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A step of the set-up takes no longer, even under emulation.
const PATIENCE: Duration = Duration::from_secs(90);

/// Runs one step and gives back what it printed.
///
/// The error is one line that names the command and its first complaint.
pub fn step(program: &str, args: &[&str]) -> Result<String> {
    run(program, args, PATIENCE)
}

/// Runs one step that may take `patience`.
pub fn run(program: &str, args: &[&str], patience: Duration) -> Result<String> {
    let shown = shown(program, args);
    let mut command = Command::new(program);
    command.args(args).env("PATH", PATH).env("LC_ALL", "C");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("cannot run `{shown}`"))?;
    let stdout = drain(child.stdout.take());
    let stderr = drain(child.stderr.take());
    let Some(status) = wait(&mut child, patience)? else {
        bail!("`{shown}` did not end within {} s", patience.as_secs());
    };
    let complaint = stderr.join().unwrap_or_default();
    ensure!(status.success(), "`{shown}` failed: {}", reason(&complaint, status));
    Ok(stdout.join().unwrap_or_default())
}

/// Waits for `child`; none if it did not end in time, then it is killed but
/// not waited for, since it may hang in the kernel.
pub fn wait(child: &mut Child, patience: Duration) -> Result<Option<ExitStatus>> {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(status) = child.try_wait().context("cannot wait for a program")? {
            return Ok(Some(status));
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn shown(program: &str, args: &[&str]) -> String {
    std::iter::once(program).chain(args.iter().copied()).collect::<Vec<_>>().join(" ")
}

fn reason(complaint: &str, status: ExitStatus) -> String {
    let lines = complaint.lines().map(str::trim).filter(|line| !line.is_empty());
    let joined = lines.take(3).collect::<Vec<_>>().join("; ");
    if joined.is_empty() {
        status.to_string()
    } else {
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_names_command_and_complaint() {
        let err = step("sh", &["-c", "echo broken >&2; exit 3"]).unwrap_err().to_string();
        assert_eq!(err, "`sh -c echo broken >&2; exit 3` failed: broken");
    }

    #[test]
    fn a_silent_failure_names_the_status() {
        let err = step("false", &[]).unwrap_err().to_string();
        assert_eq!(err, "`false` failed: exit status: 1");
    }

    #[test]
    fn a_hanging_step_is_given_up() {
        let started = Instant::now();
        let err = run("sleep", &["600"], Duration::from_millis(100)).unwrap_err().to_string();
        assert!(err.starts_with("`sleep 600` did not end within"), "{err}");
        assert!(started.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn a_missing_program_is_named() {
        let err = step("no-such-program", &["x"]).unwrap_err().to_string();
        assert_eq!(err, "cannot run `no-such-program x`");
    }
}
