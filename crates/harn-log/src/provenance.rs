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

use std::convert::Infallible;
use std::ops::Range;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::event::LogEvent;
use crate::name::{EventId, Topic};
use crate::record::{push_header, push_json_text, push_number, push_time, push_whole_number};

/// How the headers begin that we write ourselves.
pub(crate) const HEADER_PREFIX: &str = "harn.provenance.";
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

/// Recomputes the chain of a topic, record by record.
pub(crate) struct Verifier {
    topic: Topic,
    report: EventLogVerificationReport,
    prev: Option<Link>,
}

/// The end of a piece of chain.
pub(crate) struct Link {
    /// Id of the record.
    pub(crate) id: EventId,
    /// What it says its hash is.
    pub(crate) hash: Option<String>,
}

impl Verifier {
    /// A verifier of a topic. `anchor` is the last record that was compacted away.
    pub(crate) fn new(topic: &Topic, anchor: Option<Link>) -> Self {
        Self {
            topic: topic.clone(),
            report: EventLogVerificationReport::default(),
            prev: anchor,
        }
    }

    /// Checks the next record.
    pub(crate) fn check(&mut self, id: EventId, event: &LogEvent) {
        self.report.event_count += 1;
        let header = |name: &str| event.headers.get(name);
        let prev_id = self.prev.as_ref().map_or(0, |prev| prev.id);
        let prev_hash = self.prev.as_ref().and_then(|prev| prev.hash.as_ref());
        let mut wrong = |problem| self.report.errors.push(format!("event {id}: {problem}"));
        if id != prev_id + 1 {
            wrong("the record before it is missing");
        }
        if header(SCHEMA_HEADER).map(String::as_str) != Some(SCHEMA) {
            wrong("no provenance of a known scheme");
        }
        if header(PREV_HASH_HEADER) != prev_hash {
            wrong("does not follow the record before it");
        }
        let hash = record_hash(&self.topic, id, event);
        if header(RECORD_HASH_HEADER).map(String::as_str) != Some(hash.as_str()) {
            wrong("content and hash do not agree");
        }
        self.prev = Some(Link {
            id,
            hash: header(RECORD_HASH_HEADER).cloned(),
        });
    }

    /// What was found. `head` is the newest id the topic ever had: whoever takes
    /// records off the end is found out by it.
    pub(crate) fn finish(mut self, head: Option<EventId>) -> EventLogVerificationReport {
        let last = self.prev.as_ref().map_or(0, |prev| prev.id);
        if let Some(head) = head.filter(|head| *head > last) {
            let problem = format!("events {} to {head} are missing at the end", last + 1);
            self.report.errors.push(problem);
        }
        self.report.verified = self.report.errors.is_empty();
        self.report.last_hash = self.prev.and_then(|prev| prev.hash);
        self.report
    }
}

/// The hash a record should have, whoever wrote it.
fn record_hash(topic: &Topic, id: EventId, event: &LogEvent) -> RecordHash {
    let mut headers = String::from("{");
    let hashed = event
        .headers
        .iter()
        .filter(|(name, _)| *name != RECORD_HASH_HEADER);
    for (at, (name, value)) in hashed.enumerate() {
        if at > 0 {
            headers.push(',');
        }
        push_header(&mut headers, name, value);
    }
    headers.push('}');
    let end = HashedEnd {
        topic,
        kind: &event.kind,
        occurred_at_ms: event.occurred_at_ms,
    };
    let write = |mut end| {
        write_canonical(&event.payload, &mut end);
        Ok::<_, Infallible>(end)
    };
    let Ok((hashed_end, _payload)) = end.write(text_bytes(&event.payload), write);
    hash_of(id, [&headers, ""], &hashed_end)
}

