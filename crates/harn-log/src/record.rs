//! A record on its way into a log.
//!
//! ```text
//! LogEvent ──► Draft ──────────► Sealed
//!              JSON, made by     id, hash and place in the chain,
//!              the caller        given by the writer
//! ```
//!
//! There is one writer and there are many callers, so everything about a record that
//! does not depend on its place is worked out before it reaches the writer.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::canonical::{self, Unwritable};
use crate::error::LogError;
use crate::event::LogEvent;
use crate::log::Result;
use crate::name::{EventId, Topic};
use crate::provenance::{
    self, HashedEnd, PREV_HASH_HEADER, RECORD_HASH_HEADER, text_bytes, write_canonical,
};

/// How deep a payload may be nested. Readers give up at 128 levels, of which a record
/// needs a few for itself.
const NESTING_MAX: usize = 100;

/// What is said of a payload that is nested deeper.
const TOO_DEEP: LogError = LogError::TooDeep {
    levels_max: NESTING_MAX,
};

/// The headers after the hash of a record that has none of its own there, as most have.
const ONLY_SCHEMA: &str = "\"harn.provenance.schema\":\"harn-eventlog-provenance-v1\"}";

/// A record without a place, ready to be written: its JSON is made. It is handed over several
/// times and kept until it is written, so it is one pointer, and cheap to clone.
#[derive(Clone)]
pub struct Draft(Arc<Parts>);

/// What a record consists of whatever its place is.
#[derive(Clone)]
struct Parts {
    topic: Topic,
    kind: Cow<'static, str>,
    headers: Headers,
    occurred_at_ms: i64,
    /// The end of what is hashed: everything after the headers, the payload among it.
    hashed_end: String,
    /// Where in it the payload is.
    payload: Range<usize>,
}

/// Headers that are ready to be written. Records of one origin often share them all, so they are
/// made once and are cheap to clone.
#[derive(Clone)]
pub struct Headers(Arc<HeaderParts>);

struct HeaderParts {
    /// Without provenance, sorted by name. There are few, and every open session has some.
    pairs: Box<[(String, String)]>,
    /// JSON of those that come before our own, each with a comma after it.
    json_before: String,
    /// JSON of those that come after the hash, and the end of the headers.
    json_after: Cow<'static, str>,
}

impl Headers {
    /// Makes headers ready. What they say about provenance is ignored.
    pub fn new(headers: BTreeMap<String, String>) -> Self {
        let pairs = headers.into_iter().filter(|(name, _)| !is_ours(name));
        let pairs: Box<[_]> = pairs.collect();
        let is_before = |name: &str| name < provenance::HEADER_PREFIX;
        let mut json_before = String::new();
        for (name, value) in pairs.iter().filter(|(name, _)| is_before(name)) {
            push_header(&mut json_before, name, value);
            json_before.push(',');
        }
        let mut json_after = Cow::Borrowed(ONLY_SCHEMA);
        for (name, value) in pairs.iter().filter(|(name, _)| !is_before(name)) {
            let headers = json_after.to_mut();
            headers.pop(); // What ends them.
            headers.push(',');
            push_header(headers, name, value);
            headers.push('}');
        }
        Self(Arc::new(HeaderParts {
            pairs,
            json_before,
            json_after,
        }))
    }

    /// Their names and values.
    #[cfg(feature = "sqlite")]
    pub(crate) fn pairs(&self) -> &[(String, String)] {
        &self.0.pairs
    }

