// SPDX-License-Identifier: GPL-2.0

//! Collects what the guest's kernel says on its console.

use anyhow::{Context, Result};
use regex::Regex;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// A console that is being read, into a file and into memory.
#[derive(Debug)]
pub struct Console {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Console {
    /// Starts to read `pipe` into `log`.
    pub fn collect(mut pipe: impl Read + Send + 'static, log: &Path) -> Result<Self> {
        let file = File::create(log).with_context(|| format!("cannot create {}", log.display()))?;
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&bytes);
        let reader = thread::spawn(move || copy(&mut pipe, file, &shared));
        Ok(Self { bytes, reader: Some(reader) })
    }

    /// Everything so far, as plain lines.
    pub fn text(&self) -> String {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        plain(&String::from_utf8_lossy(&bytes))
    }

    /// Waits until the other end is closed.
    pub fn finish(&mut self) {
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

fn copy(pipe: &mut impl Read, mut file: File, shared: &Mutex<Vec<u8>>) {
    let mut block = [0; 4096];
    while let Ok(length) = pipe.read(&mut block) {
        if length == 0 {
            return;
        }
        // A full disk must not stop the guest.
        let _ = file.write_all(&block[..length]);
        shared.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&block[..length]);
    }
}

/// Drops carriage returns and terminal sequences.
fn plain(text: &str) -> String {
    let sequences =
        Regex::new("\x1b\\[[0-9;?]*[A-Za-z]|\x1bc|\r").expect("the pattern is constant");
    sequences.replace_all(text, "").into_owned()
}

/// The last `count` lines that are not empty.
pub fn tail(text: &str, count: usize) -> Vec<&str> {
    let mut lines: Vec<&str> =
        text.lines().rev().filter(|line| !line.trim().is_empty()).take(count).collect();
    lines.reverse();
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_console_is_read_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("console");
        let mut console = Console::collect(&b"one\r\n\x1b[2Jtwo\r\n"[..], &log).unwrap();
        console.finish();
        assert_eq!(console.text(), "one\ntwo\n");
        assert_eq!(std::fs::read(&log).unwrap(), b"one\r\n\x1b[2Jtwo\r\n");
    }

    #[test]
    fn the_tail_skips_empty_lines() {
        assert_eq!(tail("a\nb\n\nc\n\n", 2), ["b", "c"]);
        assert_eq!(tail("a\n", 5), ["a"]);
        assert!(tail("", 5).is_empty());
    }
}
