// SPDX-License-Identifier: GPL-2.0

//! The transport's private structures, made safe.
//!
//! C headers: [`include/linux/sunrpc/svc_rdma.h`](srctree/include/linux/sunrpc/svc_rdma.h),
//! [`net/sunrpc/xprtrdma/svc_rdma_rw.h`](srctree/net/sunrpc/xprtrdma/svc_rdma_rw.h)
//!
//! Outside of this file, of the tracepoints and of the entry points, the crate has no unsafe code.

use core::{
    marker::PhantomData,
    mem,
    ptr::{
        self,
        NonNull, //
    },
    slice, //
};

use kernel::{
    bindings,
    error::to_result,
    prelude::*,
    sunrpc::{
        chunk::RemoteRange,
        page_array::PageSlot,
        read_sink::SinkCursor,
        send::SendLimits,
        views::{
            Chunk,
            ChunkList, //
        },
        write_chunk::Source,
        xdr_buf::Piece, //
    }, //
};

use crate::trace;

/// A connection.
///
/// # Invariants
///
/// Points to a `svcxprt_rdma` that is connected: its device exists, and its limits do not change.
#[derive(Clone, Copy)]
pub(crate) struct Transport<'a> {
    ptr: NonNull<bindings::svcxprt_rdma>,
    _transport: PhantomData<&'a bindings::svcxprt_rdma>,
}

impl Transport<'_> {
    /// Views a connection.
    ///
    /// # Safety
    ///
    /// `ptr` must point to a connected `svcxprt_rdma` to which the caller holds a reference for as
    /// long as the view exists.
    pub(crate) unsafe fn from_raw(ptr: *mut bindings::svcxprt_rdma) -> Self {
        // INVARIANT: The caller vouches for the connection.
        Self {
            // SAFETY: What points to a structure is not null.
            ptr: unsafe { NonNull::new_unchecked(ptr) },
            _transport: PhantomData,
        }
    }

    fn as_raw(&self) -> *mut bindings::svcxprt_rdma {
        self.ptr.as_ptr()
    }

    fn device(&self) -> *mut bindings::ib_device {
        // SAFETY: By the type invariants, the connection has an ID, and the ID a device.
        unsafe { (*(*self.as_raw()).sc_cm_id).device }
    }

    /// Returns the largest number of bytes that one DMA mapping and one segment can have.
    pub(crate) fn max_bvec_len(&self) -> u32 {
        let device = self.device();

        // SAFETY: By the type invariants, the device exists.
        unsafe {
            if bindings::ib_uses_virt_dma(device) {
                return u32::MAX;
            }
            let mapping = bindings::dma_max_mapping_size((*device).dma_device);
            let segment = bindings::ib_dma_max_seg_size(device);

            u32::try_from(mapping).unwrap_or(u32::MAX).min(segment)
        }
    }

    /// Returns the number of scatter/gather entries that a Send can have.
    fn max_sges(&self) -> u32 {
        // SAFETY: By the type invariants, the limits do not change.
        unsafe { (*self.as_raw()).sc_max_send_sges }
    }

    /// Returns the number of bytes that a Send can have.
    fn inline_threshold(&self) -> u32 {
        // SAFETY: By the type invariants, the limits do not change.
        let buffer_size = unsafe { (*self.as_raw()).sc_max_req_size };

        u32::try_from(buffer_size).unwrap_or(0)
    }

    /// Returns what a Send on this connection may look like.
    pub(crate) fn send_limits(&self) -> SendLimits {
        SendLimits {
            max_sges: self.max_sges(),
            inline_threshold: self.inline_threshold(),
            pull_up_below: bindings::RPCRDMA_PULLUP_THRESH,
            max_sge_len: self.max_bvec_len(),
        }
    }
}

/// The direction of a transfer.
#[derive(Clone, Copy)]
pub(crate) enum Direction {
    /// To the client, by RDMA Write.
    Write,
    /// From the client, by RDMA Read.
    Read,
}

