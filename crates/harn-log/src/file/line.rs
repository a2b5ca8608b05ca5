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
//!
//! Records that were appended together are there together or not at all. All but the
//! last of them say after the id how many are to come, as in `"more":2`; a batch whose
//! last record is missing has not happened.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::event::LogEvent;
use crate::log::LogEventBytes;
use crate::name::EventId;
use crate::record::{Sealed, push_whole_number};

/// What comes before the id.
const START: &str = "{\"id\":";
/// What comes before the number of records that follow in a batch.
const MORE: &str = ",\"more\":";
/// What comes before the event.
const EVENT: &str = ",\"event\":";
/// Ids from here on are nobody's; counting on from them would overflow.
pub(super) const ID_MAX: EventId = EventId::MAX / 2;
/// What comes before the checksum.
const SUM_START: &str = ",\"crc\":\"";
/// What comes after it.
const SUM_END: &str = "\"}";
/// Digits of the checksum.
const SUM_DIGITS: usize = 8;
/// The end of every line we write, without the line break.
const SUM_BYTES: usize = SUM_START.len() + SUM_DIGITS + SUM_END.len();

/// Appends the line of a record, which is followed by `more` of its batch.
pub(super) fn push(text: &mut String, sealed: &Sealed, more: usize) {
    let start = text.len();
    text.push_str(START);
    push_whole_number(text, sealed.id);
    if more > 0 {
        text.push_str(MORE);
        push_whole_number(text, more as u64);
    }
    text.push_str(EVENT);
    sealed.push_event_json(text);
    push_sum(text, start);
    text.push('\n');
}

/// Ends a JSON object that begins at `start` and lacks its last brace with a checksum.
fn push_sum(text: &mut String, start: usize) {
    let sum = checksum(&text.as_bytes()[start..]);
    text.push_str(SUM_START);
    text.push_str(std::str::from_utf8(&sum).expect("digits are text"));
    text.push_str(SUM_END);
}

/// A small file: a JSON object with a checksum at its end.
pub(super) fn to_summed_json(value: &impl Serialize) -> serde_json::Result<String> {
    let mut text = serde_json::to_string(value)?;
    assert_eq!(text.pop(), Some('}'), "small files hold objects");
    push_sum(&mut text, 0);
    Ok(text)
}

/// Reads a small file. One of another writer needs no checksum.
///
/// # Errors
/// What is wrong with it.
pub(super) fn from_summed_json<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    let text = std::str::from_utf8(text).map_err(|_| "it is not text".to_owned())?;
    let parsed = match summed(text)? {
        Some(summed) => serde_json::from_str(&format!("{summed}}}")),
        None => serde_json::from_str(text),
    };
    parsed.map_err(|error| error.to_string())
}

/// Reads a line, which is given without its line break.
///
/// # Errors
/// What is wrong with it.
pub(super) fn parse<P: Payload>(line: &[u8]) -> Result<Stored<P>, String> {
    let text = std::str::from_utf8(line).map_err(|_| "it is not text".to_owned())?;
    let stored = match summed(text)? {
        Some(summed) => {
            let (id, more, event) = split(summed).ok_or("it is not a record")?;
            let event = serde_json::from_str(event).map_err(|error| error.to_string())?;
            Stored { id, more, event }
        }
        None => {
            let line: Plain<P> = serde_json::from_str(text).map_err(|error| error.to_string())?;
            Stored {
                id: line.id,
                more: 0,
                event: line.event,
            }
        }
    };
    match stored.id {
        1..ID_MAX => Ok(stored),
        id => Err(format!("{id} is not an id")),
    }
}

/// The id of a line; `None` if it is not a record.
pub(super) fn id_of(line: &[u8]) -> Option<EventId> {
    let stored = parse::<Box<RawValue>>(line).ok()?;
    Some(stored.id)
}

