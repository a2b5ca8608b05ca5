//! Records that are committed together, as they lie in the intake.
//!
//! ```text
//! frame     length ─ checksum ─ sequence ─ sections
//! section   topic ─ id of its first record ─ count ─ records
//! record    same headers as before? ─ headers, if not ─ kind ─ time ─ payload
//! ```
//!
//! A frame stays the bytes that were written, and whoever moves it into the tables takes it apart
//! there. So a run lets go of its records itself, right after it has made them: to hand hundreds
//! of small pieces of memory to another thread costs both of them more than to read a text once
//! more.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use serde_json::Value;

use crate::event::LogEvent;
use crate::log::Batch;
use crate::name::{EventId, Topic};
use crate::record::{Draft, Headers};

/// Length, checksum and sequence.
pub(super) const HEAD_BYTES: usize = 4 + 4 + 8;

/// About what a record takes besides its payload and its kind.
const RECORD_BYTES: usize = 32;

/// Records that are committed together.
pub(super) struct Frame {
    pub(super) sequence: u64,
    pub(super) sections: Vec<Section>,
    bytes: Vec<u8>,
}

/// Records of one topic. Their hashes are left to whoever moves them into the tables.
pub(super) struct Section {
    pub(super) topic: Topic,
    /// The id of the first of them. The others have the next ones.
    pub(super) first_id: EventId,
    /// How many there are, at least one.
    count: u32,
    /// Where in the frame they are.
    records: Range<usize>,
}

impl Section {
    /// The id of the last of its records.
    pub(super) fn last_id(&self) -> EventId {
        self.first_id + u64::from(self.count) - 1
    }

    /// The ids of its records.
    pub(super) fn ids(&self) -> RangeInclusive<EventId> {
        self.first_id..=self.last_id()
    }
}

impl Frame {
    /// Puts batches together, each with the id of its first record. None of them is empty.
    pub(super) fn new(sequence: u64, batches: &[Batch], first_ids: &[EventId]) -> Self {
        let drafts = batches.iter().flat_map(Batch::drafts);
        let bytes = drafts.map(|draft| draft.payload_json().len() + draft.kind().len());
        let bytes = bytes.map(|bytes| bytes + RECORD_BYTES).sum::<usize>();
        let headers_bytes = 256 * batches.len();
        let mut bytes = Vec::with_capacity(HEAD_BYTES + headers_bytes + bytes);
        bytes.resize(HEAD_BYTES, 0);
        let sections = batches.iter().zip(first_ids);
        let sections = sections
            .map(|(batch, first_id)| push_section(&mut bytes, batch, *first_id))
            .collect();
        let length = (bytes.len() - HEAD_BYTES) as u32;
        bytes[..4].copy_from_slice(&length.to_le_bytes());
        bytes[8..HEAD_BYTES].copy_from_slice(&sequence.to_le_bytes());
        let checksum = checksum(&bytes[..4], &bytes[8..]);
        bytes[4..8].copy_from_slice(&checksum.to_le_bytes());
        Self {
            sequence,
            sections,
            bytes,
        }
    }

    /// What is written of it.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The records of one of its sections.
    pub(super) fn drafts(&self, section: &Section) -> Vec<Draft> {
        let mut rest = Cut(&self.bytes[section.records.clone()]);
        let mut headers = None;
        let mut drafts = Vec::with_capacity(section.count as usize);
        for _ in 0..section.count {
            let record = rest.record(&mut headers);
            let record = record.expect("it was written here, or has been understood");
            drafts.push(record.draft(&section.topic));
        }
        drafts
    }
}

/// A frame before anybody has looked into it.
#[derive(Clone, Copy)]
pub(super) struct RawFrame<'a> {
    pub(super) sequence: u64,
    bytes: &'a [u8],
}

impl<'a> RawFrame<'a> {
    /// The frame that begins here, if one does and is whole.
    pub(super) fn at(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = Cut(bytes);
        let length = rest.number()?;
        let expected = rest.number()?;
        let bytes = bytes.get(..HEAD_BYTES + length as usize)?;
        let is_whole = length > 0 && checksum(&bytes[..4], &bytes[8..]) == expected;
        is_whole.then_some(())?;
        Some(Self {
            sequence: rest.long()?,
            bytes,
        })
    }

    /// How long the frame is that begins here, if one does.
    pub(super) fn length_at(bytes: &[u8]) -> usize {
        let length = Cut(bytes).number().unwrap_or(0);
        HEAD_BYTES + length as usize
    }

