// SPDX-License-Identifier: GPL-2.0

//! Ctrl-C and SIGTERM: a guest is ended and its folder removed first.

use anyhow::{bail, Result};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Once;

static HANDLER: Once = Once::new();
static GUESTS: AtomicUsize = AtomicUsize::new(0);
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// While one of these exists, an interrupt waits for [`check`]; otherwise it
/// ends the program at once.
#[derive(Debug)]
pub struct Deferred(());

impl Deferred {
    /// Starts to defer interrupts.
    pub fn new() -> Self {
        HANDLER.call_once(|| {
            // Without a handler an interrupt just ends the program, and the
            // guest with it.
            let _ = ctrlc::set_handler(interrupted);
        });
        GUESTS.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Default for Deferred {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        GUESTS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Fails if an interrupt came.
pub fn check() -> Result<()> {
    if INTERRUPTED.load(Ordering::SeqCst) {
        bail!("interrupted, the guest was ended");
    }
    Ok(())
}

fn interrupted() {
    if GUESTS.load(Ordering::SeqCst) == 0 {
        eprintln!("error: interrupted");
        std::process::exit(130);
    }
    INTERRUPTED.store(true, Ordering::SeqCst);
}