    /// Whether they are the same object.
    #[cfg(feature = "sqlite")]
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Draft {
    /// Prepares an event for a topic. What it says about its own provenance is ignored.
    ///
    /// # Errors
    /// It could be written, but not be read again.
    pub fn new(topic: &Topic, event: LogEvent) -> Result<Self> {
        // The payload is dropped here, by whoever made it, and not by the writer.
        let (draft, _payload) = Self::split(topic, event)?;
        Ok(draft)
    }

    /// Prepares a record whose payload is no JSON value yet.
    ///
    /// # Errors
    /// The payload is nothing that JSON can say, or could be written but not be read again.
    pub fn encode<T: Serialize + ?Sized>(
        topic: &Topic,
        kind: impl Into<Cow<'static, str>>,
        headers: &Headers,
        occurred_at_ms: i64,
        payload: &T,
    ) -> Result<Self> {
        const PAYLOAD_BYTES: usize = 480;
        let write = |mut end: String| match canonical::write(payload, &mut end, NESTING_MAX) {
            Ok(()) => Ok(end),
            Err(Unwritable::TooDeep) => Err(TOO_DEEP),
            Err(Unwritable::Other(error)) => Err(error.into()),
        };
        let headers = headers.clone();
        let kind = kind.into();
        Self::build(topic, kind, headers, occurred_at_ms, PAYLOAD_BYTES, write)
    }

    /// A record whose payload is JSON that was written by [`new`](Self::new) or
    /// [`encode`](Self::encode).
    #[cfg(feature = "sqlite")]
    pub(crate) fn written(
        topic: &Topic,
        kind: &str,
        headers: Headers,
        occurred_at_ms: i64,
        payload: &str,
    ) -> Self {
        let write = |mut end: String| {
            end.push_str(payload);
            Ok(end)
        };
        let (kind, bytes) = (kind.to_owned().into(), payload.len());
        let draft = Self::build(topic, kind, headers, occurred_at_ms, bytes, write);
        draft.expect("there is nothing left that could fail")
    }

    /// The same as [`new`](Self::new), and the payload as it was.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub(crate) fn split(topic: &Topic, event: LogEvent) -> Result<(Self, Value)> {
        let payload = event.payload;
        if is_deeper_than(&payload, NESTING_MAX) {
            return Err(TOO_DEEP);
        }
        let bytes = text_bytes(&payload);
        let write = |mut end: String| {
            write_canonical(&payload, &mut end);
            Ok(end)
        };
        let headers = Headers::new(event.headers);
        let (kind, at) = (event.kind.into(), event.occurred_at_ms);
        let draft = Self::build(topic, kind, headers, at, bytes, write)?;
        Ok((draft, payload))
    }

    fn build(
        topic: &Topic,
        kind: Cow<'static, str>,
        headers: Headers,
        occurred_at_ms: i64,
        payload_bytes: usize,
        write_payload: impl FnOnce(String) -> Result<String>,
    ) -> Result<Self> {
        let end = HashedEnd {
            topic,
            kind: &kind,
            occurred_at_ms,
        };
        let (hashed_end, payload) = end.write(payload_bytes, write_payload)?;
        Ok(Self(Arc::new(Parts {
            topic: topic.clone(),
            kind,
            headers,
            occurred_at_ms,
            hashed_end,
            payload,
        })))
    }

    /// The topic it is for.
    pub fn topic(&self) -> &Topic {
        &self.0.topic
    }

    /// JSON of its payload, as it will be stored.
    pub fn payload_json(&self) -> &str {
        self.0.payload_json()
    }

    /// The same record with one more field in its payload, an object. Its name sorts behind
    /// those of the others; neither name nor text needs to be escaped.
    #[must_use]
    pub fn with_last_field(mut self, name: &str, text: &str) -> Self {
        let parts = Arc::make_mut(&mut self.0);
        let end = parts.payload.end - 1;
        debug_assert_eq!(&parts.hashed_end[end..parts.payload.end], "}");
        let field = format!(",\"{name}\":\"{text}\"");
        parts.hashed_end.insert_str(end, &field);
        parts.payload.end += field.len();
        self
    }

    /// What it is.
    #[cfg(feature = "sqlite")]
    pub(crate) fn kind(&self) -> &str {
        &self.0.kind
    }

    /// When it happened.
    #[cfg(feature = "sqlite")]
    pub(crate) fn occurred_at_ms(&self) -> i64 {
        self.0.occurred_at_ms
    }

    /// Its headers, without provenance.
    #[cfg(feature = "sqlite")]
    pub(crate) fn headers(&self) -> &Headers {
        &self.0.headers
    }

