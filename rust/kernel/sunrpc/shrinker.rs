// SPDX-License-Identifier: GPL-2.0

//! A cache that gives memory back when there is little.
//!
//! C header: [`include/linux/shrinker.h`](srctree/include/linux/shrinker.h)

use core::{
    marker::PhantomData,
    ptr::NonNull, //
};

use crate::{
    bindings,
    ffi::{
        c_uint,
        c_ulong, //
    },
    prelude::*,
    str::CStr, //
};

/// Each node is asked for its own memory.
const FLAGS: c_uint = bindings::SHRINKER_NUMA_AWARE;

/// What can be shrunk. Both functions may run at any time, on several CPUs at once.
pub trait Shrink: Sync {
    /// Returns the NUMA node whose memory it is, or -1.
    fn node(&self) -> i32;

    /// Returns the number of pages that could be freed at once.
    fn count(&self) -> usize;

    /// Frees about `wanted` pages. Returns the number of pages that were freed.
    fn scan(&self, wanted: usize) -> usize;
}

/// A registered shrinker. It is unregistered when it is dropped.
///
/// # Invariants
///
/// Points to a registered `struct shrinker` that is ours.
pub struct Shrinker<T: Shrink> {
    ptr: NonNull<bindings::shrinker>,
    _cache: PhantomData<NonNull<T>>,
}

// SAFETY: It can be unregistered in any context that may sleep.
unsafe impl<T: Shrink> Send for Shrinker<T> {}

// SAFETY: There is nothing to do with a shared reference.
unsafe impl<T: Shrink> Sync for Shrinker<T> {}

impl<T: Shrink> Shrinker<T> {
    /// Registers a shrinker for `cache`.
    ///
    /// # Safety
    ///
    /// `cache` must be valid until the shrinker is dropped.
    pub unsafe fn new(name: &CStr, cache: *const T) -> Result<Self> {
        // SAFETY: The name is a format without arguments.
        let ptr = unsafe { bindings::shrinker_alloc(FLAGS, name.as_char_ptr()) };
        let ptr = NonNull::new(ptr).ok_or(ENOMEM)?;

        // SAFETY: The shrinker is ours, and not registered yet.
        unsafe {
            let shrinker = ptr.as_ptr();

            (*shrinker).count_objects = Some(Self::count_objects);
            (*shrinker).scan_objects = Some(Self::scan_objects);
            (*shrinker).private_data = cache.cast_mut().cast();
            bindings::shrinker_register(shrinker);
        }
        // INVARIANT: It has just been registered.
        Ok(Self {
            ptr,
            _cache: PhantomData,
        })
    }

    /// # Safety
    ///
    /// `shrinker` must be one that [`Shrinker::new`] has registered, and `control` must be valid.
    unsafe extern "C" fn count_objects(
        shrinker: *mut bindings::shrinker,
        control: *mut bindings::shrink_control,
    ) -> c_ulong {
        // SAFETY: Whoever registered it vouches for the cache.
        let cache = unsafe { &*(*shrinker).private_data.cast::<T>() };
        // SAFETY: The caller passes a valid structure.
        let node = unsafe { (*control).nid };

        if cache.node() >= 0 && cache.node() != node {
            return 0;
        }
        cache.count()
    }

    /// # Safety
    ///
    /// As for `count_objects()`.
    unsafe extern "C" fn scan_objects(
        shrinker: *mut bindings::shrinker,
        control: *mut bindings::shrink_control,
    ) -> c_ulong {
        // SAFETY: Whoever registered it vouches for the cache.
        let cache = unsafe { &*(*shrinker).private_data.cast::<T>() };
        // SAFETY: The caller passes a valid structure.
        let wanted = unsafe { (*control).nr_to_scan };

        cache.scan(wanted)
    }
}

impl<T: Shrink> Drop for Shrinker<T> {
    fn drop(&mut self) {
        // SAFETY: By the type invariants, it is registered and ours.
        unsafe { bindings::shrinker_free(self.ptr.as_ptr()) };
    }
}
