// SPDX-License-Identifier: GPL-2.0

//! How often a pool asks the page allocator, whatever the load and whatever the answers.

use host::message::cases;
use host::sunrpc::{fifo::Fifo, granule::Granule, parts::Parts, stock::Stock};
use proptest::prelude::*;
use std::cell::Cell;
use std::collections::VecDeque;

/// Ticks in what the budget calls a second.
const SECOND: u64 = 1024;
const PER_SECOND: u32 = 256;
const BURST: u32 = 1024;
const BOUND: u32 = 4096;

/// A granule that is always idle, or never.
#[derive(Debug, PartialEq, Eq)]
struct Fake {
    idle: bool,
}

impl Granule for Fake {
    type Slot = ();

    fn is_idle(&self) -> bool {
        self.idle
    }

    fn fill(&self, _: Option<&Self>, _: &mut [()]) {}

    fn occupies(&self, _: &[()]) -> bool {
        false
    }
}

type Places = Vec<Option<Fake>>;

fn places(count: usize) -> Places {
    (0..count).map(|_| None).collect()
}

fn stock(bound: u32) -> Stock<Places> {
    let mut stock = Stock::new(places(0), places(0), (PER_SECOND, BURST));
    drop(stock.relocate(places(bound as usize), places(bound as usize)));
    stock.set_bound(bound, 0);
    stock
}

/// A refill for `wanted` granules, none of which comes back. Returns how many were created.
fn refill(stock: &mut Stock<Places>, now: u64, wanted: usize, available: bool) -> usize {
    let missing = stock.take(now, wanted, &mut drop);
    for created in 0..missing {
        if !stock.reserve() {
            return created;
        }
        let asked = stock.attempt(now);
        stock.created(now, asked, asked && available);
        if !(asked && available) {
            return created;
        }
    }
    missing
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn attempts_are_bounded_whatever_the_load(
        load in prop::collection::vec((0u64..300, 0usize..200, any::<bool>()), 1..200),
    ) {
        let mut stock = stock(u32::from(u16::MAX));
        let mut now = 0;
        for (pause, wanted, available) in load {
            now += pause;
            refill(&mut stock, now, wanted, available);
            let allowed = u64::from(BURST) + now * u64::from(PER_SECOND) / SECOND;
            prop_assert!(stock.census().stats.attempts <= allowed);
        }
    }

    #[test]
    fn the_bound_holds_and_nothing_is_counted_twice(
        load in prop::collection::vec((0u64..3000, 0usize..40, 0u8..6), 1..200),
    ) {
        let mut stock = stock(64);
        let (mut now, mut out) = (0, 0u32);
        for (pause, number, what) in load {
            now += pause;
            match what {
                0..=2 => {
                    let mut taken = 0;
                    let missing = stock.take(now, number, &mut |_| taken += 1);
                    out += taken;
                    for _ in 0..missing {
                        if stock.reserve() {
                            let asked = stock.attempt(now);
                            stock.created(now, asked, asked);
                            out += u32::from(asked);
                        }
                    }
                }
                3 => while out > 0 {
                    stock.give(Fake { idle: true });
                    out -= 1;
                },
                4 => drop(stock.reclaim(now)),
                _ => if stock.reserve_mend(now) {
                    // The new one is counted while the old one exists.
                    prop_assert!(stock.census().owned <= 64);
                    stock.mended(now, number % 2 == 0);
                },
            }
            let census = stock.census();
            prop_assert!(census.owned <= census.bound);
            prop_assert_eq!(census.owned as usize, census.idle + out as usize);
        }
    }

    #[test]
    fn a_queue_is_a_queue(steps in prop::collection::vec((0u8..5, any::<u8>()), 0..100)) {
        let mut queue = Fifo::new(vec![None; 7]);
        let (mut model, mut room) = (VecDeque::new(), 7);
        for (what, value) in steps {
            match what {
                0 | 1 => {
                    let pushed = queue.push(value).is_ok();
                    prop_assert_eq!(pushed, model.len() < room);
                    model.extend(pushed.then_some(value));
                }
                2 => prop_assert_eq!(queue.pop(), model.pop_front()),
                3 => prop_assert_eq!(queue.pop_newest(), model.pop_back()),
                _ => {
                    let wanted = usize::from(value) % 16;
                    let former = queue.relocate(vec![None; wanted]);
                    prop_assert!(former.iter().all(Option::is_none));
                    room = if wanted >= model.len() { wanted } else { room };
                    prop_assert_eq!(queue.capacity(), room);
                }
            }
            prop_assert_eq!(queue.len(), model.len());
        }
    }
}

