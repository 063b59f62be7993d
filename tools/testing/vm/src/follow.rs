// SPDX-License-Identifier: GPL-2.0

//! Follows files that the guest appends to.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Takes what was appended, in pieces of any size.
pub type Sink<'a> = Box<dyn FnMut(&[u8]) + 'a>;

/// One followed file, which need not exist yet.
pub struct Follower<'a> {
    path: PathBuf,
    offset: u64,
    sink: Sink<'a>,
}

impl<'a> Follower<'a> {
    /// Follows `path` from its beginning.
    pub fn new(path: &Path, sink: Sink<'a>) -> Self {
        Self { path: path.to_owned(), offset: 0, sink }
    }

    /// Hands on what is new.
    pub fn poll(&mut self) {
        let Ok(mut file) = File::open(&self.path) else {
            return;
        };
        let mut bytes = Vec::new();
        let read =
            file.seek(SeekFrom::Start(self.offset)).and_then(|_| file.read_to_end(&mut bytes));
        if read.is_ok() && !bytes.is_empty() {
            self.offset += bytes.len() as u64;
            (self.sink)(&bytes);
        }
    }
}

/// Turns pieces into whole lines.
pub fn lines<'a>(mut each: impl FnMut(&str) + 'a) -> Sink<'a> {
    let mut pending = Vec::new();
    Box::new(move |bytes| {
        pending.extend_from_slice(bytes);
        while let Some(end) = pending.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = pending.drain(..=end).collect();
            each(String::from_utf8_lossy(&line).trim_end());
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::fs;

    #[test]
    fn only_whole_new_lines_are_handed_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let seen = RefCell::new(Vec::new());
        let mut follower =
            Follower::new(&path, lines(|line| seen.borrow_mut().push(line.to_owned())));
        follower.poll();
        fs::write(&path, "one\ntw").unwrap();
        follower.poll();
        assert_eq!(*seen.borrow(), ["one"]);
        fs::write(&path, "one\ntwo\nthree\n").unwrap();
        follower.poll();
        follower.poll();
        assert_eq!(*seen.borrow(), ["one", "two", "three"]);
    }
}
