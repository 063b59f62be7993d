// SPDX-License-Identifier: GPL-2.0

//! `Extents` against a model that looks at one page at a time.

use host::{
    message::cases,
    page::PAGE_SIZE,
    sunrpc::extent::{Extent, Extents, Slot},
};
use proptest::prelude::*;

const PAGE: u64 = PAGE_SIZE as u64;

/// A page frame, and the memory device it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Page {
    pfn: u64,
    pgmap: u8,
}

/// A slot of a page array, with or without a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PageSlot(Option<Page>);

impl Slot for PageSlot {
    fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    fn precedes(&self, next: &Self) -> bool {
        match (self.0, next.0) {
            (Some(a), Some(b)) => a.pfn + 1 == b.pfn && a.pgmap == b.pgmap,
            (None, _) => panic!("an empty slot was asked what it precedes"),
            (_, None) => false,
        }
    }
}

/// The arguments of `Extents::new()`.
#[derive(Clone, Debug)]
struct Range {
    slots: Vec<PageSlot>,
    offset: u32,
    len: u32,
    cap: u32,
}

impl Range {
    fn extents(&self) -> Option<Extents<'_, PageSlot>> {
        Extents::new(&self.slots, self.offset, self.len, self.cap)
    }

    fn is_valid(&self) -> bool {
        self.slots.first().is_some_and(|slot| slot.0.is_some())
            && u64::from(self.offset) < PAGE
            && self.len > 0
            && self.cap > 0
    }
}

/// A range of bytes within one page: its page, the offset of the first byte, the byte count.
type Fragment = (Page, u64, u64);

/// The model: the bytes of the range up to the first empty slot, one page at a time.
fn model(range: &Range) -> Vec<Fragment> {
    let mut offset = u64::from(range.offset);
    let mut left = u64::from(range.len);
    let mut fragments = Vec::new();

    for page in range.slots.iter().map_while(|slot| slot.0) {
        let len = left.min(PAGE - offset);
        if len == 0 {
            break;
        }
        fragments.push((page, offset, len));
        left -= len;
        offset = 0;
    }
    fragments
}

/// The bytes that an extent stands for, one page at a time.
fn expand(extent: &Extent<'_, PageSlot>) -> Vec<Fragment> {
    let first = extent.first().0.expect("an extent begins with a page");
    let mut offset = u64::from(extent.offset());
    let mut left = u64::from(extent.len());
    let mut fragments = Vec::new();

    for pfn in first.pfn.. {
        if left == 0 {
            break;
        }
        let len = left.min(PAGE - offset);
        fragments.push((Page { pfn, ..first }, offset, len));
        left -= len;
        offset = 0;
    }
    fragments
}

/// Joins fragments that a cap of less than a page has cut apart.
fn join(fragments: impl IntoIterator<Item = Fragment>) -> Vec<Fragment> {
    let mut joined: Vec<Fragment> = Vec::new();

    for (page, offset, len) in fragments {
        match joined.last_mut() {
            Some((last, begin, size)) if *last == page && *begin + *size == offset => *size += len,
            _ => joined.push((page, offset, len)),
        }
    }
    joined
}

/// Whether the cap is the reason why an extent ends where it does, with `left` bytes to come.
fn ended_by_cap(extent: &Extent<'_, PageSlot>, left: u64, cap: u32) -> bool {
    let (len, cap) = (u64::from(extent.len()), u64::from(cap));

    if len + left <= cap {
        false
    } else if cap < PAGE {
        len == cap
    } else {
        len + PAGE > cap
    }
}

/// One or more contiguous pages, in one of the orders that are hard to get right.
fn run() -> impl Strategy<Value = Vec<PageSlot>> {
    (0u64..64, 1u64..20, 0u8..2, 0u8..8).prop_map(|(pfn, nr, pgmap, kind)| {
        let mut pages: Vec<_> =
            (pfn..pfn + nr).map(|pfn| PageSlot(Some(Page { pfn, pgmap }))).collect();
        match kind {
            0 => pages.reverse(),
            1 => pages.fill(PageSlot(Some(Page { pfn, pgmap }))),
            2 => pages.push(PageSlot(None)),
            3 => pages.swap(0, nr as usize / 2),
            _ => (),
        }
        pages
    })
}

/// A cap near a page boundary, near a limit of its type, or anywhere.
fn cap() -> impl Strategy<Value = u32> {
    let page = PAGE_SIZE as u32;
    prop_oneof![
        4 => (1..20u32, -1..=1i32).prop_map(move |(pages, by)| (pages * page).wrapping_add_signed(by)),
        2 => 0..page + 2,
        2 => any::<u32>(),
        2 => Just(u32::MAX),
    ]
}

/// Any page array, with an offset, a length and a cap that are mostly valid.
fn range() -> impl Strategy<Value = Range> {
    let page = PAGE_SIZE as u32;
    let slots = prop::collection::vec(run(), 0..8).prop_map(|runs| runs.concat());
    let offset = prop_oneof![
        4 => Just(0),
        8 => 0..page,
        1 => page - 1..=page + 1,
        1 => any::<u32>(),
    ];

    (slots, offset, cap()).prop_flat_map(move |(slots, offset, cap)| {
        let all = (slots.len() as u32 + 1) * page;
        let len = prop_oneof![8 => 0..all, 1 => Just(u32::MAX), 1 => any::<u32>()];
        len.prop_map(move |len| Range { slots: slots.clone(), offset, len, cap })
    })
}

