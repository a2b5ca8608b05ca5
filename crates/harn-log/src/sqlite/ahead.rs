//! Commits that do not wait for the tables.
//!
//! ```text
//! who waits ──► desk: ids ──► intake: one write, one sync ──► goes on
//!                                │
//!                                ▼ a moment later
//!                 writer: hashes, many frames in one transaction ──► tables
//! ```
//!
//! Where a single run takes barriers, most of what each would cost is not the disk: it is waking
//! the writer and being woken by it, and writing a dozen pages that the next barrier writes
//! again. So whoever waits anyway writes what it has itself, on its own thread, if that is
//! possible now and the disk has been quick so far. Otherwise it is the
//! writer's turn: when there is too much, when others wait as well, when another process wants
//! to write, and when the disk is slow.
//!
//! Nobody notices the difference: readers of this process see the frames as well, readers of
//! others hear of it when it is in the tables, and after a crash whoever writes next, or opens
//! the log, finds the frames and moves them.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::file::OpenFile;
use crate::log::{Batch, Result};
use crate::name::{EventId, Topic};

use super::frame::Frame;
use super::intake::{Intake, Put};
use super::pen::{self, Pen};
use super::tables::{TOPICS_MAX, head_of, next_frame};
use super::{Access, connect, intake_of, sqlite_at, writing_flags};

/// How many commits go the long way before an intake is made. Most programs end before that.
const LONG_WAYS: usize = 8;

/// How long nobody may have committed before frames are moved: while somebody is at work, moving
/// them would take the disk from it. Other processes see them that much later.
const QUIET_TIME: Duration = Duration::from_millis(10);

/// How long they wait at most, if it is never quiet.
const GATHERING_TIME: Duration = Duration::from_millis(200);

/// How long after a failure moving frames is tried again.
const RETRY_TIME: Duration = Duration::from_millis(200);

/// How long there are no frames after somebody else wanted to write, or the disk was slow.
const REST_TIME: Duration = Duration::from_secs(1);

/// How long there are none after one could not be written.
const REST_TIME_AFTER_FAILURE: Duration = Duration::from_secs(60);

/// How long a commit may take on a thread that has other things to do.
const QUICK: Duration = Duration::from_millis(5);

/// How many commits more may be slow than quick. Every disk has a bad moment now and then, and a
/// single one says nothing about the next commit.
const SLOW_MAX: u32 = 8;

/// What a frame may have to say. The rest is for the writer.
const PAYLOAD_BYTES_MAX: usize = 256 * 1024;

/// What is committed and not in the tables yet.
pub(crate) struct Ahead {
    desk: Mutex<Desk>,
    unshelved: Mutex<Unshelved>,
    /// How many frames are not in the tables.
    frames: AtomicUsize,
    /// Whether somebody would like to have an intake.
    is_intake_wanted: AtomicBool,
    /// Whether nobody knows what the last commit has written.
    is_doubtful: AtomicBool,
}

/// What it takes to commit a frame.
struct Desk {
    path: PathBuf,
    access: Access,
    /// Held as long as there are frames that are not in the tables.
    pen: Pen,
    intake: Option<Intake>,
    /// Looks up what the tables know, while the writer changes them.
    tables: Option<Connection>,
    /// The ids of the newest records of topics, as far as somebody asked since the pen was taken.
    last_ids: HashMap<Topic, EventId>,
    /// Whether the writer is at work, with all topics.
    is_shut: bool,
    /// The first frame of which nobody knows whether it was written.
    doubtful: Option<u64>,
    rest_until: Option<Instant>,
    /// How many commits went the long way for want of an intake.
    long_ways: usize,
    /// Frames before this one would survive a power cut in the tables.
    safe: u64,
    /// How many commits more were slow than quick, lately.
    slow: u32,
}

