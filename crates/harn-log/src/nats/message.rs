//! Records as messages.
//!
//! ```text
//! Nats-Msg-Id                  who publishes it, and a number
//! Nats-Expected-Last-Sequence  its id - 1: the stream takes it there or not at all
//! Nats-Expected-Last-Msg-Id    instead, while the record before is on its way
//! Harn-Batch                   2/5 for the second of five that belong together
//!
//! {"kind":…,"payload":…,"headers":…,"occurred_at_ms":…}
//! ```
//!
//! The hash of a record would not do as the id of its message: two who append the
//! same record at the same place have the same hash, and the server would take one
//! for a repetition of the other.
//!
//! The first message of a batch carries the other records as further lines. Whoever
//! finds a batch that is not complete can complete it with them; see [`head`](super::head).

use async_nats::header::{
    NATS_EXPECTED_LAST_MESSAGE_ID, NATS_EXPECTED_LAST_SEQUENCE, NATS_MESSAGE_ID,
};
use async_nats::{HeaderMap, HeaderValue};

use super::error::{Cause, NatsError, Result};
use crate::error::LogError;
use crate::event::LogEvent;
use crate::name::{EventId, Topic};
use crate::provenance::RECORD_HASH_HEADER;
use crate::record::Sealed;

/// Names the place of a record in its batch.
const BATCH_HEADER: &str = "Harn-Batch";
/// What the headers of a message need at most, with their names.
const HEADER_BYTES_MAX: usize = 512;

/// How sure a writer is of the record before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Before<'a> {
    /// It is stored, so its sequence says everything.
    Stored,
    /// It is on its way in the message of this id. Somebody else's record could get
    /// its sequence, so the stream compares the id.
    OnItsWay(&'a str),
}

/// The place of a record in its batch. Both count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) number: u64,
    pub(super) of: u64,
}

impl Place {
    pub(super) fn is_last(self) -> bool {
        self.number >= self.of
    }

    fn parse(text: &str) -> Option<Self> {
        let (number, of) = text.split_once('/')?;
        let (number, of) = (number.parse().ok()?, of.parse().ok()?);
        (1 <= number && number <= of).then_some(Self { number, of })
    }
}

/// Who has published a message.
pub(super) fn writer(headers: &HeaderMap) -> &str {
    message_id(headers)
        .split_once('.')
        .map_or("", |(writer, _)| writer)
}

/// What a message is called.
pub(super) fn message_id(headers: &HeaderMap) -> &str {
    headers.get(NATS_MESSAGE_ID).map_or("", |id| id.as_str())
}

/// The headers of a record's message.
pub(super) fn headers(
    id: EventId,
    message_id: &str,
    before: Before<'_>,
    place: Option<Place>,
) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(NATS_MESSAGE_ID, message_id);
    match before {
        Before::Stored => {
            headers.insert(NATS_EXPECTED_LAST_SEQUENCE, HeaderValue::from(id - 1));
        }
        Before::OnItsWay(before) => headers.insert(NATS_EXPECTED_LAST_MESSAGE_ID, before),
    }
    if let Some(Place { number, of }) = place {
        headers.insert(BATCH_HEADER, format!("{number}/{of}"));
    }
    headers
}

/// The payloads of records that belong together, one per record.
pub(super) fn payloads(records: &[Sealed]) -> Vec<String> {
    let line = |record: &Sealed| {
        let headers_bytes = record.headers_json.len() + record.kind().len() + 80;
        let mut line = String::with_capacity(record.payload_json().len() + headers_bytes);
        record.push_event_json(&mut line);
        line
    };
    let mut lines: Vec<_> = records.iter().map(line).collect();
    if lines.len() > 1 {
        lines[0] = lines.join("\n");
    }
    lines
}

/// Refuses what the server would not take.
pub(super) fn check_size(payload: &str, bytes_max: usize) -> Result<()> {
    let bytes = payload.len() + HEADER_BYTES_MAX;
    match bytes > bytes_max {
        true => Err(LogError::TooLarge { bytes, bytes_max }),
        false => Ok(()),
    }
}

