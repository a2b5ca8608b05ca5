//! Reading a segment: lines in order, from the record one wants.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Damage, LogError};
use crate::log::Result;
use crate::name::EventId;

use super::disk::{Disk, DiskFile, OpenFile, read_full_at};
use super::line;

/// Bytes read at once.
const CHUNK_BYTES: usize = 64 * 1024;
/// Bytes read at once in a search, where most of them are not wanted.
const PROBE_BYTES: usize = 4 * 1024;
/// A search ends where reading on is as fast.
const SEARCH_BYTES_MIN: u64 = CHUNK_BYTES as u64;
/// The longest line we take. A record is one line; without a bound, a file without
/// line breaks would be read into memory as a whole.
pub(super) const LINE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// A segment that is being read.
pub(super) struct SegmentFile {
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    /// Where it ends, or ended when it was opened.
    pub(super) len: u64,
}

impl SegmentFile {
    /// Opens a segment; `None` if it is not there.
    pub(super) fn open(disk: &dyn Disk, path: &Path) -> io::Result<Option<Self>> {
        match disk.open(path, OpenFile::Read) {
            Ok(file) => Self::of(file, path).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A segment that somebody has open already.
    pub(super) fn of(file: Arc<dyn DiskFile>, path: &Path) -> io::Result<Self> {
        Ok(Self {
            len: file.len()?,
            file,
            path: path.to_owned(),
        })
    }

    /// The file itself.
    pub(super) fn file(&self) -> &dyn DiskFile {
        &*self.file
    }

    /// Whether somebody has written to it since it was opened.
    pub(super) fn has_grown(&self) -> io::Result<bool> {
        Ok(self.file.len()? > self.len)
    }

    /// The lines from a line's beginning on.
    pub(super) fn lines_from(&self, offset: u64) -> Lines<'_> {
        self.lines(offset, CHUNK_BYTES)
    }

    fn lines(&self, offset: u64, chunk_bytes: usize) -> Lines<'_> {
        Lines {
            segment: self,
            buffer: Vec::new(),
            at: 0,
            offset,
            chunk_bytes,
        }
    }

    /// A line's beginning from which the record `id` can be reached by reading on
    /// for a little: the ids in a file rise, so it can be searched like a sorted list.
    pub(super) fn seek(&self, id: EventId) -> Result<u64> {
        let (mut low, mut high) = (0, self.len);
        while high - low > SEARCH_BYTES_MIN {
            let middle = low + (high - low) / 2;
            match self.line_after(middle, high)? {
                Some((start, found)) if found <= id => low = start,
                Some(_) | None => high = middle,
            }
        }
        Ok(low)
    }

    /// The first line that begins after `offset` and before `high` and has an id.
    fn line_after(&self, offset: u64, high: u64) -> Result<Option<(u64, EventId)>> {
        // From one byte before, so that a line that begins right here is found.
        let mut lines = self.lines(offset.saturating_sub(1), PROBE_BYTES);
        if offset > 0 {
            lines.next()?;
        }
        while lines.offset < high {
            let Some(line) = lines.next()? else { break };
            // Checked, so that no damaged id leads us astray.
            if let Some(id) = line::id_of(line.bytes) {
                return Ok(Some((line.offset, id)));
            }
        }
        Ok(None)
    }

    /// The beginning of the last line that ends at or before `end` and satisfies
    /// `wanted`, together with where it ends. Reads from the end.
    pub(super) fn last_line_where<T>(
        &self,
        end: u64,
        mut wanted: impl FnMut(&[u8]) -> Option<T>,
    ) -> Result<Option<(u64, u64, T)>> {
        let mut breaks = Breaks::of(self);
        let mut end = breaks.last_before(end)?;
        while let Some(line_end) = end {
            let previous = breaks.last_before(line_end)?;
            let start = previous.map_or(0, |at| at + 1);
            let line = self.read(start, line_end)?;
            if let Some(found) = wanted(&line) {
                return Ok(Some((start, line_end + 1, found)));
            }
            end = previous;
        }
        Ok(None)
    }

    /// The bytes of a range.
    pub(super) fn read(&self, start: u64, end: u64) -> Result<Vec<u8>> {
        let length = usize::try_from(end - start).unwrap_or(usize::MAX);
        if length > LINE_BYTES_MAX {
            return Err(self.damage(start, end - start, "a line is too long to be a record"));
        }
        let mut bytes = vec![0; length];
        let read = read_full_at(&*self.file, &mut bytes, start)?;
        bytes.truncate(read);
        Ok(bytes)
    }

