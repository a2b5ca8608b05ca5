//! Reading logs back.
//!
//! ```text
//! files ──► lines ──► records ──► by session, by index ──► SessionLog + LoadReport
//! ```
//!
//! Records are grouped by the session they name, never by the file they are in.
//! Nothing is repaired and nothing is dropped silently: what cannot be read,
//! what is missing and what is there twice is in the report.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::iterations::{InferredEnd, Iterations, RunStart, ends_complete};
use super::naming::SegmentNames;
use super::sink::{SessionEnd, segment_numbers};
use super::storage::{FileSystem, Storage};
use crate::compat::Adaptation;
use crate::record::{RecordedEvent, StoredRecord};
use crate::types::SessionLists;

/// A line longer than this is damage, not an event: the writer refuses to make one.
pub(super) const LINE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// A log could not be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}: {source}", .path.display())]
pub struct LoadError {
    /// File or folder.
    pub path: PathBuf,
    /// What the file system said.
    pub source: io::Error,
}

/// Everything that was found in a folder or file.
#[derive(Debug, Default)]
pub struct LoadedLog {
    /// One log per session, by id.
    pub sessions: BTreeMap<String, SessionLog>,
    /// Records that name no session, in the order they were found.
    pub homeless: Vec<StoredRecord>,
    /// Lines that are not records.
    pub damage: Vec<Damage>,
}

/// The records of one session in order: position `k` means "after `records[..k]`".
#[derive(Debug, Default)]
pub struct SessionLog {
    /// Sorted by index. Where an index is there twice, the first one found comes first.
    pub records: Vec<StoredRecord>,
    /// What a reader should know about them.
    pub report: LoadReport,
}

/// What a reader should know about a session's records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadReport {
    /// Indexes that should be there and are not, as inclusive ranges.
    pub missing: Vec<(u64, u64)>,
    /// Indexes that are there more than once.
    pub duplicates: Vec<u64>,
    /// Records that are not understood and kept as they are.
    pub opaque: u64,
    /// Records of older or newer versions that were understood.
    pub adapted: u64,
    /// Numeric fields that were `null` and read as 0.
    pub nulls_as_zero: u64,
    /// The runs of the session, with what each calls its first iteration.
    pub runs: Vec<RunStart>,
    /// Iterations without an end record, with the position at which they are over.
    pub inferred_ends: Vec<InferredEnd>,
    /// Whether the log ends the way a complete run does.
    pub is_complete: bool,
}

/// A line that is not a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// File.
    pub path: PathBuf,
    /// Line number, from 1.
    pub line: u64,
    /// Byte at which the line starts.
    pub offset: u64,
    /// What is wrong.
    pub reason: String,
    /// The last line of the file, without its newline: a crash tore it.
    pub is_torn_tail: bool,
}

/// Reads every log file in a folder: names that start with `event_log` and end
/// in `.jsonl`.
///
/// # Errors
/// Only what keeps files from being read; damage inside them is in the result.
pub fn load_directory(directory: &Path) -> Result<LoadedLog, LoadError> {
    let failed = |source| LoadError {
        path: directory.to_owned(),
        source,
    };
    let mut names = FileSystem.list(directory).map_err(failed)?;
    names.retain(|name| name.starts_with("event_log") && name.ends_with(".jsonl"));
    names.sort_unstable();
    load(names.into_iter().map(|name| directory.join(name)))
}

/// Reads one log: the base file and its segments.
///
/// # Errors
/// As [`load_directory`]; also when there is no such log.
pub fn load_file(base_path: &Path) -> Result<LoadedLog, LoadError> {
    let failed = |source| LoadError {
        path: base_path.to_owned(),
        source,
    };
    let names = SegmentNames::new(base_path.to_owned());
    let mut numbers = segment_numbers(&FileSystem, &names).map_err(failed)?;
    if numbers.is_empty() {
        numbers.push(0);
    }
    load(numbers.into_iter().map(|number| names.path(number)))
}

fn load(paths: impl Iterator<Item = PathBuf>) -> Result<LoadedLog, LoadError> {
    let mut log = LoadedLog::default();
    for path in paths {
        let failed = |source| LoadError {
            path: path.clone(),
            source,
        };
        let file = FileSystem.open_read(&path).map_err(failed)?;
        let read = for_each_line(file, |line| match line.decode() {
            Ok(None) => {}
            Ok(Some(record)) => log.add(record),
            Err(reason) => log.damage.push(Damage {
                path: path.clone(),
                line: line.number,
                offset: line.offset,
                reason,
                is_torn_tail: !line.is_terminated,
            }),
        });
        read.map_err(failed)?;
    }
    log.sessions.values_mut().for_each(SessionLog::finish);
    Ok(log)
}

