//! The writer of a log in files.

use std::future::ready;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use hashbrown::HashMap;
use serde::ser::Serialize;

use super::load::{LINE_BYTES_MAX, next_indexes};
use super::naming::{SegmentNames, session_file_name};
use super::storage::{FileSystem, SegmentFile, Storage};
use super::tail::read_tail;
use crate::bus::DurableSinks;
use crate::clock::{Clock, SystemClock};
use crate::default_bus::current_policy;
use crate::event::AgentEvent;
use crate::lock::Recover;
use crate::projector::DurableAgentEventProjector;
use crate::raw::RawObject;
use crate::record::{OpaqueEvent, write_envelope};
use crate::redact::{Completeness, RedactionPolicy};
use crate::sink::{
    AgentEventSink, AgentEventSinkError, AgentEventSinkFlush, DurableHealth, EmissionFrame,
    ends_run,
};
use crate::stored_lists::StoredLists;
use crate::wire::{FieldWriter, LineWriter};

/// A rotation that failed is tried again after this much more has been written.
const ROTATE_RETRY_BYTES: u64 = 64 * 1024;

/// Every line starts with an envelope, and none is shorter than this.
const ENVELOPE_BYTES_MIN: usize =
    r#"{"index":0,"emitted_at_ms":0,"frame_depth":0,"execution_id":null,"type":""#.len();

/// How a JSONL sink works. The default is what [`JsonlEventSink::open`] uses.
#[derive(Clone)]
pub struct JsonlOptions {
    /// A file that has reached this size is left for a new segment.
    pub rotate_bytes: u64,
    /// Where files are.
    pub storage: Arc<dyn Storage>,
    /// What is hidden before a record is written.
    pub redaction: RedactionPolicy,
    /// Stamps events that reach the sink without a bus.
    pub clock: Arc<dyn Clock>,
}

impl Default for JsonlOptions {
    fn default() -> Self {
        Self {
            rotate_bytes: JsonlEventSink::ROTATE_BYTES,
            storage: Arc::new(FileSystem),
            redaction: (*current_policy()).clone(),
            clock: Arc::new(SystemClock),
        }
    }
}

/// Appends events to a JSONL file and its segments.
///
/// When [`handle_event`](AgentEventSink::handle_event) returns, the record is with
/// the operating system and survives a crash of the process. It survives a power
/// cut after the next sync, which comes with every event that ends a run or a
/// session, with [`flush`](Self::flush) and when the sink is dropped.
pub struct JsonlEventSink {
    names: SegmentNames,
    options: JsonlOptions,
    writer: Mutex<Writer>,
}

/// The end of the log that still accepts records.
struct Writer {
    /// Keeps other writers out while a later segment is written.
    claim: Option<Box<dyn SegmentFile>>,
    file: Box<dyn SegmentFile>,
    segment: u32,
    /// Bytes of complete records in the current file.
    bytes: u64,
    /// When to leave the current file.
    rotate_at: u64,
    /// A failed write may have left part of a record behind `bytes`.
    may_be_torn: bool,
    has_unsynced: bool,
    /// Where each session of this log goes on.
    sessions: HashMap<String, SessionEnd>,
    /// Whether `sessions` has all sessions of the files, not only the last one's.
    knows_all_sessions: bool,
    projector: DurableAgentEventProjector,
    /// The lists of each session as the current file has them, so that each file can be read
    /// alone.
    lists: HashMap<String, StoredLists>,
    health: DurableHealth,
    /// Between the first failure and the next success; failures are logged once.
    is_failing: bool,
    torn_bytes: u64,
    /// Reused for every record.
    line: Vec<u8>,
}

/// Where a session goes on.
#[derive(Clone, Copy, Debug)]
pub(super) struct SessionEnd {
    pub(super) next_index: u64,
    pub(super) last_ms: i64,
}

impl Default for SessionEnd {
    fn default() -> Self {
        Self {
            next_index: 0,
            last_ms: i64::MIN,
        }
    }
}

impl JsonlEventSink {
    /// A file that has reached this size is left for a new segment.
    pub const ROTATE_BYTES: u64 = 104_857_600;

