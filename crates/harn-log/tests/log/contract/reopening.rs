//! What is still there when a log is opened again: everything, or with a volatile
//! backend nothing at all.

use super::{Fixture, start};
use crate::support::{Driver, consumer, event, hash, next_ids, topic};

/// Closes the log and opens it again. `None` for a volatile log, of which nothing
/// may be left.
fn reopen<F: Fixture>(fixture: &F, log: Driver<F::Log>) -> Option<Driver<F::Log>> {
    drop(log);
    let log = Driver(fixture.open());
    if F::survives_reopen() {
        return Some(log);
    }
    assert!(log.topics().is_empty(), "a volatile log begins anew");
    assert_eq!(log.append(&topic("t"), event(1)), 1);
    None
}

pub(crate) fn records_survive<F: Fixture>() {
    let (fixture, log) = start::<F>();
    let topic = topic("t");
    log.append_numbers(&topic, 3);
    log.append_batch(&topic, vec![event(4).with_header("session_id", "s")]);
    let before = log.read_all(&topic);
    let Some(log) = reopen(&fixture, log) else {
        return;
    };
    assert_eq!(log.read_all(&topic), before);
    assert_eq!(log.topics(), ["t"]);
    assert_eq!(log.append(&topic, event(5)), 5);
    assert_eq!(next_ids(&mut log.subscribe(&topic, Some(2)), 3), [3, 4, 5]);
    assert!(log.verify(&topic).verified);
}

/// S35.1.
pub(crate) fn the_head_survives_even_without_records<F: Fixture>() {
    let (fixture, log) = start::<F>();
    let topic = topic("t");
    log.append_numbers(&topic, 3);
    log.compact_read(&topic, 3);
    let Some(log) = reopen(&fixture, log) else {
        return;
    };
    assert_eq!(log.latest(&topic), Some(3));
    assert_eq!(log.topics(), ["t"]);
    assert_eq!(log.append(&topic, event(4)), 4);
}

pub(crate) fn cursors_survive<F: Fixture>() {
    let (fixture, log) = start::<F>();
    let (topic, consumer) = (topic("t"), consumer("c / 1"));
    log.append_numbers(&topic, 3);
    log.ack(&topic, &consumer, 2).expect("the record exists");
    let Some(log) = reopen(&fixture, log) else {
        return;
    };
    assert_eq!(log.cursor(&topic, &consumer), Some(2));
    log.ack(&topic, &consumer, 1).expect("the record exists");
    assert_eq!(log.cursor(&topic, &consumer), Some(2));
}

pub(crate) fn keys_survive<F: Fixture>() {
    let (fixture, log) = start::<F>();
    let topic = topic("t");
    let first = log.append_once(&topic, ("key", "v"), event(1));
    let Some(log) = reopen(&fixture, log) else {
        return;
    };
    let again = log.append_once(&topic, ("key", "v"), event(2));
    assert!(!again.inserted);
    assert_eq!((again.event_id, again.event), (1, first.event));
}

pub(crate) fn the_anchor_survives<F: Fixture>() {
    let (fixture, log) = start::<F>();
    let topic = topic("t");
    log.append_numbers(&topic, 3);
    let records = log.read_all(&topic);
    log.compact_read(&topic, 3);
    let Some(log) = reopen(&fixture, log) else {
        return;
    };
    let head = hash(&records[2].1);
    let outcome = log.append_chained(&topic, ("key", "v"), Some(head), event(4));
    assert_eq!(outcome.expect("the head is right").event_id, 4);
    assert!(log.verify(&topic).verified);
}