impl Direction {
    fn as_raw(self) -> bindings::dma_data_direction {
        match self {
            Self::Write => bindings::dma_data_direction::DMA_TO_DEVICE,
            Self::Read => bindings::dma_data_direction::DMA_FROM_DEVICE,
        }
    }

    /// Counts a transfer in the module's statistics.
    fn count(self) {
        // SAFETY: The counters exist as long as the module does.
        unsafe {
            bindings::percpu_counter_inc(match self {
                Self::Write => &raw mut bindings::svcrdma_stat_write,
                Self::Read => &raw mut bindings::svcrdma_stat_read,
            });
        }
    }
}

/// Returns the `bio_vec` that describes a piece of a message.
fn piece_to_bvec(piece: &Piece<'_, PageSlot>) -> bindings::bio_vec {
    match piece {
        Piece::Extent(extent) => extent.to_bvec(),
        Piece::Linear(linear) => {
            let mut bvec = bindings::bio_vec::default();
            let base = linear.base().cast_mut().cast();

            // SAFETY: A message's head and tail are in directly mapped memory.
            unsafe { bindings::bvec_set_virt(&mut bvec, base, linear.len()) };
            bvec
        }
    }
}

/// Returns the address of a piece that is in one page, or in linear memory.
fn piece_to_virt(piece: &Piece<'_, PageSlot>) -> *mut u8 {
    match piece {
        Piece::Linear(linear) => linear.base().cast_mut(),
        Piece::Extent(extent) => {
            let mut bvec = extent.to_bvec();

            // SAFETY: The pages of a message are in directly mapped memory.
            unsafe { bindings::bvec_virt(&mut bvec).cast() }
        }
    }
}

/// A R/W context that has not been handed over yet.
///
/// It goes back to the connection's cache when dropped.
///
/// # Invariants
///
/// - `ptr` points to a context that nobody else refers to, whose `rw_bvec` has room for `room`
///   entries.
/// - The first `rw_nents` of these are initialised, and `rw_nents` does not exceed `room`.
pub(crate) struct RwContext<'a> {
    rdma: Transport<'a>,
    ptr: NonNull<bindings::svc_rdma_rw_ctxt>,
    room: u32,
}

impl<'a> RwContext<'a> {
    /// Takes a context with room for `room` bio_vecs from the cache.
    fn get(rdma: Transport<'a>, room: u32) -> Result<Self> {
        // SAFETY: By its type invariants, the connection exists.
        let ptr = unsafe { bindings::svc_rdma_get_rw_ctxt(rdma.as_raw(), room) };
        let ptr = NonNull::new(ptr).ok_or(ENOMEM)?;

        // SAFETY: The context is ours.
        unsafe { (*ptr.as_ptr()).rw_nents = 0 };
        // INVARIANT: `svc_rdma_get_rw_ctxt()` made the room, and no entry is initialised.
        Ok(Self { rdma, ptr, room })
    }

    /// Takes a context with just the room for `source`, and describes it in pieces of at most `cap`
    /// bytes.
    pub(crate) fn filled(
        rdma: Transport<'a>,
        source: &Source<'_, PageSlot>,
        cap: u32,
    ) -> Result<Self> {
        let mut nents = 0u32;

        source.try_for_each_piece::<Error>(cap, |_| {
            nents = nents.saturating_add(1);
            Ok(())
        })?;
        let mut ctxt = Self::get(rdma, nents)?;
        source.try_for_each_piece::<Error>(cap, |piece| ctxt.push(&piece))?;
        Ok(ctxt)
    }

    /// Appends an entry.
    fn push(&mut self, piece: &Piece<'_, PageSlot>) -> Result {
        let ctxt = self.ptr.as_ptr();

        // SAFETY: By the type invariants, the context is ours and has room for `room` entries.
        unsafe {
            let nents = (*ctxt).rw_nents;
            if nents >= self.room {
                return Err(EIO);
            }
            (*ctxt)
                .rw_bvec
                .add(nents as usize)
                .write(piece_to_bvec(piece));
            // INVARIANT: One more entry is initialised.
            (*ctxt).rw_nents = nents.saturating_add(1);
        }
        Ok(())
    }