/// A record as it is stored.
pub(super) struct Stored<P> {
    pub(super) id: EventId,
    /// How many records of its batch are to come.
    pub(super) more: usize,
    pub(super) event: Event<P>,
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

/// The id, the number of records to come and the event of a line without its checksum.
fn split(summed: &str) -> Option<(EventId, usize, &str)> {
    let rest = summed.strip_prefix(START)?;
    let (start, event) = rest.split_once(EVENT)?;
    let (id, more) = match start.split_once(MORE) {
        Some((id, more)) => (id, whole_number(more)?),
        None => (start, 0),
    };
    Some((whole_number(id)?, more, event))
}

/// A number as we write it, and as JSON knows it: without a sign, and without zeros before it.
fn whole_number<T: FromStr>(digits: &str) -> Option<T> {
    let is_plain = digits.starts_with(|first: char| first.is_ascii_digit());
    let is_shortest = digits == "0" || !digits.starts_with('0');
    digits.parse().ok().filter(|_| is_plain && is_shortest)
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
pub(super) trait Payload: DeserializeOwned {}

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
        line_of_batch(0)
    }

    fn line_of_batch(more: usize) -> String {
        let event = LogEvent::at("k", json!({"n": [1, "ä\n"]}), 5).with_header("h", "v");
        let topic = Topic::new("t").unwrap();
        let mut text = String::new();
        push(
            &mut text,
            &Draft::new(&topic, event).unwrap().seal(12, None),
            more,
        );
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
        let stored = parse::<Value>(line.as_bytes()).unwrap();
        assert_eq!((stored.id, stored.more), (12, 0));
        assert_eq!(stored.event.kind, "k");
        assert_eq!(stored.event.headers["h"], "v");
        assert_eq!(id_of(line.as_bytes()), Some(12));
    }

    #[test]
    fn a_line_says_how_many_of_its_batch_are_to_come() {
        let line = line_of_batch(3);
        let value: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["more"], 3);
        let stored = parse::<Value>(line.as_bytes()).unwrap();
        assert_eq!((stored.id, stored.more), (12, 3));
    }

    #[test]
    fn ids_that_cannot_be_counted_on_from_are_refused() {
        for id in [0, u64::MAX, u64::MAX / 2] {
            let line = format!(
                r#"{{"id":{id},"event":{{"kind":"k","payload":null,"occurred_at_ms":1}}}}"#
            );
            assert!(parse::<Value>(line.as_bytes()).is_err(), "{id}");
        }
    }

    #[test]
    fn numbers_that_are_not_json_are_refused() {
        let with_numbers = |numbers: &str| {
            let event = r#"{"kind":"k","payload":null,"occurred_at_ms":1}"#;
            let mut text = format!(r#"{{"id":{numbers},"event":{event}"#);
            push_sum(&mut text, 0);
            parse::<Value>(text.as_bytes()).map(|stored| (stored.id, stored.more))
        };
        assert_eq!(with_numbers("12"), Ok((12, 0)));
        assert_eq!(with_numbers(r#"12,"more":3"#), Ok((12, 3)));
        for numbers in [
            "+12",
            "012",
            " 12",
            "",
            r#"12,"more":+3"#,
            r#"12,"more":03"#,
        ] {
            assert!(with_numbers(numbers).is_err(), "{numbers}");
        }
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
    fn no_changed_byte_of_a_small_file_goes_unnoticed() {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Small {
            cursor: u64,
        }
        let text = to_summed_json(&Small { cursor: 7 }).unwrap();
        let read = from_summed_json::<Small>;
        assert_eq!(read(text.as_bytes()), Ok(Small { cursor: 7 }));
        assert_eq!(read(br#"{ "cursor": 7 }"#), Ok(Small { cursor: 7 }));
        for at in 0..text.len() {
            for bit in 0..8 {
                let mut damaged = text.clone().into_bytes();
                damaged[at] ^= 1 << bit;
                assert!(read(&damaged).is_err(), "byte {at}, bit {bit}");
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
        let stored = parse::<Value>(line).unwrap();
        assert_eq!((stored.id, stored.event.payload), (3, Value::Null));
    }
}
