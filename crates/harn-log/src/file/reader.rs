//! Reads a log in files, also while others write to it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::{Damage, LogError};
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
use super::line::{self, Payload, Stored};
use super::mark::Synced;
use super::segment::SegmentFile;

/// How often we look before we take it that somebody always interferes.
const ATTEMPTS_MAX: usize = 8;
/// Bytes of lines read at once, about.
const READ_BYTES_MAX: usize = 8 * 1024 * 1024;

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
        retry(|| {
            let compacted = Compacted::read(&self.layout, topic)?;
            let mut reading = Reading {
                reader: self,
                topic,
                position: from.max(compacted.before),
                limit,
                records: Vec::new(),
                bytes: 0,
                has_missed: false,
            };
            match reading.run() {
                // The damage is for who asks beyond them.
                Err(LogError::Damaged(_)) if !reading.records.is_empty() => {}
                Err(error) => return Err(error),
                Ok(()) => {}
            }
            let is_suspicious = reading.records.is_empty() && reading.has_missed;
            match is_suspicious && Compacted::read(&self.layout, topic)? != compacted {
                true => Ok(Attempt::Again),
                false => Ok(Attempt::Done(reading.records)),
            }
        })
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
    fn is_torn_end(&self, topic: &Topic, segment: &Segment, offset: u64) -> Result<bool> {
        // The mark first: the file may have grown since, but not shrunk below it.
        let synced = self.synced(topic)?;
        let Some(file) = SegmentFile::open(&*self.layout.disk, &segment.path)? else {
            return Ok(false);
        };
        let known = Known::by_mark(synced, segment, &file)?;
        let end = find_end(segment, &file, known, &mut |_, _| {})?;
        Ok(offset >= end.offset)
    }

    /// Up to where the last segment was synced, if its lines end before that.
    fn lost_after(
        &self,
        topic: &Topic,
        segment: &Segment,
        file: &SegmentFile,
        offset: u64,
    ) -> Result<Option<u64>> {
        let is_here = |end: &KnownEnd| end.segment == segment.first && end.offset == offset;
        if self.known_ends.get(topic).as_ref().is_some_and(is_here) {
            return Ok(None);
        }
        let synced = self.synced(topic)?;
        let synced = synced.filter(|synced| synced.segment == segment.first);
        // If the file has grown, the mark may speak of what came since.
        let is_lost = |synced: &Synced| synced.up_to > offset;
        match synced.filter(is_lost) {
            Some(synced) if !file.has_grown()? => Ok(Some(synced.up_to)),
            _ => Ok(None),
        }
    }

    /// The newest record of a topic.
    fn head(&self, topic: &Topic) -> Result<Head> {
        retry(|| self.find_head(topic).map(Attempt::Done))
    }

    fn find_head(&self, topic: &Topic) -> Result<Head> {
        // What may be old first: files only grow.
        let known_end = self.known_ends.get(topic);
        let synced = self.synced(topic)?;
        let compacted = Compacted::read(&self.layout, topic)?;
        let head = Head {
            id: compacted.before,
            hash: compacted.hash,
        };
        let mut is_last = true;
        for segment in self.layout.segments(topic)?.iter().rev() {
            let Some(file) = SegmentFile::open(&*self.layout.disk, &segment.path)? else {
                continue;
            };
            let known = match &known_end {
                Some(end) if end.segment == segment.first && end.offset <= file.len => {
                    Known::UpTo(end.offset, end.last.clone())
                }
                _ if is_last => Known::by_mark(synced, segment, &file)?,
                _ => Known::Nothing,
            };
            let end = find_end(segment, &file, known, &mut |_, _| {})?;
            match end.last {
                Some(last) if last.id > head.id => return Ok(last),
                // What comes before has gone, or is about to.
                _ if segment.first <= head.id + 1 => return Ok(head),
                _ => is_last = false,
            }
        }
        Ok(head)
    }
}

/// What came of looking at files that others may change meanwhile.
enum Attempt<T> {
    Done(T),
    /// Somebody has changed them.
    Again,
}