    /// Opens a log for appending, making it and its folders if need be. A record
    /// torn by a crash is cut off; see [`torn_bytes`](Self::torn_bytes).
    ///
    /// # Errors
    /// What the file system says; also when another writer has the log open.
    pub fn open(base_path: impl Into<PathBuf>) -> io::Result<Arc<Self>> {
        Self::open_with(base_path, JsonlOptions::default())
    }

    /// Opens a log with options.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(
        base_path: impl Into<PathBuf>,
        options: JsonlOptions,
    ) -> io::Result<Arc<Self>> {
        let names = SegmentNames::new(base_path.into());
        let writer = Writer::open(&names, &options)?;
        Ok(Arc::new(Self {
            names,
            options,
            writer: Mutex::new(writer),
        }))
    }

    /// Deletes the log, all segments of it, and opens it empty.
    ///
    /// # Errors
    /// As [`open`](Self::open); when another writer has the log, nothing is deleted.
    pub fn start_over(base_path: impl Into<PathBuf>) -> io::Result<Arc<Self>> {
        let sink = Self::open(base_path)?;
        // The claim on the log stays ours while its files go.
        let mut writer = sink.writer.recover();
        writer.start_over(&sink.names, &sink.options)?;
        drop(writer);
        Ok(sink)
    }

    /// Makes everything accepted so far durable.
    ///
    /// # Errors
    /// What went wrong first, if any event could not be stored.
    pub fn flush(&self) -> io::Result<()> {
        let mut writer = self.writer.recover();
        writer.sync();
        match &writer.health.first_error {
            None => Ok(()),
            Some(message) => Err(io::Error::other(message.clone())),
        }
    }

    /// How many events are stored, which is the index the session's next event will
    /// get. In a log of several sessions, the sum over those met so far.
    pub fn event_count(&self) -> u64 {
        self.writer
            .recover()
            .sessions
            .values()
            .map(|end| end.next_index)
            .fold(0, u64::saturating_add)
    }

    /// What the sink did so far.
    pub fn health(&self) -> DurableHealth {
        self.writer.recover().health.clone()
    }

    /// Bytes of a torn record that were cut off when the log was opened.
    pub fn torn_bytes(&self) -> u64 {
        self.writer.recover().torn_bytes
    }

    fn store(&self, event: &AgentEvent, emitted_at_ms: i64, frame_depth: Option<u32>) {
        let mut writer = self.writer.recover();
        writer.health.accepted += 1;
        if !writer.projector.should_persist(event) {
            writer.health.skipped += 1;
            return;
        }
        let stored = writer.lists_of(event).and_then(|lists| lists.stored(event));
        let record = Record {
            emitted_at_ms,
            frame_depth,
            body: Body::Event(stored.as_ref().unwrap_or(event)),
        };
        let is_stored = self.append(&mut writer, event.session_id(), record);
        if let Some(lists) = writer.lists_of(event) {
            lists.settle(event, is_stored);
        }
        if ends_run(event) {
            writer.sync();
        }
    }

    /// Says whether the current file has the record now.
    fn append(
        &self,
        writer: &mut MutexGuard<'_, Writer>,
        session_id: &str,
        record: Record<'_>,
    ) -> bool {
        let segment = writer.segment;
        let stored = writer.append(self, session_id, record);
        match &stored {
            Ok(()) => {
                writer.health.stored += 1;
                writer.is_failing = false;
            }
            Err(error) => writer.fail(error, &self.names),
        }
        // A file with a torn end is cut before it is left.
        if writer.bytes >= writer.rotate_at && !writer.may_be_torn {
            writer.rotate(&self.names, &self.options);
        }
        stored.is_ok() && writer.segment == segment
    }
}

