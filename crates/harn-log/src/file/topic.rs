//! A topic that is being written.
//!
//! Writers of several processes take turns: whoever has the lock looks at what the
//! others have left, cuts off what one of them did not finish, and appends. All of
//! that costs the same however long the topic is.

use std::cell::Cell;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::error::LogError;
use crate::local::Head;
use crate::log::{Repair, Result};
use crate::name::Topic;
use crate::record::{Draft, Sealed};

use super::compacted::Compacted;
use super::dirty::Unsynced;
use super::disk::{DiskFile, OpenFile, write_all_at};
use super::end::{Known, find_end, find_record, torn_after};
use super::honest::HonestFile;
use super::keys::Keys;
use super::layout::{Layout, Segment, folder_of};
use super::line;
use super::mark::{Change, Synced};
use super::reader::KnownEnd;
use super::sabotage::Sabotage;
use super::segment::SegmentFile;

/// How long another process may keep a topic to itself.
const LOCK_WAIT: Duration = Duration::from_secs(30);

/// A larger buffer is given back after use.
const BUFFER_BYTES_KEPT_MAX: usize = 1024 * 1024;

/// A topic that is being written. Between groups it is unlocked, and others may
/// change what is described here.
pub(super) struct TopicFile {
    pub(super) topic: Topic,
    pub(super) layout: Layout,
    /// The lock file, which also holds the mark.
    pub(super) lock: Arc<dyn DiskFile>,
    /// Whether the name of the lock file survives a power cut.
    has_safe_lock: Cell<bool>,
    /// Whether the name of the folder of later segments does.
    has_safe_folder: Cell<bool>,
    /// The mark as we last saw it.
    pub(super) change: Change,
    /// The segment that is appended to.
    pub(super) segment: Segment,
    /// Its file; `None` before the first record.
    pub(super) file: Option<Arc<dyn DiskFile>>,
    /// The byte after the last record.
    pub(super) end: u64,
    /// The last record, also if it has been compacted away.
    pub(super) head: Head,
    pub(super) keys: Keys,
    pending: Pending,
    /// When it was last used, in groups of its store.
    pub(super) used: u64,
}

/// Records that have their place and have not been written.
#[derive(Default)]
struct Pending {
    lines: String,
    records: usize,
    last: Option<Head>,
}

/// What was found in a topic when its turn came.
#[derive(Default)]
pub(super) struct Found {
    /// Others have appended.
    pub(super) is_foreign: bool,
    /// Something may not survive a power cut.
    pub(super) is_unsynced: bool,
    /// Something was cut off.
    pub(super) repair: Option<Repair>,
}

/// What a write came to.
pub(super) struct Written {
    pub(super) records: usize,
    pub(super) bytes: usize,
}

impl TopicFile {
    /// A topic nobody has looked at yet.
    pub(super) fn new(layout: &Layout, topic: &Topic) -> Result<Self> {
        Ok(Self {
            lock: layout.disk.open(&layout.lock(topic), OpenFile::Write)?,
            segment: layout.segment(topic, 1),
            topic: topic.clone(),
            layout: layout.clone(),
            has_safe_lock: Cell::new(false),
            has_safe_folder: Cell::new(false),
            // No mark is like this one, so the first look is a thorough one.
            change: Change {
                shape: u64::MAX,
                ..Change::default()
            },
            file: None,
            end: 0,
            head: Head::default(),
            keys: Keys::default(),
            pending: Pending::default(),
            used: 0,
        })
    }

    /// Waits for its turn, and learns what others have done meanwhile.
    pub(super) fn enter(&mut self) -> Result<Found> {
        self.take_lock()?;
        let found = self.catch_up();
        if found.is_err() {
            self.leave();
        }
        found
    }

    pub(super) fn take_lock(&self) -> Result<()> {
        if self.lock.try_lock()? || Arc::clone(&self.lock).lock_within(LOCK_WAIT)? {
            return Ok(());
        }
        Err(LogError::Locked {
            topic: self.topic.to_string(),
            waited_s: LOCK_WAIT.as_secs(),
        })
    }

    /// Lets others have their turn.
    pub(super) fn leave(&self) {
        // The system unlocks a file that is closed, at the latest.
        let _at_the_latest = self.lock.unlock();
    }