    /// The record as its author sees it: without provenance.
    pub fn event(&self) -> LogEvent {
        LogEvent {
            kind: self.0.kind.clone().into_owned(),
            payload: self.0.payload_value(),
            headers: self.0.headers.0.pairs.iter().cloned().collect(),
            occurred_at_ms: self.0.occurred_at_ms,
        }
    }

    /// Refuses a record that the backend cannot take.
    pub(crate) fn check_size(&self, bytes_max: usize) -> Result<()> {
        let headers = &self.0.headers.0;
        let headers_bytes = headers.json_before.len() + headers.json_after.len();
        let bytes = self.0.hashed_end.len() + headers_bytes;
        match bytes > bytes_max {
            true => Err(LogError::TooLarge { bytes, bytes_max }),
            false => Ok(()),
        }
    }

    /// Gives the record its place after the one whose hash is `prev_hash`.
    pub(crate) fn seal(self, id: EventId, prev_hash: Option<&str>) -> Sealed {
        const OURS_BYTES: usize = 280;
        let parts = self.0;
        let headers = &parts.headers.0;
        let others = headers.json_before.len() + headers.json_after.len();
        let mut headers_json = String::with_capacity(others + OURS_BYTES);
        headers_json.push('{');
        headers_json.push_str(&headers.json_before);
        if let Some(prev_hash) = prev_hash {
            // Whoever wrote the record before may have had other ideas of a hash.
            push_header(&mut headers_json, PREV_HASH_HEADER, prev_hash);
            headers_json.push(',');
        }
        // The hash covers all headers but itself.
        let hashed = [&*headers_json, &headers.json_after];
        let computed = provenance::hash_of(id, hashed, &parts.hashed_end);
        let computed = computed.as_str();
        push_our_header(&mut headers_json, RECORD_HASH_HEADER, computed);
        let hash_end = headers_json.len() - 1;
        headers_json.push(',');
        headers_json.push_str(&headers.json_after);
        Sealed {
            id,
            hash: hash_end - computed.len()..hash_end,
            headers_json,
            parts,
        }
    }
}

impl Parts {
    fn payload_json(&self) -> &str {
        &self.hashed_end[self.payload.clone()]
    }

    fn payload_value(&self) -> Value {
        let payload = serde_json::from_str(self.payload_json());
        payload.expect("we have written it, and it is not too deep")
    }
}

/// A record with its place.
#[derive(Clone)]
pub(crate) struct Sealed {
    /// Its place.
    pub(crate) id: EventId,
    parts: Arc<Parts>,
    /// JSON of its headers.
    pub(crate) headers_json: String,
    /// Where among the headers its hash is.
    hash: Range<usize>,
}

impl Sealed {
    /// Its hash.
    pub(crate) fn hash(&self) -> &str {
        &self.headers_json[self.hash.clone()]
    }

    /// JSON of its payload.
    pub(crate) fn payload_json(&self) -> &str {
        self.parts.payload_json()
    }

    /// How much it has to say, about.
    #[cfg(feature = "sqlite")]
    pub(crate) fn bytes(&self) -> usize {
        self.payload_json().len() + self.headers_json.len() + self.kind().len()
    }

    /// The record as readers see it. Most records have no reader yet, so putting it
    /// together is left to whoever needs it.
    pub(crate) fn event(&self) -> LogEvent {
        self.event_with(self.parts.payload_value())
    }

    /// The same, with its payload at hand.
    pub(crate) fn event_with(&self, payload: Value) -> LogEvent {
        let headers = serde_json::from_str(&self.headers_json);
        LogEvent {
            kind: self.kind().to_owned(),
            payload,
            headers: headers.expect("we have written them"),
            occurred_at_ms: self.occurred_at_ms(),
        }
    }

    /// Takes the record's place away again.
    #[cfg(feature = "nats")]
    pub(crate) fn unseal(self) -> Draft {
        Draft(self.parts)
    }

    /// The value of one of its headers, provenance apart.
    pub(crate) fn header(&self, name: &str) -> Option<&String> {
        let mut pairs = self.parts.headers.0.pairs.iter();
        let found = pairs.find(|(known, _)| known == name);
        found.map(|(_, value)| value)
    }

