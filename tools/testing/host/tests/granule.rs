// SPDX-License-Identifier: GPL-2.0

//! Threads, slots, transports and an adversary that holds references as it likes.

use host::sunrpc::{
    granule::Granule,
    refill::{Groups, Supply},
    stock::Stock,
};
use proptest::prelude::RngCore;
use proptest::test_runner::{RngAlgorithm, TestRng};
use std::cell::RefCell;
use std::collections::HashMap;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::rc::Rc;

/// Slots in a group.
const GROUP: usize = 4;
/// Groups in a page array.
const GROUPS: usize = 5;
/// Slots in a page array, two of them in no group.
const SLOTS: usize = GROUP * GROUPS + 2;
/// Threads of the pool.
const THREADS: usize = 5;
/// Granules that the pool may own.
const BOUND: u32 = 60;

/// A page: a granule and a place in it, or a page on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Page {
    Of(u32, usize),
    Single,
}

type Slot = Option<Page>;

/// A rule that a build for this test breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Break {
    Nothing,
    /// A granule with one reference too many counts as idle.
    IdleTest,
    /// One slot has no reference.
    Fill,
    /// One reference is put twice.
    Clear,
    /// What is left of a group is forgotten.
    Forget,
    /// The pages of a group are in disorder.
    Order,
    /// More granules are created than may be.
    Bound,
}

/// The reference counts, which is all that the kernel has.
#[derive(Default)]
struct Memory {
    refs: HashMap<u32, u32>,
    next: u32,
}

impl Memory {
    fn put(&mut self, id: u32) {
        let count = self.refs.get_mut(&id).expect("a granule that is not freed");
        *count = count.checked_sub(1).expect("a reference to put");
        if *count == 0 {
            self.refs.remove(&id);
        }
    }

    fn put_page(&mut self, page: Page) {
        if let Page::Of(id, _) = page {
            self.put(id);
        }
    }
}

type Shared = Rc<RefCell<Memory>>;

/// The bias.
struct Owned {
    id: u32,
    memory: Shared,
    broken: Break,
}

impl Drop for Owned {
    fn drop(&mut self) {
        // A panic may be on its way already.
        if !std::thread::panicking() {
            self.memory.borrow_mut().put(self.id);
        }
    }
}

impl Owned {
    fn refs(&self) -> u32 {
        self.memory.borrow().refs[&self.id]
    }
}

impl Granule for Owned {
    type Slot = Slot;

    fn is_idle(&self) -> bool {
        self.refs() == 1 || self.broken == Break::IdleTest && self.refs() == 2
    }

    fn fill(&self, former: Option<&Self>, slots: &mut [Slot]) {
        assert_eq!(slots.len(), GROUP);
        for page in slots.iter_mut().filter_map(Option::take) {
            if self.broken != Break::Forget {
                self.memory.borrow_mut().put_page(page);
            }
        }
        if let Some(former) = former.filter(|own| own.broken == Break::Clear && own.refs() > 1) {
            self.memory.borrow_mut().put(former.id);
        }
        if self.broken != Break::IdleTest {
            assert_eq!(self.refs(), 1, "somebody still holds what is handed out");
        }
        let short = u32::from(self.broken == Break::Fill);
        *self.memory.borrow_mut().refs.get_mut(&self.id).unwrap() += GROUP as u32 - short;
        for (at, slot) in slots.iter_mut().enumerate() {
            let at = if self.broken == Break::Order { GROUP - 1 - at } else { at };
            *slot = Some(Page::Of(self.id, at));
        }
    }

    fn occupies(&self, slots: &[Slot]) -> bool {
        slots.iter().any(|slot| matches!(slot, Some(Page::Of(id, _)) if *id == self.id))
    }
}

type Places = Box<[Option<Owned>]>;

fn places(count: usize) -> Places {
    (0..count).map(|_| None).collect()
}

/// The pool, with memory that comes and goes.
struct Pool {
    stock: Stock<Places>,
    now: u64,
    memory: Shared,
    broken: Break,
    may_grow: bool,
}

impl Pool {
    fn grow(&mut self) -> Option<Owned> {
        let reserved = self.stock.reserve();
        if !reserved && self.broken != Break::Bound {
            return None;
        }
        let asked = self.stock.attempt(self.now);
        let success = asked && self.may_grow;
        if reserved {
            self.stock.created(self.now, asked, success);
        }
        success.then(|| {
            let mut memory = self.memory.borrow_mut();
            memory.next += 1;
            let id = memory.next;
            memory.refs.insert(id, 1);
            Owned { id, memory: Rc::clone(&self.memory), broken: self.broken }
        })
    }
}