/// Frames that are not in the tables.
#[derive(Default)]
struct Unshelved {
    frames: VecDeque<Arc<Frame>>,
    /// How much they have to say.
    bytes: usize,
    /// How much that may be before they are moved, quiet or not.
    bytes_max: usize,
    /// When the first and the last of them came.
    came: Option<(Instant, Instant)>,
    /// When it is tried again, if they could not be moved.
    retry_at: Option<Instant>,
    /// When the writer will look.
    watched: Option<Instant>,
    /// Whether the tables have to be synced for there to be room in the intake.
    is_sync_wanted: bool,
}

impl Unshelved {
    fn add(&mut self, frame: Arc<Frame>, now: Instant) {
        self.bytes += frame.bytes().len();
        self.frames.push_back(frame);
        let first = self.came.map_or(now, |(first, _)| first);
        self.came = Some((first, now));
    }

    /// Forgets what the tables have by now; gives how many frames that were.
    fn remove_before(&mut self, next: u64) -> usize {
        let moved = self.frames.partition_point(|one| one.sequence < next);
        self.frames.drain(..moved);
        self.bytes = self.frames.iter().map(|frame| frame.bytes().len()).sum();
        self.retry_at = None;
        // Those that are left came while the others were moved.
        let now = Instant::now();
        self.came = (!self.frames.is_empty()).then_some((now, now));
        moved
    }

    /// When frames are to be moved.
    fn due(&self) -> Option<Instant> {
        let (first, last) = self.came?;
        if self.retry_at.is_some() {
            return self.retry_at;
        }
        match self.bytes >= self.bytes_max {
            true => Some(first),
            false => Some((last + QUIET_TIME).min(first + GATHERING_TIME)),
        }
    }

    /// Whether the writer has to be told, because it would look too late by itself.
    fn is_news(&mut self) -> bool {
        let due = self.due();
        let is_known = match (self.watched, due) {
            (_, None) => true,
            (Some(watched), Some(due)) => watched <= due,
            (None, Some(_)) => false,
        };
        if !is_known {
            self.watched = due;
        }
        !is_known
    }
}

/// What came of a commit.
pub(super) struct Committed {
    pub(super) frame: Arc<Frame>,
    /// Whether the writer has to be told.
    pub(super) is_news: bool,
}

impl Ahead {
    pub(super) fn new(path: &Path, access: Access) -> Self {
        Self {
            desk: Mutex::new(Desk {
                path: path.to_owned(),
                access,
                pen: Pen::new(path),
                intake: None,
                tables: None,
                last_ids: HashMap::new(),
                is_shut: false,
                doubtful: None,
                rest_until: None,
                long_ways: 0,
                safe: 0,
                slow: 0,
            }),
            unshelved: Mutex::default(),
            frames: AtomicUsize::new(0),
            is_intake_wanted: AtomicBool::new(false),
            is_doubtful: AtomicBool::new(false),
        }
    }

    /// Commits batches here and now, if that is possible. When this returns they would survive a
    /// power cut.
    ///
    /// # Errors
    /// Nobody knows whether they were written. The writer looks before it does anything else.
    pub(super) fn commit(&self, batches: &[Batch]) -> Option<Result<Committed>> {
        let mut desk = self.desk.try_lock().ok()?;
        if !desk.takes(batches) {
            self.is_intake_wanted
                .store(desk.is_intake_wanted(), Ordering::Relaxed);
            return None;
        }
        let started = Instant::now();
        let frame = match desk.put(batches) {
            Ok(Prepared::Safe(frame)) => Arc::new(frame),
            Ok(refused) => {
                // The writer makes room, if there is something to make room for.
                self.unshelved().is_sync_wanted |= matches!(refused, Prepared::NoRoom);
                desk.let_go(self.is_empty());
                return None;
            }
            Err(error) => {
                self.is_doubtful.store(true, Ordering::Release);
                desk.let_go(self.is_empty());
                return Some(Err(error));
            }
        };
        desk.note_time(started.elapsed());
        self.frames.fetch_add(1, Ordering::Release);
        let mut unshelved = self.unshelved();
        unshelved.bytes_max = desk.gathered_bytes_max();
        unshelved.add(Arc::clone(&frame), Instant::now());
        unshelved.is_sync_wanted |= desk.has_begun_area();
        let is_news = unshelved.is_news();
        drop(unshelved);
        Some(Ok(Committed { frame, is_news }))
    }