#[test]
fn an_allocator_that_has_nothing_is_asked_less_and_less() {
    let mut stock = stock(BOUND);
    for tick in 0..60 * SECOND {
        assert_eq!(refill(&mut stock, tick, 16, false), 0);
    }
    let attempts = stock.census().stats.attempts;
    assert!((15..40).contains(&attempts), "{attempts} attempts in a minute");
}

#[test]
fn an_allocator_that_recovers_is_used_again() {
    let mut stock = stock(BOUND);
    for tick in 0..60 * SECOND {
        refill(&mut stock, tick, 16, false);
    }
    let recovered = (60 * SECOND..).find(|tick| refill(&mut stock, *tick, 16, true) == 16);
    let after = recovered.unwrap() - 60 * SECOND;
    assert!(after <= 4 * SECOND, "after {after} ticks");
}

#[test]
fn reclaim_holds_growth_for_a_second() {
    let mut stock = stock(BOUND);
    assert_eq!(refill(&mut stock, 5, 1, true), 1);
    stock.give(Fake { idle: true });
    assert!(stock.reclaim(10).is_some());
    assert_eq!(refill(&mut stock, 10 + SECOND - 1, 1, true), 0);
    assert_eq!(refill(&mut stock, 10 + SECOND, 1, true), 1);
}

#[test]
fn what_is_pinned_is_in_nobody_s_way() {
    let mut stock = stock(BOUND);
    assert_eq!(refill(&mut stock, 0, 300, true), 300);
    for nr in 0..300 {
        stock.give(Fake { idle: nr >= 200 });
    }
    let mut taken = 0;
    for _ in 0..100 {
        stock.take(1, 1, &mut |granule| {
            assert!(granule.idle);
            taken += 1;
        });
    }
    assert_eq!(taken, 100);
}

/// A folio of an allocator that counts what it has given.
struct Part<'a> {
    pages: &'a Cell<usize>,
    order: u8,
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        self.pages.set(self.pages.get() - (1 << self.order));
    }
}

/// Has no folio above `largest`, and `left` pages.
fn allocator<'a>(
    pages: &'a Cell<usize>,
    largest: u8,
    left: usize,
) -> impl FnMut(u8) -> Option<Part<'a>> + 'a {
    move |order| {
        let after = pages.get() + (1 << order);
        (order <= largest && after <= left).then(|| {
            pages.set(after);
            Part { pages, order }
        })
    }
}

#[test]
fn a_granule_is_whole_or_in_parts_or_not_there() {
    for order in 0..=4u8 {
        for largest in 0..=4u8 {
            for left in 0..=32usize {
                let pages = Cell::new(0);
                let parts = Parts::alloc(order, || true, allocator(&pages, largest, left));
                let part_order = largest.min(order);
                let possible = part_order + 2 >= order && left >= 1 << order;
                assert_eq!(parts.is_some(), possible, "{order} {largest} {left}");
                let Some(parts) = parts else {
                    assert_eq!(pages.get(), 0, "{order} {largest} {left}: pages are lost");
                    continue;
                };
                assert_eq!(parts.order, part_order);
                assert_eq!(parts.iter().count(), 1 << (order - part_order));
                assert_eq!(parts.is_whole(), part_order == order);
                assert_eq!(pages.get(), 1 << order);
                drop(parts);
                assert_eq!(pages.get(), 0);
            }
        }
    }
}

#[test]
fn the_allocator_is_not_asked_without_leave() {
    let asked = Cell::new(0);
    let mut leave = 2;
    let parts = Parts::<()>::alloc(
        4,
        || {
            let may = leave > 0;
            leave -= i32::from(may);
            may
        },
        |_| {
            asked.set(asked.get() + 1);
            None
        },
    );
    assert!(parts.is_none());
    assert_eq!(asked.get(), 2);
}