    /// Prepares the context to move its entries to or from `remote`, and hands it over to `chunk`.
    pub(crate) fn hand_over(
        self,
        chunk: &mut ChunkContext<'_>,
        remote: RemoteRange,
        direction: Direction,
    ) -> Result {
        let (rdma, ctxt) = (self.rdma.as_raw(), self.ptr.as_ptr());

        // From here on the context belongs to C, which also takes it back on failure.
        mem::forget(self);
        // SAFETY: By the type invariants, the context and its entries are valid.
        let sqes = unsafe {
            bindings::svc_rdma_rw_ctx_init(
                rdma,
                ctxt,
                remote.offset,
                remote.handle,
                remote.length,
                direction.as_raw(),
            )
        };
        if sqes < 0 {
            return Err(EIO);
        }
        direction.count();
        // SAFETY: The context is initialised, and on no list.
        unsafe { chunk.add(ctxt, sqes) };
        Ok(())
    }
}

impl Drop for RwContext<'_> {
    fn drop(&mut self) {
        // SAFETY: By the type invariants, nobody else refers to the context.
        unsafe { bindings::svc_rdma_put_rw_ctxt(self.rdma.as_raw(), self.ptr.as_ptr()) };
    }
}

/// A chunk context: the R/W contexts that move one chunk.
///
/// # Invariants
///
/// Points to an initialised chunk context that only its owner changes.
pub(crate) struct ChunkContext<'a> {
    ptr: NonNull<bindings::svc_rdma_chunk_ctxt>,
    _chunk: PhantomData<&'a mut bindings::svc_rdma_chunk_ctxt>,
}

impl ChunkContext<'_> {
    /// Adds a R/W context that takes `sqes` entries of the Send Queue.
    ///
    /// # Safety
    ///
    /// `ctxt` must be initialised, and on no list. It belongs to the chunk context from then on.
    unsafe fn add(&mut self, ctxt: *mut bindings::svc_rdma_rw_ctxt, sqes: i32) {
        let chunk = self.ptr.as_ptr();

        // SAFETY: By the type invariants, the list is initialised and ours to change.
        unsafe {
            bindings::list_add(&raw mut (*ctxt).rw_list, &raw mut (*chunk).cc_rwctxts);
            (*chunk).cc_sqecount = (*chunk).cc_sqecount.saturating_add(sqes);
        }
    }

    fn cid(&self) -> *const bindings::rpc_rdma_cid {
        // SAFETY: By the type invariants, the context is valid.
        unsafe { &raw const (*self.ptr.as_ptr()).cc_cid }
    }

    fn sqe_count(&self) -> i32 {
        // SAFETY: By the type invariants, the context is valid.
        unsafe { (*self.ptr.as_ptr()).cc_sqecount }
    }

    /// Reports that the client's chunk of `num_segs` segments has no room for `remaining` bytes.
    pub(crate) fn trace_overflow(&self, remaining: u32, seg_no: u32, num_segs: u32) {
        // SAFETY: The completion ID is part of the chunk context.
        unsafe { trace::svcrdma_small_wrch_err(self.cid(), remaining, seg_no, num_segs) };
    }

    /// Reports that the Call needs more pages than there are.
    pub(crate) fn trace_page_overrun(&self, page: u32) {
        // SAFETY: The completion ID is part of the chunk context.
        unsafe { trace::svcrdma_page_overrun_err(self.cid(), page) };
    }
}

/// A Send context whose transport header is encoded or about to be.
///
/// # Invariants
///
/// Points to a Send context of the connection `rdma`, to which nobody else refers.
pub(crate) struct SendContext<'a> {
    rdma: Transport<'a>,
    ptr: NonNull<bindings::svc_rdma_send_ctxt>,
}