    pub(super) fn damage(&self, offset: u64, length: u64, problem: impl Into<String>) -> LogError {
        LogError::Damaged(self.damage_at(offset, length, problem))
    }

    pub(super) fn damage_at(&self, offset: u64, length: u64, problem: impl Into<String>) -> Damage {
        Damage {
            path: self.path.clone(),
            offset,
            length,
            problem: problem.into(),
        }
    }
}

/// Finds line breaks from the end of a segment to its beginning. Remembers what it has
/// read, so that many short lines cost no more than a few long ones.
struct Breaks<'a> {
    segment: &'a SegmentFile,
    chunk: Vec<u8>,
    /// Where the chunk begins in the file.
    start: u64,
}

impl<'a> Breaks<'a> {
    fn of(segment: &'a SegmentFile) -> Self {
        Self {
            segment,
            chunk: Vec::new(),
            start: u64::MAX,
        }
    }

    /// The last line break before `end`, which must not be later than the one found last.
    fn last_before(&mut self, mut end: u64) -> Result<Option<u64>> {
        while end > 0 {
            if end <= self.start {
                self.read_before(end)?;
            }
            let known = usize::try_from(end - self.start).unwrap_or(usize::MAX);
            let known = &self.chunk[..known.min(self.chunk.len())];
            if let Some(at) = known.iter().rposition(|byte| *byte == b'\n') {
                return Ok(Some(self.start + at as u64));
            }
            end = self.start;
        }
        Ok(None)
    }

    fn read_before(&mut self, end: u64) -> io::Result<()> {
        self.start = end.saturating_sub(CHUNK_BYTES as u64);
        let wanted = usize::try_from(end - self.start).expect("a chunk fits in memory");
        self.chunk.resize(wanted, 0);
        let read = read_full_at(&*self.segment.file, &mut self.chunk, self.start)?;
        self.chunk.truncate(read);
        Ok(())
    }
}

/// A line of a segment.
pub(super) struct Line<'a> {
    /// Where it begins.
    pub(super) offset: u64,
    /// What it says, without its line break.
    pub(super) bytes: &'a [u8],
}

impl Line<'_> {
    /// Where the next one begins.
    pub(super) fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64 + 1
    }
}

/// The lines of a segment in order. A line without its line break is none: it is
/// being written, or nobody finished it.
pub(super) struct Lines<'a> {
    segment: &'a SegmentFile,
    buffer: Vec<u8>,
    /// Where the next line begins in the buffer.
    at: usize,
    /// Where it begins in the file.
    pub(super) offset: u64,
    /// Bytes read at once.
    chunk_bytes: usize,
}

impl Lines<'_> {
    /// The next line; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Line<'_>>> {
        let mut searched = 0;
        loop {
            let rest = &self.buffer[self.at..];
            let found = rest[searched..].iter().position(|byte| *byte == b'\n');
            if let Some(length) = found.map(|at| at + searched) {
                let (offset, start) = (self.offset, self.at);
                self.offset += length as u64 + 1;
                self.at += length + 1;
                let bytes = &self.buffer[start..start + length];
                return Ok(Some(Line { offset, bytes }));
            }
            searched = rest.len();
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    /// Reads more; `false` at the end of the segment.
    fn fill(&mut self) -> Result<bool> {
        self.buffer.drain(..self.at);
        self.at = 0;
        let known = self.buffer.len();
        let next = self.offset + known as u64;
        let wanted = self.chunk_bytes.max(known); // Twice as much each time a line is long.
        let wanted =
            wanted.min(usize::try_from(self.segment.len.saturating_sub(next)).unwrap_or(wanted));
        if wanted == 0 {
            return Ok(false);
        }
        if known > LINE_BYTES_MAX {
            let problem = "a line is too long to be a record";
            return Err(self.segment.damage(self.offset, known as u64, problem));
        }
        self.buffer.resize(known + wanted, 0);
        let read = read_full_at(&*self.segment.file, &mut self.buffer[known..], next)?;
        self.buffer.truncate(known + read);
        Ok(read > 0)
    }
}
