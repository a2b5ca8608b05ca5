//! How many bytes a thread has at most.
#![expect(
    unsafe_code,
    reason = "an allocator is unsafe by nature; this one only counts and passes on"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// How many bytes more than before this thread has at the worst moment of `work`.
pub(crate) fn peak_of<T>(work: impl FnOnce() -> T) -> (usize, T) {
    LIVE.set(0);
    PEAK.set(0);
    let result = work();
    (usize::try_from(PEAK.get()).unwrap_or(0), result)
}

fn count(grown: usize, shrunk: usize) {
    // A thread that ends allocates nothing that anybody counts.
    let _counted = LIVE.try_with(|live| {
        let now = live.get() + grown.cast_signed() - shrunk.cast_signed();
        live.set(now);
        let _the_same_thread = PEAK.try_with(|peak| peak.set(peak.get().max(now)));
    });
}

/// The system's allocator with a count of what each thread has of it.
pub(crate) struct PeakHeap;

// SAFETY: every call goes to the system's allocator unchanged; the counters allocate nothing.
unsafe impl GlobalAlloc for PeakHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(new_size, layout.size());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(memory, layout, new_size) }
    }
}