impl<'a> SendContext<'a> {
    /// Views a Send context.
    ///
    /// # Safety
    ///
    /// `ptr` must point to a Send context of `rdma`, to which nobody else refers as long as the
    /// view exists.
    pub(crate) unsafe fn from_raw(
        rdma: Transport<'a>,
        ptr: *mut bindings::svc_rdma_send_ctxt,
    ) -> Self {
        // INVARIANT: The caller vouches for the context.
        Self {
            rdma,
            // SAFETY: What points to a context is not null.
            ptr: unsafe { NonNull::new_unchecked(ptr) },
        }
    }

    /// Returns the connection.
    pub(crate) fn transport(&self) -> Transport<'a> {
        self.rdma
    }

    /// Returns the length of the transport header, in bytes.
    pub(crate) fn header_len(&self) -> u32 {
        // SAFETY: By the type invariants, the context is valid.
        unsafe { (*self.ptr.as_ptr()).sc_hdrbuf.len }
    }

    /// Makes the Send consist of the first `len` bytes of the header's buffer.
    pub(crate) fn send_buffer(&mut self, len: u32) {
        let ctxt = self.ptr.as_ptr();

        // SAFETY: By the type invariants, the context is valid, and it has at least one entry.
        unsafe {
            (*ctxt).sc_send_wr.num_sge = 1;
            let first: *mut bindings::ib_sge = (&raw mut (*ctxt).sc_sges).cast();
            (*first).length = len;
        }
    }

    /// Maps a piece of the message, and appends it to the Send.
    pub(crate) fn map(&mut self, piece: &Piece<'_, PageSlot>) -> Result {
        let ctxt = self.ptr.as_ptr();
        // SAFETY: By the type invariants, the context is valid.
        let at = unsafe { (*ctxt).sc_send_wr.num_sge };
        let index = u32::try_from(at).map_err(|_| EIO)?;
        if index >= self.rdma.max_sges() {
            return Err(EIO);
        }
        let addr = self.dma_map(piece)?;

        // SAFETY: The context has as many entries as a Send on this connection can have.
        unsafe {
            let first: *mut bindings::ib_sge = (&raw mut (*ctxt).sc_sges).cast();
            let sge = first.add(index as usize);
            (*sge).addr = addr;
            (*sge).length = piece.len();
            (*ctxt).sc_cur_sge_no = at;
            (*ctxt).sc_send_wr.num_sge = at.saturating_add(1);
        }
        Ok(())
    }

    /// Maps a piece for the device to read.
    fn dma_map(&self, piece: &Piece<'_, PageSlot>) -> Result<u64> {
        let mut bvec = piece_to_bvec(piece);
        let device = self.rdma.device();

        // SAFETY: `bvec` describes memory of the message, the device exists by the invariants of
        // `Transport`, and the completion ID is part of the context.
        unsafe {
            let cid = &raw const (*self.ptr.as_ptr()).sc_cid;
            let addr = bindings::ib_dma_map_bvec(device, &mut bvec, Direction::Write.as_raw());

            if bindings::ib_dma_mapping_error(device, addr) != 0 {
                trace::svcrdma_dma_map_err(cid, addr, bvec.bv_len);
                return Err(EIO);
            }
            trace::svcrdma_dma_map_page(cid, addr, bvec.bv_len);
            Ok(addr)
        }
    }

    /// Copies a piece of the message behind the first `at` bytes of the header's buffer.
    ///
    /// The piece is in one page, since each page has a KASAN tag of its own. Returns where it ends.
    pub(crate) fn copy(&mut self, at: u32, piece: &Piece<'_, PageSlot>) -> Result<u32> {
        let end = at.checked_add(piece.len()).ok_or(EMSGSIZE)?;
        if end > self.rdma.inline_threshold() {
            return Err(EMSGSIZE);
        }
        let from = piece_to_virt(piece);

        // SAFETY: The piece is `len` bytes in directly mapped memory. The header's buffer has
        // `inline_threshold` bytes, and none of them is part of the message.
        unsafe {
            let to = (*self.ptr.as_ptr())
                .sc_xprt_buf
                .cast::<u8>()
                .add(at as usize);
            ptr::copy_nonoverlapping(from.cast_const(), to, piece.len() as usize);
        }
        Ok(end)
    }

    /// Reports that `len` bytes of the message were copied.
    pub(crate) fn trace_pull_up(&self, len: u32) {
        // SAFETY: By the type invariants, the context is valid.
        unsafe { trace::svcrdma_send_pullup(self.ptr.as_ptr(), len) };
    }

    /// Returns the chunk context that writes to the Reply chunk `chunk`.
    pub(crate) fn reply_chunk(&mut self, chunk: &Chunk) -> ChunkContext<'_> {
        let ctxt = self.ptr.as_ptr();

        // SAFETY: By the type invariants, the context is valid. The information about the Reply
        // chunk is a part of it, and its chunk context is initialised.
        let chunk_ctxt = unsafe {
            let info = &raw mut (*ctxt).sc_reply_info;
            (*info).wi_rdma = self.rdma.as_raw();
            (*info).wi_chunk = chunk.as_raw();
            (*info).wi_cc.cc_cqe.done = Some(bindings::svc_rdma_reply_done);
            &raw mut (*info).wi_cc
        };
        ChunkContext {
            // SAFETY: A part of a valid context.
            ptr: unsafe { NonNull::new_unchecked(chunk_ctxt) },
            _chunk: PhantomData,
        }
    }

    /// Chains the work requests that write to the Reply chunk in front of the Send.
    pub(crate) fn link_reply_chunk(&mut self) {
        let ctxt = self.ptr.as_ptr();

        // SAFETY: By the type invariants, both are valid.
        unsafe {
            let chunk = &raw mut (*ctxt).sc_reply_info.wi_cc;
            bindings::svc_rdma_cc_link_wrs(self.rdma.as_raw(), ctxt, chunk);
            trace::svcrdma_post_reply_chunk(&raw const (*chunk).cc_cid, (*chunk).cc_sqecount);
        }
    }

    /// Chains the work requests of a Write chunk in front of the Send.
    ///
    /// Fails with [`EINVAL`] if the Send Queue cannot hold them all.
    pub(crate) fn link_write_chunk(&mut self, mut write: WriteChunk<'a>) -> Result {
        let (rdma, ctxt) = (self.rdma.as_raw(), self.ptr.as_ptr());
        let chunk = write.context();
        // SAFETY: By the type invariants, both are valid.
        let (sqes, depth) = unsafe { ((*ctxt).sc_sqecount, (*rdma).sc_sq_depth) };
        let sqes = sqes.saturating_add(chunk.sqe_count());
        if u32::try_from(sqes).map_err(|_| EINVAL)? > depth {
            return Err(EINVAL);
        }

        let chunk = chunk.ptr.as_ptr();
        let info = write.ptr.as_ptr();
        // From here on the chunk's resources live as long as the Send.
        mem::forget(write);
        // SAFETY: All three are valid, and `info` is on no list.
        unsafe {
            bindings::svc_rdma_cc_link_wrs(rdma, ctxt, chunk);
            bindings::list_add(
                &raw mut (*info).wi_list,
                &raw mut (*ctxt).sc_write_info_list,
            );
            trace::svcrdma_post_write_chunk(&raw const (*chunk).cc_cid, (*chunk).cc_sqecount);
        }
        Ok(())
    }
}