impl Writer {
    fn open(names: &SegmentNames, options: &JsonlOptions) -> io::Result<Self> {
        let storage = &*options.storage;
        let base = storage.open_append(&names.path(0))?;
        let newest = segment_numbers(storage, names)?
            .last()
            .copied()
            .unwrap_or(0);
        let (claim, mut file) = match newest {
            0 => (None, base),
            _ => (Some(base), storage.open_append(&names.path(newest))?),
        };
        let mut torn_bytes = 0;
        let mut last = None;
        for number in segment_numbers(storage, names)?.into_iter().rev() {
            let tail = read_tail(&mut *storage.open_read(&names.path(number))?)?;
            if number == newest && tail.torn_bytes > 0 {
                file.truncate(tail.complete_bytes)?;
                torn_bytes = tail.torn_bytes;
                let path = names.path(number);
                tracing::warn!(target: "agent.sink", path = %path.display(), torn_bytes, "cut a torn record off");
            }
            last = tail.last;
            if last.is_some() {
                break;
            }
        }
        let knows_all_sessions = last.is_none();
        let end = last.and_then(|record| {
            let end = SessionEnd {
                next_index: record.index.saturating_add(1),
                last_ms: record.emitted_at_ms,
            };
            Some((record.session_id()?.to_owned(), end))
        });
        Ok(Self {
            claim,
            bytes: file.size_bytes()?,
            file,
            segment: newest,
            rotate_at: options.rotate_bytes,
            may_be_torn: false,
            has_unsynced: false,
            sessions: end.into_iter().collect(),
            knows_all_sessions,
            projector: DurableAgentEventProjector::new(),
            lists: HashMap::new(),
            health: DurableHealth::default(),
            is_failing: false,
            torn_bytes,
            line: Vec::new(),
        })
    }

    /// What the current file has of the lists of the event's session, if the event may have some.
    fn lists_of(&mut self, event: &AgentEvent) -> Option<&mut StoredLists> {
        let AgentEvent::IterationEnd { session_id, .. } = event else {
            return None;
        };
        Some(self.lists.entry(session_id.clone()).or_default())
    }

    /// Empties the base file and deletes the segments.
    fn start_over(&mut self, names: &SegmentNames, options: &JsonlOptions) -> io::Result<()> {
        if let Some(base) = self.claim.take() {
            self.file = base;
        }
        for number in segment_numbers(&*options.storage, names)? {
            if number > 0 {
                options.storage.remove(&names.path(number))?;
            }
        }
        self.file.truncate(0)?;
        self.file.sync()?;
        self.segment = 0;
        self.bytes = 0;
        self.sessions.clear();
        self.lists.clear();
        self.knows_all_sessions = true;
        Ok(())
    }

    /// Writes one record. The session's index moves on only when it is stored, so
    /// a failure leaves no gap.
    fn append(
        &mut self,
        sink: &JsonlEventSink,
        session_id: &str,
        record: Record<'_>,
    ) -> io::Result<()> {
        let end = self.session_end(sink, session_id)?;
        if end.next_index == u64::MAX {
            return Err(io::Error::other("the log has no index left"));
        }
        let emitted_at_ms = record.emitted_at_ms.max(end.last_ms);
        let record = Record {
            emitted_at_ms,
            ..record
        };
        record.encode(end.next_index, &sink.options.redaction, &mut self.line)?;
        self.line.push(b'\n');
        if self.line.len() > LINE_BYTES_MAX {
            let size = self.line.len();
            self.line = Vec::new();
            let problem = format!("a record of {size} bytes is longer than {LINE_BYTES_MAX}");
            return Err(io::Error::other(problem));
        }
        if self.may_be_torn {
            self.file.truncate(self.bytes)?;
            self.may_be_torn = false;
        }
        if let Err(error) = self.file.append(&self.line) {
            self.may_be_torn = true;
            return Err(error);
        }
        self.bytes += self.line.len() as u64;
        self.has_unsynced = true;
        let next = SessionEnd {
            next_index: end.next_index + 1,
            last_ms: emitted_at_ms,
        };
        match self.sessions.get_mut(session_id) {
            Some(end) => *end = next,
            None => drop(self.sessions.insert(session_id.to_owned(), next)),
        }
        Ok(())
    }

