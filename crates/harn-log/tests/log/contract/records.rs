//! Appending and reading.

use harn_log::{Batch, EventLog, LogEvent, Topic};
use serde_json::{Value, json};

use super::{Fixture, start};
use crate::support::{block_on, draft, event, number, topic, without_provenance};

pub(crate) fn ids_start_at_one_and_rise_by_one<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    for expected in 1..=5 {
        assert_eq!(log.append(&topic, event(expected)), expected);
        assert_eq!(log.latest(&topic), Some(expected));
        assert_eq!(log.read_all(&topic).len() as u64, expected, "visible");
    }
}

pub(crate) fn topics_count_on_their_own<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let (one, other) = (topic("one"), topic("other"));
    assert_eq!(log.append(&one, event(10)), 1);
    assert_eq!(log.append(&one, event(11)), 2);
    assert_eq!(log.append(&other, event(20)), 1);
    assert_eq!(log.append(&one, event(12)), 3);
    assert_eq!((log.latest(&one), log.latest(&other)), (Some(3), Some(1)));
    let numbers = |topic| -> Vec<_> {
        let records = log.read_all(topic);
        records.iter().map(|(_, event)| number(event)).collect()
    };
    assert_eq!(numbers(&one), [10, 11, 12]);
    assert_eq!(numbers(&other), [20]);
}

pub(crate) fn a_topic_without_records_is_empty<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    assert_eq!(log.latest(&topic), None);
    assert_eq!(log.read_all(&topic), []);
    assert_eq!(log.read(&topic, Some(7), 7), []);
    assert_eq!(log.read_bytes(&topic, None, 7), []);
    assert!(log.topics().is_empty(), "looking does not make a topic");
}

pub(crate) fn a_range_starts_after_its_bound_and_ends_at_its_limit<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append_numbers(&topic, 5);
    for (from, limit, expected) in [
        (None, 0, &[][..]),
        (None, 1, &[1]),
        (None, 5, &[1, 2, 3, 4, 5]),
        (None, usize::MAX, &[1, 2, 3, 4, 5]),
        (Some(0), 2, &[1, 2]),
        (Some(1), 2, &[2, 3]),
        (Some(2), 0, &[]),
        (Some(3), 9, &[4, 5]),
        (Some(4), 9, &[5]),
        (Some(5), 9, &[]),
        (Some(6), 9, &[]),
        (Some(u64::MAX), usize::MAX, &[]),
    ] {
        assert_eq!(log.ids(&topic, from, limit), expected, "{from:?} {limit}");
    }
}

pub(crate) fn a_batch_is_contiguous<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append(&topic, event(1));
    let batch = (2..=4).map(event).collect();
    assert_eq!(log.append_batch(&topic, batch), [2, 3, 4]);
    assert_eq!(log.append(&topic, event(5)), 5);
    let numbers: Vec<_> = log
        .read_all(&topic)
        .iter()
        .map(|(id, event)| (*id, number(event)))
        .collect();
    assert_eq!(numbers, [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]);
}

pub(crate) fn batches_of_several_topics_are_each_contiguous<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let (one, two) = (topic("one"), topic("two"));
    log.append(&two, event(1));
    let numbers = |topic: &Topic, range: std::ops::RangeInclusive<u64>| {
        let drafts = range.map(|n| draft(topic, event(n)));
        Batch::by_topic(drafts).remove(0)
    };
    let batches = [
        numbers(&one, 1..=3),
        numbers(&two, 2..=3),
        numbers(&one, 4..=4),
    ];
    let appended = block_on(log.0.append_batches(&batches));
    let appended: Vec<_> = appended.into_iter().map(|ids| ids.unwrap()).collect();
    assert_eq!(appended, [&[1, 2, 3][..], &[2, 3], &[4]]);
    for (topic, expected) in [(&one, 1..=4), (&two, 1..=3)] {
        let records = log.read_all(topic);
        let found: Vec<_> = records.iter().map(|(_, event)| number(event)).collect();
        assert_eq!(found, expected.collect::<Vec<u64>>());
        assert!(log.verify(topic).verified);
    }
}