/// Every byte in hexadecimal.
const HEX: [[u8; 2]; 256] = {
    let digits = b"0123456789abcdef";
    let mut hex = [[b'0'; 2]; 256];
    let mut byte = 0;
    while byte < hex.len() {
        hex[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    hex
};

/// `sha256:<hex>`. Every record has one, so it is made without asking for memory.
pub(crate) struct RecordHash([u8; RecordHash::BYTES]);

impl RecordHash {
    const START: &[u8; 7] = b"sha256:";
    const BYTES: usize = Self::START.len() + 64;

    fn of(digest: &[u8]) -> Self {
        let mut text = [b'0'; Self::BYTES];
        let (start, digits) = text.split_at_mut(Self::START.len());
        start.copy_from_slice(Self::START);
        let (pairs, _) = digits.as_chunks_mut::<2>();
        for (pair, byte) in pairs.iter_mut().zip(digest) {
            *pair = HEX[usize::from(*byte)];
        }
        Self(text)
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("digits are text")
    }
}

/// The hash over everything in the record but the hash itself.
/// The headers come in two parts, between which the hash will be.
pub(crate) fn hash_of(id: EventId, headers_json: [&str; 2], hashed_end: &str) -> RecordHash {
    const ID: &[u8] = b"{\"event_id\":";
    const HEADERS: &[u8] = b",\"headers\":";
    const ID_DIGITS_MAX: usize = 20;
    let mut digits = itoa::Buffer::new();
    let id = digits.format(id).as_bytes();
    // Together: a hasher takes few long texts in faster than many short ones.
    let mut start = [0; ID.len() + ID_DIGITS_MAX + HEADERS.len()];
    let mut length = 0;
    for part in [ID, id, HEADERS] {
        start[length..length + part.len()].copy_from_slice(part);
        length += part.len();
    }
    let mut hasher = Sha256::new();
    hasher.update(&start[..length]);
    for part in headers_json.into_iter().chain([hashed_end]) {
        hasher.update(part.as_bytes());
    }
    RecordHash::of(&hasher.finalize())
}

/// About what the end of a hashed record takes without its payload.
const FRAME_BYTES: usize = 160;

/// About how many bytes of JSON the texts in a value are.
pub(crate) fn text_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Object(fields) => {
            let fields = fields.iter();
            fields
                .map(|(key, field)| key.len() + 4 + text_bytes(field))
                .sum()
        }
        Value::Array(items) => items.iter().map(|item| 1 + text_bytes(item)).sum(),
        _ => 8,
    }
}

/// What is hashed of a record after its headers, but for the payload.
pub(crate) struct HashedEnd<'a> {
    pub(crate) topic: &'a Topic,
    pub(crate) kind: &'a str,
    pub(crate) occurred_at_ms: i64,
}

impl HashedEnd<'_> {
    /// Writes it with a payload of about so many bytes, which `write_payload` appends. Gives
    /// also where in it the payload is.
    pub(crate) fn write<E>(
        &self,
        payload_bytes: usize,
        write_payload: impl FnOnce(String) -> Result<String, E>,
    ) -> Result<(String, Range<usize>), E> {
        let mut end = String::with_capacity(FRAME_BYTES + payload_bytes);
        end.push_str(",\"kind\":");
        push_json_text(&mut end, self.kind);
        end.push_str(",\"occurred_at_ms\":");
        push_time(&mut end, self.occurred_at_ms);
        end.push_str(",\"payload\":");
        let start = end.len();
        let mut end = write_payload(end)?;
        let payload = start..end.len();
        end.push_str(",\"topic\":");
        push_json_text(&mut end, self.topic.as_str());
        end.push('}');
        Ok((end, payload))
    }
}

/// Compact JSON with sorted keys, whatever order a map happens to keep.
pub(crate) fn write_canonical(value: &Value, text: &mut String) {
    match value {
        // Many are in order already, as those with one field are.
        Value::Object(fields) if fields.keys().is_sorted() => write_fields(fields.iter(), text),
        Value::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_unstable_by_key(|(key, _)| *key);
            write_fields(sorted.into_iter(), text);
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
        Value::String(string) => push_json_text(text, string),
        Value::Number(number) => match number.as_u64() {
            Some(number) => push_whole_number(text, number),
            None => push_number(text, number),
        },
        Value::Bool(true) => text.push_str("true"),
        Value::Bool(false) => text.push_str("false"),
        Value::Null => text.push_str("null"),
    }
}

