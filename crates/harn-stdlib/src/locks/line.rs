//! The places of a lock and the line in front of it.

use std::collections::BTreeMap;

use harn_machine::FiberId;

/// The places of a lock and the line in front of it.
#[derive(Debug)]
pub(super) struct Line {
    /// How many places there are.
    pub(super) capacity: i64,
    /// How many of them are taken.
    pub(super) held: i64,
    /// Who waits, by the number that each drew when it came.
    waiting: BTreeMap<Number, Wait>,
    next: u64,
    pub(super) counts: Counts,
}

/// A place in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Number(u64);

#[derive(Debug)]
struct Wait {
    fiber: FiberId,
    places: i64,
    since: i64,
}

/// What has happened at a lock.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) acquisitions: i64,
    pub(super) releases: i64,
    pub(super) timeouts: i64,
    pub(super) cancellations: i64,
    pub(super) longest_line: usize,
    pub(super) waited_ms: i64,
    pub(super) held_ms: i64,
}

impl Line {
    pub(super) fn new(capacity: i64) -> Self {
        Self {
            capacity,
            held: 0,
            waiting: BTreeMap::new(),
            next: 0,
            counts: Counts::default(),
        }
    }

    /// How many wait.
    pub(super) fn length(&self) -> usize {
        self.waiting.len()
    }

    fn has_room(&self, places: i64) -> bool {
        places <= self.capacity - self.held
    }

    /// Takes places if there is room and nobody waits; whether it did.
    pub(super) fn take(&mut self, places: i64) -> bool {
        let takes = self.waiting.is_empty() && self.has_room(places);
        if takes {
            self.held += places;
            self.counts.acquisitions += 1;
        }
        takes
    }

    /// A fiber joins the end of the line.
    pub(super) fn join(&mut self, fiber: FiberId, places: i64, now: i64) -> Number {
        let number = Number(self.next);
        self.next += 1;
        let since = now;
        self.waiting.insert(
            number,
            Wait {
                fiber,
                places,
                since,
            },
        );
        self.counts.longest_line = self.counts.longest_line.max(self.length());
        number
    }

    /// The fiber whose turn it is.
    pub(super) fn first(&self) -> Option<FiberId> {
        let (_, first) = self.waiting.first_key_value()?;
        Some(first.fiber)
    }

    /// The same, if there is room for it.
    pub(super) fn next_served(&self) -> Option<FiberId> {
        let (_, first) = self.waiting.first_key_value()?;
        self.has_room(first.places).then_some(first.fiber)
    }

    /// Takes the places that somebody waits for, if it is the first and there is room;
    /// whether it did.
    pub(super) fn serve(&mut self, number: Number, now: i64) -> bool {
        let first = self.waiting.first_key_value();
        let is_served =
            first.is_some_and(|(first, wait)| *first == number && self.has_room(wait.places));
        if is_served && let Some(wait) = self.waiting.remove(&number) {
            self.held += wait.places;
            self.counts.acquisitions += 1;
            self.counts.waited_ms += now.saturating_sub(wait.since);
        }
        is_served
    }

    /// Somebody's time is over.
    pub(super) fn give_up(&mut self, number: Number, now: i64) {
        if let Some(wait) = self.waiting.remove(&number) {
            self.counts.timeouts += 1;
            self.counts.waited_ms += now.saturating_sub(wait.since);
        }
    }

    /// Somebody was stopped, or has other things to do; whether it was still waiting.
    pub(super) fn leave(&mut self, number: Number) -> bool {
        let waited = self.waiting.remove(&number).is_some();
        self.counts.cancellations += i64::from(waited);
        waited
    }

    /// Places are free again that were held for some time.
    pub(super) fn give_back(&mut self, places: i64, held_ms: i64) {
        self.held -= places;
        self.counts.releases += 1;
        self.counts.held_ms += held_ms;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: FiberId = FiberId(1);
    const B: FiberId = FiberId(2);

    #[test]
    fn the_first_in_line_is_served_first() {
        let mut line = Line::new(1);
        assert!(line.take(1));
        assert!(!line.take(1));
        let a = line.join(A, 1, 0);
        let b = line.join(B, 1, 5);
        assert_eq!(line.next_served(), None, "there is no room yet");
        line.give_back(1, 10);
        assert_eq!(line.next_served(), Some(A));
        assert!(!line.take(1), "nobody pushes in");
        assert!(!line.serve(b, 20), "not before the first");
        assert!(line.serve(a, 20));
        assert_eq!(line.next_served(), None);
        line.give_back(1, 3);
        assert!(line.serve(b, 23));
        assert_eq!(line.counts.acquisitions, 3);
        assert_eq!(line.counts.waited_ms, 20 + 18);
        assert_eq!(line.counts.held_ms, 13);
        assert_eq!(line.counts.longest_line, 2);
    }

    #[test]
    fn a_writer_waits_for_all_readers_and_later_readers_wait_for_it() {
        let mut line = Line::new(1024);
        assert!(line.take(1) && line.take(1));
        let writer = line.join(A, 1024, 0);
        assert!(!line.take(1), "readers do not overtake a writer");
        let reader = line.join(B, 1, 0);
        line.give_back(1, 0);
        assert!(!line.serve(writer, 0));
        line.give_back(1, 0);
        assert!(line.serve(writer, 0));
        assert!(!line.serve(reader, 0));
        line.give_back(1024, 0);
        assert!(line.serve(reader, 0));
    }

    #[test]
    fn who_leaves_or_gives_up_lets_the_next_one_on() {
        let mut line = Line::new(2);
        assert!(line.take(1));
        let greedy = line.join(A, 2, 0);
        let modest = line.join(B, 1, 0);
        assert_eq!(line.next_served(), None);
        assert!(line.leave(greedy));
        assert_eq!(line.next_served(), Some(B));
        line.give_up(modest, 7);
        assert!(!line.leave(modest));
        assert_eq!(line.next_served(), None);
        assert_eq!((line.counts.cancellations, line.counts.timeouts), (1, 1));
        assert_eq!(line.counts.waited_ms, 7);
        assert_eq!(line.length(), 0);
    }
}
