//! The hash chain that makes a topic tamper-evident.
//!
//! ```text
//!  record 1            record 2            record 3
//!  prev ─ none    ┌──► prev ─ h1      ┌──► prev ─ h2
//!  hash ─ h1 ─────┘    hash ─ h2 ─────┘    hash ─ h3      h = sha256(all of it but h)
//! ```
//!
//! Each record carries the hash of the one before and its own, as headers. Whoever
//! changes, removes or inserts a record breaks the chain from there on. When the
//! beginning of a topic is compacted away, the hash of the last record that went is
//! kept as an anchor, so that the rest can still be verified.

use std::fmt::Write;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::event::LogEvent;
use crate::name::{EventId, Topic};

/// Header that names the scheme.
pub const SCHEMA_HEADER: &str = "harn.provenance.schema";
/// The scheme of this module.
pub const SCHEMA: &str = "harn-eventlog-provenance-v1";
/// Header with the hash of the record before; the first record has none.
pub const PREV_HASH_HEADER: &str = "harn.provenance.prev_hash";
/// Header with the record's own hash.
pub const RECORD_HASH_HEADER: &str = "harn.provenance.record_hash";

/// What verifying a topic found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventLogVerificationReport {
    /// Whether the chain is unbroken.
    pub verified: bool,
    /// What is wrong, record by record.
    pub errors: Vec<String>,
    /// How many records were looked at.
    pub event_count: usize,
    /// Hash of the last record.
    pub last_hash: Option<String>,
}

/// Gives a record its place in the chain and returns its hash.
pub(crate) fn seal(
    topic: &Topic,
    id: EventId,
    prev_hash: Option<&str>,
    event: &mut LogEvent,
) -> String {
    let headers = &mut event.headers;
    headers.remove(RECORD_HASH_HEADER);
    headers.insert(SCHEMA_HEADER.to_owned(), SCHEMA.to_owned());
    match prev_hash {
        Some(hash) => drop(headers.insert(PREV_HASH_HEADER.to_owned(), hash.to_owned())),
        None => drop(headers.remove(PREV_HASH_HEADER)),
    }
    let hash = record_hash(topic, id, event);
    event
        .headers
        .insert(RECORD_HASH_HEADER.to_owned(), hash.clone());
    hash
}

/// Recomputes the chain of a topic. `anchor` is the hash of the last record that
/// was compacted away.
pub(crate) fn verify<'a>(
    topic: &Topic,
    anchor: Option<&str>,
    records: impl IntoIterator<Item = (EventId, &'a LogEvent)>,
) -> EventLogVerificationReport {
    let mut report = EventLogVerificationReport::default();
    let mut prev_hash = anchor.map(str::to_owned);
    let mut prev_id = None;
    for (id, event) in records {
        report.event_count += 1;
        let header = |name: &str| event.headers.get(name);
        if prev_id.is_some_and(|prev| id != prev + 1) {
            report
                .errors
                .push(format!("event {id}: the record before it is missing"));
        }
        if header(SCHEMA_HEADER).map(String::as_str) != Some(SCHEMA) {
            report
                .errors
                .push(format!("event {id}: no provenance of a known scheme"));
        }
        if header(PREV_HASH_HEADER) != prev_hash.as_ref() {
            report
                .errors
                .push(format!("event {id}: does not follow the record before it"));
        }
        let hash = record_hash(topic, id, event);
        if header(RECORD_HASH_HEADER) != Some(&hash) {
            report
                .errors
                .push(format!("event {id}: content and hash do not agree"));
        }
        prev_hash = header(RECORD_HASH_HEADER).cloned();
        prev_id = Some(id);
    }
    report.verified = report.errors.is_empty();
    report.last_hash = prev_hash;
    report
}

