//! The hash chain, and appending at an expected head.

use std::fmt::Write;

use harn_log::{LogError, LogEvent, PREV_HASH_HEADER, RECORD_HASH_HEADER, SCHEMA_HEADER, Topic};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::{Fixture, start};
use crate::support::{Driver, event, hash, number, topic, without_provenance};

/// Every record has the scheme and its hash, and names the hash before. The first of
/// these names `before`.
#[track_caller]
fn assert_chained<F: Fixture>(log: &Driver<F::Log>, topic: &Topic, before: Option<&str>) {
    let mut before = before.map(str::to_owned);
    for (id, event) in log.read_all(topic) {
        let header = |name| event.headers.get(name).map(String::as_str);
        assert_eq!(
            header("harn.provenance.schema"),
            Some("harn-eventlog-provenance-v1")
        );
        assert_eq!(
            header("harn.provenance.prev_hash"),
            before.as_deref(),
            "before {id}"
        );
        let hash = header("harn.provenance.record_hash").expect("each has a hash");
        let hex = hash.strip_prefix("sha256:").expect("it names the function");
        let digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        assert!(hex.len() == 64 && hex.as_bytes().iter().all(digit), "{hex}");
        before = Some(hash.to_owned());
    }
}

fn last_hash<F: Fixture>(log: &Driver<F::Log>, topic: &Topic) -> String {
    let records = log.read_all(topic);
    let (_, last) = records.last().expect("there is a record");
    hash(last).to_owned()
}

fn sha256(text: &str) -> String {
    let mut hash = String::from("sha256:");
    for byte in Sha256::digest(text.as_bytes()) {
        write!(hash, "{byte:02x}").expect("a string can be written to");
    }
    hash
}

pub(crate) fn each_record_names_the_one_before<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append_numbers(&topic, 4);
    assert_chained::<F>(&log, &topic, None);
}

pub(crate) fn the_hash_is_over_the_canonical_record<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("a.topic");
    let payload = json!({"b": [1, {"z": null, "y": "q\"\n"}], "a": 1.5});
    let first = LogEvent::at("kind", payload, -7).with_header("x", "ä");
    log.append(&topic, first);
    log.append(&topic, LogEvent::at("kind", json!([]), 8));
    let first = sha256(concat!(
        r#"{"event_id":1,"headers":{"harn.provenance.schema":"harn-eventlog-provenance-v1","x":"ä"},"#,
        r#""kind":"kind","occurred_at_ms":-7,"#,
        r#""payload":{"a":1.5,"b":[1,{"y":"q\"\n","z":null}]},"topic":"a.topic"}"#
    ));
    let second = sha256(&format!(
        concat!(
            r#"{{"event_id":2,"headers":{{"harn.provenance.prev_hash":"{}","#,
            r#""harn.provenance.schema":"harn-eventlog-provenance-v1"}},"#,
            r#""kind":"kind","occurred_at_ms":8,"payload":[],"topic":"a.topic"}}"#
        ),
        first
    ));
    let records = log.read_all(&topic);
    let hashes: Vec<_> = records.iter().map(|(_, event)| hash(event)).collect();
    assert_eq!(hashes, [first, second]);
}

pub(crate) fn provenance_cannot_be_forged<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    let forged = || {
        event(1)
            .with_header(SCHEMA_HEADER, "mine")
            .with_header(PREV_HASH_HEADER, "sha256:00")
            .with_header(RECORD_HASH_HEADER, "sha256:00")
    };
    log.append(&topic, forged());
    log.append_batch(&topic, vec![forged()]);
    log.append_once(&topic, ("key", "v"), forged());
    assert_chained::<F>(&log, &topic, None);
    assert!(log.verify(&topic).verified);
}

pub(crate) fn every_way_of_appending_continues_the_chain<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append(&topic, event(1));
    log.append_batch(&topic, vec![event(2), event(3)]);
    let outcome = log.append_once(&topic, ("key", "a"), event(4));
    let chained = log.append_chained(&topic, ("key", "b"), Some(hash(&outcome.event)), event(5));
    assert_eq!(chained.expect("the head is right").event_id, 5);
    assert_chained::<F>(&log, &topic, None);
    let report = log.verify(&topic);
    assert!(report.verified, "{:?}", report.errors);
    assert_eq!(report.event_count, 5);
}

pub(crate) fn a_fresh_topic_verifies<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    let report = log.verify(&topic);
    assert!(report.verified);
    assert_eq!((report.event_count, report.last_hash), (0, None));
    log.append_numbers(&topic, 3);
    let report = log.verify(&topic);
    assert!(report.verified && report.errors.is_empty());
    assert_eq!(report.event_count, 3);
    assert_eq!(report.last_hash, Some(last_hash::<F>(&log, &topic)));
}

