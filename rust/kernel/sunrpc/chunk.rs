// SPDX-License-Identifier: GPL-2.0

//! Remote memory that an RPC-over-RDMA client offers: segments, and payloads that go there.
//!
//! C header: [`include/linux/sunrpc/svc_rdma_pcl.h`](srctree/include/linux/sunrpc/svc_rdma_pcl.h)
//!
//! RFC 8166, Sections 3.4.3 to 3.4.6. All numbers come from the wire. This file is also built for
//! the host.

/// A range of remote memory: an RDMA segment, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct RemoteRange {
    /// The Steering tag, or R_key.
    pub handle: u32,
    /// The length, in bytes.
    pub length: u32,
    /// The address of the first byte.
    pub offset: u64,
}

impl RemoteRange {
    /// Returns the part of the range that starts `skip` bytes into it and has up to `len` bytes.
    #[inline]
    fn part(&self, skip: u32, len: u32) -> Self {
        Self {
            handle: self.handle,
            length: self.length.saturating_sub(skip).min(len),
            // The client's business: a remote address that wraps fails at the client.
            offset: self.offset.wrapping_add(u64::from(skip)),
        }
    }
}

/// The segments have no room for this number of bytes.
#[derive(Debug, PartialEq, Eq)]
pub struct ChunkOverflow(pub u32);

/// A position in the segments of a Write chunk or a Reply chunk.
///
/// Payload fills the segments in their order (RFC 8166, Section 3.4.3). Segments without any room,
/// which a client may well offer, are passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentCursor {
    /// The index of the current segment.
    pub seg_no: u32,
    /// The number of bytes of the current segment that are taken.
    pub seg_off: u32,
}

impl SegmentCursor {
    /// Takes up to `len` bytes, as many as the next segment with room has.
    ///
    /// `len` is not zero. Fails if no segment has room.
    #[inline]
    pub fn take(
        &mut self,
        segments: &[RemoteRange],
        len: u32,
    ) -> Result<RemoteRange, ChunkOverflow> {
        loop {
            let segment = segments
                .get(self.seg_no as usize)
                .ok_or(ChunkOverflow(len))?;
            let part = segment.part(self.seg_off, len);

            self.seg_off = self.seg_off.saturating_add(part.length);
            if self.seg_off >= segment.length {
                self.seg_no = self.seg_no.saturating_add(1);
                self.seg_off = 0;
            }
            if part.length > 0 {
                return Ok(part);
            }
        }
    }
}

/// Hands each part of the `len` bytes that start `offset` bytes into a chunk to `f`, in order.
///
/// Segments of zero length are passed over.
#[inline]
pub fn try_for_each_part<E: From<ChunkOverflow>>(
    segments: &[RemoteRange],
    offset: u32,
    len: u32,
    mut f: impl FnMut(RemoteRange) -> Result<(), E>,
) -> Result<(), E> {
    let mut cursor = SegmentCursor::default();
    let mut skip = offset;
    let mut left = len;

    while skip > 0 {
        let passed = cursor.take(segments, skip)?;
        skip = skip.saturating_sub(passed.length);
    }
    while left > 0 {
        let part = cursor.take(segments, left)?;
        f(part)?;
        left = left.saturating_sub(part.length);
    }
    Ok(())
}

/// A result payload that goes to a Write chunk: which bytes of the Reply it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload {
    /// The position of the first byte in the Reply, in bytes.
    pub position: u32,
    /// The number of bytes without XDR padding.
    pub length: u32,
}

/// The payloads overlap, are out of order, or exceed the Reply.
#[derive(Debug, PartialEq, Eq)]
pub struct BadPayload;

/// Hands each range of a Reply of `total` bytes that is in no payload to `f`, as offset and length.
///
/// The padding that brings a payload to a multiple of four bytes belongs to the payload (RFC 8166,
/// Section 3.4.6). `payloads` ends at the first chunk without a payload. Empty ranges are left out,
/// but for the Reply as a whole.
///
/// C function: `pcl_process_nonpayloads()`.
#[inline]
pub fn try_for_each_nonpayload<E: From<BadPayload>>(
    total: u32,
    payloads: impl IntoIterator<Item = Payload>,
    mut f: impl FnMut(u32, u32) -> Result<(), E>,
) -> Result<(), E> {
    let mut start = None;

    for payload in payloads {
        let begin = start.unwrap_or(0);
        let len = payload.position.checked_sub(begin).ok_or(BadPayload)?;
        let end = payload
            .position
            .checked_add(payload.length)
            .and_then(|end| end.checked_next_multiple_of(4))
            .ok_or(BadPayload)?;

        if len > 0 {
            f(begin, len)?;
        }
        start = Some(end);
    }

    let begin = start.unwrap_or(0);
    let len = total.checked_sub(begin).ok_or(BadPayload)?;
    if len > 0 || start.is_none() {
        f(begin, len)?;
    }
    Ok(())
}
