// SPDX-License-Identifier: GPL-2.0

//! How an RPC Reply, or what of it is not in chunks, goes into an RDMA Send.
//!
//! C function: `svc_rdma_check_pull_up()`. RFC 8166, Section 4.5.3, says what happens to a Reply
//! that fits nowhere. This file is also built for the host.

use super::{
    chunk::{
        try_for_each_nonpayload,
        BadPayload,
        Payload, //
    },
    extent::Slot,
    xdr_buf::{
        Incomplete,
        Piece,
        XdrBuf, //
    },
};

/// What a Send may look like.
#[derive(Clone, Copy, Debug)]
pub struct SendLimits {
    /// The number of scatter/gather entries, the one for the transport header included.
    pub max_sges: u32,
    /// The longest Send that the client expects, in bytes. It fits the transport header's buffer.
    pub inline_threshold: u32,
    /// A message of fewer bytes is always copied.
    pub pull_up_below: u32,
    /// The number of bytes in one scatter/gather entry.
    pub max_sge_len: u32,
}

/// How to send a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmit {
    /// From where its pieces are, each in a scatter/gather entry of its own.
    Map,
    /// Copied behind the transport header.
    PullUp,
}

/// The reason why a message cannot be sent.
#[derive(Debug, PartialEq, Eq)]
pub enum Unsendable {
    /// It exceeds the inline threshold.
    TooBig,
    /// The page list does not hold what the message says.
    Incomplete,
    /// The payloads of the Write chunks do not fit the message.
    BadPayload,
}

impl From<Incomplete> for Unsendable {
    fn from(_: Incomplete) -> Self {
        Self::Incomplete
    }
}

impl From<BadPayload> for Unsendable {
    fn from(_: BadPayload) -> Self {
        Self::BadPayload
    }
}

/// Hands each piece of `msg` that belongs to no payload to `f`, in order.
///
/// Counting, copying and mapping all see the pieces that this hands out.
#[inline]
pub fn try_for_each_sent_piece<'a, S: Slot, E: From<Incomplete> + From<BadPayload>>(
    msg: &XdrBuf<'a, S>,
    payloads: impl IntoIterator<Item = Payload>,
    max_sge_len: u32,
    mut f: impl FnMut(Piece<'a, S>) -> Result<(), E>,
) -> Result<(), E> {
    let total = u32::try_from(msg.len()).map_err(|_| BadPayload)?;

    try_for_each_nonpayload(total, payloads, |offset, len| {
        msg.range(offset, len)
            .ok_or(BadPayload)?
            .try_for_each_piece(max_sge_len, &mut f)
    })
}

/// Decides how to send the parts of `msg` that belong to no payload, behind a transport header of
/// `header_len` bytes.
///
/// Where the length decides, as it does for most Replies, the pieces are not looked at.
#[inline]
pub fn choose<S: Slot, P: IntoIterator<Item = Payload>>(
    msg: &XdrBuf<'_, S>,
    payloads: impl Fn() -> P,
    header_len: u32,
    limits: &SendLimits,
) -> Result<Transmit, Unsendable> {
    let total = u32::try_from(msg.len()).map_err(|_| BadPayload)?;
    let mut len = u64::from(header_len);

    try_for_each_nonpayload::<Unsendable>(total, payloads(), |_, part| {
        // OVERFLOW: A message has at most `u32::MAX` bytes, and a part is one of it.
        len = len.saturating_add(u64::from(part));
        Ok(())
    })?;

    if len > u64::from(limits.inline_threshold) {
        return Err(Unsendable::TooBig);
    }
    if len < u64::from(limits.pull_up_below) {
        return Ok(Transmit::PullUp);
    }

    let mut sges = 1u32;

    try_for_each_sent_piece::<_, Unsendable>(msg, payloads(), limits.max_sge_len, |_| {
        // OVERFLOW: A piece has at least one of at most `inline_threshold` bytes.
        sges = sges.saturating_add(1);
        Ok(())
    })?;

    if sges >= limits.max_sges {
        Ok(Transmit::PullUp)
    } else {
        Ok(Transmit::Map)
    }
}
