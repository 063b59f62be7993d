// SPDX-License-Identifier: GPL-2.0

//! XDR as RFC 4506 has it: big-endian words, opaque data padded to words.

use anyhow::{ensure, Context, Result};

/// Bytes that make `length` bytes a whole number of words.
pub fn padding(length: usize) -> usize {
    length.wrapping_neg() % 4
}

/// Builds an XDR stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// An empty stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends an unsigned integer.
    pub fn word(&mut self, value: u32) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    /// Appends several unsigned integers.
    pub fn words(&mut self, values: &[u32]) -> &mut Self {
        for value in values {
            self.word(*value);
        }
        self
    }

    /// Appends an unsigned hyper integer.
    pub fn hyper(&mut self, value: u64) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    /// Appends opaque data of variable length: length, bytes, padding.
    pub fn opaque(&mut self, data: &[u8]) -> &mut Self {
        self.word(u32::try_from(data.len()).unwrap_or(u32::MAX)).raw(data);
        self.raw(&[0; 3][..padding(data.len())])
    }

    /// Appends bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// The stream so far, in bytes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing was appended.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The stream.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Takes an XDR stream apart.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Starts at the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Takes an unsigned integer.
    pub fn word(&mut self) -> Result<u32> {
        let bytes = self.raw(4)?.try_into().context("a word is four bytes")?;
        Ok(u32::from_be_bytes(bytes))
    }

    /// Takes an unsigned hyper integer.
    pub fn hyper(&mut self) -> Result<u64> {
        let high = u64::from(self.word()?);
        Ok(high << 32 | u64::from(self.word()?))
    }

    /// Takes a boolean, which is 0 or 1.
    pub fn flag(&mut self) -> Result<bool> {
        let word = self.word()?;
        ensure!(word < 2, "{word} is no boolean");
        Ok(word == 1)
    }

    /// Takes opaque data of variable length.
    pub fn opaque(&mut self) -> Result<&'a [u8]> {
        let length = usize::try_from(self.word()?)?;
        let data = self.raw(length)?;
        let pad = self.raw(padding(length))?;
        ensure!(pad.iter().all(|byte| *byte == 0), "XDR padding is not zero");
        Ok(data)
    }

    /// Takes `length` bytes.
    pub fn raw(&mut self, length: usize) -> Result<&'a [u8]> {
        let split = self.rest.split_at_checked(length);
        let (taken, rest) = split.with_context(|| {
            format!("{length} bytes are wanted where the message has {} left", self.rest.len())
        })?;
        self.rest = rest;
        Ok(taken)
    }

    /// What was not taken yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opaque_data_is_padded_to_words() {
        for (length, total) in [(0, 4), (1, 8), (3, 8), (4, 8), (5, 12)] {
            let mut writer = Writer::new();
            writer.opaque(&vec![7; length]);
            assert_eq!(writer.len(), total);
            let bytes = writer.into_bytes();
            let mut reader = Reader::new(&bytes);
            assert_eq!(reader.opaque().unwrap(), vec![7; length]);
            assert!(reader.rest().is_empty());
        }
    }

    #[test]
    fn integers_are_big_endian() {
        let mut writer = Writer::new();
        writer.word(1).hyper(0x0102_0304_0506_0708);
        let bytes = writer.into_bytes();
        assert_eq!(bytes, [0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8]);
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.word().unwrap(), 1);
        assert_eq!(reader.hyper().unwrap(), 0x0102_0304_0506_0708);
    }

    #[test]
    fn a_short_stream_is_an_error() {
        assert!(Reader::new(&[0, 0, 0]).word().is_err());
        assert!(Reader::new(&[0, 0, 0, 5, 1, 2]).opaque().is_err());
        assert!(Reader::new(&[0xff; 8]).opaque().is_err());
        assert!(Reader::new(&[0, 0, 0, 1, 9, 0, 1, 0]).opaque().is_err());
        assert!(Reader::new(&[0, 0, 0, 2]).flag().is_err());
    }
}
