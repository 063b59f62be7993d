// SPDX-License-Identifier: GPL-2.0

//! The pinned kernel source package.
//!
//! It comes through a sources list in the cache; the machine's own list is
//! only read, for the address of the archive.

use super::{require_space, Source, Version};
use crate::cache::{self, Cache};
use crate::exec;
use crate::host::packages::Distribution;
use anyhow::{bail, ensure, Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PACKAGE: &str = "linux-source-7.3";
const SUITE: &str = "trixie-backports";
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// The version everything was measured with.
const PINNED: &str = "7.3.4-1~bpo13+1";

/// MiB that the package and the unpacked source take.
const SPACE: u64 = 2600;

/// Gets the newest unpacked source, or downloads and unpacks the package.
pub fn get(cache: &Cache) -> Result<Source> {
    if let Some(source) = unpacked(cache) {
        return Ok(source);
    }
    let _lock = cache.lock("source", "the kernel source")?;
    if let Some(source) = unpacked(cache) {
        return Ok(source);
    }
    clean(cache)?;
    require_space(cache.root(), SPACE, "the kernel source")?;
    let package = match downloaded(cache) {
        Some(package) => package,
        None => download(cache)?,
    };
    unpack(cache, &package)?;
    unpacked(cache).context("the kernel source was unpacked and is not there")
}

/// The pinned source, else the newest, among those unpacked.
pub fn unpacked(cache: &Cache) -> Option<Source> {
    let version = best(&names(&cache.sources()))?;
    let dir = cache.sources().join(&version);
    Some(Source {
        version: Version::of_package(&version)?,
        dir,
        key: key(&version),
        follows: false,
    })
}

/// Without the characters that a kernel build might take for its own.
fn key(version: &str) -> String {
    version.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "-")
}

fn downloaded(cache: &Cache) -> Option<PathBuf> {
    let names = names(&cache.downloads());
    let versions = names.iter().filter_map(|name| package_version(name));
    let version = best(&versions.collect::<Vec<_>>())?;
    Some(cache.downloads().join(file_name(&version)))
}

fn file_name(version: &str) -> String {
    format!("{PACKAGE}_{version}_all.deb")
}

fn package_version(file: &str) -> Option<String> {
    let version = file.strip_prefix(PACKAGE)?.strip_prefix('_')?.strip_suffix("_all.deb")?;
    Some(version.replace("%3a", ":"))
}

/// Of several package versions the pinned one, else the latest that fits.
fn best(versions: &[String]) -> Option<String> {
    if versions.iter().any(|version| version == PINNED) {
        return Some(PINNED.to_owned());
    }
    let pinned = Version::of_package(PINNED)?;
    let fits = |version: &&String| {
        Version::of_package(version)
            .is_some_and(|found| found >= pinned && found.require_base("").is_ok())
    };
    let fitting = versions.iter().filter(fits);
    fitting.max_by_key(|version| Version::of_package(version)).cloned()
}

fn download(cache: &Cache) -> Result<PathBuf> {
    let apt = Apt::new(cache)?;
    let log = cache.log("source")?;
    let mut update = apt.command("apt-get");
    exec::logged("reading the package archive", update.arg("update"), &log)?;
    let version = choose(&apt.offered()?)?;
    println!("downloading {PACKAGE} {version}");
    let partial = cache.downloads().join("partial");
    cache::create_dir(&partial)?;
    let mut fetch = apt.command("apt-get");
    fetch.arg("download").arg(format!("{PACKAGE}={version}")).current_dir(&partial);
    exec::logged("downloading the kernel source", &mut fetch, &log)?;
    let target = cache.downloads().join(file_name(&version));
    rename(&partial.join(file_name(&version)), &target)?;
    cache::remove(&partial)?;
    Ok(target)
}

fn choose(offered: &[String]) -> Result<String> {
    let Some(version) = best(offered) else {
        let found = if offered.is_empty() { "none".to_owned() } else { offered.join(", ") };
        bail!("{PACKAGE} {PINNED} or a later 7.3.x is not offered (found: {found}): set KDIR= to a Linux 7.3 tree");
    };
    if version != PINNED {
        println!("note: {PACKAGE} {PINNED} is no longer offered, taking {version}");
    }
    Ok(version)
}

/// Apt with all its state in the cache.
struct Apt {
    folder: PathBuf,
}

impl Apt {
    fn new(cache: &Cache) -> Result<Self> {
        let distribution = Distribution::detect();
        ensure!(
            distribution.id == "debian" && exec::on_path("apt-get"),
            "the kernel source is a Debian package: elsewhere set KDIR= to a Linux 7.3 tree"
        );
        ensure!(
            Path::new(KEYRING).is_file(),
            "{KEYRING} is missing: install debian-archive-keyring, or set KDIR= to a Linux 7.3 tree"
        );
        let folder = cache.root().join("apt");
        for part in ["lists/partial", "archives/partial", "sources"] {
            cache::create_dir(&folder.join(part))?;
        }
        let address = archive_address(&distribution.codename)?;
        let text = format!(
            "Types: deb\nURIs: {address}\nSuites: {SUITE}\nComponents: main\nSigned-By: {KEYRING}\n"
        );
        let list = folder.join("sources/base.sources");
        fs::write(&list, text).with_context(|| format!("cannot write {}", list.display()))?;
        Ok(Self { folder })
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let mut option = |name: &str, value: &str| {
            command.arg("-o").arg(format!("{name}={value}"));
        };
        let path = |name: &str| self.folder.join(name).to_string_lossy().into_owned();
        option("Dir::Etc::SourceList", "/dev/null");
        option("Dir::Etc::SourceParts", &path("sources"));
        option("Dir::State::Lists", &path("lists"));
        option("Dir::Cache::Archives", &path("archives"));
        option("Dir::Cache::pkgcache", "");
        option("Dir::Cache::srcpkgcache", "");
        option("Acquire::Retries", "3");
        // The cache may lie where only its owner can read.
        option("APT::Sandbox::User", "root");
        command.env("LC_ALL", "C");
        command
    }

