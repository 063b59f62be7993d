// SPDX-License-Identifier: GPL-2.0

//! Where things are inside the guest.
//!
//! The guest's root is the machine's, read-only or under an overlay in
//! memory; nothing written here reaches the machine.

use crate::guest::exec;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// Where the client mounts the export.
pub const MOUNT: &str = "/mnt/nfs";

/// Where the client mounts it a second time, over TCP.
pub const TCP_MOUNT: &str = "/mnt/nfs-tcp";

/// The exported file system, as the server sees it.
pub const EXPORT: &str = "/mnt/export";

/// Counters and test switches of the kernel.
pub const DEBUGFS: &str = "/sys/kernel/debug";

/// State of the NFS programs.
const NFS_STATE: &str = "/var/lib/nfs";

/// Scratch files of the guest, in memory.
pub const SCRATCH: &str = "/run/rig";

/// Makes the folders and hides the machine's own NFS set-up.
pub fn prepare() -> Result<()> {
    for path in [MOUNT, TCP_MOUNT, EXPORT, SCRATCH] {
        create(path)?;
    }
    hide(NFS_STATE)?;
    for name in ["rpc_pipefs", "nfsdcld", "sm", "v4recovery"] {
        create(&format!("{NFS_STATE}/{name}"))?;
    }
    for name in ["etab", "rmtab"] {
        write(&format!("{NFS_STATE}/{name}"), "")?;
    }
    mount_debugfs()?;
    replace_configuration()
}

/// Mounts it, unless that is done.
pub fn mount_debugfs() -> Result<()> {
    if is_mounted(DEBUGFS) {
        return Ok(());
    }
    exec::step("mount", &["-t", "debugfs", "debugfs", DEBUGFS]).map(drop)
}

/// The NFS programs read /etc/nfs.conf; that of the machine is not ours.
fn replace_configuration() -> Result<()> {
    write("/etc/nfs.conf", "[nfsd]\nvers3=y\nvers4=y\nvers4.1=y\nvers4.2=y\nudp=n\n")?;
    write("/etc/exports", "")?;
    for folder in ["/etc/nfs.conf.d", "/etc/exports.d"] {
        if Path::new(folder).is_dir() {
            hide(folder)?;
        }
    }
    Ok(())
}

/// Puts an empty folder in place of one of the machine, once.
fn hide(folder: &str) -> Result<()> {
    if is_mounted(folder) {
        return Ok(());
    }
    exec::step("mount", &["-t", "tmpfs", "hidden", folder]).map(drop)
}

/// Creates a folder and those above it.
pub fn create(path: &str) -> Result<()> {
    fs::create_dir_all(path).with_context(|| format!("cannot create {path} in the guest"))
}

/// Writes a file, such as a kernel parameter.
pub fn write(path: &str, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {text:?} to {path} in the guest"))
}

/// Writes a kernel parameter that may be absent.
pub fn write_if_there(path: &str, text: &str) -> Result<()> {
    if Path::new(path).exists() {
        write(path, text)?;
    }
    Ok(())
}

/// Whether something is mounted at `path`.
pub fn is_mounted(path: &str) -> bool {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    mounts.lines().any(|line| line.split(' ').nth(1) == Some(path))
}
