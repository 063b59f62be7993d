// SPDX-License-Identifier: GPL-2.0

//! Digests of files, such as kernel images.

use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_128;

/// Equal for files with equal content, as hexadecimal digits.
pub fn of_file(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(format!("{:032x}", xxh3_128(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_makes_the_digest() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            of_file(&path).unwrap()
        };
        let (a, b, c) = (file("a", "x"), file("b", "x"), file("c", "y"));
        assert_eq!((a.len(), &a), (32, &b));
        assert_ne!(a, c);
        assert!(of_file(&folder.path().join("d")).is_err());
    }
}