/// Looks until nobody interferes. What looks like damage may be somebody at work;
/// damage is what is still there when one looks again.
fn retry<T>(mut attempt: impl FnMut() -> Result<Attempt<T>>) -> Result<T> {
    let mut seen: Option<Damage> = None;
    for _ in 1..ATTEMPTS_MAX {
        match attempt() {
            Ok(Attempt::Done(outcome)) => return Ok(outcome),
            Ok(Attempt::Again) => {}
            Err(LogError::Damaged(damage)) if seen.as_ref() != Some(&damage) => {
                seen = Some(damage);
            }
            Err(error) => return Err(error),
        }
    }
    match attempt()? {
        Attempt::Done(outcome) => Ok(outcome),
        Attempt::Again => {
            let problem = "others keep changing the log while it is read";
            Err(std::io::Error::new(std::io::ErrorKind::WouldBlock, problem).into())
        }
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
    bytes: usize,
    /// A segment was not there.
    has_missed: bool,
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
            if self.is_full() {
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
            self.has_missed = true;
            return Ok(()); // It has been compacted away; if not, its records are missed below.
        };
        let start = match self.position + 1 > segment.first {
            true => file.seek(self.position + 1)?,
            false => 0,
        };
        let mut lines = file.lines_from(start);
        let mut batch = Vec::new();
        let mut unreadable: Option<Damage> = None;
        loop {
            let offset = lines.offset;
            let Some(line) = lines.next()? else {
                if unreadable.is_none() {
                    self.check_end(segment, next, &file, offset)?;
                }
                break;
            };
            let bytes = line.bytes.len();
            let problem = match line::parse::<P>(line.bytes) {
                Ok(stored) if stored.id <= self.position => {
                    unreadable = None; // It was before what is wanted.
                    continue;
                }
                Ok(stored) if next.is_some_and(|next| stored.id >= next) => {
                    // The rest of the batch is in the next segment, or it would not
                    // have begun.
                    self.keep(&mut batch);
                    break;
                }
                Ok(stored) if self.is_next(&stored, &batch) => {
                    if let Some(damage) = unreadable.take()
                        && self.is_torn_end(segment, next.is_none(), damage.offset)?
                    {
                        break; // The next writer cuts this record off.
                    }
                    if self.take(stored, bytes, &mut batch) {
                        break;
                    }
                    continue;
                }
                Ok(stored) => {
                    let missing = self.position + 1;
                    format!("event {missing} is missing before event {}", stored.id)
                }
                Err(problem) => problem,
            };
            unreadable.get_or_insert_with(|| file.damage_at(line.offset, bytes as u64, problem));
            if self.skips() {
                // What is left of a damaged batch is better than nothing.
                self.keep(&mut batch);
            } else if !batch.is_empty() || !self.records.is_empty() {
                break;
            }
        }
        self.judge(segment, next.is_none(), unreadable)
    }

    /// Nothing that was there may be missing where a segment ends.
    fn check_end(
        &self,
        segment: &Segment,
        next: Option<EventId>,
        file: &SegmentFile,
        offset: u64,
    ) -> Result<()> {
        if self.skips() {
            return Ok(());
        }
        let missing = self.position + 1;
        let problem = match next {
            Some(next) if missing < next => format!("event {missing} is missing at its end"),
            Some(_) => return Ok(()),
            None => match self.reader.lost_after(self.topic, segment, file, offset)? {
                Some(up_to) => format!("there were records up to byte {up_to}"),
                None => return Ok(()),
            },
        };
        Err(file.damage(offset, file.len.saturating_sub(offset), problem))
    }

    /// What becomes of something unreadable: the torn end of a topic is none of a
    /// reader's business, and everything else is damage.
    fn judge(&self, segment: &Segment, is_last: bool, unreadable: Option<Damage>) -> Result<()> {
        let Some(damage) = unreadable.filter(|_| !self.skips()) else {
            return Ok(());
        };
        match self.is_torn_end(segment, is_last, damage.offset)? {
            true => Ok(()),
            false => Err(LogError::Damaged(damage)),
        }
    }

    fn is_torn_end(&self, segment: &Segment, is_last: bool, offset: u64) -> Result<bool> {
        let reader = self.reader;
        Ok(is_last && !self.skips() && reader.is_torn_end(self.topic, segment, offset)?)
    }

    /// Takes a record; `true` when that is enough. The records of a batch are taken
    /// together: it may never be finished.
    fn take<P>(&mut self, stored: Stored<P>, bytes: usize, batch: &mut Vec<(EventId, T)>) -> bool
    where
        T: From<line::Event<P>>,
    {
        self.bytes += bytes;
        batch.push((stored.id, stored.event.into()));
        if stored.more == 0 {
            self.keep(batch);
        }
        self.is_full()
    }

    fn keep(&mut self, batch: &mut Vec<(EventId, T)>) {
        for (id, event) in batch.drain(..) {
            if self.records.len() == self.limit {
                break;
            }
            self.position = id;
            self.records.push((id, event));
        }
    }

    fn is_next<P>(&self, stored: &Stored<P>, batch: &[(EventId, T)]) -> bool {
        let before = batch.last().map_or(self.position, |(id, _)| *id);
        stored.id == before + 1 || self.skips()
    }

    fn is_full(&self) -> bool {
        let has_enough = !self.records.is_empty() && self.bytes >= READ_BYTES_MAX;
        has_enough || self.records.len() == self.limit
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
            match self.latest(&topic) {
                Ok(None) => {}
                // Damaged or not, it is there.
                Ok(Some(_)) | Err(LogError::Damaged(_)) => topics.push(topic),
                Err(error) => return Err(error),
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
