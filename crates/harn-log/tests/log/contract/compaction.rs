//! Taking away what has been read.

use harn_log::{CompactForce, CompactReport, LogError};

use super::{Fixture, start};
use crate::support::{consumer, event, next_ids, topic};

/// Removed, remaining and latest; whether files were tidied up is the backend's affair.
fn numbers(report: CompactReport) -> (u64, u64, Option<u64>) {
    (report.removed, report.remaining, report.latest)
}

pub(crate) fn records_up_to_the_bound_go<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append_numbers(&topic, 6);
    let kept = log.read(&topic, Some(2), 9);
    assert_eq!(numbers(log.compact_read(&topic, 2)), (2, 4, Some(6)));
    assert_eq!(log.read_all(&topic), kept);
    assert_eq!(log.read(&topic, Some(1), 9), kept);
    assert_eq!(log.ids(&topic, None, 2), [3, 4]);
    assert_eq!(log.ids(&topic, Some(4), 9), [5, 6]);
    assert_eq!(numbers(log.compact_read(&topic, 5)), (3, 1, Some(6)));
    assert_eq!(log.ids(&topic, None, 9), [6]);
    assert_eq!(log.append(&topic, event(7)), 7);
    assert_eq!(log.ids(&topic, None, 9), [6, 7]);
}

pub(crate) fn a_bound_beyond_the_head_takes_everything<F: Fixture>() {
    for before in [4, 1_000, u64::MAX] {
        let (_fixture, log) = start::<F>();
        let (topic, consumer) = (topic("t"), consumer("c"));
        log.append_numbers(&topic, 3);
        log.ack(&topic, &consumer, 3).expect("it has read all");
        assert_eq!(numbers(log.compact_read(&topic, before)), (3, 0, Some(3)));
        assert_eq!(log.read_all(&topic), []);
        assert_eq!(log.append(&topic, event(4)), 4);
        assert_eq!(log.ids(&topic, None, 9), [4], "what comes later stays");
    }
}

pub(crate) fn ids_go_on_after_everything_was_compacted<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    for round in 0..3 {
        let head = round * 2;
        assert_eq!(log.append(&topic, event(1)), head + 1);
        assert_eq!(log.append_batch(&topic, vec![event(2)]), [head + 2]);
        log.compact_read(&topic, head + 2);
        assert_eq!(log.latest(&topic), Some(head + 2));
        assert_eq!(log.read_all(&topic), []);
        assert_eq!(log.topics(), ["t"]);
    }
}

pub(crate) fn compacting_nothing_reports_so<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let (used, unused) = (topic("used"), topic("unused"));
    assert_eq!(numbers(log.compact_read(&unused, 5)), (0, 0, None));
    assert!(log.topics().is_empty(), "compacting does not make a topic");
    log.append_numbers(&used, 3);
    assert_eq!(numbers(log.compact_read(&used, 0)), (0, 3, Some(3)));
    assert_eq!(numbers(log.compact_read(&used, 2)), (2, 1, Some(3)));
    for before in [0, 1, 2] {
        assert_eq!(numbers(log.compact_read(&used, before)), (0, 1, Some(3)));
    }
}

pub(crate) fn the_lowest_cursor_is_not_crossed<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append_numbers(&topic, 6);
    for (name, cursor) in [("ahead", 5), ("behind", 2), ("done", 6)] {
        log.ack(&topic, &consumer(name), cursor)
            .expect("the record exists");
    }
    for before in [3, 4, 5] {
        let refused = log.compact(&topic, before, CompactForce::Respect);
        let Err(LogError::CompactionBlocked {
            topic,
            before: bound,
            consumer,
            cursor,
        }) = refused
        else {
            panic!("a consumer is behind: {refused:?}");
        };
        assert_eq!((topic.as_str(), bound), ("t", before));
        assert_eq!((consumer.as_str(), cursor), ("behind", 2));
    }
    assert_eq!(numbers(log.compact_read(&topic, 2)), (2, 4, Some(6)));
    log.ack(&topic, &consumer("behind"), 6)
        .expect("the record exists");
    assert_eq!(numbers(log.compact_read(&topic, 5)), (3, 1, Some(6)));
}