/// What it takes to write one Write chunk. Released when dropped.
///
/// # Invariants
///
/// Points to a `svc_rdma_write_info` that is on no list.
pub(crate) struct WriteChunk<'a> {
    ptr: NonNull<bindings::svc_rdma_write_info>,
    _transport: PhantomData<Transport<'a>>,
}

impl<'a> WriteChunk<'a> {
    /// Allocates it.
    pub(crate) fn new(rdma: Transport<'a>, chunk: &Chunk) -> Result<Self> {
        // SAFETY: By the type invariants, the connection exists.
        let ptr = unsafe { bindings::svc_rdma_write_info_alloc(rdma.as_raw(), chunk.as_raw()) };

        Ok(Self {
            ptr: NonNull::new(ptr).ok_or(ENOMEM)?,
            _transport: PhantomData,
        })
    }

    /// Returns the chunk context.
    pub(crate) fn context(&mut self) -> ChunkContext<'_> {
        ChunkContext {
            // SAFETY: By the type invariants, it is a part of a valid structure.
            ptr: unsafe { NonNull::new_unchecked(&raw mut (*self.ptr.as_ptr()).wi_cc) },
            _chunk: PhantomData,
        }
    }
}

impl Drop for WriteChunk<'_> {
    fn drop(&mut self) {
        // SAFETY: By the type invariants, nobody else refers to it.
        unsafe { bindings::svc_rdma_write_info_free(self.ptr.as_ptr()) };
    }
}

