//! A file in which records are safe before they are in the tables.
//!
//! ```text
//! <name>-intake    area 0: frame 41, frame 42, frame 43, rest of older frames
//!                  area 1: frame 38, frame 39, frame 40, rest of older frames
//! frame            its bytes ─ zeros up to the end of a block
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

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Damage, LogError};
use crate::file::{Disk, DiskFile, OpenFile, RealDisk, read_full_at, write_all_at};
use crate::log::Result;

use super::folder_of;
use super::frame::{Frame, HEAD_BYTES, RawFrame};
use super::write_through::{BLOCK_BYTES, WriteThrough, whole_blocks};

/// Bytes of an area. Small enough to be made in a moment, large enough for what is committed in a
/// burst: only when it is over, or an area is full, do the tables need the disk.
const AREA_BYTES: usize = 8 * 1024 * 1024;

/// Bytes of the smallest area of a file that was finished. There were smaller ones once.
const AREA_BYTES_MIN: usize = 1024 * 1024;

const AREAS: usize = 2;

/// Bytes that are read together.
const READ_BYTES: usize = 256 * 1024;

/// Records that wait to be moved into the tables.
pub(super) struct Intake {
    path: PathBuf,
    /// To read it.
    file: Arc<dyn DiskFile>,
    /// To write to it; none for those who may only read.
    blocks: Option<WriteThrough>,
    /// Bytes of an area: half the file.
    area_bytes: usize,
    /// Where the next frame will be.
    end: End,
    /// The sequences of the last frames of both areas, 0 if there are none.
    last: [u64; AREAS],
    /// Whether the last frame was the first of its area.
    has_begun_area: bool,
}

/// Where the next frame will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct End {
    sequence: u64,
    area: usize,
    /// Bytes from the start of the area.
    at: usize,
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
        Self::with_areas(path, next, AREA_BYTES)
    }

    fn with_areas(path: &Path, next: u64, area_bytes: usize) -> Result<Self> {
        let file = RealDisk.open(path, OpenFile::Write)?;
        write_all_at(&*file, &vec![0; AREAS * area_bytes], 0)?;
        file.sync()?;
        RealDisk.sync_folder(folder_of(path))?;
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
            Ok(file) if area_bytes(&*file)? < AREA_BYTES_MIN => Ok(None),
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
            area_bytes: area_bytes(&*file)?,
            file,
            blocks,
            end: End {
                sequence: next,
                area: 0,
                at: 0,
            },
            last: [0; AREAS],
            has_begun_area: false,
        };
        let frames = intake.look_around(next)?;
        Ok((intake, frames))
    }

    /// Bytes of an area.
    pub(super) fn area_bytes(&self) -> usize {
        self.area_bytes
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

    /// Reads all frames of the file: finds its end, and the frames from `next` on.
    pub(super) fn look_around(&mut self, next: u64) -> Result<Vec<Frame>> {
        let mut ends = Vec::new();
        let mut found = Vec::new();
        for area in 0..AREAS {
            let mut content = Content::of(self, area);
            let (mut at, mut last) = (0, 0);
            while let Some(frame) = content.frame_at(at)? {
                if last != 0 && frame.sequence != last + 1 {
                    break; // What was here before.
                }
                last = frame.sequence;
                if frame.sequence >= next {
                    found.push(self.understood(frame, self.offset(area, at))?);
                }
                at += whole_blocks(frame.length());
            }
            self.last[area] = last;
            ends.push(End {
                sequence: last + 1,
                area,
                at,
            });
        }
        // Of two that are empty, the first.
        let newest = ends.into_iter().rev().max_by_key(|end| end.sequence);
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
            self.end.at = self.area_bytes;
        }
        Ok(found)
    }

    /// Writes the next frame and makes it survive a power cut. Frames before `safe` may be
    /// written over.
    ///
    /// # Errors
    /// Nobody knows what was written. Looking around tells.
    pub(super) fn put(&mut self, frame: &Frame, safe: u64) -> io::Result<Put> {
        let sequence = self.end.sequence;
        assert_eq!(frame.sequence, sequence, "frames have no gaps");
        let length = whole_blocks(frame.bytes().len());
        let mut end = self.end;
        if end.at + length > self.area_bytes {
            end = self.other_area();
            let is_free = self.last[end.area] < safe;
            if !is_free || length > self.area_bytes {
                return Ok(Put::NoRoom);
            }
        }
        let offset = self.offset(end.area, end.at);
        let Some(blocks) = &mut self.blocks else {
            return Err(io::ErrorKind::PermissionDenied.into());
        };
        blocks.write(frame.bytes(), offset)?;
        self.last[end.area] = sequence;
        self.has_begun_area = end.at == 0;
        self.end = End {
            sequence: sequence + 1,
            at: end.at + length,
            ..end
        };
        Ok(Put::Safe)
    }

    /// Where in the file something of an area is.
    fn offset(&self, area: usize, at: usize) -> u64 {
        (area * self.area_bytes + at) as u64
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
        let mut bytes = vec![0; BLOCK_BYTES.min(self.area_bytes - end.at)];
        read_full_at(&*self.file, &mut bytes, self.offset(end.area, end.at))?;
        if bytes.get(8..HEAD_BYTES) != Some(&end.sequence.to_le_bytes()) {
            return Ok(false);
        }
        bytes.resize(self.area_bytes - end.at, 0);
        read_full_at(&*self.file, &mut bytes, self.offset(end.area, end.at))?;
        Ok(RawFrame::at(&bytes).is_some())
    }

    fn understood(&self, frame: RawFrame<'_>, offset: u64) -> Result<Frame> {
        frame.understand().ok_or_else(|| {
            let problem = "a frame is whole, but cannot be understood".to_owned();
            self.damage(offset, problem)
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

/// What an area has to say, read as far as there are frames: most of it may be empty.
struct Content {
    file: Arc<dyn DiskFile>,
    /// Where in the file the area begins, and how long it is.
    offset: u64,
    area_bytes: usize,
    /// What was read of it.
    bytes: Vec<u8>,
}

impl Content {
    fn of(intake: &Intake, area: usize) -> Self {
        Self {
            file: Arc::clone(&intake.file),
            offset: intake.offset(area, 0),
            area_bytes: intake.area_bytes,
            bytes: Vec::new(),
        }
    }

    /// The frame that begins here, if one does and is whole.
    fn frame_at(&mut self, at: usize) -> io::Result<Option<RawFrame<'_>>> {
        self.read_up_to(at + HEAD_BYTES)?;
        let length = RawFrame::length_at(&self.bytes[at..]);
        self.read_up_to(at.saturating_add(length))?;
        Ok(RawFrame::at(&self.bytes[at..]))
    }

    fn read_up_to(&mut self, end: usize) -> io::Result<()> {
        let end = end.min(self.area_bytes).next_multiple_of(READ_BYTES);
        let (start, end) = (self.bytes.len(), end.min(self.area_bytes));
        if start < end {
            self.bytes.resize(end, 0);
            let offset = self.offset + start as u64;
            read_full_at(&*self.file, &mut self.bytes[start..], offset)?;
        }
        Ok(())
    }
}

/// Bytes of an area of a file. A file that was never finished may have any length, and nothing in
/// it.
fn area_bytes(file: &dyn DiskFile) -> io::Result<usize> {
    let bytes = file.len()? / AREAS as u64;
    let bytes = usize::try_from(bytes).map_or(AREA_BYTES, |bytes| bytes.min(AREA_BYTES));
    Ok(bytes - bytes % BLOCK_BYTES)
}

#[cfg(test)]
mod tests;