impl Supply<Owned> for Pool {
    fn take(&mut self, wanted: usize, stash: &mut impl FnMut(Owned)) {
        let mut got = 0;
        let missing = self.stock.take(self.now, wanted, &mut |granule| {
            got += 1;
            stash(granule);
        });
        let missing = if self.broken == Break::Bound { wanted - got } else { missing };
        for _ in 0..missing {
            let Some(granule) = self.grow() else { break };
            stash(granule);
        }
    }

    fn give(&mut self, mut next: impl FnMut() -> Option<Owned>) {
        while let Some(granule) = next() {
            self.stock.give(granule);
        }
    }
}

/// A page array of a thread.
struct Array {
    slots: Vec<Slot>,
    groups: Groups<Places>,
    used: usize,
}

struct World {
    rng: TestRng,
    pool: Pool,
    arrays: Vec<Array>,
    /// Pages that transports, sockets and files hold.
    held: Vec<Page>,
    /// Pages that the adversary never lets go.
    pinned: Vec<Page>,
    fallbacks: usize,
}

impl World {
    fn new(seed: u8, broken: Break) -> Self {
        let memory = Shared::default();
        let mut stock = Stock::new(places(0), places(0), (256, 1024));
        let room = || places(BOUND as usize);
        drop(stock.relocate(room(), room()));
        stock.set_bound(BOUND, 0);
        let array = || Array {
            slots: vec![None; SLOTS],
            groups: Groups::new(GROUP, places(GROUPS), places(2), places(GROUPS)),
            used: SLOTS,
        };
        Self {
            rng: TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]),
            pool: Pool { stock, now: 0, memory, broken, may_grow: true },
            arrays: (0..2 * THREADS).map(|_| array()).collect(),
            held: Vec::new(),
            pinned: Vec::new(),
            fallbacks: 0,
        }
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.rng.next_u64() % limit.max(1) as u64) as usize
    }

    /// Fills an array, as a thread does before it waits for a Call.
    fn refill(&mut self, which: usize) {
        let array = &mut self.arrays[which];
        let used = array.used;
        let filled = array.groups.refill(&mut array.slots, used, &mut self.pool);
        self.fallbacks += filled.fallback as usize;
        let touched = used.div_ceil(GROUP).min(GROUPS);
        let exchanged = filled.from_ring + filled.from_pool;
        assert_eq!((exchanged + filled.fallback) as usize, touched);

        for group in array.slots.chunks_exact(GROUP).take(exchanged as usize) {
            let Some(Page::Of(id, _)) = group[0] else {
                panic!("an exchanged group has a granule")
            };
            let whole = group.iter().enumerate().all(|(at, slot)| *slot == Some(Page::Of(id, at)));
            assert!(whole, "an exchanged group is contiguous");
        }
        // The page allocator does the rest.
        for slot in array.slots[..used].iter_mut().filter(|slot| slot.is_none()) {
            *slot = Some(Page::Single);
        }
        array.used = 0;
    }

    /// A transport takes the first pages, and holds them for a while, or a thread puts them.
    fn consume(&mut self, which: usize) {
        if self.arrays[which].used > 0 {
            self.refill(which);
        }
        let few = self.below(4) > 0;
        let used = 1 + self.below(if few { 3 } else { SLOTS });
        let put = self.below(3) == 0;
        let replaced = self.below(8) == 0;
        let array = &mut self.arrays[which];
        array.used = used;
        for page in array.slots[..used].iter_mut().filter_map(Option::take) {
            match put {
                true => self.pool.memory.borrow_mut().put_page(page),
                false => self.held.push(page),
            }
        }
        if replaced {
            // As svc_tcp_restore_pages() and splice do: pages of others.
            let foreign = self.held.pop();
            self.arrays[which].slots[used - 1] = foreign;
        }
    }

    /// A transport is done with some of what it holds.
    fn complete(&mut self) {
        for _ in 0..self.below(40) {
            if self.held.is_empty() {
                break;
            }
            let at = match self.below(3) {
                0 => self.below(self.held.len()),
                _ => 0,
            };
            let page = self.held.remove(at);
            if self.below(400) == 0 {
                self.pinned.push(page);
            } else {
                self.pool.memory.borrow_mut().put_page(page);
            }
        }
    }

    /// Memory gets tight, or relaxes, or the adversary gives in.
    fn weather(&mut self) {
        match self.below(6) {
            0 => self.pool.may_grow = false,
            1 => drop(self.pool.stock.reclaim(self.pool.now)),
            2 => {
                for page in std::mem::take(&mut self.pinned) {
                    self.pool.memory.borrow_mut().put_page(page);
                }
            }
            _ => self.pool.may_grow = true,
        }
    }

    /// Counts all references anew, and compares.
    fn audit(&self) {
        let slots = self.arrays.iter().flat_map(|array| array.slots.iter().flatten());
        let mut counted = HashMap::new();
        for page in slots.chain(&self.held).chain(&self.pinned) {
            if let Page::Of(id, _) = page {
                *counted.entry(*id).or_insert(0u32) += 1;
            }
        }
        let memory = self.pool.memory.borrow();
        let mut owned = 0;
        for (id, refs) in &memory.refs {
            let others = counted.remove(id).unwrap_or(0);
            assert_eq!(*refs, others + 1, "granule {id} has its references counted once");
            owned += 1;
        }
        assert!(counted.is_empty(), "nobody refers to a granule that was freed");
        assert_eq!(owned, self.pool.stock.census().owned, "all granules are accounted for");
    }

    fn step(&mut self) {
        self.pool.now += 200;
        let which = self.below(self.arrays.len());
        match self.below(16) {
            0..=8 => self.consume(which),
            9..=14 => self.complete(),
            _ => self.weather(),
        }
        let alive = self.pool.memory.borrow().refs.len();
        assert!(alive <= BOUND as usize, "the bound holds");
    }

    /// Everything comes back, and the pool goes away.
    fn end(mut self) {
        for page in self.held.drain(..).chain(self.pinned.drain(..)) {
            self.pool.memory.borrow_mut().put_page(page);
        }
        for array in &mut self.arrays {
            for page in array.slots.iter_mut().filter_map(Option::take) {
                self.pool.memory.borrow_mut().put_page(page);
            }
            array.groups.give_back(&mut self.pool);
        }
        assert!(self.pool.memory.borrow().refs.values().all(|refs| *refs == 1), "all are idle");
        let memory = Rc::clone(&self.pool.memory);
        drop(self);
        assert!(memory.borrow().refs.is_empty(), "all are freed");
    }
}