pub(crate) fn the_rest_of_a_compacted_topic_verifies<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append_numbers(&topic, 6);
    for (before, left) in [(2, 4), (2, 4), (1, 4), (5, 1)] {
        let records = log.read_all(&topic);
        let anchor = records.iter().rfind(|(id, _)| *id <= before);
        let anchor = anchor.map(|(_, event)| hash(event).to_owned());
        log.compact_read(&topic, before);
        let report = log.verify(&topic);
        assert!(report.verified, "{:?}", report.errors);
        assert_eq!(report.event_count, left);
        assert_eq!(report.last_hash, Some(last_hash::<F>(&log, &topic)));
        if anchor.is_some() {
            assert_chained::<F>(&log, &topic, anchor.as_deref());
        }
    }
}

pub(crate) fn the_chain_goes_on_after_everything_was_compacted<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append_numbers(&topic, 3);
    let anchor = last_hash::<F>(&log, &topic);
    log.compact_read(&topic, 3);
    let report = log.verify(&topic);
    assert!(report.verified, "{:?}", report.errors);
    assert_eq!(report.event_count, 0);
    log.append_numbers(&topic, 2);
    assert_chained::<F>(&log, &topic, Some(&anchor));
    let report = log.verify(&topic);
    assert!(report.verified, "{:?}", report.errors);
    assert_eq!(report.event_count, 2);
}

pub(crate) fn a_new_record_needs_the_right_head<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append_numbers(&topic, 2);
    let records = log.read_all(&topic);
    let (old, head) = (hash(&records[0].1), hash(&records[1].1));
    for wrong in [None, Some(old), Some("sha256:00"), Some("")] {
        let refused = log.append_chained(&topic, ("key", "v"), wrong, event(3));
        let Err(LogError::StaleTopicHead {
            topic: name,
            expected,
            actual,
        }) = refused
        else {
            panic!("{wrong:?} is not the head: {refused:?}");
        };
        assert_eq!(name, "t");
        assert_eq!(expected.as_deref(), wrong);
        assert_eq!(actual.as_deref(), Some(head));
    }
    let outcome = log.append_chained(&topic, ("key", "v"), Some(head), event(3));
    let outcome = outcome.expect("the head is right");
    assert!(outcome.inserted);
    assert_eq!((outcome.event_id, number(&outcome.event)), (3, 3));
    assert_eq!(log.read(&topic, Some(2), 9), [(3, outcome.event)]);
}

pub(crate) fn the_first_record_expects_no_head<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    let refused = log.append_chained(&topic, ("key", "v"), Some("sha256:00"), event(1));
    let Err(LogError::StaleTopicHead { actual, .. }) = refused else {
        panic!("there is no head yet: {refused:?}");
    };
    assert_eq!(actual, None);
    assert!(log.topics().is_empty(), "a refusal does not make a topic");
    let outcome = log.append_chained(&topic, ("key", "v"), None, event(1));
    let outcome = outcome.expect("there is no head yet");
    assert_eq!((outcome.event_id, outcome.inserted), (1, true));
}

pub(crate) fn a_repetition_succeeds_whatever_the_head<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    let key = ("key", "v");
    let first = log.append_chained(&topic, key, None, event(1));
    let first = first.expect("there is no head yet");
    log.append(&topic, event(2));
    for head in [None, Some(hash(&first.event)), Some("sha256:00")] {
        let again = log.append_chained(&topic, key, head, event(99));
        let again = again.expect("a repetition succeeds");
        assert!(!again.inserted);
        assert_eq!((again.event_id, &again.event), (1, &first.event));
    }
    assert_eq!(log.latest(&topic), Some(2));
}

pub(crate) fn a_refused_record_leaves_no_trace<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append(&topic, event(1));
    let before = log.read_all(&topic);
    let refused = log.append_chained(&topic, ("key", "v"), None, event(2));
    refused.expect_err("the topic has a head");
    assert_eq!(log.read_all(&topic), before);
    assert_eq!(log.latest(&topic), Some(1));
    assert_eq!(log.find(&topic, ("key", "v")), None);
    let outcome = log.append_once(&topic, ("key", "v"), event(3));
    assert_eq!((outcome.event_id, outcome.inserted), (2, true));
    assert_eq!(
        without_provenance(outcome.event),
        event(3).with_header("key", "v")
    );
}

pub(crate) fn the_head_outlives_compaction<F: Fixture>() {
    let (_fixture, log) = start::<F>();
    let topic = topic("t");
    log.append_numbers(&topic, 3);
    let head = last_hash::<F>(&log, &topic);
    log.compact_read(&topic, 3);
    let refused = log.append_chained(&topic, ("key", "v"), None, event(4));
    refused.expect_err("the topic had records");
    let outcome = log.append_chained(&topic, ("key", "v"), Some(&head), event(4));
    assert_eq!(outcome.expect("the head is right").event_id, 4);
}
