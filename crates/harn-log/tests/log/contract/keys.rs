//! Appending once, and finding what was appended so.

use std::sync::Barrier;
use std::thread;

use harn_log::{EventLog, LogError, LogEvent};
use serde_json::json;

use super::{Fixture, start};
use crate::support::{block_on, event, hash, number, topic, without_provenance};

const KEY: (&str, &str) = ("key", "v");

pub(crate) fn a_repetition_returns_the_stored_record<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append(&topic, event(1));
    let first = log.append_once(&topic, KEY, event(2));
    assert_eq!((first.event_id, first.inserted), (2, true));
    log.append(&topic, event(3));
    let other = LogEvent::at("other", json!("other"), 9).with_header("more", "x");
    for repeated in [event(2), other] {
        let again = log.append_once(&topic, KEY, repeated);
        assert!(!again.inserted);
        assert_eq!((again.event_id, &again.event), (2, &first.event));
    }
    assert_eq!(log.ids(&topic, None, 9), [1, 2, 3]);
    assert_eq!(log.read(&topic, Some(1), 1), [(2, first.event)]);
}

/// Otherwise a repetition could not find it.
pub(crate) fn a_new_record_carries_its_key<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    for (value, event) in [
        ("without", event(1)),
        ("same", event(2).with_header("key", "same")),
        ("different", event(3).with_header("key", "something else")),
    ] {
        let outcome = log.append_once(&topic, ("key", value), event.clone());
        assert!(outcome.inserted);
        assert_eq!(
            without_provenance(outcome.event),
            event.clone().with_header("key", value)
        );
        assert!(!log.append_once(&topic, ("key", value), event).inserted);
    }
    assert_eq!(log.find(&topic, ("key", "something else")), None);
}

pub(crate) fn keys_are_per_topic_and_header<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let (one, other) = (topic("one"), topic("other"));
    for (expected, topic, key) in [
        (1, &one, ("key", "v")),
        (1, &other, ("key", "v")),
        (2, &one, ("other key", "v")),
        (3, &one, ("KEY", "v")),
        (4, &one, ("key", "V")),
        (5, &one, ("key", "v ")),
    ] {
        let outcome = log.append_once(topic, key, event(expected));
        assert!(outcome.inserted, "{key:?} is new in {topic}");
        assert_eq!(outcome.event_id, expected);
    }
}

pub(crate) fn a_plain_record_with_the_header_counts<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append(&topic, event(1).with_header("key", "v"));
    log.append_batch(&topic, vec![event(2).with_header("key", "w")]);
    for (value, id) in [("v", 1), ("w", 2)] {
        let outcome = log.append_once(&topic, ("key", value), event(9));
        assert_eq!((outcome.event_id, outcome.inserted), (id, false));
    }
    // Also one that comes after somebody has asked for the header.
    log.append(&topic, event(3).with_header("key", "x"));
    let outcome = log.append_once(&topic, ("key", "x"), event(9));
    assert_eq!((outcome.event_id, outcome.inserted), (3, false));
}

pub(crate) fn a_look_up_finds_the_record_or_nothing<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    assert_eq!(log.find(&topic, KEY), None);
    assert!(log.topics().is_empty(), "looking does not make a topic");
    log.append(&topic, event(1));
    let outcome = log.append_once(&topic, KEY, event(2));
    assert_eq!(log.find(&topic, KEY), Some((2, outcome.event)));
    assert_eq!(log.find(&topic, ("key", "w")), None);
    assert_eq!(log.find(&topic, ("other", "v")), None);
    assert_eq!(log.latest(&topic), Some(2), "looking appends nothing");
}

pub(crate) fn an_empty_value_is_a_value<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append(&topic, event(1));
    assert!(log.append_once(&topic, ("key", ""), event(2)).inserted);
    assert!(!log.append_once(&topic, ("key", ""), event(3)).inserted);
}

