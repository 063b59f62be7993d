// SPDX-License-Identifier: GPL-2.0

//! One RDMA connection, and memory that the other side may reach.
//!
//! All `unsafe` of the client is in this file: memory that the adapter reads
//! and writes behind the compiler's back, and the one thing that sideway has
//! no function for, the parameters of a connection request.

#![expect(unsafe_code, reason = "the adapter reaches memory by address, without regard to borrows")]

use anyhow::{bail, ensure, Context, Result};
use rdma_mummy_sys::rdma_conn_param;
use sideway::ibverbs::completion::{BasicCompletionQueue, BasicWorkCompletion};
use sideway::ibverbs::memory_region::MemoryRegion;
use sideway::ibverbs::protection_domain::ProtectionDomain;
use sideway::ibverbs::queue_pair::{
    BasicQueuePair, PostSendGuard, QueuePair, QueuePairAttribute, QueuePairState,
    SetScatterGatherEntry, WorkRequestFlags,
};
use sideway::ibverbs::AccessFlags;
use sideway::rdmacm::communication_manager::{
    ConnectErrorKind, ConnectionParameter, EventChannel, EventType, GetEventErrorKind, Identifier,
    PortSpace,
};
use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::ptr::NonNull;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Sends that may be outstanding.
const SENDS: usize = 128;
/// Bytes of each Send buffer.
const SEND_BUFFER: usize = 16384;
/// Bytes of each Receive buffer: more than any inline threshold in use, so
/// that a message that is too long is seen and not lost.
const BUFFER: usize = 32768;
/// Marks the work request numbers of Receives.
const RECEIVE: u64 = 1 << 32;
/// Reads that either side may have outstanding.
const READS: u8 = 16;
/// Retries of what is not acknowledged; 7 would mean for ever on soft-RoCE.
const RETRIES: u8 = 6;
/// Retries for ever while the other side has no Receive posted.
const FOR_EVER: u8 = 7;
/// Local ports that are tried for one connection.
const PORTS: u32 = 10;
/// A step of the connection set-up takes no longer, even under emulation.
const STEP: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_micros(500);

/// What the other side may do with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// RDMA Read
    Read,
    /// RDMA Write
    Write,
    /// Nothing
    None,
}

impl Access {
    fn flags(self) -> AccessFlags {
        match self {
            Access::Read => AccessFlags::LocalWrite | AccessFlags::RemoteRead,
            Access::Write => AccessFlags::LocalWrite | AccessFlags::RemoteWrite,
            Access::None => AccessFlags::LocalWrite,
        }
    }
}

/// Zeroed memory on page boundaries.
///
/// # Invariants
///
/// `start` was allocated with `layout` and is valid for its size.
struct Memory {
    start: NonNull<u8>,
    layout: Layout,
}

impl Memory {
    fn new(length: usize) -> Result<Self> {
        let layout = Layout::from_size_align(length.max(1), 4096).context("odd size of memory")?;
        // SAFETY: The layout has a size above zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) }).context("out of memory")?;
        Ok(Self { start, layout })
    }

    fn check(&self, offset: usize, length: usize) {
        let end = offset.checked_add(length);
        assert!(end.is_some_and(|end| end <= self.layout.size()), "access outside of the memory");
    }

    fn write(&self, offset: usize, bytes: &[u8]) {
        self.check(offset, bytes.len());
        // SAFETY: The range is inside of the allocation, and `bytes`, which is
        // borrowed by the compiler's rules, cannot overlap memory that is only
        // reached through this pointer.
        unsafe {
            let to = self.start.as_ptr().add(offset);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
        }
    }

    fn read(&self, offset: usize, length: usize) -> Vec<u8> {
        self.check(offset, length);
        let mut bytes = vec![0; length];
        // SAFETY: As for `write`; what the adapter writes meanwhile is bytes,
        // of which any value is valid.
        unsafe {
            let from = self.start.as_ptr().add(offset);
            std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), length);
        }
        bytes
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: By the invariant it was allocated so.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

/// Memory that the adapter knows by a key.
pub struct Region {
    // Dropped before the memory.
    registration: Option<Arc<MemoryRegion>>,
    memory: Memory,
    keys: (u32, u32),
}

