//! Waiting a little so that more can share.
//!
//! Callers that shared a commit are told at the same moment and come back at almost
//! the same moment. Whoever takes the first of them at once serves it alone, and all
//! the others wait for a second commit. So when many came together last time, they are
//! given a moment to arrive. A caller that comes alone never waits.

use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

/// How long those who are expected may take. Short against a sync of the disk.
const PATIENCE: Duration = Duration::from_micros(100);

/// Takes what has come, and what comes in a moment, up to `limit`.
pub(super) struct Gatherer {
    limit: usize,
    /// How many came together last time.
    expected: usize,
}

impl Gatherer {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, expected: 0 }
    }

    /// Waits for the first and gathers the others; `false` when nobody can come any more.
    pub(super) fn gather<T>(&mut self, queue: &mut mpsc::Receiver<T>, taken: &mut Vec<T>) -> bool {
        if queue.blocking_recv_many(taken, self.limit) == 0 {
            return false;
        }
        let started = Instant::now();
        while taken.len() < self.expected && started.elapsed() < PATIENCE {
            match queue.try_recv() {
                Ok(item) => taken.push(item),
                Err(_) => thread::yield_now(),
            }
        }
        self.expected = taken.len();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_has_come_is_taken_in_order_up_to_the_limit() {
        let (sender, mut queue) = mpsc::channel(16);
        for number in 0..5 {
            sender.blocking_send(number).unwrap();
        }
        let mut gatherer = Gatherer::new(3);
        let mut taken = Vec::new();
        assert!(gatherer.gather(&mut queue, &mut taken));
        assert_eq!(taken, [0, 1, 2]);
        taken.clear();
        assert!(gatherer.gather(&mut queue, &mut taken), "two of three come");
        assert_eq!(taken, [3, 4]);
        drop(sender);
        assert!(!gatherer.gather(&mut queue, &mut taken));
    }
}
