// SPDX-License-Identifier: GPL-2.0

//! A queue of bounded length.

use core::{
    mem,
    ops::DerefMut, //
};

/// A queue in memory that whoever creates it provides.
///
/// # Invariants
///
/// - `len` does not exceed the number of places.
/// - `head` is less than the number of places, or both are zero.
/// - The `len` places from `head` on, in a circle, are occupied, and no others.
pub struct Fifo<B> {
    places: B,
    head: usize,
    len: usize,
}

impl<G, B: DerefMut<Target = [Option<G>]>> Fifo<B> {
    /// Creates an empty queue with room for as many elements as there are `places`, all of which
    /// are empty.
    pub fn new(places: B) -> Self {
        // INVARIANT: No place is occupied.
        Self {
            places,
            head: 0,
            len: 0,
        }
    }

    /// Returns the number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no elements.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of elements that there is room for.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.places.len()
    }

    /// Returns which place is `at` places behind the head.
    #[inline]
    fn place(&self, at: usize) -> usize {
        // OVERFLOW: Both are at most the number of places, and no array has more than `isize::MAX`.
        let place = self.head.wrapping_add(at);

        place.checked_sub(self.places.len()).unwrap_or(place)
    }

    /// Appends an element, or gives it back when there is no room.
    #[inline]
    pub fn push(&mut self, element: G) -> Result<(), G> {
        let at = self.place(self.len);

        if self.len >= self.places.len() {
            return Err(element);
        }
        match self.places.get_mut(at) {
            Some(place) => *place = Some(element),
            None => return Err(element),
        }
        // INVARIANT: There was room, and one more place is occupied.
        self.len = self.len.saturating_add(1);
        Ok(())
    }

    /// Takes the oldest element.
    #[inline]
    pub fn pop(&mut self) -> Option<G> {
        let element = self.places.get_mut(self.head)?.take()?;

        // INVARIANT: The place at the head is empty now.
        self.head = self.place(1);
        self.len = self.len.saturating_sub(1);
        Some(element)
    }

    /// Takes the oldest element if it passes the test.
    #[inline]
    pub fn pop_if(&mut self, test: impl FnOnce(&G) -> bool) -> Option<G> {
        let oldest = self.places.get(self.head)?.as_ref()?;

        test(oldest).then(|| self.pop()).flatten()
    }

    /// Takes the newest element.
    #[inline]
    pub fn pop_newest(&mut self) -> Option<G> {
        let at = self.place(self.len.checked_sub(1)?);
        let element = self.places.get_mut(at)?.take()?;

        // INVARIANT: The last occupied place is empty now.
        self.len = self.len.saturating_sub(1);
        Some(element)
    }

    /// Moves all elements to other places, and returns the former ones.
    ///
    /// Does nothing but return `places` if there are not enough of them.
    pub fn relocate(&mut self, places: B) -> B {
        if places.len() < self.len {
            return places;
        }
        let mut roomy = Self::new(places);

        while let Some(element) = self.pop() {
            // There is room for all.
            let _ = roomy.push(element);
        }
        mem::replace(self, roomy).places
    }
}
