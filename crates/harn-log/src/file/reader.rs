//! Reads a log in files, also while others write to it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::LogError;
use crate::local::{Head, StoreReader, Watched};
use crate::log::{EventLogDescription, LogEventBytes, Result};
use crate::name::{ConsumerId, EventId, Topic};
use crate::provenance::Link;
use crate::record::Record;

use super::OnDamage;
use super::compacted::Compacted;
use super::cursor;
use super::disk::OpenFile;
use super::end::{Known, find_end};
use super::layout::{Layout, Segment};
use super::line::{self, Payload};
use super::mark::Synced;
use super::segment::SegmentFile;

/// Compaction may take a segment while we look at it; then we look again.
const ATTEMPTS_MAX: usize = 5;

/// Reads a log in files.
pub(crate) struct FileReader {
    pub(super) layout: Layout,
    pub(super) on_damage: OnDamage,
    /// Ends of topics as far as this process has seen them.
    pub(super) known_ends: KnownEnds,
}

/// Ends of topics as far as this process has seen them, so that nobody has to look
/// for them again from further back.
#[derive(Clone, Default)]
pub(super) struct KnownEnds(Arc<Mutex<HashMap<Topic, KnownEnd>>>);

#[derive(Clone)]
pub(super) struct KnownEnd {
    /// The first id of the last segment.
    pub(super) segment: EventId,
    pub(super) offset: u64,
    pub(super) last: Option<Head>,
}

impl KnownEnds {
    pub(super) fn set(&self, topic: &Topic, end: KnownEnd) {
        self.lock().insert(topic.clone(), end);
    }

    pub(super) fn forget(&self, topic: &Topic) {
        self.lock().remove(topic);
    }

