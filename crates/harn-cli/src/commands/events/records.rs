//! Reading records, a chunk at a time, so that a log of any length fits in memory.
//!
//! ```text
//! topic ──► TopicReader: a chunk ──┐
//! topic ──► TopicReader: a chunk ──┼──► Records: the oldest first
//! topic ──► TopicReader: a chunk ──┘
//! ```
//!
//! A topic keeps its order, whatever the times in it say; between topics, time
//! decides. What is appended after the beginning is not read.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use harn_log::{AnyEventLog, EventId, EventLog, LogError, LogEventBytes, Topic, block_on};
use harn_vm::agent::WholeLists;
use serde::Serialize;
use serde_json::value::RawValue;

use super::filter::Filter;

/// Records read at once.
const CHUNK_RECORDS: usize = 1024;
/// Records of one topic read at once where there are many.
const CHUNK_RECORDS_MIN: usize = 16;

type Result<T> = harn_log::Result<T>;

/// A record and its place.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) topic: Topic,
    pub(super) id: EventId,
    pub(super) event: LogEventBytes,
}

/// A record as programs get it. The names are a promise.
#[derive(Serialize)]
pub(super) struct RecordJson<'a> {
    id: EventId,
    topic: &'a str,
    kind: &'a str,
    payload: Box<RawValue>,
    headers: &'a BTreeMap<String, String>,
    occurred_at_ms: i64,
}

impl Record {
    pub(super) fn json(&self) -> Result<RecordJson<'_>> {
        Ok(RecordJson {
            id: self.id,
            topic: self.topic.as_str(),
            kind: &self.event.kind,
            payload: self.payload()?,
            headers: &self.event.headers,
            occurred_at_ms: self.event.occurred_at_ms,
        })
    }

    /// The payload as it was written, on one line.
    pub(super) fn payload(&self) -> Result<Box<RawValue>> {
        let payload: Box<RawValue> = serde_json::from_slice(&self.event.payload)?;
        match payload.get().contains(['\n', '\r']) {
            false => Ok(payload),
            true => {
                let value: serde_json::Value = serde_json::from_str(payload.get())?;
                Ok(serde_json::value::to_raw_value(&value)?)
            }
        }
    }
}

/// How many records a topic has, from the first id to the newest, which is returned
/// as well. Ids have no gaps, so nobody has to count.
pub(super) fn extent(log: &AnyEventLog, topic: &Topic) -> Result<(u64, Option<EventId>)> {
    let newest = block_on(log.latest(topic))?;
    let first = block_on(log.read_range_bytes(topic, None, 1))?;
    let records = match (newest, first.first()) {
        (Some(newest), Some((first, _))) => (newest + 1).saturating_sub(*first),
        _ => 0,
    };
    Ok((records, newest))
}

/// How many records some topics have, for those who wait. One that cannot be read
/// has nothing to wait for.
pub(super) fn total(log: &AnyEventLog, topics: &[Topic]) -> u64 {
    let extents = topics.iter().map(|topic| extent(log, topic));
    extents
        .map(|extent| extent.map_or(0, |(records, _)| records))
        .sum()
}

/// The records of some topics.
pub(super) struct Records<'a> {
    log: &'a AnyEventLog,
    readers: Vec<TopicReader>,
    /// The time of each reader's next record, and which reader.
    next: BinaryHeap<Reverse<(i64, usize)>>,
    /// The reader whose record was handed out last. It reads on when the next one is
    /// asked for, so that a failure comes after all that could be read.
    unqueued: Option<usize>,
    whole_lists: Option<WholeLists>,
}

impl<'a> Records<'a> {
    /// All records of these topics after an id.
    pub(super) fn after(log: &'a AnyEventLog, topics: &[Topic], after: EventId) -> Result<Self> {
        let chunk = (CHUNK_RECORDS / topics.len().max(1)).max(CHUNK_RECORDS_MIN);
        let reader = |topic| TopicReader::after(log, topic, after, chunk);
        let readers = topics.iter().map(reader).collect::<Result<_>>()?;
        Self::of(log, readers)
    }

    /// The last `count` records of these topics that a filter takes.
    pub(super) fn last(
        log: &'a AnyEventLog,
        topics: &[Topic],
        after: EventId,
        filter: &Filter,
        count: usize,
    ) -> Result<Self> {
        let reader = |topic| TopicReader::last(log, topic, after, filter, count);
        let readers: Vec<TopicReader> = topics.iter().map(reader).collect::<Result<_>>()?;
        let found: usize = readers.iter().map(|reader| reader.chunk.len()).sum();
        let mut records = Self::of(log, readers)?;
        for _ in count..found {
            records.next()?;
        }
        Ok(records)
    }

    fn of(log: &'a AnyEventLog, readers: Vec<TopicReader>) -> Result<Self> {
        let mut records = Self {
            log,
            next: BinaryHeap::with_capacity(readers.len()),
            unqueued: None,
            whole_lists: None,
            readers,
        };
        for at in 0..records.readers.len() {
            records.queue(at)?;
        }
        Ok(records)
    }

