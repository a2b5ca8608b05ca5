//! As many things at once as there are cores.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Does something with each of them, the first ones first, and returns when all is done.
pub(crate) fn at_once<T: Send>(items: impl IntoIterator<Item = T>, work: impl Fn(T) + Sync) {
    let items: Vec<T> = items.into_iter().collect();
    let queue = Mutex::new(items.into_iter());
    let take = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work_off = || {
        while let Some(item) = take() {
            work(item);
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(work_off);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_done_once() {
        let done = Mutex::new(Vec::new());
        at_once(0..100, |number| done.lock().unwrap().push(number));
        let mut done = done.into_inner().unwrap();
        done.sort_unstable();
        assert!(done.into_iter().eq(0..100));
    }
}