/// The record in a message.
pub(super) fn record(topic: &Topic, id: EventId, payload: &[u8]) -> Result<LogEvent, NatsError> {
    let line = payload.split(|byte| *byte == b'\n').next();
    serde_json::from_slice(line.unwrap_or_default())
        .map_err(|why| damaged(topic, id, Cause::from(why)))
}

/// The records that follow the first of a batch, as text that can be published.
pub(super) fn rest<'a>(
    topic: &Topic,
    first: EventId,
    payload: &'a [u8],
) -> Result<Vec<&'a str>, NatsError> {
    let lines = payload.split(|byte| *byte == b'\n').skip(1);
    let check = |(line, id)| {
        hash_of(topic, id, &record(topic, id, line)?)?;
        std::str::from_utf8(line).map_err(|why| damaged(topic, id, why))
    };
    lines.zip(first + 1..).map(check).collect()
}

/// The hash a record carries.
pub(super) fn hash_of<'a>(
    topic: &Topic,
    id: EventId,
    event: &'a LogEvent,
) -> Result<&'a str, NatsError> {
    let hash = event.headers.get(RECORD_HASH_HEADER);
    let hash = hash.map(String::as_str);
    hash.ok_or_else(|| damaged(topic, id, Cause::from("it has no hash")))
}

/// Where a message is in its batch.
pub(super) fn place(
    topic: &Topic,
    id: EventId,
    headers: &HeaderMap,
) -> Result<Option<Place>, NatsError> {
    let Some(text) = headers.get(BATCH_HEADER) else {
        return Ok(None);
    };
    let place = Place::parse(text.as_str()).filter(|place| place.number <= id);
    let place = place.ok_or_else(|| damaged(topic, id, Cause::from("its batch makes no sense")));
    place.map(Some)
}

pub(super) fn damaged(topic: &Topic, id: EventId, cause: impl Into<Cause>) -> NatsError {
    NatsError::Damaged {
        topic: topic.to_string(),
        id,
        cause: cause.into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::record::Draft;

    fn topic() -> Topic {
        Topic::new("t").unwrap()
    }

    fn sealed(id: EventId) -> Sealed {
        let event = LogEvent::at("k", json!({"line\n": id}), 1);
        Draft::new(&topic(), event).unwrap().seal(id, None)
    }

    #[test]
    fn a_message_reads_back_as_its_record() {
        let sealed = sealed(1);
        let payloads = payloads(std::slice::from_ref(&sealed));
        assert_eq!(payloads.len(), 1);
        let read = record(&topic(), 1, payloads[0].as_bytes()).unwrap();
        assert_eq!(read, sealed.event());
        assert!(
            rest(&topic(), 1, payloads[0].as_bytes())
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn the_first_of_a_batch_carries_the_others() {
        let batch = [sealed(1), sealed(2), sealed(3)];
        let payloads = payloads(&batch);
        for (sealed, payload) in batch.iter().zip(&payloads) {
            let read = record(&topic(), sealed.id, payload.as_bytes()).unwrap();
            assert_eq!(read, sealed.event());
        }
        let others = rest(&topic(), 1, payloads[0].as_bytes()).unwrap();
        assert_eq!(others, payloads[1..]);
    }

    #[test]
    fn what_is_no_record_is_reported_with_its_place() {
        for payload in [&b""[..], b"{}", b"\xff", b"nonsense\n"] {
            let error = record(&topic(), 7, payload).unwrap_err().to_string();
            let place = "event 7 of topic 't' cannot be read: ";
            assert!(error.starts_with(place), "{error}");
        }
    }

    #[test]
    fn the_place_in_a_batch_is_checked() {
        for (text, expected) in [
            ("1/2", Some((1, 2))),
            ("2/2", Some((2, 2))),
            ("0/2", None),
            ("3/2", None),
            ("1", None),
            ("a/b", None),
        ] {
            let place = Place::parse(text);
            assert_eq!(place.map(|place| (place.number, place.of)), expected);
        }
    }
}