pub(crate) fn blank_header_names_are_refused<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    for blank in ["", " ", "\t\n"] {
        let once = log
            .0
            .append_idempotent_by_header(&topic, blank, "v", event(1));
        let errors = [
            block_on(once).map(drop),
            log.append_chained(&topic, (blank, "v"), None, event(1))
                .map(drop),
            block_on(log.0.read_idempotent_by_header(&topic, blank, "v")).map(drop),
        ];
        for error in errors {
            assert!(matches!(error, Err(LogError::InvalidHeader)), "{error:?}");
        }
    }
    assert_eq!(log.latest(&topic), None);
}

/// A key is taken while a record with it exists (5.5); compaction ends that.
pub(crate) fn the_key_of_a_compacted_record_is_free_again<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append_once(&topic, ("key", "gone"), event(1));
    log.append_once(&topic, ("key", "kept"), event(2));
    log.compact_read(&topic, 1);
    assert_eq!(log.find(&topic, ("key", "gone")), None);
    let again = log.append_once(&topic, ("key", "gone"), event(3));
    assert_eq!((again.event_id, again.inserted), (3, true));
    let kept = log.append_once(&topic, ("key", "kept"), event(4));
    assert_eq!((kept.event_id, kept.inserted), (2, false));
    let found = log.find(&topic, ("key", "gone"));
    assert_eq!(found, Some((3, again.event)));
}

pub(crate) fn a_key_is_taken_while_any_of_its_records_exists<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    let with_key = |number| event(number).with_header("key", "v");
    log.append_batch(&topic, vec![with_key(1), event(2), with_key(3)]);
    assert!(log.find(&topic, KEY).is_some());
    log.compact_read(&topic, 2);
    let found = log.find(&topic, KEY).expect("record 3 has the key");
    assert_eq!(found.0, 3);
    let outcome = log.append_once(&topic, KEY, event(4));
    assert_eq!((outcome.event_id, outcome.inserted), (3, false));
    log.compact_read(&topic, 3);
    assert_eq!(log.find(&topic, KEY), None);
}

const CALLERS: u64 = 16;

pub(crate) fn of_many_callers_one_inserts<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    for round in 1..=20 {
        let value = format!("round {round}");
        let barrier = Barrier::new(CALLERS as usize);
        let outcomes: Vec<_> = thread::scope(|scope| {
            let call = |caller| {
                let (log, topic, value, barrier) = (&log, &topic, &value, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    log.append_once(topic, ("key", value), event(caller))
                })
            };
            let callers: Vec<_> = (0..CALLERS).map(call).collect();
            let join = |caller: thread::ScopedJoinHandle<'_, _>| caller.join();
            let outcomes = callers.into_iter().map(join);
            outcomes
                .map(|outcome| outcome.expect("no caller panics"))
                .collect()
        });
        assert_eq!(outcomes.iter().filter(|one| one.inserted).count(), 1);
        for outcome in &outcomes {
            assert_eq!(outcome.event_id, round);
            assert_eq!(outcome.event, outcomes[0].event);
        }
    }
    assert!(log.ids(&topic, None, 99).into_iter().eq(1..=20));
}

pub(crate) fn of_many_chained_callers_with_one_head_one_inserts<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append(&topic, event(0));
    let records = log.read_all(&topic);
    let head = hash(&records[0].1);
    let barrier = Barrier::new(CALLERS as usize);
    let winners: Vec<u64> = thread::scope(|scope| {
        let call = |caller: u64| {
            let (log, topic, barrier) = (&log, &topic, &barrier);
            scope.spawn(move || {
                let value = caller.to_string();
                barrier.wait();
                match log.append_chained(topic, ("key", &value), Some(head), event(caller)) {
                    Ok(outcome) => Some((caller, outcome.inserted)),
                    Err(LogError::StaleTopicHead { .. }) => None,
                    Err(other) => panic!("{other}"),
                }
            })
        };
        let callers: Vec<_> = (0..CALLERS).map(call).collect();
        let outcomes = callers
            .into_iter()
            .filter_map(|caller| caller.join().expect("no caller panics"));
        outcomes
            .inspect(|(_, inserted)| assert!(inserted))
            .map(|(caller, _)| caller)
            .collect()
    });
    assert_eq!(winners.len(), 1);
    let stored = log.read(&topic, Some(1), 9);
    assert_eq!(stored.len(), 1);
    assert_eq!(number(&stored[0].1), winners[0]);
}