    /// Where the session goes on. Files rarely hold more than one session, so the
    /// others are looked for only when one turns up.
    fn session_end(&mut self, sink: &JsonlEventSink, session_id: &str) -> io::Result<SessionEnd> {
        if let Some(end) = self.sessions.get(session_id) {
            return Ok(*end);
        }
        if !self.knows_all_sessions {
            let storage = &*sink.options.storage;
            let stored = next_indexes(
                storage,
                &sink.names,
                &segment_numbers(storage, &sink.names)?,
            )?;
            for (session, end) in stored {
                self.sessions.entry(session).or_insert(end);
            }
            self.knows_all_sessions = true;
        }
        Ok(self.sessions.get(session_id).copied().unwrap_or_default())
    }

    fn fail(&mut self, error: &io::Error, names: &SegmentNames) {
        self.health.drop_event(error);
        if !std::mem::replace(&mut self.is_failing, true) {
            let path = names.path(self.segment);
            tracing::warn!(target: "agent.sink", path = %path.display(), %error, "an event could not be stored");
        }
    }

    fn sync(&mut self) {
        if !self.has_unsynced {
            return;
        }
        match self.file.sync() {
            Ok(()) => self.has_unsynced = false,
            Err(error) => {
                self.health
                    .first_error
                    .get_or_insert_with(|| error.to_string());
            }
        }
    }

    /// Moves on to a new segment. If that fails, the current one goes on.
    fn rotate(&mut self, names: &SegmentNames, options: &JsonlOptions) {
        self.sync();
        match next_segment(&*options.storage, names) {
            Ok((number, file)) => {
                let old = std::mem::replace(&mut self.file, file);
                if self.segment == 0 {
                    self.claim = Some(old);
                }
                self.segment = number;
                self.bytes = 0;
                self.lists.clear();
                self.rotate_at = options.rotate_bytes;
            }
            Err(error) => {
                self.rotate_at = self.bytes + ROTATE_RETRY_BYTES;
                let path = names.path(self.segment);
                tracing::warn!(target: "agent.sink", path = %path.display(), %error, "cannot start a new segment");
            }
        }
    }
}

