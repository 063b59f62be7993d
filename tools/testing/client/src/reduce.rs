// SPDX-License-Identifier: GPL-2.0

//! Takes parts out of the XDR stream of a Call, to be moved by RDMA Read:
//! RFC 8166 section 3.4.1.

use anyhow::{ensure, Result};

/// A part to take out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Where it begins in the stream, in bytes.
    pub position: usize,
    /// Bytes that go into the chunk.
    pub length: usize,
    /// Bytes of XDR padding behind it that go nowhere.
    pub padding: usize,
}

/// A stream with parts taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduced {
    /// What is left.
    pub rest: Vec<u8>,
    /// Position and content of each chunk.
    pub chunks: Vec<(u32, Vec<u8>)>,
}

/// Takes `cuts`, which are in the order of their positions, out of `stream`.
pub fn reduce(stream: &[u8], cuts: &[Cut]) -> Result<Reduced> {
    let mut reduced = Reduced { rest: Vec::new(), chunks: Vec::new() };
    let mut at = 0;
    for cut in cuts {
        let end = cut.position + cut.length;
        let behind = end + cut.padding;
        ensure!(
            at <= cut.position && behind <= stream.len(),
            "the cut at {} overlaps",
            cut.position
        );
        reduced.rest.extend_from_slice(&stream[at..cut.position]);
        let content = stream[cut.position..end].to_vec();
        reduced.chunks.push((u32::try_from(cut.position)?, content));
        at = behind;
    }
    reduced.rest.extend_from_slice(&stream[at..]);
    Ok(reduced)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(position: usize, length: usize, padding: usize) -> Cut {
        Cut { position, length, padding }
    }

    #[test]
    fn chunks_and_the_rest_are_the_stream() {
        let stream = b"0123456789abcdef";
        let reduced = reduce(stream, &[cut(4, 3, 1), cut(12, 2, 0)]).unwrap();
        assert_eq!(reduced.rest, b"012389abef");
        assert_eq!(reduced.chunks, [(4, b"456".to_vec()), (12, b"cd".to_vec())]);
        let reduced = reduce(stream, &[]).unwrap();
        assert_eq!(reduced.rest, stream);
    }

    #[test]
    fn cuts_outside_are_refused() {
        assert!(reduce(b"0123", &[cut(0, 5, 0)]).is_err());
        assert!(reduce(b"0123", &[cut(0, 3, 2)]).is_err());
        assert!(reduce(b"01234567", &[cut(4, 2, 0), cut(4, 2, 0)]).is_err());
    }
}