    /// Whether the tables have everything.
    pub(super) fn is_empty(&self) -> bool {
        self.frames.load(Ordering::Acquire) == 0
    }

    /// When the writer has something to do that nobody asks it for.
    pub(super) fn due(&self) -> Option<Instant> {
        if self.is_intake_wanted.load(Ordering::Relaxed) {
            return Some(Instant::now());
        }
        let mut unshelved = self.unshelved();
        let due = unshelved.due();
        unshelved.watched = due;
        due
    }

    /// Whether frames are to be moved now.
    pub(super) fn is_due(&self) -> bool {
        let due = self.unshelved().due();
        due.is_some_and(|due| due <= Instant::now())
    }

    /// The frames that the tables do not have, and whether the tables have to be synced.
    pub(super) fn unshelved_frames(&self) -> (Vec<Arc<Frame>>, bool) {
        let unshelved = self.unshelved();
        let frames = unshelved.frames.iter().cloned().collect();
        (frames, unshelved.is_sync_wanted)
    }

    /// Keeps everybody else from committing, in this process and in others.
    ///
    /// # Errors
    /// Another process does not let us write.
    pub(super) fn shut(&self) -> Result<()> {
        let mut desk = self.desk();
        let had_to_wait = desk.pen.take()?;
        if had_to_wait {
            desk.rest(REST_TIME);
        }
        desk.is_shut = true;
        Ok(())
    }

    /// Frames that nobody moves: a process that is no more has left them, or nobody knew whether
    /// they were written. `next` is the first frame that the tables do not have. Only while it
    /// is shut.
    pub(super) fn leftovers(&self, next: u64) -> Result<Vec<Arc<Frame>>> {
        let mut desk = self.desk();
        if desk.open_intake(next)?.is_none() {
            return Ok(Vec::new());
        }
        let doubtful = desk.doubtful;
        let intake = desk.intake.as_mut().expect("it was just opened");
        let unknown = match self.is_empty() {
            true => next,
            false => intake.next(),
        };
        // Somebody else may have found it meanwhile.
        let unknown = doubtful.map_or(unknown, |doubtful| doubtful.max(next));
        if doubtful.is_none() && !intake.has_more(unknown)? {
            return Ok(Vec::new());
        }
        let found = intake.look_around(unknown)?;
        desk.doubtful = Some(unknown); // Until they are in the tables.
        Ok(found.into_iter().map(Arc::new).collect())
    }

    /// Notes that the tables have all frames before one, and whether that would survive a power
    /// cut.
    pub(super) fn note_shelved(&self, next: u64, synced: Synced) {
        let mut desk = self.desk();
        let mut unshelved = self.unshelved();
        let moved = unshelved.remove_before(next);
        self.frames.fetch_sub(moved, Ordering::Release);
        if synced == Synced::Yes {
            desk.safe = next;
            unshelved.is_sync_wanted = false;
        }
        drop(unshelved);
        desk.let_go(self.is_empty());
    }

    /// Lets others commit again, when the tables have whatever was found in the intake.
    pub(super) fn open_again(&self) {
        let mut desk = self.desk();
        desk.is_shut = false;
        desk.doubtful = None;
        self.is_doubtful.store(false, Ordering::Release);
        desk.let_go(self.is_empty());
    }

    /// Whether nobody knows what the last commit has written.
    pub(super) fn is_doubtful(&self) -> bool {
        self.is_doubtful.load(Ordering::Acquire)
    }

    /// Notes that the tables could not be changed. Others can try again.
    pub(super) fn note_failure(&self) {
        let mut desk = self.desk();
        let mut unshelved = self.unshelved();
        unshelved.retry_at = Some(Instant::now() + RETRY_TIME);
        drop(unshelved);
        desk.is_shut = false;
        desk.let_go(self.is_empty());
    }

