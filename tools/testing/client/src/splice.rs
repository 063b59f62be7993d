// SPDX-License-Identifier: GPL-2.0

//! Makes the server read files into its own pages instead of taking those of
//! the page cache, where it is on the same machine and debugfs is mounted.

use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

const SWITCH: &str = "/sys/kernel/debug/nfsd/disable-splice-read";

/// READs do not splice for as long as this lives.
#[derive(Debug)]
pub struct Vectors {
    switch: Option<(PathBuf, String)>,
}

impl Vectors {
    /// Turns splice off; where the server cannot be told, nothing changes.
    pub fn choose() -> Result<Self> {
        Self::at(Path::new(SWITCH))
    }

    fn at(path: &Path) -> Result<Self> {
        let Ok(before) = fs::read_to_string(path) else { return Ok(Self { switch: None }) };
        fs::write(path, "1").with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { switch: Some((path.to_path_buf(), before)) })
    }
}

impl Drop for Vectors {
    fn drop(&mut self) {
        if let Some((path, before)) = &self.switch {
            // Nothing can be done about it here.
            let _ = fs::write(path, before.trim());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_switch_is_put_back() {
        let path = std::env::temp_dir().join(format!("splice-{}", std::process::id()));
        assert!(Vectors::at(&path).unwrap().switch.is_none());
        fs::write(&path, "0\n").unwrap();
        let vectors = Vectors::at(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "1");
        drop(vectors);
        assert_eq!(fs::read_to_string(&path).unwrap(), "0");
        fs::remove_file(&path).unwrap();
    }
}
