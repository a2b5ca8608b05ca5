//! How far consumers have read.

use std::thread;

use harn_log::{ConsumerId, LogError, Topic};

use super::{Fixture, start};
use crate::support::{Driver, consumer, event, topic};

/// Moving `consumer` to `cursor` is refused because the topic ends at `head`.
#[track_caller]
fn assert_beyond<T: std::fmt::Debug>(moved: Result<T, LogError>, cursor: u64, head: u64) {
    let Err(LogError::CursorBeyondHead {
        topic,
        consumer,
        cursor: wanted,
        head: found,
    }) = moved
    else {
        panic!("{cursor} is beyond {head}: {moved:?}");
    };
    assert_eq!((topic.as_str(), consumer.as_str()), ("t", "c"));
    assert_eq!((wanted, found), (cursor, head));
}

#[track_caller]
fn ack<F: Fixture>(log: &Driver<F::Log>, topic: &Topic, consumer: &ConsumerId, to: u64) {
    log.ack(topic, consumer, to).expect("the record exists");
}

pub(crate) fn a_consumer_that_never_said_has_no_cursor<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let (topic, consumer) = (topic("t"), consumer("c"));
    assert_eq!(log.cursor(&topic, &consumer), None);
    log.append_numbers(&topic, 3);
    assert_eq!(log.cursor(&topic, &consumer), None);
    ack::<F>(&log, &topic, &consumer, 2);
    assert_eq!(log.cursor(&topic, &consumer), Some(2));
}

pub(crate) fn an_earlier_acknowledgement_changes_nothing<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let (topic, consumer) = (topic("t"), consumer("c"));
    log.append_numbers(&topic, 5);
    for (up_to, expected) in [(3, 3), (2, 3), (0, 3), (3, 3), (5, 5), (1, 5)] {
        ack::<F>(&log, &topic, &consumer, up_to);
        assert_eq!(log.cursor(&topic, &consumer), Some(expected));
    }
}

pub(crate) fn nobody_has_read_what_does_not_exist<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let (topic, consumer) = (topic("t"), consumer("c"));
    assert_beyond(log.ack(&topic, &consumer, 1), 1, 0);
    assert_eq!(log.cursor(&topic, &consumer), None);
    log.append_numbers(&topic, 2);
    ack::<F>(&log, &topic, &consumer, 1);
    for beyond in [3, u64::MAX] {
        assert_beyond(log.ack(&topic, &consumer, beyond), beyond, 2);
    }
    assert_eq!(log.cursor(&topic, &consumer), Some(1));
}

pub(crate) fn only_rewinding_goes_back<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let (topic, consumer) = (topic("t"), consumer("c"));
    log.append_numbers(&topic, 5);
    ack::<F>(&log, &topic, &consumer, 5);
    for to in [3, 1, 0] {
        let rewound = log.rewind(&topic, &consumer, to);
        rewound.expect("going back is allowed");
        assert_eq!(log.cursor(&topic, &consumer), Some(to));
    }
    ack::<F>(&log, &topic, &consumer, 2);
    assert_eq!(log.cursor(&topic, &consumer), Some(2));
}

pub(crate) fn nobody_rewinds_beyond_the_head<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let (topic, consumer) = (topic("t"), consumer("c"));
    assert_beyond(log.rewind(&topic, &consumer, 1), 1, 0);
    log.append_numbers(&topic, 2);
    ack::<F>(&log, &topic, &consumer, 1);
    for beyond in [3, u64::MAX] {
        assert_beyond(log.rewind(&topic, &consumer, beyond), beyond, 2);
    }
    assert_eq!(log.cursor(&topic, &consumer), Some(1));
}

pub(crate) fn cursors_are_per_topic_and_consumer<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    // The two pairs of names that are alike once they are sanitised or joined.
    let topics = [topic("a"), topic("a__b")];
    let consumers = [
        consumer("b__c"),
        consumer("c"),
        consumer("b/_c"),
        consumer("C"),
    ];
    let all = || {
        let pairs = topics.iter().flat_map(|topic| {
            let with = move |consumer| (topic, consumer);
            consumers.iter().map(with)
        });
        pairs.zip(1..)
    };
    for topic in &topics {
        log.append_numbers(topic, 8);
    }
    for ((topic, consumer), cursor) in all() {
        assert_eq!(log.cursor(topic, consumer), None);
        ack::<F>(&log, topic, consumer, cursor);
    }
    for ((topic, consumer), cursor) in all() {
        assert_eq!(log.cursor(topic, consumer), Some(cursor));
    }
}

pub(crate) fn a_compacted_head_can_be_acknowledged<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let (topic, consumer) = (topic("t"), consumer("c"));
    log.append_numbers(&topic, 3);
    log.compact_read(&topic, 3);
    assert_beyond(log.ack(&topic, &consumer, 4), 4, 3);
    ack::<F>(&log, &topic, &consumer, 3);
    assert_eq!(log.cursor(&topic, &consumer), Some(3));
}

pub(crate) fn acknowledging_does_not_make_a_topic<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let (topic, consumer) = (topic("t"), consumer("c"));
    let refused = log.ack(&topic, &consumer, 1);
    refused.expect_err("there is nothing to acknowledge");
    assert_eq!(log.latest(&topic), None);
    assert!(log.topics().is_empty());
    assert_eq!(log.append(&topic, event(1)), 1);
}

pub(crate) fn concurrent_acknowledgements_keep_the_highest<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let (topic, consumer) = (topic("t"), consumer("c"));
    log.append_numbers(&topic, 200);
    thread::scope(|scope| {
        for remainder in 0..4 {
            let (log, topic, consumer) = (&log, &topic, &consumer);
            scope.spawn(move || {
                let mine = (1..=200).filter(|id| id % 4 == remainder);
                let mut last = 0;
                for id in mine {
                    ack::<F>(log, topic, consumer, id);
                    let now = log.cursor(topic, consumer).expect("it has one");
                    assert!(now >= id && now >= last, "{now} after {id} and {last}");
                    last = now;
                }
            });
        }
    });
    assert_eq!(log.cursor(&topic, &consumer), Some(200));
}
