// SPDX-License-Identifier: GPL-2.0

//! Turns the plan of a WRITE into places and lengths in bytes.

use crate::nfs;
use crate::plan::{pieces, Chunk, Cutting, From, Size, Upto};
use crate::reduce::Cut;
use crate::xdr::padding;
use anyhow::{Context, Result};

/// A WRITE as an XDR stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Where the data begins.
    pub start: usize,
    /// Bytes of data.
    pub length: usize,
}

impl Stream {
    /// The stream of a WRITE of that size to `file`.
    pub fn new(size: Size, file: &[u8]) -> Result<Self> {
        let (_, start) = nfs::write(0, file, 0, &[]);
        let length = match size {
            Size::Data(length) => length,
            Size::Stream(total) => total.checked_sub(start).context("no room for the header")?,
        };
        Ok(Self { start, length })
    }

    fn end_of_data(&self) -> usize {
        self.start + self.length
    }

    fn end(&self) -> usize {
        self.end_of_data() + padding(self.length)
    }

    /// The place of a chunk.
    pub fn cut(&self, chunk: &Chunk) -> Result<Cut> {
        let position = match chunk.from {
            From::Call(bytes) => bytes,
            From::Data(bytes) => self.start + bytes,
            From::End(bytes) => self.end().checked_sub(bytes).context("the call is too short")?,
        };
        let end = match chunk.upto {
            Upto::Bytes(bytes) => position + bytes,
            Upto::EndOfData => self.end_of_data(),
            Upto::EndOfCall => self.end(),
        };
        let length = end.checked_sub(position).context("a chunk ends before it begins")?;
        let padding = if end == self.end_of_data() { self.end() - end } else { 0 };
        Ok(Cut { position, length, padding })
    }
}

/// Lengths of the segments for `total` bytes.
pub fn lengths(cutting: &Cutting, total: usize) -> Vec<usize> {
    match cutting {
        Cutting::Pieces(count) => pieces(total, *count),
        Cutting::Lengths(lengths) => {
            let rest = total.saturating_sub(lengths.iter().flatten().sum());
            lengths.iter().map(|length| length.unwrap_or(rest)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: Stream = Stream { start: 100, length: 5 };

    fn cut(from: From, upto: Upto) -> Cut {
        STREAM.cut(&Chunk { from, upto, cutting: Cutting::Pieces(1) }).unwrap()
    }

    #[test]
    fn padding_stays_out_unless_it_is_asked_for() {
        let without = cut(From::Data(0), Upto::EndOfData);
        assert_eq!(without, Cut { position: 100, length: 5, padding: 3 });
        let with = cut(From::Data(0), Upto::EndOfCall);
        assert_eq!(with, Cut { position: 100, length: 8, padding: 0 });
    }

    #[test]
    fn places_are_counted_from_either_end() {
        let first = cut(From::Call(4), Upto::Bytes(8));
        assert_eq!(first, Cut { position: 4, length: 8, padding: 0 });
        let last = cut(From::End(4), Upto::EndOfCall);
        assert_eq!(last, Cut { position: 104, length: 4, padding: 0 });
    }

    #[test]
    fn a_stream_has_the_size_asked_for() {
        let stream = Stream::new(Size::Stream(8192), &[0; 28]).unwrap();
        assert_eq!(stream.end(), 8192);
        assert!(Stream::new(Size::Stream(8), &[0; 28]).is_err());
    }

    #[test]
    fn one_segment_takes_what_is_left() {
        let cutting = Cutting::Lengths(vec![Some(0), None, Some(3)]);
        assert_eq!(lengths(&cutting, 10), [0, 7, 3]);
    }
}