/// The property of a range that must hold, whatever its arguments are.
fn check(range: &Range) -> Result<(), TestCaseError> {
    let Some(mut iter) = range.extents() else {
        prop_assert!(!range.is_valid());
        return Ok(());
    };
    prop_assert!(range.is_valid());

    let extents: Vec<_> = iter.by_ref().take(1 << 20).collect();
    let remaining = iter.remaining();
    prop_assert!(iter.next().is_none());
    every_byte_once(range, &extents, remaining)?;
    as_few_as_possible(range, &extents, remaining)?;
    counted_as_filled(range, &extents, remaining)
}

/// Every byte is described once and in order, up to the first empty slot.
fn every_byte_once(
    range: &Range,
    extents: &[Extent<'_, PageSlot>],
    remaining: u32,
) -> Result<(), TestCaseError> {
    let described: u64 = extents.iter().map(|e| u64::from(e.len())).sum();

    prop_assert_eq!(described + u64::from(remaining), u64::from(range.len));
    prop_assert_eq!(join(extents.iter().flat_map(expand)), join(model(range)));
    Ok(())
}

/// No extent exceeds the cap, and none ends without need or away from a page boundary.
fn as_few_as_possible(
    range: &Range,
    extents: &[Extent<'_, PageSlot>],
    remaining: u32,
) -> Result<(), TestCaseError> {
    let mut left = u64::from(range.len);

    for pair in extents.windows(2) {
        let [extent, next] = pair else { unreachable!() };
        let end = u64::from(extent.offset()) + u64::from(extent.len());
        left -= u64::from(extent.len());

        if ended_by_cap(extent, left, range.cap) {
            prop_assert!(u64::from(range.cap) < PAGE || end % PAGE == 0);
        } else {
            let (last, ..) = *expand(extent).last().expect("an extent has bytes");
            prop_assert!(end % PAGE == 0 && !PageSlot(Some(last)).precedes(next.first()));
        }
    }
    prop_assert!(extents.iter().all(|extent| extent.len() <= range.cap));
    if u64::from(range.cap) >= PAGE {
        prop_assert!(extents.len() <= model(range).len());
    }
    prop_assert!(remaining == 0 || left >= u64::from(remaining));
    Ok(())
}

/// Counting gives the number of extents that filling gives, or zero for an incomplete range.
fn counted_as_filled(
    range: &Range,
    extents: &[Extent<'_, PageSlot>],
    remaining: u32,
) -> Result<(), TestCaseError> {
    let mut filled = Vec::new();
    let count = range.extents().map(|iter| iter.describe(|_| ()));
    let pushed = range.extents().map(|iter| iter.describe(|e| filled.push(e)));

    prop_assert_eq!(count, pushed);
    prop_assert_eq!(&filled, extents);
    let expected = if remaining == 0 { extents.len() } else { 0 };
    prop_assert_eq!(count, Some(expected as u32));
    Ok(())
}

proptest! {
    #![proptest_config(cases(20_000))]

    #[test]
    fn extents_agree_with_the_model(range in range()) {
        check(&range)?;
    }
}

/// Slots for the pages `first`, `first + 1`, ...
fn contiguous(first: u64, nr: u64) -> Vec<PageSlot> {
    (first..first + nr).map(|pfn| PageSlot(Some(Page { pfn, pgmap: 0 }))).collect()
}

#[test]
fn a_contiguous_mebibyte_is_one_extent() {
    let nr = (1 << 20) / PAGE;
    let slots = contiguous(7, nr);
    let extents: Vec<_> = Extents::new(&slots, 0, 1 << 20, u32::MAX).unwrap().collect();

    assert_eq!(extents.len(), 1);
    assert_eq!(extents[0].len(), 1 << 20);
}

#[test]
fn a_cap_that_is_no_multiple_of_a_page_cuts_at_a_page() {
    let page = PAGE_SIZE as u32;
    let slots = contiguous(0, 4);
    let lens = |offset, cap| -> Vec<u32> {
        let extents = Extents::new(&slots, offset, 3 * page, cap).unwrap();
        extents.map(|extent| extent.len()).collect()
    };

    assert_eq!(lens(0, 2 * page + 100), [2 * page, page]);
    assert_eq!(lens(50, 2 * page + 100), [2 * page - 50, page + 50]);
    assert_eq!(lens(page - 1, page), [1, page, page, page - 1]);
}

#[test]
fn a_cap_of_one_byte_makes_progress() {
    let slots = contiguous(0, 1);
    let extents = Extents::new(&slots, 0, 64, 1).unwrap();

    assert_eq!(extents.describe(|_| ()), 64);
}

#[test]
fn lengths_near_the_limit_do_not_wrap() {
    let slots = contiguous(0, 3);
    let page = PAGE_SIZE as u32;

    for cap in [1 << 31, u32::MAX - 1, u32::MAX] {
        let mut extents = Extents::new(&slots, page - 1, u32::MAX, cap).unwrap();
        let extent = extents.next().unwrap();

        assert_eq!(extent.len(), 2 * page + 1);
        assert_eq!(extents.next(), None);
        assert_eq!(extents.remaining(), u32::MAX - extent.len());
    }
}