fn run(seed: u8, broken: Break, steps: usize) -> usize {
    let mut world = World::new(seed, broken);
    for step in 0..steps {
        world.step();
        if step % 512 == 0 || broken != Break::Nothing && step % 8 == 0 {
            world.audit();
        }
    }
    let fallbacks = world.fallbacks;
    world.end();
    fallbacks
}

#[test]
fn a_million_steps_keep_every_rule() {
    for seed in 0..4 {
        run(seed, Break::Nothing, 250_000);
    }
}

#[test]
fn every_broken_rule_is_noticed() {
    let rules =
        [Break::IdleTest, Break::Fill, Break::Clear, Break::Forget, Break::Order, Break::Bound];
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let unnoticed: Vec<_> = rules
        .into_iter()
        .filter(|broken| catch_unwind(AssertUnwindSafe(|| run(1, *broken, 20_000))).is_ok())
        .collect();
    std::panic::set_hook(quiet);
    assert!(unnoticed.is_empty(), "not noticed: {unnoticed:?}");
}

#[test]
fn a_steady_load_does_not_fall_back() {
    let mut world = World::new(7, Break::Nothing);
    for round in 0..2_000 {
        world.pool.now += 64;
        for which in 0..2 {
            let array = &mut world.arrays[which];
            array.used = SLOTS;
            world.held.extend(array.slots.iter_mut().filter_map(Option::take));
            world.refill(which);
        }
        // Two are in flight, the oldest completes.
        let excess = world.held.len().saturating_sub(4 * SLOTS);
        for page in world.held.drain(..excess) {
            world.pool.memory.borrow_mut().put_page(page);
        }
        if round == 10 {
            world.fallbacks = 0;
            world.pool.may_grow = false;
        }
    }
    assert_eq!(world.fallbacks, 0);
    world.end();
}

#[test]
fn a_pinned_granule_does_not_block_the_ring() {
    let mut world = World::new(9, Break::Nothing);
    world.refill(0);
    let World { pool, arrays, held, .. } = &mut world;
    let Array { slots, groups, .. } = &mut arrays[0];
    let mut from_ring = 0;
    for round in 0..100 {
        let page = slots[0].take().expect("a filled array");
        match round {
            0 => held.push(page),
            _ => pool.memory.borrow_mut().put_page(page),
        }
        let filled = groups.refill(slots, 1, pool);
        from_ring += if round < 10 { 0 } else { filled.from_ring };
    }
    assert_eq!(from_ring, 90);
    world.end();
}