    /// What it is.
    pub(crate) fn kind(&self) -> &str {
        &self.parts.kind
    }

    /// When it happened.
    pub(crate) fn occurred_at_ms(&self) -> i64 {
        self.parts.occurred_at_ms
    }

    /// Writes the record as the JSON of a [`LogEvent`].
    pub(crate) fn push_event_json(&self, json: &mut String) {
        json.push_str("{\"kind\":");
        push_json_text(json, self.kind());
        json.push_str(",\"payload\":");
        json.push_str(self.payload_json());
        json.push_str(",\"headers\":");
        json.push_str(&self.headers_json);
        json.push_str(",\"occurred_at_ms\":");
        push_time(json, self.occurred_at_ms());
        json.push('}');
    }
}

/// A record as a subscriber sees it.
pub(crate) type Record = (EventId, LogEvent);

/// What several records are read as.
pub(crate) type Records = Result<Vec<Record>>;

/// Whether only we may write a header.
fn is_ours(name: &str) -> bool {
    name.starts_with(provenance::HEADER_PREFIX)
}

/// Whether a value is nested deeper than so many levels.
fn is_deeper_than(value: &Value, levels: usize) -> bool {
    let is_deeper = |inner: &Value| levels == 0 || is_deeper_than(inner, levels - 1);
    match value {
        Value::Array(items) => items.iter().any(is_deeper) || levels == 0,
        Value::Object(fields) => fields.values().any(is_deeper) || levels == 0,
        _ => false,
    }
}

/// Writes a header as JSON.
pub(crate) fn push_header(json: &mut String, name: &str, value: &str) {
    push_json_text(json, name);
    json.push(':');
    push_json_text(json, value);
}

/// Writes a header of our own, in which nothing has to be escaped.
fn push_our_header(json: &mut String, name: &str, value: &str) {
    for part in ["\"", name, "\":\"", value, "\""] {
        json.push_str(part);
    }
}

/// Writes a text as JSON.
pub(crate) fn push_json_text(json: &mut String, text: &str) {
    if is_plain_text(text) {
        json.push('"');
        json.push_str(text);
        json.push('"');
        return;
    }
    json.push_str(&serde_json::Value::from(text).to_string());
}

/// Whether nothing in a text has to be escaped in JSON.
pub(crate) fn is_plain_text(text: &str) -> bool {
    let bytes = text.as_bytes();
    let Some(last) = bytes.last_chunk::<8>() else {
        let is_special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
        return !bytes.iter().any(is_special);
    };
    // Most texts are short, so eight bytes are looked at together; the last ones may be looked at
    // twice.
    let (words, _rest) = bytes.as_chunks::<8>();
    let mut found = special_bytes(u64::from_ne_bytes(*last));
    for word in words {
        found |= special_bytes(u64::from_ne_bytes(*word));
    }
    found == 0
}

/// Not zero if one of eight bytes has to be escaped: a control character, a quote or a backslash.
fn special_bytes(word: u64) -> u64 {
    const EACH: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = EACH << 7;
    // A byte that is smaller borrows from its highest bit, unless it has that itself.
    let smaller = |word: u64, than: u8| word.wrapping_sub(EACH * u64::from(than)) & !word;
    let equal = |byte: u8| smaller(word ^ (EACH * u64::from(byte)), 1);
    (smaller(word, 0x20) | equal(b'"') | equal(b'\\')) & HIGH
}

/// Writes a number as JSON.
pub(crate) fn push_number(json: &mut String, number: impl std::fmt::Display) {
    write!(json, "{number}").expect("writing to a string cannot fail");
}

/// Writes a whole number as JSON. There are several in each record, and formatting
/// machinery would cost more than the digits.
pub(crate) fn push_whole_number(json: &mut String, number: u64) {
    json.push_str(itoa::Buffer::new().format(number));
}

