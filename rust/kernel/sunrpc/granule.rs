// SPDX-License-Identifier: GPL-2.0

//! Contiguous buffers that go round.
//!
//! A *granule* is physically contiguous memory that belongs to a service pool for as long as the
//! pool wants. Its owner holds one reference to it, the bias. Slots of page arrays hold further
//! references, one each, and anybody may put them. When only the bias is left, the granule is idle,
//! and goes to other slots. Neither its use nor its release reaches the page allocator.
//!
//! [`depot`](super::depot) and [`refill`](super::refill) decide which granule goes where. They
//! depend on nothing but `core`, and they are also built for the host, where a model with an
//! adversary that holds references drives them.

/// The owner's reference to a granule.
pub trait Granule {
    /// What holds a reference to a page.
    type Slot;

    /// Returns whether nobody but the owner holds a reference.
    ///
    /// What others wrote and read before they put their references has happened then.
    fn is_idle(&self) -> bool;

    /// Makes each of `slots` refer to its page. The granule is idle.
    ///
    /// What the slots referred to before is put; what of it is of `former`, all at once.
    fn fill(&self, former: Option<&Self>, slots: &mut [Self::Slot]);

    /// Returns whether any of `slots` refers to a page of this granule.
    fn occupies(&self, slots: &[Self::Slot]) -> bool;
}
