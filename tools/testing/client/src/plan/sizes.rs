// SPDX-License-Identifier: GPL-2.0

//! Sizes that the plan is built on.

/// Bytes of a page of the server.
pub const PAGE: usize = 4096;

/// The server's payload limit, in bytes.
pub const LARGEST_PAYLOAD: usize = 1 << 20;

/// Pages that the server has for one message: the payload, a page that is
/// added to it, and `svc_serv_maxpages()`'s three.
pub const PAGES: usize = LARGEST_PAYLOAD / PAGE + 1 + 3;

/// Cuts `total` bytes into `count` pieces, of odd lengths where possible.
pub fn pieces(total: usize, count: usize) -> Vec<usize> {
    let size = (total / count.max(1)) | 1;
    let mut rest = total;
    let mut lengths = Vec::new();
    for _ in 1..count {
        lengths.push(size.min(rest));
        rest -= size.min(rest);
    }
    lengths.push(rest);
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_add_up() {
        for total in [0, 1, 5, 4096, 5000, LARGEST_PAYLOAD] {
            for count in [1, 2, 3, 16] {
                let pieces = pieces(total, count);
                assert_eq!(pieces.len(), count);
                assert_eq!(pieces.iter().sum::<usize>(), total);
            }
        }
        assert_eq!(pieces(4096, 2), [2049, 2047]);
    }
}
