// SPDX-License-Identifier: GPL-2.0

//! The guest's network: one pair of virtual Ethernet devices, and a software
//! RDMA device on one end. Client and server share it.

use crate::guest::exec;
use crate::guest::paths;
use crate::settings::{Device, Server};
use anyhow::Result;
use std::path::Path;

/// Address of the server.
pub const SERVER: &str = "10.0.0.1";

const CLIENT: &str = "10.0.0.2";
const MTU: &str = "9000";

/// Brings up the pair of devices.
pub fn ethernet() -> Result<()> {
    let ip = |args: &str| exec::step("ip", &args.split(' ').collect::<Vec<_>>()).map(drop);
    ip("link set lo up")?;
    ip("link add veth0 type veth peer name veth1")?;
    for (device, address) in [("veth0", SERVER), ("veth1", CLIENT)] {
        ip(&format!("address add {address}/24 dev {device}"))?;
        ip(&format!("link set {device} mtu {MTU} up"))?;
    }
    Ok(())
}

/// Removes the pair of devices.
pub fn remove_ethernet() -> Result<()> {
    exec::step("ip", &["link", "delete", "veth0"]).map(drop)
}

/// Adds the RDMA device.
pub fn add_device(server: &Server) -> Result<()> {
    let kind = server.device.link_type();
    if kind == "rxe" {
        set_dma(server)?;
    }
    exec::step("rdma", &["link", "add", &name(server.device), "type", kind, "netdev", "veth0"])
        .map(drop)
}

/// Chooses between virtual DMA and a DMA device, in a kernel for tests.
fn set_dma(server: &Server) -> Result<()> {
    let path = "/sys/module/rdma_rxe/parameters/dma_max_seg_size";
    match server.device {
        Device::RxeDma => {
            // The first report must not hide others.
            paths::write(&format!("{}/dma-api/all_errors", paths::DEBUGFS), "1")?;
            paths::write(path, &server.max_segment.to_string())
        }
        _ if Path::new(path).exists() => paths::write(path, "0"),
        _ => Ok(()),
    }
}

fn name(device: Device) -> String {
    format!("{}0", device.link_type())
}

/// Removes the RDMA device; fails if something still holds it.
pub fn remove_device(device: Device) -> Result<()> {
    exec::step("rdma", &["link", "delete", &name(device)]).map(drop)
}
