//! What a log must hold, as far as it has promised.
//!
//! A record that was acknowledged is *known* at its id. One whose append failed is
//! *possible*: it may be there or not, until somebody reads. What was known when a
//! barrier was acknowledged is *durable*.

use std::collections::BTreeMap;

use harn_log::{EventId, LogEvent, PREV_HASH_HEADER, RECORD_HASH_HEADER, SCHEMA_HEADER};
use serde_json::{Value, json};

/// The header of idempotent appends.
pub(super) const KEY_HEADER: &str = "key";

/// Something that must never be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation(pub String);

pub(super) type Checked<T = ()> = Result<T, Violation>;

macro_rules! violation {
    ($($words:tt)*) => {
        Err($crate::campaign::model::Violation(format!($($words)*)))
    };
}
pub(super) use violation;

/// What must still be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Promise {
    /// Whatever was acknowledged: nobody lost power.
    Acknowledged,
    /// Whatever was durable.
    Durable,
}

/// What a log answered when it was asked for everything.
pub(super) struct Answer {
    pub(super) records: Vec<(EventId, LogEvent)>,
    pub(super) latest: Option<EventId>,
    pub(super) cursor: Option<EventId>,
}

/// What a topic must hold.
#[derive(Clone, Default)]
pub(super) struct TopicModel {
    /// The number in the record of each id, from 1 on; `None` where a record is that
    /// nobody has read yet.
    known: Vec<Option<u64>>,
    durable: usize,
    /// Up to where records may have been compacted away after a power cut.
    gone: Vec<EventId>,
    /// Up to where they are gone as everybody sees it, if that is certain.
    gone_shown: Option<EventId>,
    /// Where the consumer may be after a power cut.
    cursor: Vec<Option<EventId>>,
    /// Every event that was ever tried, by its number.
    tried: BTreeMap<u64, LogEvent>,
    /// Numbers whose append failed since somebody last read.
    possible: Vec<u64>,
    /// Numbers whose append failed and that were not there when somebody read. Where
    /// nothing is durable yet, a power cut can bring them back.
    ghosts: Vec<u64>,
    /// Batches of which some records may be there without the others.
    batches: Vec<Vec<u64>>,
}

impl TopicModel {
    pub(super) fn new() -> Self {
        Self {
            gone: vec![0],
            gone_shown: Some(0),
            cursor: vec![None],
            ..Self::default()
        }
    }

    /// The newest id there must be.
    pub(super) fn head(&self) -> EventId {
        self.known.len() as u64
    }

    /// An id so far into the topic, in hundredths.
    pub(super) fn part(&self, part: u64) -> EventId {
        self.head() * part / 100
    }

    /// Makes the event of a number.
    pub(super) fn make(&mut self, number: u64, bytes: u64, key: Option<&str>) -> LogEvent {
        let padding = usize::try_from(bytes).unwrap_or(0);
        let payload = json!({"n": number, "padding": "p".repeat(padding)});
        let time_ms = i64::try_from(number).unwrap_or(0);
        let mut event = LogEvent::at("step", payload, time_ms);
        if let Some(key) = key {
            event = event.with_header(KEY_HEADER, key);
        }
        self.tried.insert(number, event.clone());
        event
    }

    /// Records were acknowledged.
    pub(super) fn appended(&mut self, ids: &[EventId], numbers: &[u64]) -> Checked {
        if ids.len() != numbers.len() {
            return violation!("{} records got {} ids", numbers.len(), ids.len());
        }
        for (id, number) in ids.iter().zip(numbers) {
            let before = self.known.len() as u64;
            let unread = id.checked_sub(before + 1);
            match unread {
                Some(unread) if unread <= self.possible.len() as u64 => {
                    self.known.extend((0..unread).map(|_| None));
                    self.known.push(Some(*number));
                }
                _ => return violation!("record {number} got id {id} after {before} records"),
            }
        }
        Ok(())
    }

    /// An append failed.
    pub(super) fn failed(&mut self, numbers: &[u64]) {
        self.possible.extend(numbers);
        if numbers.len() > 1 {
            self.batches.push(numbers.to_vec());
        }
    }

    /// A barrier was acknowledged when this many records were known.
    pub(super) fn synced(&mut self, known: usize) {
        self.durable = self.durable.max(known);
    }

    pub(super) fn known(&self) -> usize {
        self.known.len()
    }

    /// The id of the first record with a key; `Err` if that is not certain.
    pub(super) fn find(&self, key: &str) -> Result<Option<EventId>, ()> {
        let gone = self.gone_shown.ok_or(())?;
        let skipped = usize::try_from(gone).unwrap_or(usize::MAX);
        if !self.possible.is_empty() || self.known.iter().skip(skipped).any(Option::is_none) {
            return Err(());
        }
        let has_key = |number: &Option<u64>| {
            let event = number.and_then(|number| self.tried.get(&number));
            event.is_some_and(|event| event.headers.get(KEY_HEADER).is_some_and(|it| it == key))
        };
        let found = self.known.iter().skip(skipped).position(has_key);
        Ok(found.map(|at| (at + skipped) as u64 + 1))
    }