impl Region {
    fn new(domain: &Arc<ProtectionDomain>, length: usize, access: Access) -> Result<Self> {
        let memory = Memory::new(length)?;
        let address = memory.start.as_ptr() as usize;
        // SAFETY: The memory is valid for its whole size and outlives the
        // registration, which is dropped first; it is only reached through
        // raw pointers.
        let registered = unsafe { domain.reg_mr(address, memory.layout.size(), access.flags()) };
        let registration = registered.context("cannot register memory")?;
        let keys = (registration.lkey(), registration.rkey());
        Ok(Self { registration: Some(registration), memory, keys })
    }

    /// The key for the other side.
    pub fn remote_key(&self) -> u32 {
        self.keys.1
    }

    /// The remote address of the byte at `offset`.
    pub fn address(&self, offset: usize) -> u64 {
        self.memory.check(offset, 0);
        self.memory.start.as_ptr() as u64 + offset as u64
    }

    /// Copies `bytes` to `offset`.
    pub fn write(&self, offset: usize, bytes: &[u8]) {
        self.memory.write(offset, bytes);
    }

    /// Copies `length` bytes from `offset`.
    pub fn read(&self, offset: usize, length: usize) -> Vec<u8> {
        self.memory.read(offset, length)
    }

    /// Takes the key back: what the other side does with it from now on fails.
    pub fn withdraw(&mut self) {
        self.registration = None;
    }
}

/// What came of waiting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A message.
    Message(Vec<u8>),
    /// The connection is gone.
    Closed,
    /// Nothing in that time.
    Nothing,
}

/// A finished work request.
struct Completion {
    number: u64,
    status: u32,
    length: usize,
}

/// A reliable connection.
pub struct Endpoint {
    // The order of the fields is that in which they have to go.
    id: Arc<Identifier>,
    pair: BasicQueuePair,
    completions: Arc<BasicCompletionQueue>,
    arrived: VecDeque<Completion>,
    receives: Region,
    sends: Region,
    sent: usize,
    completed: usize,
    closed: bool,
    disconnected: bool,
    repost: bool,
    domain: Arc<ProtectionDomain>,
    channel: Arc<EventChannel>,
}

impl Endpoint {
    /// Connects to `server`, with `receives` Receives posted and `private` as
    /// the private data of the request.
    pub fn connect(server: SocketAddr, receives: usize, private: Option<&[u8]>) -> Result<Self> {
        let mut attempts = 1..PORTS;
        loop {
            match Self::try_connect(server, receives, private) {
                Err(err) if is_taken(&err) && attempts.next().is_some() => {}
                result => return result,
            }
        }
    }

    fn try_connect(server: SocketAddr, receives: usize, private: Option<&[u8]>) -> Result<Self> {
        let channel = EventChannel::new().context("no RDMA connection manager")?;
        channel.set_nonblocking(true)?;
        let id = channel.create_id(PortSpace::Tcp)?;
        id.resolve_addr(None, server, STEP)?;
        expect(&channel, &[EventType::AddressResolved])?;
        id.resolve_route(STEP)?;
        expect(&channel, &[EventType::RouteResolved])?;
        let mut this = Self::build(channel, id, receives)?;
        this.request(private)?;
        Ok(this)
    }

    fn build(channel: Arc<EventChannel>, id: Arc<Identifier>, receives: usize) -> Result<Self> {
        let device = id.get_device_context().context("the address belongs to no RDMA device")?;
        let domain = device.alloc_pd()?;
        let entries = u32::try_from(2 * SENDS + receives)?;
        let completions = device.create_cq_builder().setup_cqe(entries).build()?;
        let mut builder = domain.create_qp_builder();
        builder.setup_max_send_wr(SENDS as u32).setup_max_recv_wr(u32::try_from(receives.max(1))?);
        builder.setup_send_cq(completions.clone()).setup_recv_cq(completions.clone());
        let pair = builder.build()?;
        let mut this = Self {
            id,
            pair,
            completions,
            arrived: VecDeque::new(),
            receives: Region::new(&domain, receives * BUFFER, Access::None)?,
            sends: Region::new(&domain, SENDS * SEND_BUFFER, Access::None)?,
            sent: 0,
            completed: 0,
            closed: false,
            disconnected: false,
            repost: true,
            domain,
            channel,
        };
        this.move_to(QueuePairState::Init)?;
        (0..receives).try_for_each(|slot| this.post_receive(slot))?;
        Ok(this)
    }