    /// Lets other processes hear that there is something new.
    pub(super) fn ring(&self) -> Result<()> {
        // Nobody can commit while the desk is locked, and this takes a while.
        let bell = Arc::clone(self.desk().pen.bell()?);
        Ok(pen::ring(&*bell)?)
    }

    /// Makes an intake, if somebody wants one. Only while it is shut.
    pub(super) fn make_intake(&self, next: u64) -> Result<()> {
        self.is_intake_wanted.store(false, Ordering::Relaxed);
        let mut desk = self.desk();
        if desk.open_intake(next)?.is_none() {
            desk.intake = Some(Intake::create(&intake_of(&desk.path), next)?);
        }
        Ok(())
    }

    /// Whether somebody would like to have an intake.
    pub(super) fn is_intake_wanted(&self) -> bool {
        self.is_intake_wanted.load(Ordering::Relaxed)
    }

    /// None could be made: it is a while until somebody tries again.
    pub(super) fn want_no_intake(&self) {
        self.is_intake_wanted.store(false, Ordering::Relaxed);
        self.desk().long_ways = 0;
    }

    /// Whether nobody writes, and there may be frames that somebody has left behind.
    pub(super) fn is_left_alone(&self) -> Result<bool> {
        let mut desk = self.desk();
        if !intake_of(&desk.path).exists() {
            return Ok(false);
        }
        let is_left_alone = desk.pen.try_take()?;
        desk.let_go(self.is_empty());
        Ok(is_left_alone)
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unshelved(&self) -> MutexGuard<'_, Unshelved> {
        self.unshelved
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// What came of a frame.
enum Prepared {
    /// It is committed.
    Safe(Frame),
    /// The intake is full.
    NoRoom,
    /// This process may not write now.
    NotNow,
}

/// Whether a change of the tables would survive a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Synced {
    Yes,
    No,
}

impl Desk {
    /// Whether batches can be committed here.
    fn takes(&mut self, batches: &[Batch]) -> bool {
        let is_possible = self.access == Access::Write && !self.pen.is_missing();
        if !is_possible || self.is_shut || self.doubtful.is_some() {
            return false;
        }
        if self.rest_until.is_some_and(|until| Instant::now() < until) {
            return false;
        }
        self.rest_until = None;
        if self.intake.is_none() {
            self.long_ways += 1;
            return false;
        }
        let drafts = batches.iter().flat_map(Batch::drafts);
        let bytes: usize = drafts.map(|draft| draft.payload_json().len()).sum();
        bytes <= PAYLOAD_BYTES_MAX && self.last_ids.len() <= TOPICS_MAX && is_one_each(batches)
    }

    fn is_intake_wanted(&self) -> bool {
        self.intake.is_none() && self.long_ways >= LONG_WAYS
    }

    /// Commits a frame, if that is possible now.
    ///
    /// # Errors
    /// Nobody knows whether it was written.
    fn put(&mut self, batches: &[Batch]) -> Result<Prepared> {
        // What keeps us from preparing it will keep the writer as well, who tells.
        let Ok(Some(first_ids)) = self.first_ids(batches) else {
            return Ok(Prepared::NotNow);
        };
        let Some(intake) = &mut self.intake else {
            return Ok(Prepared::NotNow);
        };
        let frame = Frame::new(intake.next(), batches, &first_ids);
        match intake.put(&frame, self.safe) {
            Ok(Put::NoRoom) => return Ok(Prepared::NoRoom),
            Ok(Put::Safe) => {}
            Err(error) => {
                self.doubtful = Some(frame.sequence);
                self.rest(REST_TIME_AFTER_FAILURE);
                return Err(error.into());
            }
        }
        for section in &frame.sections {
            let topic = section.topic.clone();
            self.last_ids.insert(topic, section.last_id());
        }
        Ok(Prepared::Safe(frame))
    }