fn write_fields<'a>(fields: impl Iterator<Item = (&'a String, &'a Value)>, text: &mut String) {
    text.push('{');
    for (at, (key, field)) in fields.enumerate() {
        if at > 0 {
            text.push(',');
        }
        push_json_text(text, key);
        text.push(':');
        write_canonical(field, text);
    }
    text.push('}');
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::record::{Draft, Sealed};

    fn topic() -> Topic {
        Topic::new("t").unwrap()
    }

    fn seal(event: LogEvent, id: EventId, prev_hash: Option<&str>) -> Sealed {
        Draft::new(&topic(), event).unwrap().seal(id, prev_hash)
    }

    fn chain(count: u64) -> Vec<(EventId, LogEvent)> {
        let mut prev_hash: Option<String> = None;
        (1..=count)
            .map(|id| {
                let event = LogEvent::at("k", json!({"n": id}), 5);
                let sealed = seal(event, id, prev_hash.as_deref());
                prev_hash = Some(sealed.hash().to_owned());
                (id, sealed.event())
            })
            .collect()
    }

    fn verify(
        anchor: Option<Link>,
        records: &[(EventId, LogEvent)],
        head: Option<EventId>,
    ) -> EventLogVerificationReport {
        let mut verifier = Verifier::new(&topic(), anchor);
        for (id, event) in records {
            verifier.check(*id, event);
        }
        verifier.finish(head)
    }

    fn errors(records: &[(EventId, LogEvent)]) -> Vec<String> {
        verify(None, records, None).errors
    }

    #[test]
    fn the_hash_is_over_the_canonical_record() {
        let event = LogEvent::at("k", json!({"b": 1, "a": [true, null, "x\n"]}), 7);
        let sealed = seal(event, 1, None);
        let canonical = concat!(
            r#"{"event_id":1,"headers":{"harn.provenance.schema":"harn-eventlog-provenance-v1"},"#,
            r#""kind":"k","occurred_at_ms":7,"payload":{"a":[true,null,"x\n"],"b":1},"topic":"t"}"#
        );
        let digest = Sha256::digest(canonical.as_bytes());
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(sealed.hash(), format!("sha256:{hex}"));
        assert!(
            !sealed.event().headers.contains_key(PREV_HASH_HEADER),
            "the first has nothing before it"
        );
    }

    #[test]
    fn an_unbroken_chain_verifies() {
        let records = chain(3);
        let report = verify(None, &records, Some(3));
        assert!(report.verified);
        assert_eq!(report.event_count, 3);
        assert_eq!(
            report.last_hash.as_ref(),
            records[2].1.headers.get(RECORD_HASH_HEADER)
        );
    }

    #[test]
    fn records_missing_at_the_end_are_found() {
        let records = chain(5);
        assert_eq!(
            verify(None, &records[..3], Some(5)).errors,
            ["events 4 to 5 are missing at the end"]
        );
    }

    #[test]
    fn records_missing_at_the_beginning_are_found() {
        let records = chain(3);
        assert_eq!(
            errors(&records[1..]),
            [
                "event 2: the record before it is missing",
                "event 2: does not follow the record before it",
            ]
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
        rest[0].1 = seal(rest[0].1.clone(), 2, Some(&prev)).event();
        assert_eq!(
            errors(&records),
            ["event 3: does not follow the record before it"]
        );
    }

    #[test]
    fn the_rest_of_a_compacted_topic_verifies_from_its_anchor() {
        let records = chain(4);
        let hash = records[1].1.headers[RECORD_HASH_HEADER].clone();
        let anchor = || Link {
            id: 2,
            hash: Some(hash.clone()),
        };
        assert!(verify(Some(anchor()), &records[2..], Some(4)).verified);
        assert!(!verify(None, &records[2..], Some(4)).verified);
        assert!(!verify(Some(anchor()), &records[3..], Some(4)).verified);
    }
}