    fn offered(&self) -> Result<Vec<String>> {
        let mut command = self.command("apt-cache");
        let text = exec::output("apt-cache madison", command.args(["madison", PACKAGE]))?;
        let columns = text.lines().filter_map(|line| line.split('|').nth(1));
        Ok(columns.map(|version| version.trim().to_owned()).collect())
    }
}

fn archive_address(codename: &str) -> Result<String> {
    let mut command = Command::new("apt-get");
    command.args(["indextargets", "--format", "$(CREATED_BY) $(RELEASE) $(REPO_URI)"]);
    let text = exec::output("apt-get indextargets", command.env("LC_ALL", "C"))?;
    choose_address(&text, codename).with_context(|| {
        format!("apt is not set up for the release {codename}: repair its sources list, or set KDIR= to a Linux 7.3 tree")
    })
}

/// The archive that carries the release itself also carries its backports.
fn choose_address(targets: &str, codename: &str) -> Option<String> {
    targets.lines().find_map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
        ["Packages", release, address] if release == codename => Some(address.to_owned()),
        _ => None,
    })
}

/// `dpkg-deb | tar | tar`, so that the inner archive never lies on the disk.
fn unpack(cache: &Cache, package: &Path) -> Result<()> {
    let version = package.file_name().and_then(|name| package_version(&name.to_string_lossy()));
    let version = version.with_context(|| format!("{} has a strange name", package.display()))?;
    println!("unpacking {PACKAGE} {version}");
    let partial = cache.sources().join("partial");
    cache::create_dir(&partial)?;
    let inner = format!("./usr/src/{PACKAGE}.tar.xz");
    let mut stages = [
        pipe("dpkg-deb", &["--fsys-tarfile", &package.to_string_lossy()]),
        pipe("tar", &["--extract", "--to-stdout", &inner]),
        pipe("xz", &["--decompress", "--stdout", "--threads=0"]),
        pipe("tar", &["--extract", "--strip-components=1", "-C", &partial.to_string_lossy()]),
    ];
    if let Err(err) = run_pipe(&mut stages) {
        // A package that does not unpack would fail the next call, too.
        cache::remove(package)?;
        cache::remove(&partial)?;
        return Err(err.context("unpacking the kernel source failed, run this again"));
    }
    Version::of_tree(&partial)?.require_base(PACKAGE)?;
    rename(&partial, &cache.sources().join(version))
}

fn pipe(program: &str, arguments: &[&str]) -> Command {
    let mut command = exec::clean(program);
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

fn run_pipe(stages: &mut [Command]) -> Result<()> {
    let last = stages.len().saturating_sub(1);
    let mut input = Stdio::null();
    let mut running = Vec::new();
    for (index, stage) in stages.iter_mut().enumerate() {
        if index == last {
            stage.stdout(Stdio::null());
        }
        let mut child = stage.stdin(input).spawn().context("cannot run dpkg-deb, tar or xz")?;
        input = child.stdout.take().map_or_else(Stdio::null, Stdio::from);
        running.push(child);
    }
    let mut complete = true;
    for mut child in running {
        complete &= child.wait().context("cannot wait for tar")?.success();
    }
    ensure!(complete, "the package is damaged or the disk is full");
    Ok(())
}

/// Removes what an interrupted call left.
fn clean(cache: &Cache) -> Result<()> {
    for folder in [cache.downloads(), cache.sources()] {
        cache::create_dir(&folder)?;
        cache::remove(&folder.join("partial"))?;
    }
    Ok(())
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).with_context(|| format!("cannot create {}", to.display()))
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(list: &[&str]) -> Vec<String> {
        list.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn the_pinned_version_wins_then_a_later_one() {
        assert_eq!(choose(&strings(&["7.3.9-1", PINNED])).unwrap(), PINNED);
        assert_eq!(choose(&strings(&["7.3.9-1", "7.3.10-1"])).unwrap(), "7.3.10-1");
        let err = choose(&strings(&["7.3.2-1", "7.4.1-1"])).unwrap_err().to_string();
        assert!(err.contains("7.3.2-1, 7.4.1-1") && err.contains("KDIR="), "{err}");
        assert!(choose(&[]).is_err());
    }

    #[test]
    fn the_address_is_that_of_the_release() {
        let targets = "Packages bookworm-security http://a/sec/\nDEP-11 bookworm http://b/\n\
                       Packages bookworm http://c/debian/\nPackages bookworm-updates http://d/\n";
        assert_eq!(choose_address(targets, "bookworm").as_deref(), Some("http://c/debian/"));
        assert_eq!(choose_address(targets, "trixie"), None);
    }

    #[test]
    fn partial_files_are_no_versions() {
        assert_eq!(package_version("partial"), None);
        assert_eq!(package_version(&file_name(PINNED)).as_deref(), Some(PINNED));
        assert_eq!(best(&strings(&["partial", "kdir-1234"])), None);
    }
}
