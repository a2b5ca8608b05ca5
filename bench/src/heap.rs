//! How much of the heap is in use.
//!
//! Resident memory says what the allocator keeps from the system, not what the
//! program keeps from the allocator. A benchmark that asks whether anything
//! leaks has to count allocations, and for that it has to be the allocator.
#![expect(
    unsafe_code,
    reason = "an allocator is unsafe by nature; this one only counts and passes on"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator with a count of live bytes. A benchmark installs it
/// with `#[global_allocator]`.
#[derive(Debug, Default)]
pub struct CountingHeap {
    live_bytes: AtomicUsize,
}

impl CountingHeap {
    /// A heap in which nothing is allocated.
    pub const fn new() -> Self {
        Self {
            live_bytes: AtomicUsize::new(0),
        }
    }

    /// Bytes that are allocated and not yet freed.
    pub fn live_bytes(&self) -> usize {
        self.live_bytes.load(Ordering::Relaxed)
    }
}

// SAFETY: every call goes to the system's allocator unchanged; the counter is
// atomic and allocates nothing.
unsafe impl GlobalAlloc for CountingHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.live_bytes.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        self.live_bytes.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        self.live_bytes.fetch_add(new_size, Ordering::Relaxed);
        self.live_bytes.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(memory, layout, new_size) }
    }
}
