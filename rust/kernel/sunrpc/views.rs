// SPDX-License-Identifier: GPL-2.0

//! Messages and chunk lists that C owns, as Rust sees them.
//!
//! C headers: [`include/linux/sunrpc/xdr.h`](srctree/include/linux/sunrpc/xdr.h),
//! [`include/linux/sunrpc/svc_rdma_pcl.h`](srctree/include/linux/sunrpc/svc_rdma_pcl.h)

use core::{
    mem::{
        offset_of,
        size_of, //
    },
    slice, //
};

use crate::{
    bindings,
    clist_create,
    page::PAGE_SIZE,
    prelude::*,
    sunrpc::{
        chunk::{
            Payload,
            RemoteRange, //
        },
        page_array::PageSlot,
        xdr_buf::{
            self,
            Linear,
            PageList, //
        },
    },
    types::Opaque, //
};

/// An RPC message in pages that C owns.
pub type XdrBuf<'a> = xdr_buf::XdrBuf<'a, PageSlot>;

/// Views an `xdr_buf`.
///
/// Fails with [`EMSGSIZE`] if its head or tail exceeds 32 bits.
///
/// # Safety
///
/// `xdr` must point to an `xdr_buf` that describes memory which exists during `'a`: its head, its
/// tail, and the pages that hold `page_len` bytes from `page_base` on.
#[inline]
pub unsafe fn xdr_buf_from_raw<'a>(xdr: *const bindings::xdr_buf) -> Result<XdrBuf<'a>> {
    // SAFETY: The caller passes a valid `xdr_buf`.
    let xdr = unsafe { &*xdr };
    let end = match xdr.page_len {
        0 => 0,
        len => u64::from(xdr.page_base) + u64::from(len),
    };
    // CAST: Twice `u32::MAX` bytes have fewer pages than `u32::MAX`.
    let nr_pages = end.div_ceil(PAGE_SIZE as u64) as u32;
    // SAFETY: The caller vouches for the pages up to the end of the page data.
    let slots = unsafe { PageSlot::slice_from_raw(xdr.pages.cast_const().cast(), nr_pages) };

    Ok(XdrBuf {
        head: linear(&xdr.head[0])?,
        pages: PageList::new(slots, xdr.page_base, xdr.page_len),
        tail: linear(&xdr.tail[0])?,
    })
}

/// Describes what a `kvec` describes.
#[inline]
fn linear(kvec: &bindings::kvec) -> Result<Linear> {
    let len = u32::try_from(kvec.iov_len).map_err(|_| EMSGSIZE)?;

    Ok(Linear::new(kvec.iov_base.cast_const().cast(), len))
}

/// A chunk, as it was parsed.
///
/// # Invariants
///
/// Has `ch_segcount` segments.
#[repr(transparent)]
pub struct Chunk(Opaque<bindings::svc_rdma_chunk>);

impl Chunk {
    /// Returns the raw pointer.
    #[inline]
    pub fn as_raw(&self) -> *const bindings::svc_rdma_chunk {
        self.0.get()
    }

    /// Returns the position in the unreduced message, in bytes.
    #[inline]
    pub fn position(&self) -> u32 {
        // SAFETY: The chunk is valid, by the type invariants.
        unsafe { (*self.as_raw()).ch_position }
    }

    /// Returns the sum of the lengths of the segments, in bytes.
    #[inline]
    pub fn length(&self) -> u32 {
        // SAFETY: The chunk is valid, by the type invariants.
        unsafe { (*self.as_raw()).ch_length }
    }

    /// Returns which bytes of the Reply go to this chunk, if any.
    #[inline]
    pub fn payload(&self) -> Option<Payload> {
        // SAFETY: The chunk is valid, by the type invariants.
        let length = unsafe { (*self.as_raw()).ch_payload_length };

        (length > 0).then(|| Payload {
            position: self.position(),
            length,
        })
    }

    /// Returns the segments.
    #[inline]
    pub fn segments(&self) -> &[RemoteRange] {
        const {
            use bindings::svc_rdma_segment as Segment;

            assert!(size_of::<RemoteRange>() == size_of::<Segment>());
            assert!(offset_of!(RemoteRange, handle) == offset_of!(Segment, rs_handle));
            assert!(offset_of!(RemoteRange, length) == offset_of!(Segment, rs_length));
            assert!(offset_of!(RemoteRange, offset) == offset_of!(Segment, rs_offset));
        }
        let chunk = self.as_raw();

        // SAFETY: By the type invariants, there are `ch_segcount` segments. A `RemoteRange` has the
        // layout of one of them.
        unsafe {
            slice::from_raw_parts(
                (&raw const (*chunk).ch_segments).cast(),
                (*chunk).ch_segcount as usize,
            )
        }
    }
}

/// The offset of the list head in a chunk.
const CH_LIST: usize = offset_of!(bindings::svc_rdma_chunk, ch_list);

/// A parsed chunk list.
#[derive(Clone, Copy)]
pub struct ChunkList<'a>(&'a crate::interop::list::CList<Chunk, CH_LIST>);

impl<'a> ChunkList<'a> {
    /// Views a chunk list.
    ///
    /// # Safety
    ///
    /// `pcl` must point to an initialised chunk list that nobody changes during `'a`.
    #[inline]
    pub unsafe fn from_raw(pcl: *const bindings::svc_rdma_pcl) -> Self {
        // SAFETY: The list head is initialised, and the list has chunks, which `Chunk` is a
        // transparent view of.
        Self(unsafe {
            clist_create!(
                (&raw const (*pcl).cl_chunks).cast_mut(),
                Chunk,
                bindings::svc_rdma_chunk,
                ch_list
            )
        })
    }

    /// Returns whether the client sent no such chunk.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the first chunk, if there is one.
    #[inline]
    pub fn first(&self) -> Option<&'a Chunk> {
        self.iter().next()
    }

    /// Returns the chunks, in the client's order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &'a Chunk> + use<'a> {
        self.0.iter()
    }

    /// Returns the payloads of the Reply that go to the chunks, up to the first chunk without one.
    #[inline]
    pub fn payloads(&self) -> impl Iterator<Item = Payload> + use<'a> {
        self.0.iter().map_while(Chunk::payload)
    }
}