pub(crate) fn a_refused_compaction_changes_nothing<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let (topic, behind) = (topic("t"), consumer("behind"));
    log.append_once(&topic, ("key", "v"), event(1));
    log.append_numbers(&topic, 4);
    log.ack(&topic, &behind, 0).expect("it has read nothing");
    let before = log.read_all(&topic);
    let report = log.verify(&topic);
    for bound in [1, 5, 9] {
        let refused = log.compact(&topic, bound, CompactForce::Respect);
        assert!(
            matches!(refused, Err(LogError::CompactionBlocked { .. })),
            "{refused:?}"
        );
    }
    assert_eq!(log.read_all(&topic), before);
    assert_eq!(log.verify(&topic), report);
    assert_eq!(log.latest(&topic), Some(5));
    assert_eq!(log.cursor(&topic, &behind), Some(0));
    assert!(!log.append_once(&topic, ("key", "v"), event(9)).inserted);
}

pub(crate) fn the_cursor_itself_may_go<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let (topic, consumer) = (topic("t"), consumer("c"));
    log.append_numbers(&topic, 3);
    log.ack(&topic, &consumer, 2).expect("the record exists");
    assert_eq!(numbers(log.compact_read(&topic, 2)), (2, 1, Some(3)));
    assert_eq!(log.cursor(&topic, &consumer), Some(2), "it has its place");
    log.ack(&topic, &consumer, 3).expect("the record exists");
    assert_eq!(log.cursor(&topic, &consumer), Some(3));
}

pub(crate) fn a_forced_compaction_crosses_cursors<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let (topic, behind) = (topic("t"), consumer("behind"));
    log.append_numbers(&topic, 5);
    log.ack(&topic, &behind, 1).expect("the record exists");
    let report = log.compact(&topic, 4, CompactForce::Override);
    let report = report.expect("it goes ahead");
    assert_eq!(numbers(report), (4, 1, Some(5)));
    assert_eq!(log.ids(&topic, None, 9), [5]);
    assert!(log.verify(&topic).verified);
}

pub(crate) fn a_forced_compaction_leaves_a_consumer_able_to_go_on<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let (topic, behind) = (topic("t"), consumer("behind"));
    log.append_numbers(&topic, 5);
    log.ack(&topic, &behind, 1).expect("the record exists");
    let forced = log.compact(&topic, 3, CompactForce::Override);
    forced.expect("it goes ahead");
    let cursor = log.cursor(&topic, &behind);
    assert!(cursor.is_some(), "it is still known");
    assert_eq!(log.ids(&topic, cursor, 9), [4, 5]);
    assert_eq!(next_ids(&mut log.subscribe(&topic, cursor), 2), [4, 5]);
    log.ack(&topic, &behind, 4).expect("the record exists");
    assert_eq!(log.cursor(&topic, &behind), Some(4));
    let refused = log.compact(&topic, 5, CompactForce::Respect);
    refused.expect_err("it has not read the last one");
}

pub(crate) fn consumers_of_other_topics_hold_nothing_back<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let (one, other) = (topic("one"), topic("other"));
    for topic in [&one, &other] {
        log.append_numbers(topic, 3);
    }
    log.ack(&other, &consumer("c"), 1)
        .expect("the record exists");
    assert_eq!(numbers(log.compact_read(&one, 3)), (3, 0, Some(3)));
}

pub(crate) fn other_topics_stay_whole<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let (one, other) = (topic("one"), topic("other"));
    for topic in [&one, &other] {
        log.append_numbers(topic, 3);
        log.append_once(topic, ("key", "v"), event(4));
    }
    let before = log.read_all(&other);
    log.compact_read(&one, 4);
    assert_eq!(log.read_all(&other), before);
    assert!(log.find(&other, ("key", "v")).is_some());
    assert_eq!(log.topics(), ["one", "other"]);
}
