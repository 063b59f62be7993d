// SPDX-License-Identifier: GPL-2.0

//! The guest's network: one pair of virtual Ethernet devices, and a software
//! RDMA device on one end. Client and server share it.

use crate::guest::exec;
use crate::settings::Device;
use anyhow::Result;

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

/// Adds the RDMA device.
pub fn add_device(device: Device) -> Result<()> {
    let (name, kind) = (format!("{device}0"), device.to_string());
    exec::step("rdma", &["link", "add", &name, "type", &kind, "netdev", "veth0"]).map(drop)
}

/// Removes the RDMA device; fails if something still holds it.
pub fn remove_device(device: Device) -> Result<()> {
    exec::step("rdma", &["link", "delete", &format!("{device}0")]).map(drop)
}
