//! A file in which records are safe before they are in the tables.
//!
//! ```text
//! <name>-intake    area 0: frame 41, frame 42, frame 43, rest of older frames
//!                  area 1: frame 38, frame 39, frame 40, rest of older frames
//! frame            length ─ checksum ─ sequence ─ sections: topic, first id, records ─ zeros
//! ```
//!
//! One write to a file that never grows is the least that a disk can be asked for what must not
//! be lost; the same records in tables are many pages. So a frame is written here, in blocks of
//! its own, whoever waits for it goes on, and the tables get it later, together with others.
//!
//! Frames are numbered without gaps, and the tables know the number of the first frame that they
//! do not have. Whatever this file says of earlier ones is of the past. An area is written over
//! only if its frames are in the tables and would survive a power cut there; that is why there
//! are two of them.

use std::collections::BTreeMap;
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Damage, LogError};
use crate::event::LogEvent;
use crate::file::{Disk, DiskFile, OpenFile, RealDisk, read_full_at, write_all_at};
use crate::log::Result;
use crate::name::{EventId, Topic};
use crate::record::{Draft, Headers};

use super::folder_of;
use super::write_through::{BLOCK_BYTES, WriteThrough, whole_blocks};

/// Bytes of an area. Small enough to be made in a moment, large enough that the tables need to be
/// synced only now and then.
const AREA_BYTES: usize = 1024 * 1024;

const AREAS: usize = 2;

/// Length, checksum and sequence.
const HEAD_BYTES: usize = 4 + 4 + 8;

/// Records that wait to be moved into the tables.
pub(super) struct Intake {
    path: PathBuf,
    /// To read it.
    file: Arc<dyn DiskFile>,
    /// To write to it; none for those who may only read.
    blocks: Option<WriteThrough>,
    /// Where the next frame will be.
    end: End,
    /// The sequences of the last frames of both areas, 0 if there are none.
    last: [u64; AREAS],
    /// Whether the last frame was the first of its area.
    has_begun_area: bool,
    /// What is about to be written.
    frame: Vec<u8>,
}

/// Where the next frame will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct End {
    sequence: u64,
    area: usize,
    /// Bytes from the start of the area.
    at: usize,
}

/// Records that are committed together.
pub(super) struct Frame {
    pub(super) sequence: u64,
    pub(super) sections: Vec<Section>,
}

/// Records of one topic. Their hashes are left to whoever moves them into the tables.
pub(super) struct Section {
    pub(super) topic: Topic,
    /// The id of the first of them. The others have the next ones.
    pub(super) first_id: EventId,
    pub(super) drafts: Vec<Draft>,
}

impl Section {
    /// The id of the last of its records.
    pub(super) fn last_id(&self) -> EventId {
        self.first_id + self.drafts.len() as u64 - 1
    }

    /// The ids of its records.
    pub(super) fn ids(&self) -> RangeInclusive<EventId> {
        self.first_id..=self.last_id()
    }
}

/// Whether a frame was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Put {
    /// It was, and would survive a power cut.
    Safe,
    /// There is no room: the frame is too large, or the tables have to be synced first.
    NoRoom,
}

impl Intake {
    /// Makes the file, if it is not there, as large as it will ever be: to write where there was
    /// something before is all that a sync has to wait for then.
    pub(super) fn create(path: &Path, next: u64) -> Result<Self> {
        let file = RealDisk.open(path, OpenFile::Write)?;
        let bytes = (AREAS * AREA_BYTES) as u64;
        if file.len()? < bytes {
            write_all_at(&*file, &vec![0; AREAS * AREA_BYTES], 0)?;
            file.sync()?;
            RealDisk.sync_folder(folder_of(path))?;
        }
        let (intake, _) = Self::with_file(path, file, OpenFile::Write, next)?;
        Ok(intake)
    }

