// SPDX-License-Identifier: GPL-2.0

//! Programs that no distribution package gives in the needed version; they
//! are installed into the cache.

use crate::cache::{self, Cache};
use crate::exec;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const BINDGEN: &str = "0.72.1";
const FSX: &str = "0.3.2";
const VIRTME_NG: &str = "1.42";

/// Written last into the folder of an installed program.
const COMPLETE: &str = ".complete";

/// Makes sure of bindgen; gives back its path.
pub fn bindgen(cache: &Cache) -> Result<PathBuf> {
    let folder = crate_program(cache, "bindgen-cli", BINDGEN)?;
    Ok(folder.join("bin/bindgen"))
}

/// Makes sure of fsx; gives back its path.
pub fn fsx(cache: &Cache) -> Result<PathBuf> {
    let folder = crate_program(cache, "fsx", FSX)?;
    Ok(folder.join("bin/fsx"))
}

/// Makes sure of virtme-ng; gives back the folder with `vng` and
/// `virtme-run`, which has to be on the PATH of the former.
pub fn virtme_ng(cache: &Cache) -> Result<PathBuf> {
    let folder = install(cache, "virtme-ng", VIRTME_NG, |folder, log| {
        let mut venv = Command::new("/usr/bin/python3");
        exec::logged("creating a Python environment", venv.args(["-m", "venv"]).arg(folder), log)?;
        let mut pip = Command::new(folder.join("bin/pip"));
        pip.args(["install", "--quiet", &format!("virtme-ng=={VIRTME_NG}")]);
        exec::logged("installing virtme-ng", &mut pip, log)
    })?;
    Ok(folder.join("bin"))
}

fn crate_program(cache: &Cache, name: &str, version: &str) -> Result<PathBuf> {
    install(cache, name, version, |folder, log| {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo.args(["install", "--locked", "--quiet", "--root"]).arg(folder);
        cargo.arg("--target-dir").arg(folder.join("build"));
        cargo.args(["--version", version, name]);
        for name in ["MAKEFLAGS", "CARGO_TARGET_DIR", "RUSTFLAGS"] {
            cargo.env_remove(name);
        }
        // Away from the checkout, whose toolchain settings are not meant.
        cargo.current_dir(folder);
        exec::logged(&format!("installing {name}"), &mut cargo, log)?;
        cache::remove(&folder.join("build"))
    })
}

/// Runs `how` on an empty folder unless an earlier call completed it.
fn install(
    cache: &Cache,
    name: &str,
    version: &str,
    how: impl FnOnce(&Path, &Path) -> Result<()>,
) -> Result<PathBuf> {
    let folder = cache.tools().join(format!("{name}-{version}"));
    let complete = folder.join(COMPLETE);
    if complete.is_file() {
        return Ok(folder);
    }
    let _lock = cache.lock(&format!("tool-{name}"), &format!("the installation of {name}"))?;
    if complete.is_file() {
        return Ok(folder);
    }
    println!("installing {name} {version}");
    cache::remove(&folder)?;
    cache::create_dir(&folder)?;
    how(&folder, &cache.log(&format!("install-{name}"))?)?;
    fs::write(&complete, "").with_context(|| format!("cannot write {}", complete.display()))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_installation_is_redone() {
        let temp = tempfile::tempdir().unwrap();
        let cache = Cache::open_at(&temp.path().join("cache")).unwrap();
        let failing = install(&cache, "x", "1", |folder, _| {
            fs::write(folder.join("half"), "").unwrap();
            anyhow::bail!("interrupted")
        });
        assert!(failing.is_err());
        let folder = install(&cache, "x", "1", |folder, _| {
            assert!(!folder.join("half").exists());
            Ok(())
        });
        let again = install(&cache, "x", "1", |_, _| panic!("installed twice"));
        assert_eq!(folder.unwrap(), again.unwrap());
    }
}
