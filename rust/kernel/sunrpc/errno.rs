// SPDX-License-Identifier: GPL-2.0

//! Which errno the errors of the arithmetic become.

use crate::prelude::*;

use super::{
    chunk::{
        BadPayload,
        ChunkOverflow, //
    },
    read_sink::{
        BadPosition,
        PageOverrun, //
    },
    send::Unsendable,
    xdr_buf::Incomplete,
};

impl From<Incomplete> for Error {
    fn from(_: Incomplete) -> Self {
        EIO
    }
}

impl From<BadPayload> for Error {
    fn from(_: BadPayload) -> Self {
        EMSGSIZE
    }
}

impl From<ChunkOverflow> for Error {
    fn from(_: ChunkOverflow) -> Self {
        E2BIG
    }
}

impl From<BadPosition> for Error {
    fn from(_: BadPosition) -> Self {
        EINVAL
    }
}

impl From<PageOverrun> for Error {
    fn from(_: PageOverrun) -> Self {
        EINVAL
    }
}

impl From<Unsendable> for Error {
    fn from(why: Unsendable) -> Self {
        match why {
            Unsendable::TooBig => E2BIG,
            Unsendable::Incomplete => EIO,
            Unsendable::BadPayload => EMSGSIZE,
        }
    }
}