pub(crate) fn an_empty_batch_changes_nothing<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let (used, unused) = (topic("used"), topic("unused"));
    log.append(&used, event(1));
    for topic in [&used, &unused] {
        assert!(log.append_batch(topic, Vec::new()).is_empty());
    }
    assert_eq!(log.latest(&used), Some(1));
    assert_eq!(log.latest(&unused), None);
    assert_eq!(log.topics(), ["used"]);
}

fn rich_events() -> Vec<LogEvent> {
    let payloads = [
        Value::Null,
        json!(true),
        json!(-1.5e-7),
        json!(u64::MAX),
        json!(i64::MIN),
        json!("line\nquote\" ä😀 \u{0}"),
        json!([]),
        json!({}),
        json!({"z": {"deep": [1, [2, {"x": null}]]}, "a": "", "": 0, "n": 0.1}),
    ];
    let times = [0, -1, 1_700_000_000_000, i64::MAX, i64::MIN];
    let events = payloads.into_iter().zip(times.into_iter().cycle());
    let mut events: Vec<_> = events
        .map(|(payload, time)| LogEvent::at("some.kind", payload, time))
        .collect();
    events.push(
        LogEvent::at("", json!(1), 5)
            .with_header("session_id", "raw id / ä")
            .with_header("empty", "")
            .with_header("Case", "kept")
            .with_header("with space\n", "line\nbreak"),
    );
    events
}

pub(crate) fn records_come_back_as_they_went_in<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    for event in rich_events() {
        log.append(&topic, event);
    }
    let stored: Vec<_> = log
        .read_all(&topic)
        .into_iter()
        .map(|(_, event)| without_provenance(event))
        .collect();
    assert_eq!(stored, rich_events());
}

pub(crate) fn bytes_say_the_same_as_values<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append_batch(&topic, rich_events());
    for (from, limit) in [(None, usize::MAX), (Some(3), 4), (Some(100), 4), (None, 0)] {
        let parsed: Vec<_> = log
            .read_bytes(&topic, from, limit)
            .into_iter()
            .map(|(id, bytes)| {
                let payload = serde_json::from_slice(&bytes.payload).expect("it is JSON");
                let event = LogEvent::at(bytes.kind, payload, bytes.occurred_at_ms);
                (id, event.with_headers(bytes.headers))
            })
            .collect();
        assert_eq!(parsed, log.read(&topic, from, limit));
    }
}

pub(crate) fn topics_are_sorted_and_had_a_record<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    for name in ["b", "a.b", "a", "B", "a-b", "a_b", "10", "9"] {
        log.append(&topic(name), event(1));
    }
    log.compact_read(&topic("a-b"), 1);
    assert_eq!(
        log.topics(),
        ["10", "9", "B", "a", "a-b", "a.b", "a_b", "b"]
    );
}

pub(crate) fn a_long_topic_is_dense<F: Fixture>() {
    const COUNT: u64 = 10_000;
    const BATCH: u64 = 500;
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    for first in (1..=COUNT).step_by(BATCH as usize) {
        let batch = first..first + BATCH;
        let ids = log.append_batch(&topic, batch.clone().map(event).collect());
        assert!(ids.into_iter().eq(batch));
    }
    assert_eq!(log.latest(&topic), Some(COUNT));
    let tail = log.ids(&topic, Some(COUNT - 3), 10);
    assert_eq!(tail, [COUNT - 2, COUNT - 1, COUNT]);
    assert!(log.ids(&topic, None, usize::MAX).into_iter().eq(1..=COUNT));
}

pub(crate) fn flush_and_barrier_resolve<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    for _ in 0..2 {
        block_on(log.0.flush()).expect("a flush succeeds");
        block_on(log.0.barrier()).expect("a barrier succeeds");
        log.append(&topic("t"), event(1));
    }
}

pub(crate) fn a_log_describes_itself<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let description = log.0.describe();
    assert_eq!(description.backend, F::backend());
    assert_eq!(description.queue_depth, F::queue_depth());
}
