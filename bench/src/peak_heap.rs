//! How much heap a piece of work needs at most.
//!
//! Counting costs a few nanoseconds per allocation, which would be seen in the times of the
//! same benchmark. So this heap counts only while it is asked to.
#![expect(
    unsafe_code,
    reason = "an allocator is unsafe by nature; this one only counts and passes on"
)]

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};

/// Another allocator that can tell the peak of what it has given. A benchmark installs it
/// with `#[global_allocator]`.
#[derive(Debug, Default)]
pub struct PeakHeap<A> {
    inner: A,
    is_counting: AtomicBool,
    /// Bytes given since the counting began, without those given back. What was given before
    /// may be given back now, so it can be less than nothing.
    live_bytes: AtomicIsize,
    peak_bytes: AtomicIsize,
}

impl<A> PeakHeap<A> {
    /// A heap that takes its memory from another one.
    pub const fn new(inner: A) -> Self {
        Self {
            inner,
            is_counting: AtomicBool::new(false),
            live_bytes: AtomicIsize::new(0),
            peak_bytes: AtomicIsize::new(0),
        }
    }

    /// How many bytes more than before are in use at the worst moment of `work`, and what it
    /// returns. Only one thread may allocate meanwhile.
    pub fn peak_of<T>(&self, work: impl FnOnce() -> T) -> (usize, T) {
        self.live_bytes.store(0, Ordering::Relaxed);
        self.peak_bytes.store(0, Ordering::Relaxed);
        self.is_counting.store(true, Ordering::Relaxed);
        let result = work();
        self.is_counting.store(false, Ordering::Relaxed);
        let peak = self.peak_bytes.load(Ordering::Relaxed);
        (peak.unsigned_abs(), result)
    }

    /// How many bytes more than before are in use after `work`, and what it returns. Other
    /// threads are counted too.
    pub fn kept_by<T>(&self, work: impl FnOnce() -> T) -> (usize, T) {
        let (_, result) = self.peak_of(work);
        let kept = self.live_bytes.load(Ordering::Relaxed);
        (usize::try_from(kept).unwrap_or(0), result)
    }

    fn count(&self, grown: usize, shrunk: usize) {
        if self.is_counting.load(Ordering::Relaxed) {
            let change = grown.cast_signed() - shrunk.cast_signed();
            let before = self.live_bytes.fetch_add(change, Ordering::Relaxed);
            self.peak_bytes
                .fetch_max(before + change, Ordering::Relaxed);
        }
    }
}

// SAFETY: every call goes to the other allocator unchanged; the counters are atomic and
// allocate nothing.
unsafe impl<A: GlobalAlloc> GlobalAlloc for PeakHeap<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.count(layout.size(), 0);
        // SAFETY: the caller's promises are passed on.
        unsafe { self.inner.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        self.count(0, layout.size());
        // SAFETY: the caller's promises are passed on.
        unsafe { self.inner.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // Both are there while the content is copied.
        self.count(new_size, 0);
        // SAFETY: the caller's promises are passed on.
        let moved = unsafe { self.inner.realloc(memory, layout, new_size) };
        self.count(0, layout.size());
        moved
    }
}
