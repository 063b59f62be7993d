// SPDX-License-Identifier: GPL-2.0

//! What a granule is made of.

/// The number of folios that a granule can be made of.
pub const MAX_PARTS: usize = 4;

/// Folios that add up to a granule, and the order of each.
pub struct Parts<P> {
    /// Those that are given come first.
    pub folios: [Option<P>; MAX_PARTS],
    /// Each has `1 << order` pages.
    pub order: u8,
}

impl<P> Parts<P> {
    /// Allocates one folio of `1 << order` pages, or smaller ones that add up to as many, down to a
    /// quarter of the size.
    ///
    /// `attempt` is asked before folios of one order are allocated, and may decline. The smaller
    /// ones are tried in turn, only when a larger one is not to be had.
    pub fn alloc(
        order: u8,
        mut attempt: impl FnMut() -> bool,
        mut alloc: impl FnMut(u8) -> Option<P>,
    ) -> Option<Self> {
        let smallest = order.saturating_sub(2);

        (smallest..=order).rev().find_map(|part_order| {
            // OVERFLOW: It is at most two.
            let nr_parts = 1usize << order.saturating_sub(part_order);

            attempt()
                .then(|| Self::alloc_all(part_order, nr_parts, &mut alloc))
                .flatten()
        })
    }

    /// Allocates `nr_parts` folios of `1 << order` pages, or none at all.
    pub fn alloc_all(
        order: u8,
        nr_parts: usize,
        alloc: &mut impl FnMut(u8) -> Option<P>,
    ) -> Option<Self> {
        let mut folios = [const { None }; MAX_PARTS];

        for folio in folios.iter_mut().take(nr_parts) {
            // At the first failure, the others are dropped.
            *folio = Some(alloc(order)?);
        }
        Some(Self { folios, order })
    }

    /// Returns the folios.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &P> {
        self.folios.iter().map_while(Option::as_ref)
    }

    /// Returns whether it is one folio.
    #[inline]
    pub fn is_whole(&self) -> bool {
        self.folios.iter().skip(1).all(Option::is_none)
    }
}
