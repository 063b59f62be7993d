// SPDX-License-Identifier: GPL-2.0

//! A Kerberos realm inside of the guest, for mounts with RPCSEC_GSS.
//!
//! Server and client are one machine and share one principal.

use crate::guest::network::SERVER;
use crate::guest::{exec, paths, rpc};
use anyhow::{Context, Result};
use std::fs::OpenOptions;
use std::io::Write;

/// The server's name, which its principal has in it.
pub const NAME: &str = "server.rig.test";

const REALM: &str = "RIG.TEST";

/// Where the key distribution centre has its files.
const KDC: &str = "/etc/krb5kdc";
const DATABASE: &str = "/var/lib/krb5kdc";
const KEYTAB: &str = "/etc/krb5.keytab";

/// In the order in which they start.
const DAEMONS: [(&str, &[&str]); 3] =
    [("krb5kdc", &[]), ("rpc.svcgssd", &["-n"]), ("rpc.gssd", &[])];

/// Sets the realm up, and starts what hands out and checks tickets.
pub fn start() -> Result<()> {
    configure()?;
    create_realm()?;
    for (program, args) in DAEMONS {
        rpc::daemon(program, args)?;
    }
    Ok(())
}

/// Ends these programs.
pub fn stop() -> Result<()> {
    DAEMONS.iter().rev().try_for_each(|(program, _)| rpc::end(program))
}

fn principal() -> String {
    format!("nfs/{NAME}@{REALM}")
}

fn configure() -> Result<()> {
    for folder in [KDC, DATABASE] {
        paths::create(folder)?;
    }
    append("/etc/hosts", &format!("\n{SERVER} {NAME}\n"))?;
    let kdc = format!("{REALM} = {{\n kdc = {SERVER}\n}}\n");
    let defaults = format!(
        "[libdefaults]\ndefault_realm = {REALM}\ndns_canonicalize_hostname = false\nrdns = false\n\
         dns_lookup_kdc = false\ndns_lookup_realm = false\n"
    );
    let domain = format!("[domain_realm]\n.rig.test = {REALM}\n");
    paths::write("/etc/krb5.conf", &format!("{defaults}[realms]\n{kdc}{domain}"))?;
    let database = format!("{REALM} = {{\n database_name = {DATABASE}/principal\n}}\n");
    paths::write(&format!("{KDC}/kdc.conf"), &format!("[realms]\n{database}"))?;
    let names = format!("[General]\nDomain = rig.test\nLocal-Realms = {REALM}\n");
    // The client's root is known by the principal of the machine.
    let root = format!("[Static]\n{} = root\n", principal());
    let order = "[Translation]\nMethod = nsswitch\nGSS-Methods = static,nsswitch\n";
    paths::write("/etc/idmapd.conf", &format!("{names}{order}{root}"))
}

fn create_realm() -> Result<()> {
    exec::step("kdb5_util", &["create", "-s", "-r", REALM, "-P", "rig"])?;
    let principal = principal();
    for query in
        [format!("addprinc -randkey {principal}"), format!("ktadd -k {KEYTAB} {principal}")]
    {
        exec::step("kadmin.local", &["-r", REALM, "-q", &query])?;
    }
    Ok(())
}

fn append(path: &str, text: &str) -> Result<()> {
    let file = OpenOptions::new().append(true).create(true).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.with_context(|| format!("cannot write {path} in the guest"))
}
