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
use std::fmt::Write;
use std::ops::Range;

use serde_json::Value;

use crate::error::LogError;
use crate::event::LogEvent;
use crate::log::Result;
use crate::name::{EventId, Topic};
use crate::provenance::{self, PREV_HASH_HEADER, RECORD_HASH_HEADER};

/// How deep a payload may be nested. Readers give up at 128 levels, of which a record
/// needs a few for itself.
const NESTING_MAX: usize = 100;

/// The headers after the hash of a record that has none of its own there, as most have.
const ONLY_SCHEMA: &str = "\"harn.provenance.schema\":\"harn-eventlog-provenance-v1\"}";

/// A record without a place. It is handed over several times, so it is one pointer.
pub(crate) struct Draft(Box<Parts>);

/// What a record consists of whatever its place is.
#[derive(Clone)]
struct Parts {
    /// The record, without its payload and without provenance.
    frame: LogEvent,
    /// JSON of the headers that come before our own, each with a comma after it.
    headers_before: String,
    /// JSON of the headers that come after the hash, and the end of the headers.
    headers_after: Cow<'static, str>,
    /// The end of what is hashed: everything after the headers, the payload among it.
    hashed_end: String,
    /// Where in it the payload is.
    payload: Range<usize>,
}

impl Draft {
    /// Prepares an event for a topic. What it says about its own provenance is ignored.
    ///
    /// # Errors
    /// It could be written, but not be read again.
    pub(crate) fn new(topic: &Topic, event: LogEvent) -> Result<Self> {
        // The payload is dropped here, by whoever made it, and not by the writer.
        let (draft, _payload) = Self::split(topic, event)?;
        Ok(draft)
    }

    /// The same, and the payload as it was.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub(crate) fn split(topic: &Topic, mut event: LogEvent) -> Result<(Self, Value)> {
        let payload = std::mem::take(&mut event.payload);
        event.headers.retain(|name, _| !is_ours(name));
        Ok((Self::build(topic, event, &payload)?, payload))
    }

    /// The same for an event that is still needed.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub(crate) fn of(topic: &Topic, event: &LogEvent) -> Result<Self> {
        let headers = event.headers.iter().filter(|(name, _)| !is_ours(name));
        let frame = LogEvent {
            kind: event.kind.clone(),
            payload: Value::Null,
            headers: headers
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            occurred_at_ms: event.occurred_at_ms,
        };
        Self::build(topic, frame, &event.payload)
    }

    fn build(topic: &Topic, frame: LogEvent, payload: &Value) -> Result<Self> {
        if is_deeper_than(payload, NESTING_MAX) {
            return Err(LogError::TooDeep {
                levels_max: NESTING_MAX,
            });
        }
        let is_before = |name: &str| name < provenance::HEADER_PREFIX;
        let mut headers_before = String::new();
        for (name, value) in frame.headers.iter().filter(|(name, _)| is_before(name)) {
            push_header(&mut headers_before, name, value);
            headers_before.push(',');
        }
        let mut headers_after = Cow::Borrowed(ONLY_SCHEMA);
        for (name, value) in frame.headers.iter().filter(|(name, _)| !is_before(name)) {
            let headers = headers_after.to_mut();
            headers.pop(); // What ends them.
            headers.push(',');
            push_header(headers, name, value);
            headers.push('}');
        }
        let (hashed_end, payload) = provenance::hashed_end(topic, &frame, payload);
        Ok(Self(Box::new(Parts {
            frame,
            headers_before,
            headers_after,
            hashed_end,
            payload,
        })))
    }

    /// Refuses a record that the backend cannot take.
    pub(crate) fn check_size(&self, bytes_max: usize) -> Result<()> {
        let parts = &self.0;
        let headers = parts.headers_before.len() + parts.headers_after.len();
        let bytes = parts.hashed_end.len() + headers;
        match bytes > bytes_max {
            true => Err(LogError::TooLarge { bytes, bytes_max }),
            false => Ok(()),
        }
    }

    /// Gives the record its place after the one whose hash is `prev_hash`.
    pub(crate) fn seal(self, id: EventId, prev_hash: Option<&str>) -> Sealed {
        const OURS_BYTES: usize = 280;
        let parts = self.0;
        let others = parts.headers_before.len() + parts.headers_after.len();
        let mut headers_json = String::with_capacity(others + OURS_BYTES);
        headers_json.push('{');
        headers_json.push_str(&parts.headers_before);
        if let Some(prev_hash) = prev_hash {
            // Whoever wrote the record before may have had other ideas of a hash.
            push_header(&mut headers_json, PREV_HASH_HEADER, prev_hash);
            headers_json.push(',');
        }
        // The hash covers all headers but itself.
        let hashed = [&*headers_json, &parts.headers_after];
        let computed = provenance::hash_of(id, hashed, &parts.hashed_end);
        let computed = computed.as_str();
        push_our_header(&mut headers_json, RECORD_HASH_HEADER, computed);
        let hash_end = headers_json.len() - 1;
        headers_json.push(',');
        headers_json.push_str(&parts.headers_after);
        Sealed {
            id,
            hash: hash_end - computed.len()..hash_end,
            headers_json,
            parts,
        }
    }
}

