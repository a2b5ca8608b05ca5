//! Subscriptions.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};

use harn_log::{EventId, EventLog, EventStream, LogEvent};

use super::{Fixture, start};
use crate::support::{
    Bell, Driver, Record, block_on, event, hash, next, next_ids, number, poll_with, topic,
    within_limit,
};

/// Nothing is there yet.
#[track_caller]
fn assert_waits(stream: &mut EventStream) {
    assert_eq!(poll_with(stream, Waker::noop()), None);
}

pub(crate) fn history_comes_first_and_then_what_is_new<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append_numbers(&topic, 5);
    let mut stream = log.subscribe(&topic, None);
    log.append(&topic, event(6));
    assert_eq!(next_ids(&mut stream, 3), [1, 2, 3]);
    log.append(&topic, event(7));
    assert_eq!(next_ids(&mut stream, 4), [4, 5, 6, 7]);
    assert_waits(&mut stream);
    for id in 8..12 {
        log.append(&topic, event(id));
        let (seen, event) = next(&mut stream);
        assert_eq!((seen, number(&event)), (id, id));
        assert_waits(&mut stream);
    }
}

pub(crate) fn a_reader_starts_after_its_position<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append_numbers(&topic, 4);
    for from in 0..=3 {
        let mut stream = log.subscribe(&topic, Some(from));
        let expected: Vec<_> = (from + 1..=4).collect();
        assert_eq!(next_ids(&mut stream, expected.len()), expected);
        assert_waits(&mut stream);
    }
}

pub(crate) fn a_reader_at_the_head_sees_only_what_is_new<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append_numbers(&topic, 4);
    let mut stream = log.subscribe(&topic, Some(4));
    assert_waits(&mut stream);
    log.append_numbers(&topic, 2);
    assert_eq!(next_ids(&mut stream, 2), [5, 6]);
    assert_waits(&mut stream);
}

pub(crate) fn a_reader_beyond_the_head_waits_for_its_place<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append_numbers(&topic, 2);
    let mut stream = log.subscribe(&topic, Some(5));
    for id in 3..=5 {
        assert_waits(&mut stream);
        assert_eq!(log.append(&topic, event(id)), id);
    }
    assert_waits(&mut stream);
    log.append_numbers(&topic, 2);
    assert_eq!(next_ids(&mut stream, 2), [6, 7]);
    let mut never = log.subscribe(&topic, Some(u64::MAX));
    assert_waits(&mut never);
}

pub(crate) fn a_reader_of_an_unknown_topic_waits_for_the_first_record<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    let mut stream = log.subscribe(&topic, None);
    assert_waits(&mut stream);
    assert!(log.topics().is_empty(), "reading does not make a topic");
    log.append_numbers(&topic, 2);
    assert_eq!(next_ids(&mut stream, 2), [1, 2]);
}

pub(crate) fn a_reader_sees_what_read_range_returns<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append(&topic, event(1).with_header("session_id", "s"));
    log.append_once(&topic, ("key", "v"), event(2));
    let mut stream = log.subscribe(&topic, None);
    let seen: Vec<Record> = (0..2).map(|_| next(&mut stream)).collect();
    assert_eq!(seen, log.read_all(&topic));
}

pub(crate) fn every_way_of_appending_wakes_a_reader<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    let mut stream = log.subscribe(&topic, None);
    let bell = Bell::new();
    let append: [&dyn Fn(LogEvent) -> EventId; 5] = [
        &|event| log.append(&topic, event),
        &|event| block_on(log.0.append_durable(&topic, event)).expect("an append succeeds"),
        &|event| log.append_batch(&topic, vec![event])[0],
        &|event| log.append_once(&topic, ("key", "a"), event).event_id,
        &|event| {
            let records = log.read_all(&topic);
            let head = records.last().map(|(_, event)| hash(event));
            let chained = log.append_chained(&topic, ("key", "b"), head, event);
            chained.expect("the head is right").event_id
        },
    ];
    for (id, append) in (1..).zip(append) {
        assert_eq!(poll_with(&mut stream, &bell.waker), None);
        assert_eq!(append(event(id)), id);
        let seen = loop {
            bell.wait();
            if let Some((seen, _)) = poll_with(&mut stream, &bell.waker) {
                break seen;
            }
        };
        assert_eq!(seen, id);
    }
}

pub(crate) fn a_reader_does_not_see_other_topics<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let (one, other) = (topic("one"), topic("other"));
    let mut stream = log.subscribe(&one, None);
    log.append_numbers(&other, 3);
    assert_waits(&mut stream);
    log.append(&one, event(10));
    let (id, event) = next(&mut stream);
    assert_eq!((id, number(&event)), (1, 10));
    assert_waits(&mut stream);
}

/// S35.6: later than any queue is deep, and still whole.
pub(crate) fn a_slow_reader_sees_every_record<F: Fixture>() {
    const COUNT: u64 = 1_000;
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    let mut stream = log.subscribe(&topic, None);
    assert_waits(&mut stream);
    let mut seen = Vec::new();
    for id in 1..=COUNT {
        log.append(&topic, event(id));
        if id % 100 == 0 {
            seen.push(next(&mut stream));
        }
    }
    while seen.len() < COUNT as usize {
        seen.push(next(&mut stream));
    }
    for (expected, (id, event)) in (1..).zip(&seen) {
        assert_eq!((*id, number(event)), (expected, expected));
    }
    assert_waits(&mut stream);
    log.append(&topic, event(0));
    assert_eq!(next(&mut stream).0, COUNT + 1, "it is live again");
}