/// Writes a time, which is rarely before 1970, as JSON.
pub(crate) fn push_time(json: &mut String, time_ms: i64) {
    match u64::try_from(time_ms) {
        Ok(time_ms) => push_whole_number(json, time_ms),
        Err(_) => push_number(json, time_ms),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::provenance::{SCHEMA, SCHEMA_HEADER};

    #[test]
    fn the_json_of_a_sealed_record_reads_back_as_the_record() {
        let topic = Topic::new("t").unwrap();
        let event = LogEvent::at("k\"1", json!({"b": [1.5, "ä\n"], "a": null}), -3)
            .with_header("name\u{1}", "va\\lue");
        let sealed = Draft::new(&topic, event).unwrap();
        let sealed = sealed.seal(7, Some("sha256:00"));
        let mut text = String::new();
        sealed.push_event_json(&mut text);
        let read: LogEvent = serde_json::from_str(&text).unwrap();
        assert_eq!(read, sealed.event());
        assert_eq!(read.headers[RECORD_HASH_HEADER], sealed.hash());
        assert_eq!(read.headers[PREV_HASH_HEADER], "sha256:00");
    }

    #[test]
    fn the_schema_is_written_as_any_header() {
        let mut header = String::new();
        push_our_header(&mut header, SCHEMA_HEADER, SCHEMA);
        assert_eq!(ONLY_SCHEMA, header + "}");
    }

    #[test]
    fn headers_are_sorted_around_our_own() {
        let topic = Topic::new("t").unwrap();
        let event = LogEvent::at("k", json!(1), 0)
            .with_header("z", "1")
            .with_header("a", "2")
            .with_header("harn.provenance.zzz", "forged")
            .with_header("harn.provenance", "before")
            .with_header("harn.provenancf", "after");
        let sealed = Draft::new(&topic, event).unwrap().seal(1, Some("p"));
        let as_json = serde_json::to_string(&sealed.event().headers).unwrap();
        assert_eq!(sealed.headers_json, as_json);
        let names: Vec<_> = sealed.event().headers.into_keys().collect();
        assert_eq!(
            names,
            [
                "a",
                "harn.provenance",
                PREV_HASH_HEADER,
                RECORD_HASH_HEADER,
                SCHEMA_HEADER,
                "harn.provenancf",
                "z"
            ]
        );
    }

    #[test]
    fn a_payload_that_could_not_be_read_again_is_refused() {
        let topic = Topic::new("t").unwrap();
        let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
        let draft = |levels| Draft::new(&topic, LogEvent::at("k", nested(levels), 0));
        assert!(draft(NESTING_MAX).is_ok());
        let Err(error) = draft(NESTING_MAX + 1) else {
            panic!("it was taken");
        };
        assert_eq!(
            error.to_string(),
            "a payload may be nested 100 levels deep and no deeper"
        );
    }

    #[test]
    fn whole_numbers_are_written_like_any_other() {
        let written = |time_ms| {
            let mut json = String::new();
            push_time(&mut json, time_ms);
            json
        };
        for number in [0, 1, 9, 10, 99, 1_700_000_000_000, i64::MAX, -1, i64::MIN] {
            assert_eq!(written(number), number.to_string());
        }
        let mut json = String::new();
        push_whole_number(&mut json, u64::MAX);
        assert_eq!(json, u64::MAX.to_string());
    }

    #[test]
    fn texts_are_escaped_as_json_wants_it() {
        for text in [
            "",
            "plain",
            "quo\"te",
            "back\\slash",
            "line\nbreak",
            "\u{7f}ä\u{2028}",
        ] {
            let mut json = String::new();
            push_json_text(&mut json, text);
            assert_eq!(json, serde_json::Value::from(text).to_string());
        }
    }

    #[test]
    fn every_character_that_is_escaped_is_seen_wherever_it_is() {
        for character in (0..=0x17f).filter_map(char::from_u32) {
            let is_plain = character >= ' ' && !matches!(character, '"' | '\\');
            for before in 0..17 {
                for after in [0, 1, 9] {
                    let text = format!("{}{character}{}", "ü".repeat(before), "~".repeat(after));
                    assert_eq!(is_plain_text(&text), is_plain, "{text:?}");
                }
            }
        }
    }
}
