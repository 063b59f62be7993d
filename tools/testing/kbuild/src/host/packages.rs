// SPDX-License-Identifier: GPL-2.0

//! Distribution packages: which are needed, which are missing, and how they
//! get onto the machine.

use crate::cache::Cache;
use crate::exec;
use anyhow::{bail, Context, Result};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A Debian package and a file that shows it is there: a program on the PATH
/// or an absolute path. The file is for distributions without dpkg.
pub type Package = (&'static str, &'static str);

/// What every kernel build needs, apart from the compiler.
pub const BUILD: &[Package] = &[
    ("bc", "bc"),
    ("bison", "bison"),
    ("build-essential", "make"),
    ("ccache", "ccache"),
    ("cpio", "cpio"),
    ("flex", "flex"),
    ("git", "git"),
    ("kmod", "depmod"),
    ("libelf-dev", "/usr/include/libelf.h"),
    ("libssl-dev", "/usr/include/openssl/opensslv.h"),
    ("perl", "perl"),
    ("python3", "python3"),
    ("rsync", "rsync"),
    ("util-linux", "setpriv"),
    ("xz-utils", "xz"),
];

/// What guests and the programs that run in them need.
pub const GUEST: &[Package] = &[
    ("busybox-static", "busybox"),
    ("e2fsprogs", "mkfs.ext4"),
    ("fio", "fio"),
    ("ibverbs-utils", "ibv_devices"),
    ("iproute2", "rdma"),
    ("nfs-common", "mount.nfs"),
    ("nfs-kernel-server", "rpc.nfsd"),
    ("python3-venv", "python3"),
    ("qemu-system-x86", "qemu-system-x86_64"),
    ("rdma-core", "rdma-ndd"),
    ("rdmacm-utils", "rping"),
    ("rpcbind", "rpcbind"),
    ("stress-ng", "stress-ng"),
    ("xfsprogs", "mkfs.xfs"),
];

/// What the crafted client needs to be built and to run, besides libclang.
pub const CLIENT: &[Package] = &[
    ("cmake", "cmake"),
    ("ibverbs-providers", "/etc/libibverbs.d/rxe.driver"),
    ("libibverbs1", "ibv_devices"),
    ("librdmacm1", "rping"),
];

/// What a Kerberos realm needs.
pub const KERBEROS: &[Package] = &[("krb5-admin-server", "kadmin.local"), ("krb5-kdc", "krb5kdc")];

/// What the plots of the benchmark need.
pub const PLOTS: &[Package] =
    &[("fonts-dejavu-core", "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")];

/// What the static gate needs besides.
pub const GATE: &[Package] =
    &[("python3-git", "python3"), ("python3-ply", "python3"), ("shellcheck", "shellcheck")];

/// Debian release numbers on which packages are installed automatically.
const AUTOMATIC: [&str; 2] = ["12", "13"];

/// The distribution, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distribution {
    /// `debian` and the like.
    pub id: String,
    /// Release number.
    pub release: String,
    /// Code name of the release, as in package archives.
    pub codename: String,
}

impl Distribution {
    /// Reads what the machine says about itself.
    pub fn detect() -> Self {
        Self::parse(&fs::read_to_string("/etc/os-release").unwrap_or_default())
    }

    fn parse(text: &str) -> Self {
        let field = |name: &str| {
            let lines = text.lines().filter_map(|line| line.split_once('='));
            let value = lines.filter(|(key, _)| *key == name).map(|(_, value)| value).next();
            value.unwrap_or_default().trim_matches('"').to_owned()
        };
        Self { id: field("ID"), release: field("VERSION_ID"), codename: field("VERSION_CODENAME") }
    }

    /// Whether packages can be installed automatically, given root.
    pub fn is_supported(&self) -> bool {
        self.id == "debian" && AUTOMATIC.contains(&self.release.as_str())
    }
}

/// Makes sure that `wanted` is installed, installing it as root on Debian 12
/// and 13; elsewhere the error lists what is missing.
pub fn require(cache: &Cache, wanted: &[Package]) -> Result<()> {
    let missing = missing(wanted)?;
    if missing.is_empty() {
        return Ok(());
    }
    let _lock = cache.lock("packages", "the package installation")?;
    install(cache, &missing)
}