    /// The ids of the first records of batches, if this process may write now.
    fn first_ids(&mut self, batches: &[Batch]) -> Result<Option<Vec<EventId>>> {
        if !self.may_write()? {
            return Ok(None);
        }
        let first_id = |batch: &Batch| Ok(self.last_id(batch.topic())? + 1);
        batches
            .iter()
            .map(first_id)
            .collect::<Result<_>>()
            .map(Some)
    }

    /// Whether this process may write now, without waiting.
    fn may_write(&mut self) -> Result<bool> {
        if self.pen.is_held() {
            let is_wanted = self.pen.is_wanted()?;
            if is_wanted {
                self.rest(REST_TIME);
            }
            return Ok(!is_wanted);
        }
        if !self.pen.try_take()? {
            self.rest(REST_TIME);
            return Ok(false);
        }
        let next = self.next_frame()?;
        let is_clear = match &self.intake {
            Some(intake) if !self.pen.is_missing() => !intake.has_more(next)?,
            _ => return Ok(false),
        };
        if !is_clear {
            self.doubtful = Some(next);
        }
        Ok(is_clear)
    }

    /// Commits nothing for a while.
    fn rest(&mut self, time: Duration) {
        let until = Instant::now() + time;
        self.rest_until = Some(self.rest_until.map_or(until, |other| other.max(until)));
    }

    /// Notes how long a commit took.
    fn note_time(&mut self, took: Duration) {
        self.slow = match took > QUICK {
            true => self.slow + 1,
            false => self.slow.saturating_sub(1),
        };
        if self.slow > SLOW_MAX {
            self.slow = 0;
            self.rest(REST_TIME);
        }
    }

    /// Lets others write if nothing of ours waits.
    fn let_go(&mut self, is_empty: bool) {
        if is_empty && !self.is_shut {
            self.last_ids.clear();
            self.pen.put_down();
        }
    }

    /// The intake, if there is one.
    fn open_intake(&mut self, next: u64) -> Result<Option<&mut Intake>> {
        if self.intake.is_none() {
            let opened = Intake::open(&intake_of(&self.path), OpenFile::Existing, next)?;
            if let Some((intake, frames)) = opened {
                self.intake = Some(intake);
                self.doubtful = frames.first().map(|first| first.sequence);
            }
        }
        Ok(self.intake.as_mut())
    }

    /// How much may gather: the rest of an area is for what comes while that is moved.
    fn gathered_bytes_max(&self) -> usize {
        let area_bytes = self.intake.as_ref().map_or(0, Intake::area_bytes);
        area_bytes / 4 * 3
    }

    fn has_begun_area(&self) -> bool {
        self.intake.as_ref().is_some_and(Intake::has_begun_area)
    }

    /// The id of the newest record of a topic, 0 if there never was one.
    fn last_id(&mut self, topic: &Topic) -> Result<EventId> {
        if let Some(id) = self.last_ids.get(topic) {
            return Ok(*id);
        }
        let found = self.look_up(|tables| head_of(tables, topic))?;
        Ok(found.map_or(0, |(head, _)| head.id))
    }

    /// The first frame that the tables do not have.
    fn next_frame(&mut self) -> Result<u64> {
        self.look_up(next_frame)
    }

    fn look_up<T>(&mut self, look: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        let tables = match &mut self.tables {
            Some(tables) => tables,
            none => none.insert(connect(&self.path, writing_flags())?),
        };
        look(tables).map_err(|error| sqlite_at(&self.path, error))
    }
}

/// Whether there are records, and one batch for each of their topics.
fn is_one_each(batches: &[Batch]) -> bool {
    let is_first = |(at, batch): (usize, &Batch)| {
        let mut before = batches[..at].iter().map(Batch::topic);
        !batch.drafts().is_empty() && before.all(|topic| topic != batch.topic())
    };
    !batches.is_empty() && batches.iter().enumerate().all(is_first)
}

#[cfg(test)]
mod tests;