    fn request(&mut self, private: Option<&[u8]>) -> Result<()> {
        request(&self.id, self.pair.qp_number(), private)?;
        // RoCE answers with a response that has to be confirmed, iWARP is
        // done at once.
        let answer = expect(&self.channel, &[EventType::ConnectResponse, EventType::Established])?;
        if answer == EventType::Established {
            return Ok(());
        }
        self.move_to(QueuePairState::Init)?;
        self.move_to(QueuePairState::ReadyToReceive)?;
        self.move_to(QueuePairState::ReadyToSend)?;
        Ok(self.id.establish()?)
    }

    fn move_to(&mut self, state: QueuePairState) -> Result<()> {
        let mut attributes = self.id.get_qp_attr(state)?;
        if state == QueuePairState::Init {
            // The connection manager leaves Reads out while it does not know
            // how many the other side wants.
            let all = AccessFlags::LocalWrite | AccessFlags::RemoteRead | AccessFlags::RemoteWrite;
            attributes.setup_access_flags(all);
        }
        Ok(self.pair.modify(&attributes)?)
    }

    /// Registers memory for the other side.
    pub fn region(&self, length: usize, access: Access) -> Result<Region> {
        Region::new(&self.domain, length, access)
    }

    /// Whether used Receives are posted again.
    pub fn repost_receives(&mut self, repost: bool) {
        self.repost = repost;
    }

    /// Sends a message.
    pub fn send(&mut self, message: &[u8]) -> Result<()> {
        ensure!(message.len() <= SEND_BUFFER, "a message of {} bytes is too long", message.len());
        while self.sent - self.completed >= SENDS {
            ensure!(!self.closed, "the connection was closed while Sends were outstanding");
            self.poll();
            thread::sleep(PAUSE);
        }
        let slot = self.sent % SENDS;
        self.sends.write(slot * SEND_BUFFER, message);
        let (key, address) = (self.sends.keys.0, self.sends.address(slot * SEND_BUFFER));
        let mut guard = self.pair.start_post_send();
        let handle = guard.construct_wr(slot as u64, WorkRequestFlags::Signaled).setup_send();
        // SAFETY: The buffer lives as long as the queue pair, is registered
        // for its whole length, and is not written again before the Send has
        // completed.
        unsafe { handle.setup_sge(key, address, u32::try_from(message.len())?) };
        guard.post().context("cannot post a Send")?;
        self.sent += 1;
        Ok(())
    }

    /// Waits for a message, the end of the connection, or `patience`.
    pub fn wait(&mut self, patience: Duration) -> Result<Arrival> {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(message) = self.poll() {
                return Ok(Arrival::Message(message));
            }
            if self.closed || self.is_disconnected()? {
                return Ok(Arrival::Closed);
            }
            if Instant::now() > deadline {
                return Ok(Arrival::Nothing);
            }
            thread::sleep(PAUSE);
        }
    }

    /// Waits until the other side has ended the connection.
    pub fn wait_for_disconnect(&mut self, patience: Duration) -> Result<bool> {
        let deadline = Instant::now() + patience;
        while Instant::now() < deadline {
            if self.is_disconnected()? {
                return Ok(true);
            }
            thread::sleep(PAUSE);
        }
        Ok(false)
    }

    /// Ends the connection in the orderly way.
    pub fn disconnect(&mut self) -> Result<()> {
        self.closed = true;
        self.id.disconnect().context("cannot disconnect")
    }

    /// Stops the queue pair without telling anybody, as a client does whose
    /// adapter has failed: nothing is answered any more.
    pub fn fall_silent(&mut self) -> Result<()> {
        self.closed = true;
        let mut attributes = QueuePairAttribute::new();
        attributes.setup_state(QueuePairState::Error);
        self.pair.modify(&attributes).context("cannot stop the queue pair")
    }

    /// Takes completions until one is a message.
    fn poll(&mut self) -> Option<Vec<u8>> {
        self.arrived.extend(completed(&self.completions));
        while let Some(Completion { number, status, length }) = self.arrived.pop_front() {
            if number & RECEIVE == 0 {
                self.completed += 1;
            }
            if status != 0 {
                self.closed = true;
            } else if number & RECEIVE != 0 {
                return Some(self.received((number & !RECEIVE) as usize, length));
            }
        }
        None
    }

    fn received(&mut self, slot: usize, length: usize) -> Vec<u8> {
        let message = self.receives.read(slot * BUFFER, length);
        if self.repost && self.post_receive(slot).is_err() {
            self.closed = true;
        }
        message
    }

    fn post_receive(&mut self, slot: usize) -> Result<()> {
        let (key, address) = (self.receives.keys.0, self.receives.address(slot * BUFFER));
        let mut guard = self.pair.start_post_recv();
        let handle = guard.construct_wr(RECEIVE | slot as u64);
        // SAFETY: The buffer lives as long as the queue pair and is registered
        // for its whole length; it is read only after the Receive completed.
        unsafe { handle.setup_sge(key, address, BUFFER as u32) };
        guard.post().context("cannot post a Receive")
    }

    fn is_disconnected(&mut self) -> Result<bool> {
        while let Some((event, _)) = next_event(&self.channel)? {
            if matches!(event, EventType::Disconnected | EventType::DeviceRemoval) {
                self.closed = true;
                self.disconnected = true;
            }
        }
        Ok(self.disconnected)
    }
}