/// `sha256:<hex>` over everything in the record but the hash itself.
fn record_hash(topic: &Topic, id: EventId, event: &LogEvent) -> String {
    let headers: serde_json::Map<String, Value> = event
        .headers
        .iter()
        .filter(|(name, _)| *name != RECORD_HASH_HEADER)
        .map(|(name, value)| (name.clone(), value.as_str().into()))
        .collect();
    let hashed = json!({
        "topic": topic.as_str(),
        "event_id": id,
        "kind": event.kind,
        "payload": event.payload,
        "headers": headers,
        "occurred_at_ms": event.occurred_at_ms,
    });
    let mut text = String::new();
    write_canonical(&hashed, &mut text);
    let mut hash = String::from("sha256:");
    for byte in Sha256::digest(text.as_bytes()) {
        write!(hash, "{byte:02x}").expect("writing to a string cannot fail");
    }
    hash
}

/// Compact JSON with sorted keys, whatever order a map happens to keep.
fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_unstable_by_key(|(key, _)| *key);
            text.push('{');
            for (at, (key, field)) in sorted.into_iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write_canonical(field, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write_canonical(item, text);
            }
            text.push(']');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic() -> Topic {
        Topic::new("t").unwrap()
    }

    fn chain(count: u64) -> Vec<(EventId, LogEvent)> {
        let mut prev_hash: Option<String> = None;
        (1..=count)
            .map(|id| {
                let mut event = LogEvent::at("k", json!({"n": id}), 5);
                prev_hash = Some(seal(&topic(), id, prev_hash.as_deref(), &mut event));
                (id, event)
            })
            .collect()
    }

    fn errors(records: &[(EventId, LogEvent)]) -> Vec<String> {
        verify(
            &topic(),
            None,
            records.iter().map(|(id, event)| (*id, event)),
        )
        .errors
    }

    #[test]
    fn the_hash_is_over_the_canonical_record() {
        let mut event = LogEvent::at("k", json!({"b": 1, "a": [true, null, "x\n"]}), 7);
        let hash = seal(&topic(), 1, None, &mut event);
        let canonical = concat!(
            r#"{"event_id":1,"headers":{"harn.provenance.schema":"harn-eventlog-provenance-v1"},"#,
            r#""kind":"k","occurred_at_ms":7,"payload":{"a":[true,null,"x\n"],"b":1},"topic":"t"}"#
        );
        let digest = Sha256::digest(canonical.as_bytes());
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hash, format!("sha256:{hex}"));
        assert_eq!(event.headers[RECORD_HASH_HEADER], hash);
        assert!(
            !event.headers.contains_key(PREV_HASH_HEADER),
            "the first has nothing before it"
        );
    }

    #[test]
    fn an_unbroken_chain_verifies() {
        let records = chain(3);
        let report = verify(
            &topic(),
            None,
            records.iter().map(|(id, event)| (*id, event)),
        );
        assert!(report.verified);
        assert_eq!(report.event_count, 3);
        assert_eq!(
            report.last_hash.as_ref(),
            records[2].1.headers.get(RECORD_HASH_HEADER)
        );
    }

    #[test]
    fn a_changed_record_is_found() {
        let mut records = chain(3);
        records[1].1.payload = json!({"n": 99});
        assert_eq!(errors(&records), ["event 2: content and hash do not agree"]);
    }

    #[test]
    fn a_missing_record_is_found() {
        let mut records = chain(3);
        records.remove(1);
        assert_eq!(
            errors(&records),
            [
                "event 3: the record before it is missing",
                "event 3: does not follow the record before it",
            ]
        );
    }

    #[test]
    fn a_record_that_was_hashed_again_breaks_the_next_one() {
        let mut records = chain(3);
        let (first, rest) = records.split_at_mut(1);
        rest[0].1.payload = json!("forged");
        let prev = first[0].1.headers[RECORD_HASH_HEADER].clone();
        seal(&topic(), 2, Some(&prev), &mut rest[0].1);
        assert_eq!(
            errors(&records),
            ["event 3: does not follow the record before it"]
        );
    }

    #[test]
    fn the_rest_of_a_compacted_topic_verifies_from_its_anchor() {
        let records = chain(4);
        let anchor = records[1].1.headers[RECORD_HASH_HEADER].clone();
        let rest = || records[2..].iter().map(|(id, event)| (*id, event));
        assert!(verify(&topic(), Some(&anchor), rest()).verified);
        assert!(!verify(&topic(), None, rest()).verified);
    }
}
