// SPDX-License-Identifier: GPL-2.0

//! Kernel configurations: fragments on top of `allnoconfig`.

use crate::flavour::Flavour;
use crate::make::Make;
use crate::replay;
use crate::tree;
use anyhow::{bail, ensure, Context, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What was asked for when the configuration was last made.
const ASKED: &str = ".config.asked";

/// Which symbols of the fragments have to be known to the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbols {
    /// All of them.
    All,
    /// Only some: the tree is that of a commit in the middle of the series.
    Known,
}

/// The fragments of a flavour that exist in `tools/testing/configs`.
pub fn fragments(root: &Path, flavour: &Flavour) -> Vec<PathBuf> {
    let mut names = vec!["guest"];
    if flavour.rust {
        names.push("rust");
    }
    names.push(flavour.base_name());
    names.extend(flavour.tree.variant.as_deref());
    let folder = root.join("tools/testing/configs");
    let paths = names.iter().map(|name| folder.join(format!("{name}.config")));
    paths.filter(|path| path.is_file()).collect()
}

/// Makes the configuration of the build folder unless nothing that it
/// depends on changed; `inputs` is what it depends on besides the fragments.
///
/// Fails with one line if a symbol does not get the value asked for and
/// `symbols` is [`Symbols::All`].
pub fn ensure(make: &Make, fragments: &[PathBuf], inputs: &str, symbols: Symbols) -> Result<()> {
    let text = read_all(fragments)?;
    let asked = format!("{inputs}\n{text}");
    let (config, stamp) = (make.build_dir.join(".config"), make.build_dir.join(ASKED));
    let before = replay::read(&stamp)?;
    if config.is_file() && before.as_deref() == Some(asked.as_bytes()) {
        return Ok(());
    }
    let made = generate(make, &text)?;
    if symbols == Symbols::All {
        check(&wanted(&text), &made)?;
    }
    if replay::read(&config)?.as_deref() != Some(made.as_bytes()) {
        tree::replace(&config, made.as_bytes(), None)?;
    }
    tree::replace(&stamp, asked.as_bytes(), None)
}

fn read_all(fragments: &[PathBuf]) -> Result<String> {
    let read = |path: &PathBuf| {
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
    };
    Ok(fragments.iter().map(read).collect::<Result<Vec<_>>>()?.join("\n"))
}

/// Makes the configuration under another name and gives back its text.
fn generate(make: &Make, text: &str) -> Result<String> {
    let (fragment, made) =
        (make.build_dir.join(".config.fragment"), make.build_dir.join(".config.new"));
    // Of several lines for one symbol the last counts; kconfig warns about it.
    let lines = wanted(text).into_iter().map(|(name, value)| format!("{name}={value}\n"));
    tree::replace(&fragment, lines.collect::<String>().as_bytes(), None)?;
    let variables =
        [format!("KCONFIG_ALLCONFIG={}", fragment.display()), "KCONFIG_CONFIG=.config.new".into()];
    make.quietly("configuring the kernel", &["allnoconfig"], &variables)?;
    let text =
        fs::read_to_string(&made).with_context(|| format!("cannot read {}", made.display()))?;
    ensure!(!text.is_empty(), "{} is empty", made.display());
    Ok(text)
}

/// The symbols that a fragment sets, `n` for those it unsets.
fn wanted(text: &str) -> BTreeMap<String, String> {
    text.lines().filter_map(setting).collect()
}

fn setting(line: &str) -> Option<(String, String)> {
    let unset = line.strip_prefix("# ").and_then(|rest| rest.strip_suffix(" is not set"));
    if let Some(name) = unset.filter(|name| name.starts_with("CONFIG_")) {
        return Some((name.to_owned(), "n".to_owned()));
    }
    let (name, value) = line.split_once('=')?;
    let value = value.split(" #").next().unwrap_or(value).trim();
    name.starts_with("CONFIG_").then(|| (name.to_owned(), value.to_owned()))
}

fn check(wanted: &BTreeMap<String, String>, made: &str) -> Result<()> {
    let made = self::wanted(made);
    for (name, value) in wanted {
        let found = made.get(name).map_or("n", String::as_str);
        if found != value {
            bail!(
                "{name}={value} is asked for and the kernel's configuration has {name}={found}: \
                 a dependency is missing in tools/testing/configs, or the tree does not know it"
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_setting_counts() {
        let text =
            "# a comment\nCONFIG_A=y\nCONFIG_B=m # why\n# CONFIG_A is not set\nCONFIG_S=\"x=y\"\n";
        let wanted = wanted(text);
        assert_eq!(wanted["CONFIG_A"], "n");
        assert_eq!(wanted["CONFIG_B"], "m");
        assert_eq!(wanted["CONFIG_S"], "\"x=y\"");
        assert_eq!(wanted.len(), 3);
    }

    #[test]
    fn a_symbol_that_is_not_set_is_named() {
        let made = "CONFIG_A=y\n# CONFIG_B is not set\n";
        assert!(check(&wanted("CONFIG_A=y\nCONFIG_B=n\nCONFIG_C=n\n"), made).is_ok());
        let err = check(&wanted("CONFIG_A=y\nCONFIG_B=y\n"), made).unwrap_err().to_string();
        assert!(err.starts_with("CONFIG_B=y is asked for") && err.contains("CONFIG_B=n"), "{err}");
    }
}