impl LoadedLog {
    fn add(&mut self, record: StoredRecord) {
        let Some(session_id) = record.session_id() else {
            self.homeless.push(record);
            return;
        };
        if let Some(session) = self.sessions.get_mut(session_id) {
            session.records.push(record);
        } else {
            let session = SessionLog {
                records: Vec::new(),
                ..SessionLog::default()
            };
            self.sessions
                .entry(session_id.to_owned())
                .or_insert(session)
                .records
                .push(record);
        }
    }
}

impl SessionLog {
    fn finish(&mut self) {
        self.records.sort_by_key(|record| record.index);
        let mut lists = SessionLists::default();
        for record in &mut self.records {
            record.event.complete(&mut lists);
        }
        let mut last: Option<u64> = None;
        for record in &self.records {
            if last == Some(record.index) {
                self.report.duplicates.push(record.index);
            }
            // Sorted, so what was last is at most this index.
            let expected = last.map_or(0, |last| last.saturating_add(1));
            if record.index > expected {
                self.report.missing.push((expected, record.index - 1));
            }
            last = Some(record.index);
        }
        for record in &self.records {
            self.report.note(&record.event);
        }
        let iterations = Iterations::of(&self.records);
        self.report.runs = iterations.runs;
        self.report.inferred_ends = iterations.inferred_ends;
        self.report.is_complete = ends_complete(&self.records);
    }
}

impl LoadReport {
    /// Whether every record is there exactly once.
    pub fn is_dense(&self) -> bool {
        self.missing.is_empty() && self.duplicates.is_empty()
    }

    fn note(&mut self, event: &RecordedEvent) {
        match event {
            RecordedEvent::Known(_) => {}
            RecordedEvent::Opaque(_) => self.opaque += 1,
            RecordedEvent::Adapted(adapted) => {
                self.adapted += 1;
                let is_null = |a: &&Adaptation| matches!(a, Adaptation::NullAsZero(_));
                self.nulls_as_zero += adapted.adaptations.iter().filter(is_null).count() as u64;
            }
        }
    }
}

/// Where each session of a log goes on, for a writer that has to know all of them.
pub(super) fn next_indexes(
    storage: &dyn Storage,
    names: &SegmentNames,
    numbers: &[u32],
) -> io::Result<BTreeMap<String, SessionEnd>> {
    let mut ends: BTreeMap<String, SessionEnd> = BTreeMap::new();
    for number in numbers {
        for_each_line(storage.open_read(&names.path(*number))?, |line| {
            let Ok(Some(record)) = line.decode() else {
                return;
            };
            let session_id = record.session_id().unwrap_or_default();
            let end = ends.entry(session_id.to_owned()).or_default();
            end.next_index = end.next_index.max(record.index.saturating_add(1));
            end.last_ms = end.last_ms.max(record.emitted_at_ms);
        })?;
    }
    Ok(ends)
}

/// One line of a file, without its newline.
struct Line<'a> {
    bytes: &'a [u8],
    number: u64,
    offset: u64,
    is_terminated: bool,
}

impl Line<'_> {
    /// The record; `None` for a blank line.
    fn decode(&self) -> Result<Option<StoredRecord>, String> {
        if !self.is_terminated {
            return Err(format!(
                "{} bytes without a newline at the end of the file",
                self.bytes.len()
            ));
        }
        if self.bytes.len() > LINE_BYTES_MAX {
            return Err(format!("longer than {LINE_BYTES_MAX} bytes"));
        }
        let text = std::str::from_utf8(self.bytes).map_err(|error| error.to_string())?;
        if text.trim().is_empty() {
            return Ok(None);
        }
        StoredRecord::decode(text)
            .map(Some)
            .map_err(|error| error.to_string())
    }
}

fn for_each_line(file: impl Read, mut visit: impl FnMut(&Line<'_>)) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(64 * 1024, file);
    let mut buffer = Vec::new();
    let (mut number, mut offset) = (0, 0);
    loop {
        buffer.clear();
        // One byte over the limit tells a line that is too long from one that fits.
        let limit = LINE_BYTES_MAX as u64 + 2;
        let mut read = (&mut reader).take(limit).read_until(b'\n', &mut buffer)? as u64;
        if read == 0 {
            return Ok(());
        }
        let mut is_terminated = buffer.last() == Some(&b'\n');
        if is_terminated {
            buffer.pop();
        } else if read == limit {
            let (skipped, found) = skip_line(&mut reader)?;
            read += skipped;
            is_terminated = found;
        }
        number += 1;
        visit(&Line {
            bytes: &buffer,
            number,
            offset,
            is_terminated,
        });
        offset += read;
    }
}

/// Skips the rest of a line that is too long; says how much, and whether it ended.
fn skip_line(reader: &mut impl BufRead) -> io::Result<(u64, bool)> {
    let mut skipped = 0;
    loop {
        let available = reader.fill_buf()?;
        if available.is_empty() {
            return Ok((skipped, false));
        }
        let end = available.iter().position(|&byte| byte == b'\n');
        let used = end.map_or(available.len(), |at| at + 1);
        reader.consume(used);
        skipped += used as u64;
        if end.is_some() {
            return Ok((skipped, true));
        }
    }
}