    fn catch_up(&mut self) -> Result<Found> {
        let change = Change::read(&*self.lock)?;
        let is_new_shape = change.shape != self.change.shape;
        self.change = change;
        let Some(file) = self.file.as_ref().filter(|_| !is_new_shape) else {
            return self.load();
        };
        let file = SegmentFile::of(Arc::clone(file), &self.segment.path)?;
        if file.len < self.end {
            let problem = format!("it once had {} bytes", self.end);
            return Err(file.damage(file.len, 0, problem));
        }
        if file.len == self.end {
            return Ok(Found::default());
        }
        let last = (self.head.id >= self.segment.first).then(|| self.head.clone());
        self.read_end(&file, Known::UpTo(self.end, last))
    }

    /// Finds out everything anew.
    fn load(&mut self) -> Result<Found> {
        let compacted = Compacted::read(&self.layout, &self.topic)?;
        let synced = Synced::read(&*self.lock)?;
        self.keys.clear();
        let known_head = std::mem::replace(
            &mut self.head,
            Head {
                id: compacted.before,
                hash: compacted.hash,
            },
        );
        let mut segments = self.layout.segments(&self.topic)?;
        let Some((segment, file)) = self.open_last(&mut segments)? else {
            if let Some(synced) = synced.filter(|synced| synced.up_to > 0) {
                return Err(self.lost(&self.layout.segment(&self.topic, synced.segment)));
            }
            self.begin_after_head();
            return Ok(Found::default());
        };
        if segment.first > self.head.id + 1 {
            self.head = self.head_before(&segment, segments)?;
        }
        self.segment = segment;
        self.file = Some(Arc::clone(&file));
        let file = SegmentFile::of(file, &self.segment.path)?;
        let known = Known::by_mark(synced, &self.segment, &file)?;
        let safe = match known {
            Known::UpTo(offset, _) => Some(offset),
            Known::Nothing => None,
        };
        let mut found = self.read_end(&file, known)?;
        found.is_foreign = self.head != known_head;
        if self.head.id == compacted.before && self.segment.first <= compacted.before {
            // It holds nothing that has not gone, and the ids that have gone stay so.
            self.begin_after_head();
            return Ok(found);
        }
        if self.end > safe.unwrap_or(0) {
            self.rewrite_from(safe.unwrap_or(0))?;
            found.is_unsynced = true;
        }
        match safe {
            None => self.secure_unmarked()?,
            Some(0) => self.secure(&self.segment, 0)?,
            Some(_) => {}
        }
        Ok(found)
    }

    /// The next record begins a segment, which is made then.
    fn begin_after_head(&mut self) {
        self.segment = self.layout.segment(&self.topic, self.head.id + 1);
        (self.file, self.end) = (None, 0);
    }

    /// Gives a segment the mark it has lost. All of it was taken for records, so all of it
    /// has to be safe: with a mark that promises less, what is damaged inside would become
    /// the torn end, and what we append would be cut off together with it.
    fn secure_unmarked(&self) -> Result<()> {
        if let Some(file) = &self.file {
            file.sync()?;
        }
        self.secure(&self.segment, self.end)
    }