    /// How long it is.
    pub(super) fn length(self) -> usize {
        self.bytes.len()
    }

    /// The frame, if all of it can be understood.
    pub(super) fn understand(self) -> Option<Frame> {
        let mut rest = Cut(&self.bytes[HEAD_BYTES..]);
        let mut sections = Vec::new();
        while !rest.0.is_empty() {
            sections.push(rest.section(self.bytes.len())?);
        }
        Some(Frame {
            sequence: self.sequence,
            sections,
            bytes: self.bytes.to_vec(),
        })
    }
}

fn checksum(length: &[u8], rest: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(length);
    hasher.update(rest);
    hasher.finalize()
}

fn push_section(bytes: &mut Vec<u8>, batch: &Batch, first_id: EventId) -> Section {
    let drafts = batch.drafts();
    push_text(bytes, batch.topic().as_str());
    bytes.extend_from_slice(&first_id.to_le_bytes());
    let count = push_count(bytes, drafts.len());
    let start = bytes.len();
    let mut before: Option<&Headers> = None;
    for draft in drafts {
        let headers = draft.headers();
        let is_same = before.is_some_and(|before| before.is(headers));
        before = Some(headers);
        push_record(bytes, draft, is_same);
    }
    Section {
        topic: batch.topic().clone(),
        first_id,
        count,
        records: start..bytes.len(),
    }
}

fn push_record(bytes: &mut Vec<u8>, draft: &Draft, has_same_headers: bool) {
    bytes.push(u8::from(has_same_headers));
    if !has_same_headers {
        let pairs = draft.headers().pairs();
        push_count(bytes, pairs.len());
        for (name, value) in pairs {
            push_text(bytes, name);
            push_text(bytes, value);
        }
    }
    push_text(bytes, draft.kind());
    bytes.extend_from_slice(&draft.occurred_at_ms().to_le_bytes());
    push_text(bytes, draft.payload_json());
}

fn push_text(bytes: &mut Vec<u8>, text: &str) {
    push_count(bytes, text.len());
    bytes.extend_from_slice(text.as_bytes());
}

fn push_count(bytes: &mut Vec<u8>, count: usize) -> u32 {
    // A frame with more than that would not fit anyway.
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    bytes.extend_from_slice(&count.to_le_bytes());
    count
}

/// A record of a frame.
struct Record<'a> {
    kind: &'a str,
    occurred_at_ms: i64,
    payload: &'a str,
    headers: Headers,
}

impl Record<'_> {
    fn draft(self, topic: &Topic) -> Draft {
        Draft::written(
            topic,
            self.kind,
            self.headers,
            self.occurred_at_ms,
            self.payload,
        )
    }

    /// Whether it is one that somebody could have made here.
    fn is_sound(&self, topic: &Topic) -> bool {
        let Ok(payload) = serde_json::from_str::<Value>(self.payload) else {
            return false;
        };
        let event = LogEvent::at(self.kind, payload, self.occurred_at_ms);
        Draft::new(topic, event).is_ok_and(|draft| draft.payload_json() == self.payload)
    }
}

/// What is left to be read of a frame.
struct Cut<'a>(&'a [u8]);

impl<'a> Cut<'a> {
    /// A section of a frame that is so long, if it can be understood.
    fn section(&mut self, frame_bytes: usize) -> Option<Section> {
        let topic = Topic::new(self.text()?).ok()?;
        let first_id = self.long()?;
        let count = self.number().filter(|count| *count > 0)?;
        first_id.checked_add(u64::from(count))?;
        let start = frame_bytes - self.0.len();
        let mut headers = None;
        for _ in 0..count {
            let record = self.record(&mut headers)?;
            record.is_sound(&topic).then_some(())?;
        }
        Some(Section {
            topic,
            first_id,
            count,
            records: start..frame_bytes - self.0.len(),
        })
    }

    /// The next record; `headers` are those of the one before.
    fn record(&mut self, headers: &mut Option<Headers>) -> Option<Record<'a>> {
        let ([is_same], rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        if *is_same == 0 {
            *headers = Some(self.headers()?);
        }
        Some(Record {
            kind: self.text()?,
            occurred_at_ms: self.long()?.cast_signed(),
            payload: self.text()?,
            headers: headers.clone()?,
        })
    }

