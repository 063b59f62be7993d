// SPDX-License-Identifier: GPL-2.0

//! Versions of Linux and which of them the patches are for.

use super::BASE;
use anyhow::{ensure, Context, Result};
use std::fmt;
use std::fs;
use std::path::Path;

/// A version of Linux; ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// VERSION, PATCHLEVEL and SUBLEVEL.
    pub numbers: (u32, u32, u32),
}

impl Version {
    /// Reads the top-level Makefile of a tree.
    pub fn of_tree(tree: &Path) -> Result<Self> {
        let makefile = tree.join("Makefile");
        let text = fs::read_to_string(&makefile).with_context(|| {
            format!("{} is no Linux source tree: cannot read its Makefile", tree.display())
        })?;
        Self::in_makefile(&text).with_context(|| {
            format!("{} is no Linux source tree: its Makefile names no version", tree.display())
        })
    }

    fn in_makefile(text: &str) -> Option<Self> {
        let field = |name: &str| {
            let pairs = text.lines().take(10).filter_map(|line| line.split_once('='));
            let mut values = pairs.filter(|(key, _)| key.trim() == name);
            values.next()?.1.trim().parse().ok()
        };
        Some(Self { numbers: (field("VERSION")?, field("PATCHLEVEL")?, field("SUBLEVEL")?) })
    }

    /// The upstream part of a package version such as `7.3.4-1~bpo13+1`.
    pub fn of_package(text: &str) -> Option<Self> {
        let upstream = text.split(['-', '~', '+']).next()?;
        let numbers: Option<Vec<u32>> = upstream.split('.').map(|part| part.parse().ok()).collect();
        match numbers?[..] {
            [major, minor, sub] => Some(Self { numbers: (major, minor, sub) }),
            [major, minor] => Some(Self { numbers: (major, minor, 0) }),
            _ => None,
        }
    }

    /// Fails unless this is a version that the patches are for.
    pub fn require_base(self, what: &str) -> Result<()> {
        let (major, minor, _) = self.numbers;
        ensure!(
            (major, minor) == BASE,
            "{what} is Linux {self}, the patches are for {}.{}: give a tree of that version",
            BASE.0,
            BASE.1
        );
        Ok(())
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor, sub) = self.numbers;
        write!(f, "{major}.{minor}.{sub}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_makefile_names_the_version() {
        let text = "# SPDX\nVERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = 4\nEXTRAVERSION = -rc1\n";
        assert_eq!(Version::in_makefile(text), Some(Version { numbers: (7, 3, 4) }));
        assert_eq!(Version::in_makefile("all:\n"), None);
    }

    #[test]
    fn only_the_base_is_accepted() {
        let accepted = |text| Version::of_package(text).unwrap().require_base("x").is_ok();
        assert!(accepted("7.3.4-1~bpo13+1"));
        assert!(accepted("7.3.11-2"));
        assert!(!accepted("7.4-1"));
        assert!(!accepted("6.3.4-1"));
        assert_eq!(Version::of_package("7.3~rc2-1~exp1").unwrap().numbers, (7, 3, 0));
        assert_eq!(Version::of_package("unknown"), None);
    }
}