/// Installs packages by name.
pub fn install(cache: &Cache, names: &[String]) -> Result<()> {
    let list = names.join(" ");
    if !Distribution::detect().is_supported() {
        bail!("missing packages (as Debian names them): {list}: install them with the distribution's tools");
    }
    if !rustix::process::geteuid().is_root() {
        bail!("missing packages: run 'apt-get install {list}' as root");
    }
    println!("installing packages: {list}");
    let log = cache.log("packages")?;
    // Lists that cannot be had do not matter as long as the packages can.
    if let Err(err) = exec::logged("apt-get update", apt_get().arg("update"), &log) {
        eprintln!("note: {err:#}");
    }
    let mut command = apt_get();
    command.args(["install", "--yes", "--no-install-recommends"]).args(names);
    exec::logged("installing packages", &mut command, &log)
}

/// The version of `name` that apt would install, if any.
pub fn candidate(name: &str) -> Option<String> {
    let mut command = Command::new("apt-cache");
    command.args(["policy", name]).env("LC_ALL", "C");
    let text = exec::output("apt-cache policy", &mut command).ok()?;
    let version = text.lines().find_map(|line| line.trim().strip_prefix("Candidate: "))?;
    (version != "(none)").then(|| version.to_owned())
}

/// Package names that start with `prefix` and end in a number, highest first.
pub fn numbered(prefix: &str) -> Vec<u32> {
    let mut command = Command::new("apt-cache");
    command.args(["pkgnames", prefix]);
    let text = exec::output("apt-cache pkgnames", &mut command).unwrap_or_default();
    let numbers = text.lines().filter_map(|name| name.strip_prefix(prefix)?.parse().ok());
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable_by(|a, b| b.cmp(a));
    numbers
}

/// Names of the packages of `wanted` that are not installed.
pub fn missing(wanted: &[Package]) -> Result<Vec<String>> {
    if !exec::on_path("dpkg-query") {
        let absent = wanted.iter().filter(|(_, probe)| !is_there(probe));
        return Ok(absent.map(|(name, _)| (*name).to_owned()).collect());
    }
    let mut command = Command::new("dpkg-query");
    command.args(["--show", "--showformat", "${Package} ${db:Status-Abbrev}\n"]);
    command.args(wanted.iter().map(|(name, _)| name));
    // It fails when a package is unknown, and still lists the others.
    let output = command.output().context("cannot run dpkg-query")?;
    let installed = parse_status(&String::from_utf8_lossy(&output.stdout));
    let absent = wanted.iter().filter(|(name, _)| !installed.iter().any(|have| have == name));
    Ok(absent.map(|(name, _)| (*name).to_owned()).collect())
}

fn parse_status(text: &str) -> Vec<String> {
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    let installed = pairs.filter(|(_, status)| status.trim() == "ii");
    installed.map(|(name, _)| name.to_owned()).collect()
}

fn is_there(probe: &str) -> bool {
    if probe.starts_with('/') {
        return Path::new(probe).exists();
    }
    exec::on_path(probe)
}

fn apt_get() -> Command {
    let mut command = Command::new("apt-get");
    command.args(["-o", "DPkg::Lock::Timeout=900", "-o", "Acquire::Retries=3"]);
    command.args(["-o", "Dpkg::Options::=--force-confdef"]);
    command.args(["-o", "Dpkg::Options::=--force-confold"]);
    command.env("DEBIAN_FRONTEND", "noninteractive").env("LC_ALL", "C");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_two_releases_are_automatic() {
        let text = "ID=debian\nVERSION_ID=\"12\"\nVERSION_CODENAME=bookworm\n";
        let debian = Distribution::parse(text);
        assert!(debian.is_supported());
        assert_eq!(debian.codename, "bookworm");
        assert!(!Distribution::parse("ID=debian\nVERSION_ID=\"11\"\n").is_supported());
        assert!(!Distribution::parse("ID=fedora\nVERSION_ID=12\n").is_supported());
        assert!(!Distribution::parse("").is_supported());
    }

    #[test]
    fn a_removed_package_is_not_installed() {
        let text = "flex ii \nbison rc \ngit ii \n";
        assert_eq!(parse_status(text), ["flex", "git"]);
    }
}
