//! Several threads at once.

use std::collections::BTreeMap;
use std::sync::{Barrier, mpsc};
use std::thread;

use harn_log::{CompactForce, LogEvent};
use serde_json::json;

use super::{Fixture, start};
use crate::support::{LIMIT, event, next, next_ids, number, poll_with, topic};

const WRITERS: u64 = 8;
const EACH: u64 = 250;

/// What a writer says when it is at `number`.
fn line(writer: u64, number: u64) -> LogEvent {
    LogEvent::at("line", json!({ "writer": writer, "n": number }), 0)
}

pub(crate) fn concurrent_appends_are_dense_and_keep_each_order<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (log, topic) = (&log, &topic);
            scope.spawn(move || {
                for number in 0..EACH {
                    let id = log.append(topic, line(writer, number));
                    let mine = log.read(topic, Some(id - 1), 1);
                    assert_eq!(mine[0].0, id, "it is visible");
                    assert_eq!(mine[0].1.payload, line(writer, number).payload);
                }
            });
        }
    });
    let records = log.read_all(&topic);
    let ids = records.iter().map(|(id, _)| *id);
    assert!(ids.eq(1..=WRITERS * EACH));
    let mut by_writer: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (_, event) in &records {
        let writer = event.payload["writer"].as_u64().expect("it has a writer");
        by_writer.entry(writer).or_default().push(number(event));
    }
    assert_eq!(by_writer.len() as u64, WRITERS);
    for numbers in by_writer.into_values() {
        assert!(numbers.into_iter().eq(0..EACH));
    }
    let report = log.verify(&topic);
    assert!(report.verified, "{:?}", report.errors);
}

pub(crate) fn concurrent_batches_stay_together<F: Fixture>() {
    const SIZE: u64 = 5;
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (log, topic) = (&log, &topic);
            scope.spawn(move || {
                for _ in 0..EACH / SIZE {
                    let batch = (0..SIZE).map(|number| line(writer, number)).collect();
                    let ids = log.append_batch(topic, batch);
                    let first = ids[0];
                    assert!(ids.into_iter().eq(first..first + SIZE));
                }
            });
        }
    });
    let records = log.read_all(&topic);
    assert_eq!(records.len() as u64, WRITERS * EACH);
    for batch in records.chunks(SIZE as usize) {
        let writer = &batch[0].1.payload["writer"];
        for (expected, (_, event)) in (0..).zip(batch) {
            assert_eq!(&event.payload["writer"], writer);
            assert_eq!(number(event), expected);
        }
    }
}

pub(crate) fn a_waiting_reader_is_woken_by_another_thread<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append_numbers(&topic, 2);
    let (says, hears) = mpsc::channel();
    thread::scope(|scope| {
        let (log, topic) = (&log, &topic);
        scope.spawn(move || {
            let mut stream = log.subscribe(topic, Some(2));
            let nothing = poll_with(&mut stream, std::task::Waker::noop());
            assert_eq!(nothing, None);
            says.send(0).expect("the test listens");
            for _ in 0..100 {
                let (id, _) = next(&mut stream);
                says.send(id).expect("the test listens");
            }
        });
        let heard = || hears.recv_timeout(LIMIT).expect("the reader goes on");
        assert_eq!(heard(), 0, "it waits");
        for id in 3..103 {
            log.append(topic, event(id));
            assert_eq!(heard(), id);
        }
    });
}

pub(crate) fn readers_and_writers_at_once_lose_and_repeat_nothing<F: Fixture>() {
    const HISTORY: u64 = 20;
    const HEAD: u64 = HISTORY + WRITERS * EACH;
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append_numbers(&topic, HISTORY);
    let read: Vec<_> = thread::scope(|scope| {
        let (log, topic) = (&log, &topic);
        let read_from = |from: u64| {
            scope.spawn(move || {
                let mut stream = log.subscribe(topic, Some(from));
                let count = (HEAD - from) as usize;
                (from, next_ids(&mut stream, count))
            })
        };
        let mut readers: Vec<_> = [0, 0, 7, HISTORY, HISTORY + 100].map(read_from).into();
        for writer in 0..WRITERS {
            scope.spawn(move || {
                for number in 0..EACH {
                    log.append(topic, line(writer, number));
                }
            });
        }
        readers.push(read_from(0));
        let join = |reader: thread::ScopedJoinHandle<'_, _>| reader.join();
        let read = readers.into_iter().map(join);
        read.map(|read| read.expect("no reader panics")).collect()
    });
    for (from, ids) in read {
        assert!(ids.into_iter().eq(from + 1..=HEAD), "from {from}");
    }
}

pub(crate) fn compaction_under_way_disturbs_no_writer<F: Fixture>() {
    const COUNT: u64 = 1_000;
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    thread::scope(|scope| {
        let (log, topic) = (&log, &topic);
        scope.spawn(move || {
            for expected in 1..=COUNT {
                assert_eq!(log.append(topic, event(expected)), expected);
            }
        });
        scope.spawn(move || {
            let mut stream = log.subscribe(topic, None);
            let mut removed = 0;
            loop {
                // Only what it has seen goes, so it sees all of it.
                let (id, _) = next(&mut stream);
                let report = log.compact(topic, id, CompactForce::Respect);
                removed += report.expect("no consumer is behind").removed;
                assert_eq!(removed, id);
                if id == COUNT {
                    break;
                }
            }
        });
    });
    assert_eq!(log.latest(&topic), Some(COUNT));
    assert_eq!(log.read_all(&topic), []);
    assert!(log.verify(&topic).verified);
}

/// What a topic holds may be released with its last reader (S35.9), but not while
/// somebody else is about to use it.
pub(crate) fn readers_that_leave_take_no_topic_with_them<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    for round in 0..200 {
        let topic = topic(&format!("t{round}"));
        let barrier = Barrier::new(4);
        thread::scope(|scope| {
            let (log, topic, barrier) = (&log, &topic, &barrier);
            for _ in 0..2 {
                scope.spawn(move || {
                    let stream = log.subscribe(topic, None);
                    barrier.wait();
                    drop(stream);
                    drop(log.subscribe(topic, None));
                });
            }
            scope.spawn(move || {
                barrier.wait();
                let mut stream = log.subscribe(topic, None);
                assert_eq!(next_ids(&mut stream, 2), [1, 2]);
            });
            scope.spawn(move || {
                barrier.wait();
                assert_eq!(log.append(topic, event(1)), 1);
                assert_eq!(log.append(topic, event(2)), 2);
            });
        });
        assert_eq!(log.ids(&topic, None, 9), [1, 2]);
    }
}
