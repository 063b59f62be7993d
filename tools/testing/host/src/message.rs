// SPDX-License-Identifier: GPL-2.0

//! Messages whose bytes have names, to compare where the kernel finds them with where they are.

use crate::{
    page::PAGE_SIZE,
    sunrpc::{
        extent::{Extent, Slot},
        xdr_buf::{Linear, PageList, Piece, XdrBuf},
    },
};
use proptest::prelude::*;

/// A slot of a page array: the number of a page frame, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSlot(pub Option<u64>);

impl Slot for PageSlot {
    fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    fn precedes(&self, next: &Self) -> bool {
        next.0.is_some() && self.0.map(|pfn| pfn + 1) == next.0
    }
}

/// Which byte of memory it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Byte {
    /// The byte at an address.
    Linear(usize),
    /// The byte at an offset in a page frame.
    Page(u64, usize),
}

/// Runs a property that many times, and leaves no files behind.
pub fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// What a message is made of.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Length of the head, in bytes.
    pub head: u32,
    /// The page array.
    pub slots: Vec<PageSlot>,
    /// Where in the page array the page list begins, in bytes.
    pub page_base: u32,
    /// Length of the page list, in bytes.
    pub page_len: u32,
    /// Length of the tail, in bytes.
    pub tail: u32,
}

const HEAD: usize = 0x1000_0000;
const TAIL: usize = 0x2000_0000;

impl Shape {
    /// The message as the kernel sees it.
    pub fn xdr_buf(&self) -> XdrBuf<'_, PageSlot> {
        XdrBuf {
            head: Linear::new(HEAD as *const u8, self.head),
            pages: PageList::new(&self.slots, self.page_base, self.page_len),
            tail: Linear::new(TAIL as *const u8, self.tail),
        }
    }

    /// The bytes of the message, one by one; `None` where the page list is incomplete.
    pub fn bytes(&self) -> Option<Vec<Byte>> {
        let page = |at: usize| {
            let pfn = self.slots.get(at / PAGE_SIZE)?.0?;
            Some(Byte::Page(pfn, at % PAGE_SIZE))
        };
        let base = self.page_base as usize;
        let head = (HEAD..HEAD + self.head as usize).map(|at| Some(Byte::Linear(at)));
        let pages = (base..base + self.page_len as usize).map(page);
        let tail = (TAIL..TAIL + self.tail as usize).map(|at| Some(Byte::Linear(at)));

        head.chain(pages).chain(tail).collect()
    }
}

/// The bytes of an extent.
pub fn extent_bytes(extent: &Extent<'_, PageSlot>) -> Vec<Byte> {
    let pfn = extent.first().0.expect("an extent begins with a page");
    let begin = extent.offset() as usize;

    (begin..begin + extent.len() as usize)
        .map(|at| Byte::Page(pfn + (at / PAGE_SIZE) as u64, at % PAGE_SIZE))
        .collect()
}

/// The bytes of linear memory.
pub fn linear_bytes(linear: &Linear) -> Vec<Byte> {
    let begin = linear.base() as usize;

    (begin..begin + linear.len() as usize).map(Byte::Linear).collect()
}

/// The bytes of a piece.
pub fn piece_bytes(piece: &Piece<'_, PageSlot>) -> Vec<Byte> {
    match piece {
        Piece::Linear(linear) => linear_bytes(linear),
        Piece::Extent(extent) => extent_bytes(extent),
    }
}

/// How many pieces these bytes make where no piece exceeds a page, as in the C code before.
pub fn page_at_a_time(sent: &[Byte]) -> u32 {
    let joined = |pair: &[Byte]| match (pair[0], pair[1]) {
        (Byte::Linear(a), Byte::Linear(b)) => a + 1 == b,
        (Byte::Page(a, at), Byte::Page(b, next)) => a == b && at + 1 == next,
        _ => false,
    };
    let cuts = sent.windows(2).filter(|pair| !joined(pair)).count();
    cuts as u32 + u32::from(!sent.is_empty())
}

/// Pages in runs, and now and then a missing one.
fn slots() -> impl Strategy<Value = Vec<PageSlot>> {
    let run = (0u64..1000, 1u64..6)
        .prop_map(|(pfn, nr)| (pfn..pfn + nr).map(|pfn| PageSlot(Some(pfn))).collect::<Vec<_>>());

    (prop::collection::vec(run, 1..5), any::<prop::sample::Index>(), 0..12u8).prop_map(
        |(runs, hole, holes)| {
            let mut slots = runs.concat();
            if holes == 0 {
                let at = hole.index(slots.len());
                slots[at] = PageSlot(None);
            }
            slots
        },
    )
}

/// A message of any shape, with a page base of up to several pages.
pub fn shape() -> impl Strategy<Value = Shape> {
    let page = PAGE_SIZE as u32;

    (0..200u32, slots(), 0..200u32).prop_flat_map(move |(head, slots, tail)| {
        let room = slots.len() as u32 * page;
        let base = prop_oneof![2 => Just(0), 3 => 0..room.min(3 * page)];
        (base, Just(slots)).prop_flat_map(move |(page_base, slots)| {
            let len = prop_oneof![1 => Just(0), 8 => 0..=room - page_base, 1 => 0..2 * page];
            len.prop_map(move |page_len| Shape {
                head,
                slots: slots.clone(),
                page_base,
                page_len,
                tail,
            })
        })
    })
}

/// A cap on the length of a piece.
pub fn cap() -> impl Strategy<Value = u32> {
    let page = PAGE_SIZE as u32;

    prop_oneof![2 => Just(u32::MAX), 3 => (1..5u32).prop_map(move |n| n * page), 1 => 64..2 * page]
}