    /// Opens the last segment there is, and leaves those before it.
    fn open_last(
        &self,
        segments: &mut Vec<Segment>,
    ) -> Result<Option<(Segment, Arc<dyn DiskFile>)>> {
        while let Some(segment) = segments.pop() {
            match self.layout.disk.open(&segment.path, OpenFile::Existing) {
                Ok(file) => return Ok(Some((segment, HonestFile::of(file)))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    /// The last record before a segment.
    fn head_before(&self, segment: &Segment, mut before: Vec<Segment>) -> Result<Head> {
        let Some((previous, file)) = self.open_last(&mut before)? else {
            return Err(self.lost(segment));
        };
        let file = SegmentFile::of(file, &previous.path)?;
        // Not simply its last record: after an interrupted compaction, segments repeat.
        let wanted = segment.first - 1;
        if let Some(head) = find_record(&file, wanted)? {
            return Ok(head);
        }
        let end = find_end(&previous, &file, Known::Nothing, &mut |_, _| {})?;
        let problem = format!("event {wanted} is missing at its end");
        Err(file.damage(end.offset, file.len - end.offset, problem))
    }

    fn lost(&self, segment: &Segment) -> LogError {
        let problem = format!(
            "{} or what came before it is missing",
            segment.path.display()
        );
        LogError::Io(io::Error::new(io::ErrorKind::NotFound, problem))
    }

    /// Reads what is new at the end of the segment, and cuts off what is torn.
    fn read_end(&mut self, file: &SegmentFile, known: Known) -> Result<Found> {
        let keys = &mut self.keys;
        let mut end = find_end(&self.segment, file, known, &mut |id, event| {
            keys.note(id, |name| event.headers.get(name))
        })?;
        let is_foreign = end.last.as_ref().is_some_and(|last| *last != self.head);
        let mut found = Found {
            is_foreign,
            is_unsynced: is_foreign,
            repair: None,
        };
        if self.layout.breaks(Sabotage::KeepTornTail) {
            end.offset = file.len;
        }
        if let Some(torn) = torn_after(file, end.offset)? {
            let open = self.file.as_ref().expect("a segment that is read is open");
            open.truncate(end.offset)?;
            // Otherwise a power cut could mix what was cut with what is written next.
            open.sync()?;
            found.repair = Some(Repair {
                topic: self.topic.to_string(),
                path: self.segment.path.clone(),
                offset: end.offset,
                bytes_cut: torn.bytes,
                records_cut: torn.records,
            });
        }
        self.end = end.offset;
        if let Some(last) = end.last.filter(|last| last.id > self.head.id) {
            self.head = last;
        }
        Ok(found)
    }

    /// The newest record, also if it has not been written yet.
    pub(super) fn head(&self) -> &Head {
        self.pending.last.as_ref().unwrap_or(&self.head)
    }

    /// Gives records their place. They are written by the next [`write`](Self::write).
    pub(super) fn append(&mut self, drafts: Vec<Draft>) -> Vec<Sealed> {
        let start = self.pending.lines.len();
        let places = (0..drafts.len()).rev().zip(drafts);
        let appended = places.map(|(more, draft)| self.append_one(draft, more));
        let appended: Vec<_> = appended.collect();
        if self.layout.breaks(Sabotage::BatchOutOfOrder) {
            self.pending.lines.truncate(start);
            for (more, sealed) in appended.iter().rev().enumerate() {
                line::push(&mut self.pending.lines, sealed, more);
            }
        }
        appended
    }

    /// Gives a record its place, which is followed by `more` of its batch.
    pub(super) fn append_one(&mut self, draft: Draft, more: usize) -> Sealed {
        let head = self.head();
        let sealed = draft.seal(head.id + 1, head.hash.as_deref());
        line::push(&mut self.pending.lines, &sealed, more);
        self.keys.note(sealed.id, |name| sealed.header(name));
        let last = self.pending.last.get_or_insert_default();
        last.id = sealed.id;
        // Into the room that the hash before has left.
        let hash = last.hash.get_or_insert_default();
        hash.clear();
        hash.push_str(sealed.hash());
        self.pending.records += 1;
        sealed
    }

    /// Writes what has been appended, in one piece.
    ///
    /// # Errors
    /// Nothing of it counts as written, and what is stored is uncertain.
    pub(super) fn write(&mut self, writer: u64, segment_bytes_max: u64) -> Result<Written> {
        let mut pending = std::mem::take(&mut self.pending);
        let bytes = pending.lines.len();
        if let Some(last) = pending.last {
            if self.end > 0 && self.end + bytes as u64 > segment_bytes_max {
                self.rotate()?;
            }
            if self.layout.breaks(Sabotage::IndexBeforeWrite) {
                self.head = last.clone();
            }
            self.write_at_end(pending.lines.as_bytes())?;
            self.head = last;
            self.sign(writer);
        }
        // The next group will be about as large.
        if pending.lines.capacity() <= BUFFER_BYTES_KEPT_MAX {
            pending.lines.clear();
            self.pending.lines = pending.lines;
        }
        Ok(Written {
            records: pending.records,
            bytes,
        })
    }

    fn write_at_end(&mut self, lines: &[u8]) -> Result<()> {
        let file = match &self.file {
            Some(file) => file,
            None => {
                let file = self.create_segment(&self.segment)?;
                self.file.insert(file)
            }
        };
        // What a failed write leaves is not taken back here: somebody may have read a
        // part of it, whose ids must not be given to others. Recovery sorts it out.
        write_all_at(&**file, lines, self.end)?;
        self.end += lines.len() as u64;
        Ok(())
    }

    /// Leaves word that we wrote. Others only hear of it; nothing depends on it.
    fn sign(&mut self, writer: u64) {
        self.change.number = self.change.number.wrapping_add(1);
        self.change.writer = writer;
        let _only_a_hint = self.change.write(&*self.lock);
    }

    /// Leaves word that what others know of the segments is old. Comes before the
    /// segments change, so that nobody misses it.
    pub(super) fn change_shape(&mut self) -> Result<()> {
        self.change.shape = self.change.shape.wrapping_add(1);
        Ok(self.change.write(&*self.lock)?)
    }

    /// Begins a new segment.
    fn rotate(&mut self) -> Result<()> {
        let file = self
            .file
            .as_ref()
            .expect("a segment that is full has a file");
        // Segments before the last are always synced; recovery relies on it.
        file.sync()?;
        let next = self.layout.segment(&self.topic, self.head.id + 1);
        self.change_shape()?;
        match self.create_segment(&next) {
            Ok(file) => {
                self.segment = next;
                self.file = Some(file);
                self.end = 0;
                Ok(())
            }
            // Nothing came of it: the old one goes on.
            Err(_) if self.is_missing(&next) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn is_missing(&self, segment: &Segment) -> bool {
        let opened = self.layout.disk.open(&segment.path, OpenFile::Read);
        opened.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// Makes the file of a segment, so that it is still there after a power cut, and
    /// known to hold nothing that is safe yet.
    fn create_segment(&self, segment: &Segment) -> Result<Arc<dyn DiskFile>> {
        let disk = &self.layout.disk;
        disk.create_folder(folder_of(&segment.path))?;
        let file = disk.open(&segment.path, OpenFile::New)?;
        self.secure(segment, 0)?;
        Ok(HonestFile::of(file))
    }

    /// Makes the name of a segment survive a power cut, and its first mark. Later marks
    /// need not be synced: an old one tells a torn end from damage, and none at all tells
    /// nothing.
    fn secure(&self, segment: &Segment, up_to: u64) -> Result<()> {
        self.sync_names(segment)?;
        let synced = Synced {
            segment: segment.first,
            up_to,
        };
        synced.write(&*self.lock)?;
        self.lock.sync()?;
        if !self.has_safe_lock.get() {
            self.layout.disk.sync_folder(&self.layout.locks_folder())?;
            self.has_safe_lock.set(true);
        }
        Ok(())
    }

    /// Makes the name of a segment survive a power cut, and that of its folder. Appending waits
    /// for it, so that what is safe for ever is not asked for again.
    pub(super) fn sync_names(&self, segment: &Segment) -> Result<()> {
        let (topics, folder) = (self.layout.topics_folder(), folder_of(&segment.path));
        self.layout.disk.sync_folder(folder)?;
        if folder != topics && !self.has_safe_folder.get() {
            self.layout.disk.sync_folder(&topics)?;
            self.has_safe_folder.set(true);
        }
        Ok(())
    }

    /// Writes again what may not be safe: a sync may have failed, and after that the
    /// system can show us what it has given up writing.
    fn rewrite_from(&self, start: u64) -> Result<()> {
        const CHUNK_BYTES: u64 = 256 * 1024;
        let Some(file) = &self.file else {
            return Ok(());
        };
        let segment = SegmentFile::of(Arc::clone(file), &self.segment.path)?;
        let mut at = start;
        while at < self.end {
            let bytes = segment.read(at, self.end.min(at + CHUNK_BYTES))?;
            write_all_at(&**file, &bytes, at)?;
            at += bytes.len() as u64;
        }
        Ok(())
    }

    /// What has to be synced so that everything written is safe.
    pub(super) fn unsynced(&self) -> Option<Unsynced> {
        Some(Unsynced {
            file: Arc::clone(self.file.as_ref()?),
            mark: Arc::clone(&self.lock),
            segment: self.segment.first,
            up_to: self.end,
        })
    }

    /// Where the topic ends, for readers in this process.
    pub(super) fn known_end(&self) -> KnownEnd {
        KnownEnd {
            segment: self.segment.first,
            offset: self.end,
            last: (self.head.id >= self.segment.first).then(|| self.head.clone()),
        }
    }
}