fn completed(queue: &BasicCompletionQueue) -> Vec<Completion> {
    let each = |found: BasicWorkCompletion<'_>| Completion {
        number: found.wr_id(),
        status: found.status(),
        length: found.byte_len() as usize,
    };
    // An error means that there is none.
    queue.start_poll().map(|poller| poller.map(each).collect()).unwrap_or_default()
}

fn expect(channel: &Arc<EventChannel>, wanted: &[EventType]) -> Result<EventType> {
    let deadline = Instant::now() + STEP;
    while Instant::now() < deadline {
        match next_event(channel)? {
            Some((event, 0)) if wanted.contains(&event) => return Ok(event),
            Some((event, status)) => bail!("cannot connect: {event:?}, status {status}"),
            None => thread::sleep(PAUSE),
        }
    }
    bail!("cannot connect: no answer within {} s", STEP.as_secs())
}

fn next_event(channel: &Arc<EventChannel>) -> Result<Option<(EventType, i32)>> {
    let event = match channel.get_cm_event() {
        Ok(event) => event,
        Err(err) if matches!(err.0, GetEventErrorKind::NoEvent) => return Ok(None),
        Err(err) => return Err(err.into()),
    };
    let seen = (event.event_type(), event.status());
    event.ack()?;
    Ok(Some(seen))
}

/// Whether the local port, a random one, still waits for packets of an earlier
/// connection: soft-iWARP's are TCP connections, of which the connection
/// manager knows nothing.
fn is_taken(err: &anyhow::Error) -> bool {
    let mut reasons = err.chain().filter_map(|cause| cause.downcast_ref());
    reasons.any(|reason| match reason {
        ConnectErrorKind::Rdmacm(err) => err.kind() == std::io::ErrorKind::AddrInUse,
        _ => false,
    })
}

/// Requests a connection for the queue pair `number`; sideway sets nothing
/// but that number.
fn request(id: &Identifier, number: u32, private: Option<&[u8]>) -> Result<()> {
    const { assert!(size_of::<ConnectionParameter>() == size_of::<rdma_conn_param>()) };
    let mut parameters = ConnectionParameter::default();
    parameters.setup_qp_number(number);
    // SAFETY: `ConnectionParameter` has one field, of this type. As both have
    // the same size, the field begins where the whole does.
    let raw = unsafe { &mut *(&raw mut parameters).cast::<rdma_conn_param>() };
    (raw.responder_resources, raw.initiator_depth) = (READS, READS);
    (raw.retry_count, raw.rnr_retry_count) = (RETRIES, FOR_EVER);
    if let Some(data) = private {
        // `connect` copies it.
        raw.private_data = data.as_ptr().cast();
        raw.private_data_len = u8::try_from(data.len()).context("too much private data")?;
    }
    Ok(id.connect(parameters)?)
}
