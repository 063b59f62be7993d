// SPDX-License-Identifier: GPL-2.0

//! Where the kernel's Rust has unsafe code, and how much of it.

mod count;

use anyhow::{ensure, Context, Result};
use count::Lines;
use std::fs;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// Folders whose files are linked into modules.
const LEAVES: [&str; 2] = ["net/sunrpc/rust", "net/sunrpc/xprtrdma/rust"];

/// The abstractions; their purpose is to wrap what is unsafe.
const ABSTRACTIONS: [&str; 2] = ["rust/kernel/sunrpc.rs", "rust/kernel/sunrpc"];

/// Files of the leaves that may have unsafe code: where C enters, what makes
/// the private structures of a module safe, and what declares tracepoints.
const ALLOWED: [&str; 6] = [
    "net/sunrpc/rust/svc_pages.rs",
    "net/sunrpc/rust/svc_granules.rs",
    "net/sunrpc/rust/trace.rs",
    "net/sunrpc/xprtrdma/rust/entry.rs",
    "net/sunrpc/xprtrdma/rust/context.rs",
    "net/sunrpc/xprtrdma/rust/trace.rs",
];

/// Lines of each file, by its path from the root of the checkout.
#[derive(Debug)]
pub struct Census {
    files: Vec<(String, Lines)>,
}

impl Census {
    /// Counts in the checkout at `root`.
    pub fn take(root: &Path) -> Result<Self> {
        let mut files = Vec::new();
        for folder in ABSTRACTIONS.iter().chain(&LEAVES) {
            for path in sources(&root.join(folder))? {
                let text = fs::read_to_string(&path);
                let text = text.with_context(|| format!("cannot read {}", path.display()))?;
                let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
                let lines = count::lines(&text).with_context(|| name.clone())?;
                files.push((name, lines));
            }
        }
        ensure!(!files.is_empty(), "{} has no Rust for the kernel", root.display());
        Ok(Self { files })
    }

    /// One row a file, and the total.
    pub fn table(&self) -> String {
        let total = self.files.iter().map(|(_, lines)| *lines).sum();
        let total = [("total".to_owned(), total)];
        let width = self.files.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let head = format!("{:<width$}  {:>6}  {:>6}  {:>6}\n", "file", "code", "unsafe", "share");
        let rows = self.files.iter().chain(&total).map(|(name, lines)| {
            let Lines { code, unsafe_code } = lines;
            format!("{name:<width$}  {code:>6}  {unsafe_code:>6}  {:>5.1}%\n", lines.share())
        });
        std::iter::once(head).chain(rows).collect()
    }

    /// Files of the leaves that have unsafe code and should not.
    pub fn misplaced(&self) -> Vec<&str> {
        let wrong = self.files.iter().filter(|(name, lines)| {
            let leaf = LEAVES.iter().any(|leaf| Path::new(name).starts_with(leaf));
            leaf && lines.unsafe_code > 0 && !ALLOWED.contains(&name.as_str())
        });
        wrong.map(|(name, _)| name.as_str()).collect()
    }
}

/// The Rust files at `path`, a file or a folder, in order.
fn sources(path: &Path) -> Result<Vec<PathBuf>> {
    let entries = WalkDir::new(path).sort_by_file_name().into_iter();
    let paths = entries.map(|entry| Ok(entry?.into_path())).collect::<Result<Vec<_>>>()?;
    Ok(paths.into_iter().filter(|path| path.extension().is_some_and(|end| end == "rs")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn census(files: &[(&str, usize)]) -> Census {
        let of = |(name, unsafe_code): &(&str, usize)| {
            ((*name).to_owned(), Lines { code: 40, unsafe_code: *unsafe_code })
        };
        Census { files: files.iter().map(of).collect() }
    }

    #[test]
    fn only_leaves_are_judged() {
        let census = census(&[
            ("rust/kernel/sunrpc/folio.rs", 9),
            ("net/sunrpc/rust/svc_pages.rs", 9),
            ("net/sunrpc/rust/pool.rs", 1),
            ("net/sunrpc/xprtrdma/rust/read.rs", 0),
        ]);
        assert_eq!(census.misplaced(), ["net/sunrpc/rust/pool.rs"]);
    }

    #[test]
    fn the_table_ends_with_the_total() {
        let table = census(&[("a.rs", 1), ("b.rs", 9)]).table();
        let last: Vec<&str> = table.lines().last().unwrap().split_whitespace().collect();
        assert_eq!(last, ["total", "80", "10", "12.5%"]);
    }

    #[test]
    fn the_checkout_is_counted() {
        let census = Census::take(&crate::repo::root().unwrap()).unwrap();
        let has = |name: &str| census.files.iter().any(|(file, _)| file == name);
        assert!(ALLOWED.iter().all(|name| has(name)));
    }
}