    /// Opens the file, with the frames from `next` on; `None` if it is not there, or was never
    /// finished.
    pub(super) fn open(
        path: &Path,
        how: OpenFile,
        next: u64,
    ) -> Result<Option<(Self, Vec<Frame>)>> {
        match RealDisk.open(path, how) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
            Ok(file) if file.len()? < (AREAS * AREA_BYTES) as u64 => Ok(None),
            Ok(file) => Self::with_file(path, file, how, next).map(Some),
        }
    }

    fn with_file(
        path: &Path,
        file: Arc<dyn DiskFile>,
        how: OpenFile,
        next: u64,
    ) -> Result<(Self, Vec<Frame>)> {
        let blocks = match how {
            OpenFile::Read => None,
            _ => Some(WriteThrough::open(path)?),
        };
        let mut intake = Self {
            path: path.to_owned(),
            file,
            blocks,
            end: End {
                sequence: next,
                area: 0,
                at: 0,
            },
            last: [0; AREAS],
            has_begun_area: false,
            frame: Vec::new(),
        };
        let frames = intake.look_around(next)?;
        Ok((intake, frames))
    }

    /// The sequence of the next frame.
    pub(super) fn next(&self) -> u64 {
        self.end.sequence
    }

    /// Whether the last frame was the first of its area, so that the other one will be needed.
    pub(super) fn has_begun_area(&self) -> bool {
        self.has_begun_area
    }

    /// Whether frames are here that the tables have never heard of: those from `next` on.
    pub(super) fn has_more(&self, next: u64) -> Result<bool> {
        if next != self.end.sequence {
            return Ok(true); // Or fewer; somebody has to look.
        }
        let other = self.other_area();
        Ok(self.has_frame(self.end)? || self.has_frame(other)?)
    }

    /// Reads the whole file: finds its end, and the frames from `next` on.
    pub(super) fn look_around(&mut self, next: u64) -> Result<Vec<Frame>> {
        let mut ends = Vec::new();
        let mut found = Vec::new();
        for area in 0..AREAS {
            let mut bytes = vec![0; AREA_BYTES];
            read_full_at(&*self.file, &mut bytes, offset(area, 0))?;
            let (mut at, mut last) = (0, 0);
            while let Some(frame) = frame_at(&bytes[at..]) {
                if last != 0 && frame.sequence != last + 1 {
                    break; // What was here before.
                }
                last = frame.sequence;
                if frame.sequence >= next {
                    found.push(self.decode(frame, offset(area, at))?);
                }
                at += whole_blocks(HEAD_BYTES + frame.body.len());
            }
            self.last[area] = last;
            ends.push(End {
                sequence: last + 1,
                area,
                at,
            });
        }
        let newest = ends.into_iter().max_by_key(|end| end.sequence);
        self.end = newest.expect("there are areas");
        found.sort_by_key(|frame| frame.sequence);
        let is_dense = found
            .iter()
            .map(|frame| frame.sequence)
            .eq(next..next + found.len() as u64);
        if !is_dense {
            return Err(self.damage(0, "frames are missing".to_owned()));
        }
        if self.end.sequence < next {
            // The tables know more than the file, and all of it is of the past. What comes next
            // would not be found after that, so it begins another area.
            self.end.sequence = next;
            self.end.at = AREA_BYTES;
        }
        Ok(found)
    }

    /// Writes a frame and makes it survive a power cut. Frames before `safe` may be written over.
    ///
    /// # Errors
    /// Nobody knows what was written. Looking around tells.
    pub(super) fn put(&mut self, sections: &[Section], safe: u64) -> io::Result<Put> {
        let sequence = self.end.sequence;
        encode(&mut self.frame, sequence, sections);
        let length = whole_blocks(self.frame.len());
        let mut end = self.end;
        if end.at + length > AREA_BYTES {
            end = self.other_area();
            let is_free = self.last[end.area] < safe;
            if !is_free || length > AREA_BYTES {
                return Ok(Put::NoRoom);
            }
        }
        let Some(blocks) = &mut self.blocks else {
            return Err(io::ErrorKind::PermissionDenied.into());
        };
        blocks.write(&self.frame, offset(end.area, end.at))?;
        self.last[end.area] = sequence;
        self.has_begun_area = end.at == 0;
        self.end = End {
            sequence: sequence + 1,
            at: end.at + length,
            ..end
        };
        Ok(Put::Safe)
    }

    /// The place where a frame goes that does not fit any more.
    fn other_area(&self) -> End {
        End {
            area: (self.end.area + 1) % AREAS,
            at: 0,
            ..self.end
        }
    }

    /// Whether the frame that would come next has been written here, all of it: after a power cut
    /// its first block may be there without the others.
    fn has_frame(&self, end: End) -> Result<bool> {
        let mut bytes = vec![0; BLOCK_BYTES.min(AREA_BYTES - end.at)];
        read_full_at(&*self.file, &mut bytes, offset(end.area, end.at))?;
        if bytes.get(8..HEAD_BYTES) != Some(&end.sequence.to_le_bytes()) {
            return Ok(false);
        }
        bytes.resize(AREA_BYTES - end.at, 0);
        read_full_at(&*self.file, &mut bytes, offset(end.area, end.at))?;
        Ok(frame_at(&bytes).is_some())
    }

    fn decode(&self, frame: RawFrame<'_>, offset: u64) -> Result<Frame> {
        let mut rest = Cut(frame.body);
        let mut sections = Vec::new();
        while !rest.0.is_empty() {
            let Some(section) = rest.section() else {
                let problem = "a frame is whole, but cannot be understood".to_owned();
                return Err(self.damage(offset, problem));
            };
            sections.push(section);
        }
        Ok(Frame {
            sequence: frame.sequence,
            sections,
        })
    }

    fn damage(&self, offset: u64, problem: String) -> LogError {
        LogError::Damaged(Damage {
            path: self.path.clone(),
            offset,
            length: 0,
            problem,
        })
    }
}