/// A Call whose chunks are about to be read: the Receive context, and the pages of the thread.
///
/// # Invariants
///
/// - `head` points to a Receive context of the connection `rdma`, to which nobody else refers.
/// - `rqstp` points to the caller's `svc_rqst`.
pub(crate) struct CallContext<'a> {
    rdma: Transport<'a>,
    head: NonNull<bindings::svc_rdma_recv_ctxt>,
    rqstp: NonNull<bindings::svc_rqst>,
}

impl<'a> CallContext<'a> {
    /// Views a Call, and prepares its chunk context.
    ///
    /// # Safety
    ///
    /// `head` must point to a Receive context of `rdma` whose chunk lists are parsed, and `rqstp`
    /// to the caller's `svc_rqst`. Nobody else may refer to either as long as the view exists.
    pub(crate) unsafe fn from_raw(
        rdma: Transport<'a>,
        rqstp: *mut bindings::svc_rqst,
        head: *mut bindings::svc_rdma_recv_ctxt,
    ) -> Self {
        // SAFETY: The caller passes a valid context.
        unsafe {
            let chunk = &raw mut (*head).rc_cc;
            (*chunk).cc_cqe.done = Some(bindings::svc_rdma_wc_read_done);
            (*chunk).cc_sqecount = 0;
        }
        // INVARIANT: The caller vouches for both.
        Self {
            rdma,
            // SAFETY: What points to a context is not null.
            head: unsafe { NonNull::new_unchecked(head) },
            // SAFETY: Nor is what points to the thread's `svc_rqst`.
            rqstp: unsafe { NonNull::new_unchecked(rqstp) },
        }
    }