    fn get(&self, topic: &Topic) -> Option<KnownEnd> {
        self.lock().get(topic).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Topic, KnownEnd>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FileReader {
    fn read<P: Payload, T: From<line::Event<P>>>(
        &self,
        topic: &Topic,
        from: EventId,
        limit: usize,
    ) -> Result<Vec<(EventId, T)>> {
        if limit == 0 || from == EventId::MAX {
            return Ok(Vec::new());
        }
        let mut attempt = 1;
        loop {
            let compacted = Compacted::read(&self.layout, topic)?;
            let mut reading = Reading {
                reader: self,
                topic,
                position: from.max(compacted.before),
                limit,
                records: Vec::new(),
            };
            match reading.run() {
                Err(LogError::Damaged(_)) if !reading.records.is_empty() => {
                    return Ok(reading.records); // The damage is for who asks beyond them.
                }
                Err(error) => {
                    let moved = Compacted::read(&self.layout, topic)? != compacted;
                    if attempt == ATTEMPTS_MAX || !moved {
                        return Err(error);
                    }
                    attempt += 1;
                }
                Ok(()) => return Ok(reading.records),
            }
        }
    }

    fn synced(&self, topic: &Topic) -> Result<Option<Synced>> {
        match self
            .layout
            .disk
            .open(&self.layout.lock(topic), OpenFile::Read)
        {
            Ok(file) => Ok(Synced::read(&*file)?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether something unreadable is the torn end of its topic, which the next
    /// writer cuts off, rather than damage.
    fn is_torn_end(
        &self,
        topic: &Topic,
        segment: &Segment,
        file: &SegmentFile,
        offset: u64,
    ) -> Result<bool> {
        let known = Known::by_mark(self.synced(topic)?, segment, file)?;
        let end = find_end(segment, file, known, &mut |_, _| {})?;
        Ok(offset >= end.offset)
    }

    /// The newest record of a topic.
    fn head(&self, topic: &Topic) -> Result<Head> {
        let compacted = Compacted::read(&self.layout, topic)?;
        for segment in self.layout.segments(topic)?.iter().rev() {
            let Some(file) = SegmentFile::open(&*self.layout.disk, &segment.path)? else {
                continue;
            };
            let known = match self.known_ends.get(topic) {
                Some(end) if end.segment == segment.first && end.offset <= file.len => {
                    Known::UpTo(end.offset, end.last)
                }
                _ => Known::by_mark(self.synced(topic)?, segment, &file)?,
            };
            let end = find_end(segment, &file, known, &mut |_, _| {})?;
            if let Some(head) = end.last.filter(|head| head.id > compacted.before) {
                return Ok(head);
            }
        }
        Ok(Head {
            id: compacted.before,
            hash: compacted.hash,
        })
    }
}

/// One read under way.
struct Reading<'a, T> {
    reader: &'a FileReader,
    topic: &'a Topic,
    /// The id of the last record read, or where reading starts.
    position: EventId,
    limit: usize,
    records: Vec<(EventId, T)>,
}

impl<T> Reading<'_, T> {
    fn run<P: Payload>(&mut self) -> Result<()>
    where
        T: From<line::Event<P>>,
    {
        let segments = self.reader.layout.segments(self.topic)?;
        let is_before = |segment: &Segment| segment.first <= self.position + 1;
        let start = segments.iter().rposition(is_before).unwrap_or(0);
        for (at, segment) in segments.iter().enumerate().skip(start) {
            let next = segments.get(at + 1).map(|next| next.first);
            self.read_segment(segment, next)?;
            if self.records.len() == self.limit {
                break;
            }
        }
        Ok(())
    }

    /// Reads a segment up to where the next one begins.
    fn read_segment<P: Payload>(&mut self, segment: &Segment, next: Option<EventId>) -> Result<()>
    where
        T: From<line::Event<P>>,
    {
        let disk = &*self.reader.layout.disk;
        let Some(file) = SegmentFile::open(disk, &segment.path)? else {
            return Ok(()); // It has been compacted away; if not, its records are missed below.
        };
        let start = match self.position + 1 > segment.first {
            true => file.seek(self.position + 1)?,
            false => 0,
        };
        let mut lines = file.lines_from(start);
        while let Some(line) = lines.next()? {
            let problem = match line::parse::<P>(line.bytes) {
                Ok((id, _)) if id <= self.position => continue,
                Ok((id, _)) if next.is_some_and(|next| id >= next) => break,
                Ok((id, event)) if id == self.position + 1 || self.skips() => {
                    self.position = id;
                    self.records.push((id, event.into()));
                    if self.records.len() == self.limit {
                        break;
                    }
                    continue;
                }
                Ok((id, _)) => format!("event {} is missing before event {id}", self.position + 1),
                Err(problem) => problem,
            };
            let is_last = next.is_none();
            let (offset, length) = (line.offset, line.bytes.len() as u64);
            if is_last
                && self
                    .reader
                    .is_torn_end(self.topic, segment, &file, offset)?
            {
                break;
            }
            if !self.skips() {
                return Err(file.damage(offset, length, problem));
            }
        }
        Ok(())
    }

    fn skips(&self) -> bool {
        self.reader.on_damage == OnDamage::Skip
    }
}

impl StoreReader for FileReader {
    fn read_after(&self, topic: &Topic, from: EventId, limit: usize) -> Result<Vec<Record>> {
        self.read::<Value, _>(topic, from, limit)
    }

    fn read_bytes_after(
        &self,
        topic: &Topic,
        from: EventId,
        limit: usize,
    ) -> Result<Vec<(EventId, LogEventBytes)>> {
        self.read::<Box<RawValue>, _>(topic, from, limit)
    }

    fn latest(&self, topic: &Topic) -> Result<Option<EventId>> {
        let head = self.head(topic)?.id;
        Ok((head > 0).then_some(head))
    }

    fn cursor(&self, topic: &Topic, consumer: &ConsumerId) -> Result<Option<EventId>> {
        let cursor = cursor::read(&self.layout, topic, consumer)?;
        Ok(cursor.map(|cursor| cursor.cursor))
    }

    fn anchor(&self, topic: &Topic) -> Result<Option<Link>> {
        let compacted = Compacted::read(&self.layout, topic)?;
        Ok((compacted.before > 0).then_some(Link {
            id: compacted.before,
            hash: compacted.hash,
        }))
    }

    fn topics(&self) -> Result<Vec<Topic>> {
        let mut topics = Vec::new();
        for topic in self.layout.topics()? {
            if self.latest(&topic)?.is_some() {
                topics.push(topic);
            }
        }
        Ok(topics)
    }

    fn describe(&self, queue_depth: usize) -> EventLogDescription {
        EventLogDescription {
            backend: "file",
            location: Some(self.layout.root.display().to_string()),
            size_bytes: self.size_bytes().ok(),
            queue_depth,
        }
    }

    fn watched(&self) -> Watched {
        Watched {
            folder: self.layout.locks_folder(),
        }
    }
}

impl FileReader {
    /// What all segments come to.
    fn size_bytes(&self) -> Result<u64> {
        let mut size = 0;
        for topic in self.layout.topics()? {
            for segment in self.layout.segments(&topic)? {
                let file = SegmentFile::open(&*self.layout.disk, &segment.path)?;
                size += file.map_or(0, |file| file.len);
            }
        }
        Ok(size)
    }
}