/// Where in the file something of an area is.
fn offset(area: usize, at: usize) -> u64 {
    (area * AREA_BYTES + at) as u64
}

fn checksum(length: &[u8], rest: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(length);
    hasher.update(rest);
    hasher.finalize()
}

/// Writes a frame in place of what is there.
fn encode(frame: &mut Vec<u8>, sequence: u64, sections: &[Section]) {
    frame.clear();
    frame.resize(HEAD_BYTES, 0);
    for section in sections {
        push_text(frame, section.topic.as_str());
        frame.extend_from_slice(&section.first_id.to_le_bytes());
        push_count(frame, section.drafts.len());
        let mut before: Option<&Headers> = None;
        for draft in &section.drafts {
            let headers = draft.headers();
            let is_same = before
                .replace(headers)
                .is_some_and(|before| before.is(headers));
            frame.push(u8::from(is_same));
            if !is_same {
                push_count(frame, headers.pairs().len());
                for (name, value) in headers.pairs() {
                    push_text(frame, name);
                    push_text(frame, value);
                }
            }
            push_text(frame, draft.kind());
            frame.extend_from_slice(&draft.occurred_at_ms().to_le_bytes());
            push_text(frame, draft.payload_json());
        }
    }
    let length = (frame.len() - HEAD_BYTES) as u32;
    frame[..4].copy_from_slice(&length.to_le_bytes());
    frame[8..HEAD_BYTES].copy_from_slice(&sequence.to_le_bytes());
    let checksum = checksum(&frame[..4], &frame[8..]);
    frame[4..8].copy_from_slice(&checksum.to_le_bytes());
}

fn push_text(frame: &mut Vec<u8>, text: &str) {
    push_count(frame, text.len());
    frame.extend_from_slice(text.as_bytes());
}

fn push_count(frame: &mut Vec<u8>, count: usize) {
    // A frame with more than that would not fit anyway.
    frame.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

/// A frame before anybody has looked into it.
#[derive(Clone, Copy)]
struct RawFrame<'a> {
    sequence: u64,
    body: &'a [u8],
}

/// The frame that begins here, if one does and is whole.
fn frame_at(bytes: &[u8]) -> Option<RawFrame<'_>> {
    let mut rest = Cut(bytes);
    let length = rest.number()?;
    let expected = rest.number()?;
    let hashed = rest.0.get(..8 + length as usize)?;
    let is_whole = length > 0 && checksum(&length.to_le_bytes(), hashed) == expected;
    is_whole.then(|| RawFrame {
        sequence: u64::from_le_bytes(*hashed.first_chunk().expect("it is long enough")),
        body: &hashed[8..],
    })
}

/// What is left to be read of a frame.
struct Cut<'a>(&'a [u8]);

impl<'a> Cut<'a> {
    fn section(&mut self) -> Option<Section> {
        let topic = Topic::new(self.text()?).ok()?;
        let first_id = self.long()?;
        let count = self.number()?;
        let mut headers = BTreeMap::new();
        let mut drafts = Vec::new();
        for _ in 0..count {
            let ([is_same], rest) = self.0.split_first_chunk()?;
            self.0 = rest;
            if *is_same == 0 {
                let count = self.number()?;
                let pairs =
                    (0..count).map(|_| Some((self.text()?.to_owned(), self.text()?.to_owned())));
                headers = pairs.collect::<Option<_>>()?;
            }
            let event = LogEvent {
                kind: self.text()?.to_owned(),
                occurred_at_ms: self.long()?.cast_signed(),
                payload: serde_json::from_str(self.text()?).ok()?,
                headers: headers.clone(),
            };
            drafts.push(Draft::new(&topic, event).ok()?);
        }
        Some(Section {
            topic,
            first_id,
            drafts,
        })
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
mod tests;