/// Numbers of a log's files, ascending.
pub(super) fn segment_numbers(storage: &dyn Storage, names: &SegmentNames) -> io::Result<Vec<u32>> {
    let files = storage.list(names.directory())?;
    let mut numbers: Vec<u32> = files.iter().filter_map(|file| names.number(file)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

fn next_segment(
    storage: &dyn Storage,
    names: &SegmentNames,
) -> io::Result<(u32, Box<dyn SegmentFile>)> {
    let newest = segment_numbers(storage, names)?
        .last()
        .copied()
        .unwrap_or(0);
    let Some(number) = newest.checked_add(1) else {
        return Err(io::Error::other("the log has no segment number left"));
    };
    Ok((number, storage.create_new(&names.path(number))?))
}

/// A record on its way to the file.
struct Record<'a> {
    emitted_at_ms: i64,
    frame_depth: Option<u32>,
    body: Body<'a>,
}

enum Body<'a> {
    Event(&'a AgentEvent),
    Opaque(&'a OpaqueEvent),
}

impl Record<'_> {
    /// Writes the record as one line of JSON, without its newline.
    fn encode(&self, index: u64, policy: &RedactionPolicy, line: &mut Vec<u8>) -> io::Result<()> {
        self.write_envelope(index, line)?;
        match self.body {
            Body::Event(event) => {
                event.write_fields(&mut LineWriter(line))?;
                // The envelope is ours and holds no secret.
                if policy.might_match(line.get(ENVELOPE_BYTES_MIN..).unwrap_or_default()) {
                    self.encode_redacted(event, index, policy, line)?;
                }
            }
            Body::Opaque(event) => {
                let redacted = event.raw().redacted(policy);
                write_raw(redacted.as_ref().unwrap_or(event.raw()), line)?;
            }
        }
        line.push(b'}');
        Ok(())
    }

    fn write_envelope(&self, index: u64, line: &mut Vec<u8>) -> io::Result<()> {
        line.clear();
        let mut object = LineWriter(line);
        write_envelope(
            &mut object,
            index,
            self.emitted_at_ms,
            self.frame_depth,
            None,
        )?;
        Ok(())
    }

    /// Writes the record again, without its secrets if it has any.
    fn encode_redacted(
        &self,
        event: &AgentEvent,
        index: u64,
        policy: &RedactionPolicy,
        line: &mut Vec<u8>,
    ) -> io::Result<()> {
        let mut value = serde_json::to_value(event)?;
        if !policy.redact_value(&mut value, Completeness::Whole) {
            return Ok(());
        }
        self.write_envelope(index, line)?;
        // `type` first, as everywhere, so that readers stay on the quick path.
        LineWriter(line).field("type", event.tag())?;
        let fields = value.as_object().into_iter().flatten();
        for (key, field) in fields.filter(|(key, _)| *key != "type") {
            write_entry(key, field, line)?;
        }
        Ok(())
    }
}

fn write_raw(raw: &RawObject, line: &mut Vec<u8>) -> io::Result<()> {
    let start = line.len();
    for (key, value) in raw.iter() {
        write_entry(key, value, line)?;
    }
    // Raw JSON has line breaks between its tokens only, where a blank does as well.
    for byte in line[start..].iter_mut().filter(|byte| **byte == b'\n') {
        *byte = b' ';
    }
    Ok(())
}

/// Writes a field whose name is not ours.
fn write_entry<T: Serialize + ?Sized>(key: &str, value: &T, line: &mut Vec<u8>) -> io::Result<()> {
    line.push(b',');
    serde_json::to_writer(&mut *line, key)?;
    line.push(b':');
    Ok(serde_json::to_writer(line, value)?)
}

impl AgentEventSink for JsonlEventSink {
    fn handle_event(&self, event: &AgentEvent) {
        self.store(event, self.options.clock.now_ms(), None);
    }

    fn handle_frame(&self, frame: &EmissionFrame<'_>) {
        self.store(frame.event, frame.emitted_at_ms, frame.frame_depth);
    }

    fn handle_opaque(&self, event: &OpaqueEvent, emitted_at_ms: i64) {
        let mut writer = self.writer.recover();
        writer.health.accepted += 1;
        let record = Record {
            emitted_at_ms,
            frame_depth: None,
            body: Body::Opaque(event),
        };
        self.append(&mut writer, event.session_id().unwrap_or_default(), record);
    }

    fn durable_health(&self) -> Option<DurableHealth> {
        Some(self.health())
    }

    fn flush(&self) -> AgentEventSinkFlush<'_> {
        let flushed = JsonlEventSink::flush(self);
        let dropped = self.health().dropped;
        Box::pin(ready(flushed.map_err(|error| {
            AgentEventSinkError::new("jsonl", error.to_string(), dropped)
        })))
    }
}

impl Drop for JsonlEventSink {
    fn drop(&mut self) {
        self.writer.recover().sync();
    }
}

/// Gives each session a JSONL log in one folder.
#[derive(Clone)]
pub struct JsonlDirectory {
    directory: PathBuf,
    options: JsonlOptions,
}

impl JsonlDirectory {
    /// Logs in `directory`, which is made when the first session is opened.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            options: JsonlOptions::default(),
        }
    }

    /// Logs in `directory`, written with these options. Their `redaction` does not
    /// count: the log of a session hides what its bus hides.
    pub fn with_options(directory: impl Into<PathBuf>, options: JsonlOptions) -> Self {
        Self {
            directory: directory.into(),
            options,
        }
    }

    /// Where the session's log is.
    pub fn path_of(&self, session_id: &str) -> PathBuf {
        self.directory.join(session_file_name(session_id))
    }

    /// The folder.
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}

impl DurableSinks for JsonlDirectory {
    fn open(
        &self,
        session_id: &str,
        redaction: &RedactionPolicy,
    ) -> io::Result<Arc<dyn AgentEventSink>> {
        let options = JsonlOptions {
            redaction: redaction.clone(),
            ..self.options.clone()
        };
        Ok(JsonlEventSink::open_with(
            self.path_of(session_id),
            options,
        )?)
    }
}