    fn headers(&mut self) -> Option<Headers> {
        let count = self.number()?;
        let pairs = (0..count).map(|_| Some((self.text()?.to_owned(), self.text()?.to_owned())));
        let pairs: Option<BTreeMap<_, _>> = pairs.collect();
        Some(Headers::new(pairs?))
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = self.number()? as usize;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok()
    }

    fn long(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    fn number(&mut self) -> Option<u32> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*number))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn frame() -> Frame {
        let topic = |name| Topic::new(name).unwrap();
        let headers = Headers::new(BTreeMap::from([("a".to_owned(), "ä".to_owned())]));
        let draft = |name, number: i64| {
            let payload = json!({"b": number, "a": [null, "\u{1}"]});
            Draft::encode(&topic(name), "kind", &headers, -number, &payload).unwrap()
        };
        let other = LogEvent::at("k", json!("x"), 7);
        let drafts = [
            draft("t", 1),
            Draft::new(&topic("other"), other).unwrap(),
            draft("t", 2),
        ];
        Frame::new(3, &Batch::by_topic(drafts), &[4, 9])
    }

    /// What a frame says.
    fn told(frame: &Frame) -> Vec<(String, RangeInclusive<EventId>, Vec<LogEvent>)> {
        let sections = frame.sections.iter();
        let told = sections.map(|section| {
            let events = frame.drafts(section).iter().map(Draft::event).collect();
            (section.topic.to_string(), section.ids(), events)
        });
        told.collect()
    }

    #[test]
    fn a_frame_says_what_it_was_made_of() {
        let told = told(&frame());
        let [(first, first_ids, events), (second, second_ids, others)] = &told[..] else {
            panic!("{told:?}");
        };
        assert_eq!((first.as_str(), first_ids.clone()), ("t", 4..=5));
        assert_eq!((second.as_str(), second_ids.clone()), ("other", 9..=9));
        let expected = LogEvent::at("kind", json!({"b": 2, "a": [null, "\u{1}"]}), -2);
        assert_eq!(events[1], expected.with_header("a", "ä"));
        assert_eq!(others[..], [LogEvent::at("k", json!("x"), 7)]);
    }

    #[test]
    fn a_frame_that_is_read_is_the_one_that_was_written() {
        let frame = frame();
        let mut written = frame.bytes().to_vec();
        written.extend_from_slice(&[0; 99]);
        let raw = RawFrame::at(&written).unwrap();
        assert_eq!(raw.length(), frame.bytes().len());
        assert_eq!(RawFrame::length_at(&written), raw.length());
        let again = raw.understand().unwrap();
        assert_eq!(again.sequence, 3);
        assert_eq!(told(&again), told(&frame));
    }

    #[test]
    fn what_was_changed_or_cut_off_is_no_frame() {
        let frame = frame();
        for at in 0..frame.bytes().len() {
            let mut changed = frame.bytes().to_vec();
            changed[at] ^= 1;
            assert!(RawFrame::at(&changed).is_none(), "byte {at}");
            assert!(RawFrame::at(&frame.bytes()[..at]).is_none(), "{at} bytes");
        }
        assert!(RawFrame::at(&[0; 4096]).is_none());
    }

    /// Somebody may have written it who has other ideas of what a frame is.
    #[test]
    fn a_whole_frame_that_cannot_be_understood_is_none() {
        let frame = frame();
        for at in HEAD_BYTES..frame.bytes().len() {
            for bit in 0..8 {
                let mut changed = frame.bytes().to_vec();
                changed[at] ^= 1 << bit;
                let checksum = checksum(&changed[..4], &changed[8..]);
                changed[4..8].copy_from_slice(&checksum.to_le_bytes());
                let raw = RawFrame::at(&changed).expect("its checksum is right");
                // Whatever is understood can be taken apart.
                raw.understand().map(|frame| told(&frame));
            }
        }
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for payload in ["", "{", "[1, 2]", &deep] {
            let mut bytes = frame.bytes().to_vec();
            bytes.truncate(HEAD_BYTES);
            push_text(&mut bytes, "t");
            bytes.extend_from_slice(&1_u64.to_le_bytes());
            push_count(&mut bytes, 1);
            bytes.push(0);
            push_count(&mut bytes, 0);
            push_text(&mut bytes, "k");
            bytes.extend_from_slice(&0_i64.to_le_bytes());
            push_text(&mut bytes, payload);
            let raw = RawFrame {
                sequence: 1,
                bytes: &bytes,
            };
            assert!(raw.understand().is_none(), "{payload}");
        }
    }
}
