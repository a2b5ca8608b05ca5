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

use std::fmt::Write;

use serde_json::Value;

use crate::error::LogError;
use crate::event::LogEvent;
use crate::log::Result;
use crate::name::{EventId, Topic};
use crate::provenance;

/// How deep a payload may be nested. Readers give up at 128 levels, of which a record
/// needs a few for itself.
const NESTING_MAX: usize = 100;

/// A record without a place.
pub(crate) struct Draft {
    event: LogEvent,
    /// Canonical JSON of the payload.
    payload_json: String,
    /// The end of what is hashed: everything after the headers.
    hashed_end: String,
}

impl Draft {
    /// Prepares an event for a topic.
    ///
    /// # Errors
    /// It could be written, but not be read again.
    pub(crate) fn new(topic: &Topic, event: LogEvent) -> Result<Self> {
        if is_deeper_than(&event.payload, NESTING_MAX) {
            return Err(LogError::TooDeep {
                levels_max: NESTING_MAX,
            });
        }
        Ok(Self::of_readable(topic, event))
    }

    /// Prepares an event that has been read and can therefore be read.
    pub(crate) fn of_readable(topic: &Topic, event: LogEvent) -> Self {
        let payload_json = provenance::canonical(&event.payload);
        let mut hashed_end = String::with_capacity(payload_json.len() + 128);
        hashed_end.push_str(",\"kind\":");
        push_json_text(&mut hashed_end, &event.kind);
        hashed_end.push_str(",\"occurred_at_ms\":");
        push_number(&mut hashed_end, event.occurred_at_ms);
        hashed_end.push_str(",\"payload\":");
        hashed_end.push_str(&payload_json);
        hashed_end.push_str(",\"topic\":");
        push_json_text(&mut hashed_end, topic.as_str());
        hashed_end.push('}');
        Self {
            event,
            payload_json,
            hashed_end,
        }
    }

    /// The end of what is hashed.
    pub(crate) fn hashed_end(&self) -> &str {
        &self.hashed_end
    }

    /// Refuses a record that the backend cannot take.
    pub(crate) fn check_size(&self, bytes_max: usize) -> Result<()> {
        let headers = self.event.headers.iter();
        let headers: usize = headers.map(|(name, value)| name.len() + value.len()).sum();
        let bytes = self.hashed_end.len() + headers;
        match bytes > bytes_max {
            true => Err(LogError::TooLarge { bytes, bytes_max }),
            false => Ok(()),
        }
    }

    /// Adds a header, or replaces the one of this name.
    pub(crate) fn set_header(&mut self, name: &str, value: &str) {
        let (name, value) = (name.to_owned(), value.to_owned());
        self.event.headers.insert(name, value);
    }

    /// Gives the record its place after the one whose hash is `prev_hash`.
    pub(crate) fn seal(self, id: EventId, prev_hash: Option<&str>) -> Sealed {
        let mut event = self.event;
        let headers_json = provenance::stamp(&mut event.headers, id, prev_hash, &self.hashed_end);
        Sealed {
            id,
            event,
            payload_json: self.payload_json,
            headers_json,
        }
    }
}

/// A record with its place.
pub(crate) struct Sealed {
    /// Its place.
    pub(crate) id: EventId,
    /// The record as readers see it.
    pub(crate) event: LogEvent,
    /// JSON of its payload.
    pub(crate) payload_json: String,
    /// JSON of its headers.
    pub(crate) headers_json: String,
}

impl Sealed {
    /// The record's hash.
    pub(crate) fn hash(&self) -> &str {
        let hash = self.event.headers.get(provenance::RECORD_HASH_HEADER);
        hash.expect("sealing a record gives it a hash")
    }

    /// Writes the record as the JSON of a [`LogEvent`].
    pub(crate) fn push_event_json(&self, json: &mut String) {
        json.push_str("{\"kind\":");
        push_json_text(json, &self.event.kind);
        json.push_str(",\"payload\":");
        json.push_str(&self.payload_json);
        json.push_str(",\"headers\":");
        json.push_str(&self.headers_json);
        json.push_str(",\"occurred_at_ms\":");
        push_number(json, self.event.occurred_at_ms);
        json.push('}');
    }
}

/// A record as a subscriber sees it.
pub(crate) type Record = (EventId, LogEvent);

/// What several records are read as.
pub(crate) type Records = Result<Vec<Record>>;

/// Whether a value is nested deeper than so many levels.
fn is_deeper_than(value: &Value, levels: usize) -> bool {
    let is_deeper = |inner: &Value| levels == 0 || is_deeper_than(inner, levels - 1);
    match value {
        Value::Array(items) => items.iter().any(is_deeper) || levels == 0,
        Value::Object(fields) => fields.values().any(is_deeper) || levels == 0,
        _ => false,
    }
}

/// Writes a text as JSON.
pub(crate) fn push_json_text(json: &mut String, text: &str) {
    let is_plain = |byte: u8| byte >= 0x20 && byte != b'"' && byte != b'\\';
    if text.bytes().all(is_plain) {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_json_of_a_sealed_record_reads_back_as_the_record() {
        let topic = Topic::new("t").unwrap();
        let event = LogEvent::at("k\"1", json!({"b": [1.5, "ä\n"], "a": null}), -3)
            .with_header("name\u{1}", "va\\lue");
        let sealed = Draft::new(&topic, event)
            .unwrap()
            .seal(7, Some("sha256:00"));
        let mut text = String::new();
        sealed.push_event_json(&mut text);
        let read: LogEvent = serde_json::from_str(&text).unwrap();
        assert_eq!(read, sealed.event);
        assert_eq!(read.headers[provenance::RECORD_HASH_HEADER], sealed.hash());
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
