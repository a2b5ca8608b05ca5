//! How many bytes a thread has allocated.
#![expect(
    unsafe_code,
    reason = "an allocator is unsafe by nature; this one only counts and passes on"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATED: Cell<u64> = const { Cell::new(0) };
}

/// Bytes that this thread has ever allocated.
pub(crate) fn allocated() -> u64 {
    ALLOCATED.with(Cell::get)
}

fn count(bytes: usize) {
    // A thread that ends allocates nothing that anybody counts.
    let _counted = ALLOCATED.try_with(|allocated| allocated.set(allocated.get() + bytes as u64));
}

/// The system's allocator with a count of what each thread has asked it for.
pub(crate) struct CountingHeap;

// SAFETY: every call goes to the system's allocator unchanged; the counter allocates nothing.
unsafe impl GlobalAlloc for CountingHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(new_size.saturating_sub(layout.size()));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(memory, layout, new_size) }
    }
}
