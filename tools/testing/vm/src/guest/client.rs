// SPDX-License-Identifier: GPL-2.0

//! The NFS client's mount.

use crate::guest::network::SERVER;
use crate::guest::paths::{self, EXPORT, MOUNT};
use crate::guest::{exec, kerberos, server};
use crate::settings::{Security, Session, Transport, Version, MIB};
use anyhow::{ensure, Context, Result};
use std::fs;

/// Mounts the export, and checks that the mount is what was asked for.
pub fn mount(session: &Session) -> Result<()> {
    mount_at(session, MOUNT, &[])
}

/// The same at another folder, with more options.
pub fn mount_at(session: &Session, folder: &str, more: &[&str]) -> Result<()> {
    // Otherwise a mount of the same machine reads past the server.
    paths::write_if_there("/sys/module/nfs/parameters/localio_enabled", "N")?;
    let source = source(session);
    let options = [&[options(session).as_str()], more].concat().join(",");
    exec::step("mount", &["-t", "nfs", "-o", &options, &source, folder])?;
    check(session, folder)
}

/// Unmounts it; fails if somebody still uses it.
pub fn unmount() -> Result<()> {
    unmount_at(MOUNT)
}

/// The same at another folder.
pub fn unmount_at(folder: &str) -> Result<()> {
    exec::step("umount", &[folder]).map(drop)
}

fn source(session: &Session) -> String {
    let server = match session.security {
        Security::Sys => SERVER,
        _ => kerberos::NAME,
    };
    match session.version {
        Version::V3 => format!("{server}:{EXPORT}"),
        Version::V41 | Version::V42 => format!("{server}:/"),
    }
}

fn options(session: &Session) -> String {
    let mut options = vec![format!("vers={}", session.version)];
    options.push(format!("sec={}", session.security));
    options.push(format!("rsize={MIB},wsize={MIB},hard"));
    match session.transport {
        Transport::Rdma => options.push(format!("proto=rdma,port={}", server::RDMA_PORT)),
        Transport::Tcp => options.push("proto=tcp".to_owned()),
    }
    if session.version == Version::V3 {
        options.push("nolock,mountproto=tcp".to_owned());
    }
    options.join(",")
}

fn check(session: &Session, folder: &str) -> Result<()> {
    let mounts = fs::read_to_string("/proc/self/mounts").context("cannot read the mounts")?;
    let line = mounts.lines().find(|line| line.split(' ').nth(1) == Some(folder));
    let line = line.context("the export is not mounted")?;
    // The server may allow for less than the client asks for.
    let payload = session.payload.min(MIB);
    for wanted in [
        format!("vers={}", session.version),
        format!("proto={}", session.transport),
        format!("sec={}", session.security),
        format!("rsize={payload}"),
        format!("wsize={payload}"),
    ] {
        let found = line.split([' ', ',']).any(|option| option == wanted);
        ensure!(found, "the mount is not {wanted}: {line}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Device, IoMode};

    #[test]
    fn options_follow_version_and_transport() {
        let mut session = Session::new(Device::Rxe, Version::V3, IoMode::Direct, Transport::Rdma);
        let text = options(&session);
        assert!(text.starts_with("vers=3,"), "{text}");
        assert!(text.contains("proto=rdma,port=20049"), "{text}");
        assert!(text.contains("nolock"), "{text}");
        session.version = Version::V42;
        session.transport = Transport::Tcp;
        let text = options(&session);
        assert!(text.starts_with("vers=4.2,"), "{text}");
        assert!(!text.contains("20049") && !text.contains("nolock"), "{text}");
    }
}
