//! How a record looks in a file.
//!
//! ```json
//! {"id":1,"event":{"kind":"placed","payload":{"n":7},"headers":{},"occurred_at_ms":5},"crc":"1f2e3d4c"}
//! ```
//!
//! One line each, so that a person can read a topic with `jq` and a program can find
//! its way from any byte: a line break never occurs inside a record. The checksum is
//! over everything before it. Lines without one come from other writers; they are
//! taken if they have exactly an id and an event.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::event::LogEvent;
use crate::log::LogEventBytes;
use crate::name::EventId;
use crate::record::{Sealed, push_number};

/// What comes before the id.
const START: &str = "{\"id\":";
/// What comes before the checksum.
const SUM_START: &str = ",\"crc\":\"";
/// What comes after it.
const SUM_END: &str = "\"}";
/// Digits of the checksum.
const SUM_DIGITS: usize = 8;
/// The end of every line we write, without the line break.
const SUM_BYTES: usize = SUM_START.len() + SUM_DIGITS + SUM_END.len();

/// Appends the line of a record.
pub(super) fn push(text: &mut String, sealed: &Sealed) {
    let start = text.len();
    text.push_str(START);
    push_number(text, sealed.id);
    text.push_str(",\"event\":");
    sealed.push_event_json(text);
    let sum = checksum(&text.as_bytes()[start..]);
    text.push_str(SUM_START);
    text.extend(sum.map(char::from));
    text.push_str(SUM_END);
    text.push('\n');
}

/// Reads a line, which is given without its line break.
///
/// # Errors
/// What is wrong with it.
pub(super) fn parse<P: Payload>(line: &[u8]) -> Result<(EventId, Event<P>), String> {
    let text = std::str::from_utf8(line).map_err(|_| "it is not text".to_owned())?;
    let Some(summed) = summed(text)? else {
        let line: Plain<P> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        return Ok((line.id, line.event));
    };
    let (id, event) = split(summed).ok_or("it is not a record")?;
    let event = serde_json::from_str(event).map_err(|error| error.to_string())?;
    Ok((id, event))
}

/// The id of a line that may be cut off after it; `None` if this is not a line.
pub(super) fn peek_id(line: &[u8]) -> Option<EventId> {
    let rest = line.strip_prefix(START.as_bytes())?;
    let digits = rest.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()
}

/// The part of a line that its checksum is over; `None` if it has no checksum.
fn summed(text: &str) -> Result<Option<&str>, String> {
    let Some(split) = text.len().checked_sub(SUM_BYTES) else {
        return Ok(None);
    };
    let Some((summed, end)) = text.split_at_checked(split) else {
        return Ok(None);
    };
    let digits = end.strip_prefix(SUM_START);
    let Some(digits) = digits.and_then(|end| end.strip_suffix(SUM_END)) else {
        return Ok(None);
    };
    // Compared as text: there is one way to write a checksum.
    if digits.as_bytes() != checksum(summed.as_bytes()) {
        return Err("its checksum is wrong".to_owned());
    }
    Ok(Some(summed))
}

/// CRC-32 as eight hexadecimal digits.
pub(super) fn checksum(bytes: &[u8]) -> [u8; SUM_DIGITS] {
    let sum = crc32fast::hash(bytes);
    std::array::from_fn(|at| {
        let digit = (sum >> (4 * (SUM_DIGITS - 1 - at))) & 15;
        b"0123456789abcdef"[digit as usize]
    })
}

/// The id and the event of a line without its checksum.
fn split(summed: &str) -> Option<(EventId, &str)> {
    let rest = summed.strip_prefix(START)?;
    let (id, event) = rest.split_once(",\"event\":")?;
    Some((id.parse().ok()?, event))
}

/// A line without a checksum.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(bound = "P: Payload")]
struct Plain<P> {
    id: EventId,
    event: Event<P>,
}

/// An event whose payload is a value, or left as text.
#[derive(Deserialize)]
#[serde(bound = "P: Payload")]
pub(super) struct Event<P> {
    pub(super) kind: String,
    pub(super) payload: P,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    pub(super) occurred_at_ms: i64,
}

/// What a payload can be read as.
pub(super) trait Payload: serde::de::DeserializeOwned {}

impl Payload for Value {}
impl Payload for Box<RawValue> {}

impl From<Event<Value>> for LogEvent {
    fn from(event: Event<Value>) -> Self {
        Self {
            kind: event.kind,
            payload: event.payload,
            headers: event.headers,
            occurred_at_ms: event.occurred_at_ms,
        }
    }
}

impl From<Event<Box<RawValue>>> for LogEventBytes {
    fn from(event: Event<Box<RawValue>>) -> Self {
        Self {
            kind: event.kind,
            payload: String::from(Box::<str>::from(event.payload)).into_bytes(),
            headers: event.headers,
            occurred_at_ms: event.occurred_at_ms,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::name::Topic;
    use crate::record::Draft;

    fn line() -> String {
        let event = LogEvent::at("k", json!({"n": [1, "ä\n"]}), 5).with_header("h", "v");
        let topic = Topic::new("t").unwrap();
        let mut text = String::new();
        push(&mut text, &Draft::new(&topic, event).seal(12, None));
        assert_eq!(text.pop(), Some('\n'));
        text
    }

    #[test]
    fn a_line_is_json_with_the_event_and_a_checksum() {
        let line = line();
        let value: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["id"], 12);
        assert_eq!(value["event"]["payload"], json!({"n": [1, "ä\n"]}));
        assert_eq!(value["crc"].as_str().unwrap().len(), 8);
        let (id, event) = parse::<Value>(line.as_bytes()).unwrap();
        assert_eq!((id, event.kind.as_str()), (12, "k"));
        assert_eq!(event.headers["h"], "v");
        assert_eq!(peek_id(line.as_bytes()), Some(12));
    }

    #[test]
    fn no_changed_byte_goes_unnoticed() {
        let line = line().into_bytes();
        for at in 0..line.len() {
            for bit in 0..8 {
                let mut damaged = line.clone();
                damaged[at] ^= 1 << bit;
                assert!(parse::<Value>(&damaged).is_err(), "byte {at}, bit {bit}");
            }
        }
    }

    #[test]
    fn no_cut_line_is_taken_for_a_record() {
        let line = line();
        for end in 0..line.len() {
            assert!(parse::<Value>(&line.as_bytes()[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn a_line_of_another_writer_needs_no_checksum() {
        let line = br#"{"id": 3, "event": {"kind": "k", "payload": null, "headers": {}, "occurred_at_ms": 1}}"#;
        let (id, event) = parse::<Value>(line).unwrap();
        assert_eq!((id, event.payload), (3, Value::Null));
    }
}
