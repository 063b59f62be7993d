// SPDX-License-Identifier: GPL-2.0

//! The command line of QEMU, as virtme-ng makes it.
//!
//! virtme-ng only prints the command: started from here, QEMU is a direct
//! child that cannot outlive this process.

use crate::accel::Accel;
use crate::settings::{Machine, MIB};
use anyhow::{ensure, Context, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The emulator for the one architecture that the rig supports.
pub const QEMU: &str = "qemu-system-x86_64";

/// Those of virtme-ng, and a cache. Programs start faster; what changes on the
/// machine meanwhile may not be seen, so a shell does without.
const ROOT_FLAGS: &str =
    "rootflags=version=9p2000.L,trans=virtio,access=any,msize=524288,cache=loose";

/// Folders that the guest may write to, in memory; those that exist.
const OVERLAYS: [&str; 10] =
    ["/etc", "/home", "/lib", "/mnt", "/opt", "/root", "/srv", "/tmp", "/usr", "/var"];

/// What to boot.
#[derive(Clone, Debug)]
pub struct Guest {
    /// The kernel.
    pub image: PathBuf,
    /// What executes the guest.
    pub accel: Accel,
    /// Memory and CPUs.
    pub machine: Machine,
    /// More kernel parameters.
    pub append: Vec<String>,
    /// The console is the caller's terminal.
    pub interactive: bool,
}

/// The words of QEMU's command line. `folder` is shared with the guest and
/// holds the kernel `bzImage` and the program `rig`.
pub fn command_line(virtme: &Path, guest: &Guest, folder: &Path) -> Result<Vec<String>> {
    ensure!(kbuild::exec::on_path(QEMU), "{QEMU} is missing: install qemu-system-x86");
    let program = virtme.join("virtme-run");
    ensure!(program.is_file(), "{} is missing: run `make tree` to install it", program.display());
    let mut command = Command::new(&program);
    command.args(arguments(guest, folder)).env("TMPDIR", folder);
    command.stdin(Stdio::null());
    let output = command.output().with_context(|| format!("cannot run {}", program.display()))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    let reason = complaint.lines().next_back().unwrap_or("no reason given");
    ensure!(output.status.success(), "virtme-run failed: {reason}");
    let printed = String::from_utf8_lossy(&output.stdout);
    let words = shlex::split(printed.trim()).filter(|words| !words.is_empty());
    words.context("virtme-run printed no command line")
}

fn arguments(guest: &Guest, folder: &Path) -> Vec<String> {
    let shared = folder.display();
    let mut words = vec![
        "--show-command".to_owned(),
        "--dry-run".to_owned(),
        "--force-9p".to_owned(),
        "--mods=none".to_owned(),
        "--name=rig".to_owned(),
        format!("--kimg={shared}/bzImage"),
        format!("--memory={}M", guest.machine.memory / MIB),
        format!("--cpus={}", guest.machine.cpus),
        format!("--rwdir={shared}"),
    ];
    let script = format!("exec {shared}/rig guest {shared}");
    if guest.interactive {
        words.push(format!("--shell={shared}/shell"));
    } else {
        words.extend(["--show-boot-console".to_owned(), format!("--script-sh={script}")]);
    }
    let overlays = OVERLAYS.iter().filter(|path| is_folder(Path::new(path)));
    words.extend(overlays.map(|path| format!("--overlay-rwdir={path}")));
    words.extend(guest.accel.virtme_options());
    words.extend(kernel_parameters(guest).map(|parameter| format!("--kopt={parameter}")));
    words
}

/// With a link such as /lib, its target is in the list.
fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}

/// The console shows all but debug messages; it is what is judged afterwards.
fn kernel_parameters(guest: &Guest) -> impl Iterator<Item = String> + '_ {
    let disk = format!("brd.rd_size={}", guest.machine.memory / 1024);
    let fixed = ["loglevel=7", "brd.rd_nr=1", &disk, "panic=-1"].map(str::to_owned);
    let root = (!guest.interactive).then(|| ROOT_FLAGS.to_owned());
    root.into_iter().chain(fixed).chain(guest.append.iter().cloned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::GIB;

    fn guest(interactive: bool) -> Guest {
        Guest {
            image: "/i".into(),
            accel: Accel::Tcg,
            machine: Machine { memory: 4 * GIB, cpus: 2 },
            append: vec!["kunit.enable=0".into()],
            interactive,
        }
    }

    #[test]
    fn sizes_and_parameters_are_passed_on() {
        let words = arguments(&guest(false), Path::new("/run-1"));
        for wanted in ["--memory=4096M", "--cpus=2", "--rwdir=/run-1", "--kopt=kunit.enable=0"] {
            assert!(words.contains(&wanted.to_owned()), "{wanted} is missing");
        }
        assert!(words.contains(&"--script-sh=exec /run-1/rig guest /run-1".to_owned()));
    }

    #[test]
    fn a_shell_takes_the_console() {
        let words = arguments(&guest(true), Path::new("/run-1"));
        assert!(words.contains(&"--shell=/run-1/shell".to_owned()));
        assert!(!words.iter().any(|word| word.starts_with("--script-sh")));
    }
}