    /// Returns the connection.
    pub(crate) fn transport(&self) -> Transport<'a> {
        self.rdma
    }

    /// Returns the chunk context.
    pub(crate) fn chunk_context(&mut self) -> ChunkContext<'_> {
        ChunkContext {
            // SAFETY: By the type invariants, it is a part of a valid structure.
            ptr: unsafe { NonNull::new_unchecked(&raw mut (*self.head.as_ptr()).rc_cc) },
            _chunk: PhantomData,
        }
    }

    /// Returns the position-zero Read chunk, if the Call has one.
    pub(crate) fn call_chunk(&self) -> Option<&'a Chunk> {
        // SAFETY: By the type invariants, the chunk lists are parsed, and nobody changes them.
        unsafe { ChunkList::from_raw(&raw const (*self.head.as_ptr()).rc_call_pcl) }.first()
    }

    /// Returns the Read list.
    pub(crate) fn read_list(&self) -> ChunkList<'a> {
        // SAFETY: By the type invariants, the chunk lists are parsed, and nobody changes them.
        unsafe { ChunkList::from_raw(&raw const (*self.head.as_ptr()).rc_read_pcl) }
    }

    /// Returns the body of the Call, as far as it is in the Receive buffer.
    pub(crate) fn inline_body(&self) -> &'a [u8] {
        // SAFETY: By the type invariants, the Receive context is valid. Its saved head describes a
        // part of the Receive buffer, which nobody changes before the context is released.
        unsafe {
            let head = &(*self.head.as_ptr()).rc_saved_arg.head[0];
            if head.iov_len == 0 {
                return &[];
            }
            slice::from_raw_parts(head.iov_base.cast_const().cast(), head.iov_len)
        }
    }

    /// Returns the number of pages that the Call may take.
    pub(crate) fn max_pages(&self) -> u32 {
        // SAFETY: By the type invariants, both structures are valid.
        let pages = unsafe {
            let thread = (*self.rqstp.as_ptr()).rq_maxpages;
            thread.min((*self.head.as_ptr()).rc_maxpages)
        };
        u32::try_from(pages).unwrap_or(u32::MAX)
    }

    /// Returns the pages that the Call may take.
    pub(crate) fn pages(&self) -> &[PageSlot] {
        // SAFETY: `rq_pages` has `rq_maxpages` entries, each of which holds a page while the thread
        // is in its receive function. Only `hand_over()` changes them, which nobody calls while the
        // slice exists.
        unsafe {
            PageSlot::slice_from_raw(
                (*self.rqstp.as_ptr()).rq_pages.cast_const(),
                self.max_pages(),
            )
        }
    }

    /// Copies `bytes` into a page of the Call.
    ///
    /// The piece is in one page, since each page has a KASAN tag of its own.
    pub(crate) fn copy_to(&self, piece: &Piece<'_, PageSlot>, bytes: &[u8]) -> Result {
        if bytes.len() != piece.len() as usize {
            return Err(EINVAL);
        }

        // SAFETY: The pages are the thread's own, in directly mapped memory, and apart from the
        // Receive buffer.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), piece_to_virt(piece), bytes.len()) };
        Ok(())
    }

    /// Records that the Call has come to `end` with `read_bytes` bytes, and hands the pages that
    /// hold these over to the Receive context.
    ///
    /// The thread's `svc_xprt_release()` does not see them any more. When posting the Reads fails,
    /// the release of the Receive context puts them.
    pub(crate) fn hand_over(&mut self, end: &SinkCursor, read_bytes: u32) {
        let (head, rqstp) = (self.head.as_ptr(), self.rqstp.as_ptr());
        let nr_pages = end.pages_used().min(self.max_pages());

        // SAFETY: By the type invariants, both structures are valid, and each has room for
        // `max_pages()` pages.
        unsafe {
            let (from, to) = ((*rqstp).rq_pages, (&raw mut (*head).rc_pages).cast());
            ptr::copy_nonoverlapping(from, to, nr_pages as usize);
            ptr::write_bytes(from, 0, nr_pages as usize);
            (*rqstp).rq_pages_nfree = nr_pages as usize;
            (*head).rc_page_count = nr_pages;
            (*head).rc_curpage = end.page();
            (*head).rc_pageoff = end.offset();
            (*head).rc_readbytes = read_bytes;
        }
    }

    /// Posts the RDMA Reads. Their completion owns the Receive context from then on.
    ///
    /// Fails with [`EINVAL`] if there is nothing to read, since nothing would ever complete.
    pub(crate) fn post(mut self) -> Result {
        let chunk = self.chunk_context();
        let (cid, sqes, ptr) = (chunk.cid(), chunk.sqe_count(), chunk.ptr.as_ptr());
        if sqes == 0 {
            return Err(EINVAL);
        }

        // SAFETY: By the type invariants, the connection and the chunk context are valid.
        let ret = unsafe {
            trace::svcrdma_post_read_chunk(cid, sqes);
            bindings::svc_rdma_post_chunk_ctxt(self.rdma.as_raw(), ptr)
        };
        to_result(ret)
    }
}