/// A record with its place.
#[derive(Clone)]
pub(crate) struct Sealed {
    /// Its place.
    pub(crate) id: EventId,
    parts: Box<Parts>,
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
        &self.parts.hashed_end[self.parts.payload.clone()]
    }

    /// The record as readers see it. Most records have no reader yet, so putting it
    /// together is left to whoever needs it.
    pub(crate) fn event(&self) -> LogEvent {
        let payload = serde_json::from_str(self.payload_json());
        self.event_with(payload.expect("we have written it, and it is not too deep"))
    }

    /// The same, with its payload at hand.
    pub(crate) fn event_with(&self, payload: Value) -> LogEvent {
        let headers = serde_json::from_str(&self.headers_json);
        LogEvent {
            kind: self.parts.frame.kind.clone(),
            payload,
            headers: headers.expect("we have written them"),
            occurred_at_ms: self.parts.frame.occurred_at_ms,
        }
    }

    /// Takes the record's place away again.
    #[cfg(feature = "nats")]
    pub(crate) fn unseal(self, topic: &Topic) -> Draft {
        let draft = Draft::new(topic, self.event());
        draft.expect("what was taken once is taken again")
    }

    /// A header by which it can be found, if it has it.
    #[cfg(feature = "sqlite")]
    pub(crate) fn key(&self, name: &str) -> Option<(&String, &String)> {
        self.parts.frame.headers.get_key_value(name)
    }

    /// The record without its payload and without provenance.
    pub(crate) fn frame(&self) -> &LogEvent {
        &self.parts.frame
    }

    /// Writes the record as the JSON of a [`LogEvent`].
    pub(crate) fn push_event_json(&self, json: &mut String) {
        json.push_str("{\"kind\":");
        push_json_text(json, &self.parts.frame.kind);
        json.push_str(",\"payload\":");
        json.push_str(self.payload_json());
        json.push_str(",\"headers\":");
        json.push_str(&self.headers_json);
        json.push_str(",\"occurred_at_ms\":");
        push_time(json, self.parts.frame.occurred_at_ms);
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
    // Looks at all bytes without a way out in between, which the compiler turns into
    // wide instructions.
    let is_special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    let has_special = text
        .bytes()
        .fold(false, |found, byte| found | is_special(byte));
    if !has_special {
        json.push('"');
        json.push_str(text);
        json.push('"');
        return;
    }
    json.push_str(&serde_json::Value::from(text).to_string());
}

/// Writes a number as JSON.
pub(crate) fn push_number(json: &mut String, number: impl std::fmt::Display) {
    write!(json, "{number}").expect("writing to a string cannot fail");
}

/// Writes a whole number as JSON. There are several in each record, and formatting
/// machinery would cost more than the digits.
pub(crate) fn push_whole_number(json: &mut String, number: u64) {
    json.push_str(decimal(number, &mut [b'0'; DIGITS_MAX]));
}

/// As many digits as a whole number can have.
pub(crate) const DIGITS_MAX: usize = 20;

/// A whole number in decimal, written into the room that is given for it.
pub(crate) fn decimal(number: u64, digits: &mut [u8; DIGITS_MAX]) -> &str {
    let (mut rest, mut start) = (number, DIGITS_MAX - 1);
    loop {
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
        start -= 1;
    }
    std::str::from_utf8(&digits[start..]).expect("digits are text")
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
}
