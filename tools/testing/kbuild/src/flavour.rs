// SPDX-License-Identifier: GPL-2.0

//! Names of kernel flavours and of the trees they are built from.

use crate::repo;
use crate::series::{self, Series};
use anyhow::{ensure, Context, Result};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Which patches a tree has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The series of this repository.
    Ours,
    /// None.
    Plain,
    /// The C series that this work is compared with.
    RfcC,
}

/// A patched tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeName {
    /// Which patches it has.
    pub base: Base,
    /// A set of test-only patches on top, by its name in
    /// `tools/testing/patches/series`.
    pub variant: Option<String>,
}

impl fmt::Display for TreeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.base {
            Base::Ours => "ours",
            Base::Plain => "plain",
            Base::RfcC => "rfc-c",
        })?;
        self.variant.iter().try_for_each(|variant| write!(f, "-{variant}"))
    }
}

/// A tree and how it is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flavour {
    /// The tree.
    pub tree: TreeName,
    /// Whether Rust is on.
    pub rust: bool,
}

/// Flavours without test-only patches.
const PLAIN_NAMES: [(&str, Base, bool); 4] = [
    ("ours", Base::Ours, true),
    ("ours-c", Base::Ours, false),
    ("plain", Base::Plain, false),
    ("rfc-c", Base::RfcC, false),
];

impl Flavour {
    /// This kernel.
    pub fn ours() -> Self {
        Self::plain_name("ours").unwrap_or_else(|| unreachable!("it is in the table"))
    }

    /// The name without the set of test-only patches.
    pub fn base_name(&self) -> &'static str {
        let found = PLAIN_NAMES
            .iter()
            .find(|(_, base, rust)| (*base, *rust) == (self.tree.base, self.rust));
        found.map_or("", |(name, _, _)| name)
    }

    fn plain_name(name: &str) -> Option<Self> {
        let (_, base, rust) = PLAIN_NAMES.iter().find(|(known, _, _)| *known == name)?;
        Some(Self { tree: TreeName { base: *base, variant: None }, rust: *rust })
    }

    fn parse(text: &str, variants: &[String]) -> Option<Self> {
        if let Some(flavour) = Self::plain_name(text) {
            return Some(flavour);
        }
        let variant = variants.iter().find(|variant| text.ends_with(&format!("-{variant}")))?;
        let mut flavour = Self::plain_name(text.strip_suffix(&format!("-{variant}"))?)?;
        flavour.tree.variant = Some(variant.clone());
        Some(flavour)
    }
}

impl fmt::Display for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.base_name())?;
        self.tree.variant.iter().try_for_each(|variant| write!(f, "-{variant}"))
    }
}

impl FromStr for Flavour {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let variants = repo::root().and_then(|root| variants(&root)).unwrap_or_default();
        Self::parse(text, &variants).with_context(|| {
            let mut names: Vec<String> =
                PLAIN_NAMES.iter().map(|(name, _, _)| (*name).to_owned()).collect();
            names.extend(variants.iter().map(|variant| format!("NAME-{variant}")));
            format!("'{text}' is no kernel, known are: {}", names.join(", "))
        })
    }
}

fn variants(root: &Path) -> Result<Vec<String>> {
    let text = crate::replay::read(&list(root))?.unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    Ok(text.lines().filter_map(section).map(str::to_owned).collect())
}

fn list(root: &Path) -> PathBuf {
    root.join("tools/testing/patches/series")
}

fn section(line: &str) -> Option<&str> {
    line.trim().strip_prefix('[')?.strip_suffix(']')
}

/// The test-only patches of the section `[variant]`.
pub fn test_series(root: &Path, variant: &str) -> Result<Series> {
    let list = list(root);
    let text =
        fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
    let mut lines = text.lines().skip_while(|line| section(line) != Some(variant));
    ensure!(lines.next().is_some(), "{} has no section [{variant}]", list.display());
    let lines: Vec<&str> = lines.take_while(|line| section(line).is_none()).collect();
    let folder = root.join("tools/testing/patches");
    let steps =
        series::parse(&lines.join("\n"), &folder).with_context(|| list.display().to_string())?;
    Ok(Series { root: root.to_owned(), steps })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        let variants = ["dma".to_owned()];
        for name in ["ours", "ours-c", "plain", "rfc-c", "ours-dma", "ours-c-dma", "rfc-c-dma"] {
            let flavour = Flavour::parse(name, &variants).unwrap();
            assert_eq!(flavour.to_string(), name);
        }
        assert!(Flavour::parse("ours", &[]).unwrap().rust);
        assert!(!Flavour::parse("ours-c", &[]).unwrap().rust);
        assert_eq!(Flavour::parse("ours-dma", &[]), None);
        assert_eq!(Flavour::parse("rust", &variants), None);
    }

    #[test]
    fn trees_are_shared_by_flavours() {
        let tree = |name| Flavour::parse(name, &[]).unwrap().tree.to_string();
        assert_eq!(tree("ours"), tree("ours-c"));
        assert_ne!(tree("ours"), tree("plain"));
    }

    #[test]
    fn sections_hold_their_patches() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("tools/testing/patches");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("series"), "# x\n[dma]\n1.patch\n[other]\n2.patch\n").unwrap();
        let names = |variant| {
            let series = test_series(root.path(), variant).unwrap();
            series.steps.into_iter().map(|step| step.name).collect::<Vec<_>>()
        };
        assert_eq!(names("dma"), ["1.patch"]);
        assert_eq!(names("other"), ["2.patch"]);
        assert!(test_series(root.path(), "none").is_err());
        assert_eq!(variants(root.path()).unwrap(), ["dma", "other"]);
    }
}