pub(crate) fn readers_do_not_disturb_each_other<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    let mut idle = log.subscribe(&topic, None);
    let mut eager = log.subscribe(&topic, None);
    let mut late = log.subscribe(&topic, Some(50));
    let dropped = log.subscribe(&topic, None);
    for id in 1..=100 {
        assert_waits(&mut eager);
        log.append(&topic, event(id));
        assert_eq!(next(&mut eager).0, id);
    }
    drop(dropped);
    drop(eager);
    assert!(next_ids(&mut late, 50).into_iter().eq(51..=100));
    assert!(next_ids(&mut idle, 100).into_iter().eq(1..=100));
    log.append(&topic, event(101));
    assert_eq!((next(&mut idle).0, next(&mut late).0), (101, 101));
}

pub(crate) fn a_reader_in_a_compacted_range_continues_after_it<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append_numbers(&topic, 8);
    let mut before = log.subscribe(&topic, Some(2));
    log.compact_read(&topic, 6);
    let mut after = log.subscribe(&topic, Some(2));
    let mut start = log.subscribe(&topic, None);
    for stream in [&mut before, &mut after, &mut start] {
        assert_eq!(next_ids(stream, 2), [7, 8]);
        assert_waits(stream);
    }
}

/// What it has taken already it may still hand out.
pub(crate) fn a_reader_overtaken_by_compaction_misses_nothing_that_is_left<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append_numbers(&topic, 300);
    let mut stream = log.subscribe(&topic, None);
    assert_eq!(next(&mut stream).0, 1);
    log.compact_read(&topic, 290);
    let mut seen = Vec::new();
    while seen.last() != Some(&300) {
        seen.push(next(&mut stream).0);
    }
    assert!(seen.is_sorted_by(|one, next| one < next), "{seen:?}");
    let left = seen.into_iter().filter(|id| *id > 290);
    assert!(left.eq(291..=300));
    assert_waits(&mut stream);
}

pub(crate) fn a_reader_of_an_emptied_topic_sees_the_next_record<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append_numbers(&topic, 3);
    let mut waiting = log.subscribe(&topic, Some(3));
    assert_waits(&mut waiting);
    log.compact_read(&topic, 3);
    let mut fresh = log.subscribe(&topic, None);
    for stream in [&mut waiting, &mut fresh] {
        assert_waits(stream);
    }
    log.append(&topic, event(4));
    for stream in [&mut waiting, &mut fresh] {
        assert_eq!(next(stream).0, 4);
    }
}

pub(crate) fn the_last_waker_is_the_one_woken<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    let mut stream = log.subscribe(&topic, None);
    let (first, last) = (Bell::new(), Bell::new());
    assert_eq!(poll_with(&mut stream, &first.waker), None);
    assert_eq!(poll_with(&mut stream, &last.waker), None);
    log.append(&topic, event(1));
    last.wait();
    assert_eq!(next(&mut stream).0, 1);
}

/// A waker that counts how often it is used, for as long as anybody keeps it.
struct Counter(AtomicUsize);

impl Wake for Counter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

pub(crate) fn a_dropped_reader_is_forgotten<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    let counter = Arc::new(Counter(AtomicUsize::new(0)));
    for _ in 0..100 {
        let mut stream = log.subscribe(&topic, None);
        let waker = Waker::from(Arc::clone(&counter));
        assert_eq!(poll_with(&mut stream, &waker), None);
    }
    log.read_all(&topic); // What was under way is done.
    assert_eq!(Arc::strong_count(&counter), 1, "no waker is kept");
    let woken = counter.0.load(Ordering::Relaxed);
    log.append(&topic, event(1));
    log.read_all(&topic);
    assert_eq!(counter.0.load(Ordering::Relaxed), woken, "nobody is woken");
}

/// A task that is kept alive by its waker alone, and that owns a reader.
struct Owner {
    _stream: Mutex<EventStream>,
}

impl Wake for Owner {
    fn wake(self: Arc<Self>) {}
}

pub(crate) fn a_replaced_waker_may_own_a_reader<F: Fixture>() {
    within_limit(|| {
        let (_fixture, log) = start::<F>();
        let topic = topic("t");
        let mut stream = log.subscribe(&topic, None);
        let _stream = Mutex::new(log.subscribe(&topic, None));
        let owner = Waker::from(Arc::new(Owner { _stream }));
        assert_eq!(poll_with(&mut stream, &owner), None);
        drop(owner);
        assert_waits(&mut stream);
        log.append(&topic, event(1));
        assert_eq!(next(&mut stream).0, 1);
    });
}

/// A waker that uses the log at once instead of leaving that to a task. It does not
/// wait: a waker must not.
struct Curious<L> {
    log: Driver<L>,
    /// Rung when it is done.
    bell: Waker,
}

impl<L: EventLog + 'static> Wake for Curious<L> {
    fn wake(self: Arc<Self>) {
        let topic = topic("t");
        let mut context = Context::from_waker(Waker::noop());
        let _answer = pin!(self.log.0.latest(&topic)).poll(&mut context);
        let _stream = pin!(Arc::clone(&self.log.0).subscribe(&topic, None)).poll(&mut context);
        self.bell.wake_by_ref();
    }
}

pub(crate) fn a_waker_may_use_the_log<F: Fixture>() {
    within_limit(|| {
        let (_fixture, log) = start::<F>();
        let mut stream = log.subscribe(&topic("t"), None);
        let bell = Bell::new();
        let curious = Arc::new(Curious {
            log: log.clone(),
            bell: bell.waker.clone(),
        });
        let waker = Waker::from(curious);
        assert_eq!(poll_with(&mut stream, &waker), None);
        log.append(&topic("t"), event(1));
        bell.wait();
        assert_eq!(next(&mut stream).0, 1);
    });
}