    /// The same for those who read what the events say, and not how they are stored.
    pub(super) fn whole(mut self) -> Self {
        self.whole_lists = Some(WholeLists::default());
        self
    }

    /// The next record.
    ///
    /// # Errors
    /// The log fails, or is damaged where the record should be.
    pub(super) fn next(&mut self) -> Result<Option<Record>> {
        if let Some(at) = self.unqueued.take() {
            self.queue(at)?;
        }
        let Some(Reverse((_, at))) = self.next.pop() else {
            return Ok(None);
        };
        self.unqueued = Some(at);
        let reader = &mut self.readers[at];
        let first = reader.chunk.pop_front();
        let (id, mut event) = first.expect("a reader in the queue has a record");
        let topic = reader.topic.clone();
        if let Some(whole) = &mut self.whole_lists {
            block_on(whole.complete_bytes(self.log, &topic, (id, &mut event)))?;
        }
        Ok(Some(Record { topic, id, event }))
    }

    /// The newest id of each topic when reading began.
    pub(super) fn ends(&self) -> impl Iterator<Item = (&Topic, EventId)> {
        self.readers
            .iter()
            .map(|reader| (&reader.topic, reader.end))
    }

    fn queue(&mut self, at: usize) -> Result<()> {
        if let Some(time) = self.readers[at].next_time(self.log)? {
            self.next.push(Reverse((time, at)));
        }
        Ok(())
    }
}

/// The records of one topic.
struct TopicReader {
    topic: Topic,
    /// The id of the last record that was read.
    position: EventId,
    /// The newest id when reading began.
    end: EventId,
    chunk: VecDeque<(EventId, LogEventBytes)>,
    chunk_records: usize,
}

impl TopicReader {
    fn after(
        log: &AnyEventLog,
        topic: &Topic,
        after: EventId,
        chunk_records: usize,
    ) -> Result<Self> {
        Ok(Self {
            topic: topic.clone(),
            position: after,
            end: block_on(log.latest(topic))?.unwrap_or(0),
            chunk: VecDeque::new(),
            chunk_records,
        })
    }

    /// Looks backwards for `count` records that a filter takes.
    fn last(
        log: &AnyEventLog,
        topic: &Topic,
        after: EventId,
        filter: &Filter,
        count: usize,
    ) -> Result<Self> {
        let mut reader = Self::after(log, topic, after, CHUNK_RECORDS)?;
        let mut end = reader.end;
        // Without a filter, the last records are where they are; with one, they may be
        // far back.
        let mut step = (count as u64).clamp(1, CHUNK_RECORDS as u64);
        while end > after && reader.chunk.len() < count {
            let start = end.saturating_sub(step).max(after);
            let window = read_between(log, topic, start, end)?;
            let is_first = window.first().is_none_or(|(id, _)| *id > start + 1);
            let taken = window.into_iter().filter(|(_, event)| filter.takes(event));
            for record in taken.rev() {
                if reader.chunk.len() < count {
                    reader.chunk.push_front(record);
                }
            }
            if is_first {
                break; // What was before has been compacted away.
            }
            end = start;
            step = (step * 2).min(CHUNK_RECORDS as u64);
        }
        reader.position = reader.end;
        Ok(reader)
    }

    /// When the next record happened, if there is one.
    fn next_time(&mut self, log: &AnyEventLog) -> Result<Option<i64>> {
        if self.chunk.is_empty() && self.position < self.end {
            let chunk = read_after(log, &self.topic, self.position, self.chunk_records)?;
            self.chunk = chunk
                .into_iter()
                .filter(|(id, _)| *id <= self.end)
                .collect();
            self.position = self.chunk.back().map_or(self.end, |(id, _)| *id);
        }
        Ok(self.chunk.front().map(|(_, event)| event.occurred_at_ms))
    }
}

/// At most `limit` records after an id. A read that meets damage fails as a whole, so
/// it is asked for less until all that comes before the damage has been read.
fn read_after(
    log: &AnyEventLog,
    topic: &Topic,
    from: EventId,
    limit: usize,
) -> Result<Vec<(EventId, LogEventBytes)>> {
    match block_on(log.read_range_bytes(topic, Some(from), limit)) {
        Err(LogError::Damaged(_)) if limit > 1 => read_after(log, topic, from, limit / 2),
        read => read,
    }
}

/// The records after `start` up to `end`.
fn read_between(
    log: &AnyEventLog,
    topic: &Topic,
    start: EventId,
    end: EventId,
) -> Result<Vec<(EventId, LogEventBytes)>> {
    let wanted = usize::try_from(end - start).unwrap_or(CHUNK_RECORDS);
    let mut records = block_on(log.read_range_bytes(topic, Some(start), wanted))?;
    records.retain(|(id, _)| *id <= end);
    Ok(records)
}