    pub(super) fn compacted(&mut self, before: EventId) {
        let gone = self.gone.iter().map(|gone| *gone.max(&before));
        self.gone = gone.collect();
        self.gone.dedup();
        self.gone_shown = match self.gone.as_slice() {
            [gone] => Some(*gone),
            _ => self.gone_shown.map(|gone| gone.max(before)),
        };
        let least = usize::try_from(before).unwrap_or(usize::MAX);
        self.durable = self.durable.max(least);
    }

    pub(super) fn compaction_failed(&mut self, before: EventId) {
        self.gone.push(before);
        self.gone_shown = None;
    }

    pub(super) fn acked(&mut self, to: EventId) {
        for cursor in &mut self.cursor {
            *cursor = (*cursor).max(Some(to));
        }
        self.cursor.dedup();
    }

    pub(super) fn rewound(&mut self, to: EventId) {
        self.cursor = vec![Some(to)];
    }

    pub(super) fn cursor_failed(&mut self, to: EventId) {
        self.cursor.push(Some(to));
    }

    /// Whether a consumer may hold back a compaction.
    pub(super) fn may_block(&self, before: EventId) -> bool {
        let behind = |cursor: &Option<EventId>| cursor.is_some_and(|cursor| cursor < before);
        self.cursor.iter().any(behind)
    }

    /// Compares everything, and takes the answer for the truth where nothing was
    /// certain.
    pub(super) fn check(&mut self, answer: &Answer, promise: Promise) -> Checked {
        let head = answer.latest.unwrap_or(0);
        let gone = match answer.records.first() {
            Some((id, _)) => id - 1,
            None => head,
        };
        if !self.gone.contains(&gone) {
            let gone_ids = &self.gone;
            return violation!("records up to {gone} are gone instead of up to {gone_ids:?}");
        }
        let needed = match promise {
            Promise::Acknowledged => self.known.len(),
            Promise::Durable => self.durable,
        } as u64;
        if head < needed {
            return violation!("the log ends at {head}, and {needed} records were promised");
        }
        let mut newest = 0;
        for (at, (id, event)) in answer.records.iter().enumerate() {
            if *id != gone + 1 + at as u64 {
                return violation!("id {id} follows on {}", gone + at as u64);
            }
            newest = self.check_record(*id, event, newest, promise)?;
        }
        if gone + answer.records.len() as u64 != head {
            let records = answer.records.len();
            return violation!("{records} records after {gone} do not end at {head}");
        }
        if !self.cursor.contains(&answer.cursor) || answer.cursor > Some(head) {
            let (found, cursors) = (answer.cursor, &self.cursor);
            return violation!("the consumer is at {found:?}, not at {cursors:?}, of {head}");
        }
        self.learn(answer, gone, head, promise)
    }

    /// Checks one record and returns its number, which rises with every try.
    fn check_record(
        &self,
        id: EventId,
        event: &LogEvent,
        newest: u64,
        promise: Promise,
    ) -> Checked<u64> {
        let Some(number) = event.payload.get("n").and_then(Value::as_u64) else {
            return violation!("record {id} is not one of ours: {event:?}");
        };
        let at = usize::try_from(id - 1).unwrap_or(usize::MAX);
        let is_ghost =
            promise == Promise::Durable && at >= self.durable && self.ghosts.contains(&number);
        match self.known.get(at) {
            _ if is_ghost => {}
            Some(Some(known)) if *known != number => {
                return violation!("record {id} says {number} instead of {known}");
            }
            Some(Some(_)) => {}
            Some(None) | None if !self.possible.contains(&number) => {
                return violation!("record {id} says {number}, which was never appended");
            }
            Some(None) | None => {}
        }
        if number <= newest {
            return violation!("record {id} says {number} after {newest}");
        }
        let mut plain = event.clone();
        for header in [SCHEMA_HEADER, PREV_HASH_HEADER, RECORD_HASH_HEADER] {
            plain.headers.remove(header);
        }
        if self.tried.get(&number) != Some(&plain) {
            return violation!("record {id} has changed: {plain:?}");
        }
        Ok(number)
    }

    fn learn(
        &mut self,
        answer: &Answer,
        gone: EventId,
        head: EventId,
        promise: Promise,
    ) -> Checked {
        let length = usize::try_from(head).unwrap_or(usize::MAX);
        self.known.resize(length, None);
        for (id, event) in &answer.records {
            let number = event.payload.get("n").and_then(Value::as_u64);
            self.known[usize::try_from(id - 1).unwrap_or(usize::MAX)] = number;
        }
        for batch in self.batches.drain(..) {
            let is_there = |number: &&u64| self.known.contains(&Some(**number));
            let there = batch.iter().filter(is_there).count();
            if there > 0 && there < batch.len() {
                return violation!("{there} of a batch of {} are there", batch.len());
            }
        }
        self.ghosts.append(&mut self.possible);
        self.gone_shown = Some(gone);
        if promise == Promise::Durable {
            // What has survived is on the disk.
            self.durable = length;
            self.ghosts.clear();
            self.gone = vec![gone];
            self.cursor = vec![answer.cursor];
        }
        Ok(())
    }
}
