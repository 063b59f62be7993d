// SPDX-License-Identifier: GPL-2.0

//! Payload whose every byte follows from its place, so that a byte that
//! went astray is noticed.

use anyhow::{bail, ensure, Result};

/// The bytes of the stream `seed` from `offset` on.
pub fn bytes(seed: u64, offset: u64, length: usize) -> Vec<u8> {
    let skipped = (offset % 8) as usize;
    let words = (skipped + length).div_ceil(8);
    let numbers = (offset / 8..).take(words);
    let mut bytes: Vec<u8> = numbers.flat_map(|number| mix(seed ^ number).to_le_bytes()).collect();
    bytes.drain(..skipped);
    bytes.truncate(length);
    bytes
}

/// Finalizer of SplitMix64.
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Fails with the first byte that differs.
pub fn compare(what: &str, found: &[u8], wanted: &[u8]) -> Result<()> {
    ensure!(
        found.len() == wanted.len(),
        "{what}: {} bytes where {} are wanted",
        found.len(),
        wanted.len()
    );
    if found == wanted {
        return Ok(());
    }
    match found.iter().zip(wanted).position(|(found, wanted)| found != wanted) {
        None => Ok(()),
        Some(at) => bail!("{what}: byte {at} is {:#04x}, not {:#04x}", found[at], wanted[at]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_agree_with_the_whole() {
        let whole = bytes(3, 0, 100);
        assert_eq!(bytes(3, 13, 20), whole[13..33]);
        assert_ne!(bytes(4, 0, 100), whole);
    }

    #[test]
    fn the_first_difference_is_named() {
        assert!(compare("x", b"abc", b"abc").is_ok());
        let err = compare("x", b"abc", b"axx").unwrap_err().to_string();
        assert_eq!(err, "x: byte 1 is 0x62, not 0x78");
        assert!(compare("x", b"ab", b"abc").is_err());
    }
}
