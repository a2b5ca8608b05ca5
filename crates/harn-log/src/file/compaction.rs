//! Takes old records away.
//!
//! ```text
//! segments:   1 ─ 40   41 ─ 80   81 ─            compact up to 50
//!   1. write  51 ─ 80 as a segment of its own, and sync it
//!   2. replace `compacted/<topic>.json`           ◄── here it happens
//!   3. remove 1 ─ 40 and 41 ─ 80
//! ```
//!
//! A crash before the second step leaves a segment that repeats what others hold;
//! one after it leaves files that nobody reads. Neither changes what a reader sees,
//! and the next compaction tidies up.

use std::io;
use std::sync::Arc;

use crate::log::{CompactReport, Result};
use crate::name::EventId;

use super::compacted::Compacted;
use super::disk::{DiskFile, OpenFile, read_full_at, write_all_at};
use super::honest::HonestFile;
use super::layout::{Segment, folder_of};
use super::line;
use super::mark::Synced;
use super::segment::SegmentFile;
use super::topic::TopicFile;

/// Bytes copied at once.
const COPY_BYTES: usize = 256 * 1024;

impl TopicFile {
    /// Removes records up to `before`, which is not beyond the head. `hash` is that
    /// of the last one that goes. Also tells whether the files could be removed.
    pub(super) fn compact(
        &mut self,
        before: EventId,
        hash: Option<String>,
    ) -> Result<(CompactReport, bool)> {
        let gone = Compacted::read(&self.layout, &self.topic)?.before;
        let head = self.head().id;
        let report = CompactReport {
            removed: before.saturating_sub(gone),
            remaining: head.saturating_sub(before.max(gone)),
            latest: (head > 0).then_some(head),
            checkpointed: false,
        };
        if report.removed == 0 {
            // Whoever removed them may have failed just before this.
            let folder = self.layout.compacted_folder();
            self.layout.disk.sync_folder(&folder)?;
            return Ok((report, true));
        }
        self.change_shape()?;
        let segments = self.layout.segments(&self.topic)?;
        self.keep_after(before, &segments)?;
        Compacted::new(&self.topic, before, hash).write(&self.layout, &self.topic)?;
        self.keys.clear();
        let is_tidy = self.remove_up_to(before)?;
        Ok((report, is_tidy))
    }

    /// Removes the files of records that have gone; `false` if one of them could not
    /// be removed, which nobody but the disk notices.
    fn remove_up_to(&self, before: EventId) -> Result<bool> {
        let mut is_tidy = true;
        let segments = self.layout.segments(&self.topic)?;
        for segment in segments.iter().filter(|segment| segment.first <= before) {
            match self.layout.disk.remove(&segment.path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(_) => is_tidy = false,
            }
        }
        Ok(is_tidy)
    }

    /// Makes sure that a segment begins right after `before`.
    fn keep_after(&mut self, before: EventId, segments: &[Segment]) -> Result<()> {
        if segments.iter().any(|segment| segment.first == before + 1) {
            return Ok(());
        }
        let Some(at) = segments.iter().rposition(|segment| segment.first <= before) else {
            return Ok(());
        };
        if let Some(file) = self.file.as_ref().filter(|_| at + 1 == segments.len()) {
            file.sync()?; // Segments before the last are always synced.
        }
        let kept = self.layout.segment(&self.topic, before + 1);
        let (file, length) = self.copy_after(before, &segments[at], &kept)?;
        if at + 1 == segments.len() {
            let synced = Synced {
                segment: kept.first,
                up_to: length,
            };
            // Not just a hint: half of it written, none at all is left, and what is torn of
            // this segment later would be taken for damage.
            synced.write(&*self.lock)?;
            self.segment = kept;
            self.file = Some(file);
            self.end = length;
        }
        Ok(())
    }

    /// Copies the records of a segment after `before`, byte by byte.
    fn copy_after(
        &self,
        before: EventId,
        from: &Segment,
        to: &Segment,
    ) -> Result<(Arc<dyn DiskFile>, u64)> {
        let disk = &self.layout.disk;
        let folder = folder_of(&to.path);
        disk.create_folder(folder)?;
        let fresh = to.path.with_extension("new");
        let copy = disk.open(&fresh, OpenFile::Write)?;
        copy.truncate(0)?;
        let mut written = 0;
        if let Some(source) = SegmentFile::open(&**disk, &from.path)? {
            let start = first_after(&source, before)?;
            let mut buffer = vec![0; COPY_BYTES];
            loop {
                let read = read_full_at(source.file(), &mut buffer, start + written)?;
                if read == 0 {
                    break;
                }
                write_all_at(&*copy, &buffer[..read], written)?;
                written += read as u64;
            }
        }
        copy.sync()?;
        disk.rename(&fresh, &to.path)?;
        self.sync_names(to)?;
        Ok((HonestFile::of(copy), written))
    }
}

/// Where the first line begins that is after the record `before`.
fn first_after(segment: &SegmentFile, before: EventId) -> Result<u64> {
    let mut lines = segment.lines_from(segment.seek(before)?);
    while let Some(line) = lines.next()? {
        let end = line.end();
        match line::id_of(line.bytes) {
            Some(id) if id > before => return Ok(line.offset),
            Some(id) if id == before => return Ok(end),
            _ => {}
        }
    }
    let problem = format!("event {before} cannot be found");
    Err(segment.damage(lines.offset, 0, problem))
}
