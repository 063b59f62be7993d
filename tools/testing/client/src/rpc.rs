// SPDX-License-Identifier: GPL-2.0

//! RPC Calls and Replies, RFC 5531.

use crate::xdr::{Reader, Writer};
use anyhow::{bail, ensure, Result};
use std::fmt;

/// NFS.
pub const NFS: (u32, u32) = (100_003, 3);
/// MOUNT.
pub const MOUNT: (u32, u32) = (100_005, 3);
/// The port mapper.
pub const PORTMAP: (u32, u32) = (100_000, 2);

/// Bytes of a Call without credentials and arguments.
pub const BARE_CALL: usize = 40;

const CALL: u32 = 0;
const REPLY: u32 = 1;
const RPC_VERSION: u32 = 2;
const AUTH_NONE: u32 = 0;
const AUTH_SYS: u32 = 1;

/// Who calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    /// Nobody in particular.
    None,
    /// The superuser.
    Root,
}

/// Starts a Call; the arguments are appended to it.
pub fn call(xid: u32, program: (u32, u32), procedure: u32, credential: Credential) -> Writer {
    let mut writer = Writer::new();
    writer.words(&[xid, CALL, RPC_VERSION, program.0, program.1, procedure]);
    match credential {
        Credential::None => writer.words(&[AUTH_NONE, 0]),
        Credential::Root => writer.word(AUTH_SYS).opaque(&root()),
    };
    writer.words(&[AUTH_NONE, 0]);
    writer
}

/// Stamp, an empty machine name, user, group, no further groups.
fn root() -> Vec<u8> {
    let mut writer = Writer::new();
    writer.words(&[0, 0, 0, 0, 0]);
    writer.into_bytes()
}

/// Why a server did not do what it was asked, RFC 5531 section 9.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// PROG_UNAVAIL
    Program,
    /// PROG_MISMATCH
    ProgramVersion,
    /// PROC_UNAVAIL
    Procedure,
    /// GARBAGE_ARGS
    Arguments,
    /// SYSTEM_ERR
    System,
    /// RPC_MISMATCH
    RpcVersion,
    /// AUTH_ERROR
    Credential,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::Program => "PROG_UNAVAIL",
            Refusal::ProgramVersion => "PROG_MISMATCH",
            Refusal::Procedure => "PROC_UNAVAIL",
            Refusal::Arguments => "GARBAGE_ARGS",
            Refusal::System => "SYSTEM_ERR",
            Refusal::RpcVersion => "RPC_MISMATCH",
            Refusal::Credential => "AUTH_ERROR",
        })
    }
}

/// A Reply: the results, or why there are none.
pub type Outcome<'a> = std::result::Result<Reader<'a>, Refusal>;

/// Reads the Reply to the Call `xid`.
pub fn reply(xid: u32, message: &[u8]) -> Result<Outcome<'_>> {
    let mut reader = Reader::new(message);
    let (found, direction) = (reader.word()?, reader.word()?);
    ensure!(found == xid, "the reply is to call {found:#x}, not {xid:#x}");
    ensure!(direction == REPLY, "the message has direction {direction}");
    match reader.word()? {
        0 => accepted(reader),
        1 => denied(reader),
        status => bail!("the reply has status {status}"),
    }
}

fn accepted(mut reader: Reader<'_>) -> Result<Outcome<'_>> {
    let _flavor = reader.word()?;
    let _verifier = reader.opaque()?;
    Ok(match reader.word()? {
        0 => Ok(reader),
        1 => Err(Refusal::Program),
        2 => Err(Refusal::ProgramVersion),
        3 => Err(Refusal::Procedure),
        4 => Err(Refusal::Arguments),
        5 => Err(Refusal::System),
        status => bail!("the reply has accept status {status}"),
    })
}

fn denied(mut reader: Reader<'_>) -> Result<Outcome<'_>> {
    Ok(Err(match reader.word()? {
        0 => Refusal::RpcVersion,
        1 => Refusal::Credential,
        status => bail!("the reply has reject status {status}"),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_call_has_ten_words() {
        assert_eq!(call(1, NFS, 0, Credential::None).len(), BARE_CALL);
        assert_eq!(call(1, NFS, 0, Credential::Root).len(), BARE_CALL + 20);
    }

    #[test]
    fn replies_are_told_apart() {
        let message = |words: &[u32]| Writer::new().words(words).clone().into_bytes();
        let success = message(&[9, 1, 0, 0, 0, 0, 77]);
        assert_eq!(reply(9, &success).unwrap().unwrap().word().unwrap(), 77);
        let refusal = |words: &[u32]| reply(9, &message(words)).unwrap().unwrap_err();
        assert_eq!(refusal(&[9, 1, 0, 0, 0, 4]), Refusal::Arguments);
        assert_eq!(refusal(&[9, 1, 1, 0, 2, 2]), Refusal::RpcVersion);
        assert_eq!(refusal(&[9, 1, 1, 1, 2]), Refusal::Credential);
        for wrong in [&[8, 1, 0, 0, 0, 0][..], &[9, 0, 0, 0, 0, 0], &[9, 1, 0, 0, 0, 6], &[9, 1]] {
            assert!(reply(9, &message(wrong)).is_err(), "{wrong:?}");
        }
    }
}
