//! Remembers signed requests, so that none is accepted twice.

use std::collections::{BTreeSet, HashSet};

/// The signed requests that could still be sent again. Bounded: when it is full, new ones are
/// refused, because forgetting one would let it in again.
pub(crate) struct Replay {
    entries: HashSet<Entry>,
    /// The same, by when they may be forgotten.
    by_end: BTreeSet<(i64, Entry)>,
    max: usize,
    /// The latest time that was seen. A clock that goes back must not bring old requests back.
    latest_ms: i64,
}

/// The name of a key and a nonce.
type Entry = (String, String);

/// What is known of a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// It is the first of its kind.
    New,
    /// It was here before.
    Before,
    /// Nothing more can be remembered.
    Full,
    /// It was made too long ago, or in the future.
    OutOfTime,
}

impl Replay {
    pub(crate) fn new(max: usize) -> Self {
        Self {
            entries: HashSet::new(),
            by_end: BTreeSet::new(),
            max,
            latest_ms: i64::MIN,
        }
    }

    /// Remembers a request that was made at `made_ms`, unless it is known or out of time.
    pub(crate) fn note(
        &mut self,
        key: &str,
        nonce: &str,
        made_ms: i64,
        now_ms: i64,
        window_ms: i64,
    ) -> Seen {
        self.latest_ms = self.latest_ms.max(now_ms);
        if self.latest_ms.saturating_sub(made_ms).saturating_abs() > window_ms {
            return Seen::OutOfTime;
        }
        self.forget();
        let entry = (key.to_owned(), nonce.to_owned());
        if self.entries.contains(&entry) {
            return Seen::Before;
        }
        if self.entries.len() >= self.max {
            return Seen::Full;
        }
        let end = made_ms.saturating_add(window_ms);
        self.by_end.insert((end, entry.clone()));
        self.entries.insert(entry);
        Seen::New
    }

    /// Forgets what is too old to be accepted in any case.
    fn forget(&mut self) {
        while let Some((end, _)) = self.by_end.first()
            && *end < self.latest_ms
        {
            if let Some((_, entry)) = self.by_end.pop_first() {
                self.entries.remove(&entry);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_accepted_once_within_its_window() {
        let mut replay = Replay::new(10);
        let mut note = |nonce, made, now| replay.note("key", nonce, made, now, 100);
        assert_eq!(note("a", 1000, 1000), Seen::New);
        assert_eq!(note("a", 1000, 1100), Seen::Before);
        assert_eq!(note("a", 1000, 1101), Seen::OutOfTime);
        assert_eq!(note("b", 1202, 1101), Seen::OutOfTime);
        assert_eq!(note("b", 1201, 1101), Seen::New);
    }

    #[test]
    fn a_clock_that_goes_back_brings_nothing_back() {
        let mut replay = Replay::new(10);
        assert_eq!(replay.note("key", "a", 1000, 1000, 100), Seen::New);
        assert_eq!(replay.note("key", "b", 2000, 2000, 100), Seen::New);
        assert_eq!(replay.note("key", "a", 1000, 1000, 100), Seen::OutOfTime);
    }

    #[test]
    fn it_is_bounded_and_refuses_when_full() {
        let mut replay = Replay::new(2);
        assert_eq!(replay.note("key", "a", 0, 0, 100), Seen::New);
        assert_eq!(replay.note("other", "a", 0, 0, 100), Seen::New);
        assert_eq!(replay.note("key", "c", 0, 0, 100), Seen::Full);
        assert_eq!(replay.note("key", "c", 101, 101, 100), Seen::New);
        assert_eq!(replay.entries.len(), 1, "what is out of time is forgotten");
    }
}
