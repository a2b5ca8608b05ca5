//! Finds where a topic ends.
//!
//! ```text
//! segment:  ──── synced ────►│◄──── not synced yet ────►│
//!           record … record  │ record … record  ?? record
//!           damage here is   │                  ▲
//!           an error         │                  └ the end: cut here
//! ```
//!
//! A crash can only damage what was not synced, because everything before was on the
//! disk. So the first thing after the synced part that is not a record ends the
//! topic, even if there are records after it: nobody was ever told that they were
//! safe. Whatever is wrong before is damage, which a person must look at; reading
//! finds it, and this module does not look for it.

use std::cmp::Ordering;

use serde_json::Value;

use crate::error::LogError;
use crate::event::LogEvent;
use crate::local::Head;
use crate::log::Result;
use crate::name::EventId;
use crate::provenance::RECORD_HASH_HEADER;

use super::layout::Segment;
use super::line;
use super::mark::Synced;
use super::segment::{Line, Lines, SegmentFile};

/// Where a segment ends, and with what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct End {
    /// The byte after the last record.
    pub(super) offset: u64,
    /// The last record; `None` if there is none in the segment.
    pub(super) last: Option<Head>,
}

/// What is after the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Torn {
    pub(super) bytes: u64,
    /// How much of it could be read.
    pub(super) records: u64,
}

/// Where looking for the end may begin: all before it is known to be records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Up to a byte, and what the last record is if somebody remembers.
    UpTo(u64, Option<Head>),
    /// Nothing is known: the last record that can be read is the end.
    Nothing,
}

impl Known {
    /// What the mark of a topic says about its last segment.
    ///
    /// # Errors
    /// The segment has lost something that was synced.
    pub(super) fn by_mark(
        synced: Option<Synced>,
        segment: &Segment,
        file: &SegmentFile,
    ) -> Result<Self> {
        let Some(synced) = synced else {
            return Ok(Self::Nothing);
        };
        let problem = match synced.segment.cmp(&segment.first) {
            Ordering::Less => return Ok(Self::UpTo(0, None)),
            Ordering::Equal if synced.up_to <= file.len => {
                return Ok(Self::UpTo(synced.up_to, None));
            }
            Ordering::Equal => format!("it once had {} bytes", synced.up_to),
            Ordering::Greater => format!("the segment from event {} on is missing", synced.segment),
        };
        Err(file.damage(file.len, 0, problem))
    }
}

/// Looks for the end. `visit` sees every record that was not known.
pub(super) fn find_end(
    segment: &Segment,
    file: &SegmentFile,
    known: Known,
    visit: &mut dyn FnMut(EventId, &LogEvent),
) -> Result<End> {
    let (mut offset, mut last) = match known {
        Known::UpTo(0, _) => (0, None),
        Known::UpTo(offset, Some(head)) => (offset, Some(head)),
        Known::UpTo(offset, None) => match record_before(file, offset)? {
            Some(head) => (offset, Some(head)),
            None => return Err(no_record_before(file, offset)?),
        },
        Known::Nothing => return last_readable(file),
    };
    let mut lines = file.lines_from(offset);
    let mut batch = Vec::new();
    while let Some(line) = next_line(&mut lines)? {
        let Ok(stored) = line::parse::<Value>(line.bytes) else {
            break;
        };
        let before = last.as_ref().map_or(segment.first - 1, |head| head.id);
        if stored.id != before + 1 + batch.len() as u64 {
            break;
        }
        batch.push((stored.id, LogEvent::from(stored.event)));
        if stored.more > 0 {
            continue; // A batch counts once it is complete.
        }
        offset = line.end();
        for (id, event) in batch.drain(..) {
            visit(id, &event);
            last = Some(head_of(id, &event));
        }
    }
    Ok(End { offset, last })
}

/// The next line. What is too long to be one ends a topic like anything unreadable.
fn next_line<'a>(lines: &'a mut Lines<'_>) -> Result<Option<Line<'a>>> {
    match lines.next() {
        Err(LogError::Damaged(_)) => Ok(None),
        other => other,
    }
}

/// A record of a segment.
pub(super) fn find_record(file: &SegmentFile, id: EventId) -> Result<Option<Head>> {
    let mut lines = file.lines_from(file.seek(id)?);
    while let Some(line) = next_line(&mut lines)? {
        if let Some(head) = readable(line.bytes).filter(|head| head.id >= id) {
            return Ok((head.id == id).then_some(head));
        }
    }
    Ok(None)
}

/// What is after the end of a segment.
pub(super) fn torn_after(file: &SegmentFile, end: u64) -> Result<Option<Torn>> {
    if end >= file.len {
        return Ok(None);
    }
    let mut records = 0;
    let mut lines = file.lines_from(end);
    while let Some(line) = next_line(&mut lines)? {
        records += u64::from(line::id_of(line.bytes).is_some());
    }
    let bytes = file.len - end;
    Ok(Some(Torn { bytes, records }))
}

/// The record that ends at a byte.
fn record_before(file: &SegmentFile, end: u64) -> Result<Option<Head>> {
    let mut is_first = true;
    let found = file.last_line_where(end, |line| {
        // Only the line right before will do.
        std::mem::take(&mut is_first).then(|| readable(line))
    })?;
    Ok(match found {
        Some((_, found_end, head)) if found_end == end => head,
        _ => None,
    })
}

/// The damage when no record ends at a byte where one once did.
fn no_record_before(file: &SegmentFile, end: u64) -> Result<LogError> {
    let mut start = 0;
    if let Some(last) = end.checked_sub(1) {
        let line = file.last_line_where(last, |_| Some(()))?;
        start = line.map_or(0, |(_, line_end, ())| line_end);
    }
    let problem = format!("no record ends at byte {end}, where one once did");
    Ok(file.damage(start, end - start, problem))
}

/// The last record that can be read at all.
fn last_readable(file: &SegmentFile) -> Result<End> {
    let found = file.last_line_where(file.len, |line| {
        let stored = line::parse::<Value>(line).ok()?;
        // A batch counts once it is complete.
        (stored.more == 0).then(|| head_of(stored.id, &stored.event.into()))
    })?;
    Ok(match found {
        Some((_, offset, head)) => End {
            offset,
            last: Some(head),
        },
        None => End {
            offset: 0,
            last: None,
        },
    })
}

fn readable(line: &[u8]) -> Option<Head> {
    let stored = line::parse::<Value>(line).ok()?;
    Some(head_of(stored.id, &stored.event.into()))
}

fn head_of(id: EventId, event: &LogEvent) -> Head {
    let hash = event.headers.get(RECORD_HASH_HEADER).cloned();
    Head { id, hash }
}
