//! Scenarios in which somebody else damages the files of a small log.
//!
//! What is wrong with a file afterwards is either reported, at the right place in the
//! right file, or was never promised to anybody and is cut off and counted. Nothing
//! is ever read that was not written.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use harn_log::{
    CompactForce, ConsumerId, Damage, EventId, EventLog, FileEventLog, FileOptions, LogError,
    LogEvent, Repair, Topic,
};
use serde_json::json;

use crate::disk::{Crash, SimDisk};
use crate::wait::block_on;

use super::Outcome;
use super::model::{Checked, Violation, violation};
use super::run::root;
use super::scenario::Scenario;

/// Where the logs are.
const ROOT: &str = "/state/events";
/// What is done to every byte of every file.
const CHANGES: &[Change] = &[
    Change::CutOff,
    Change::NulToTheEnd,
    Change::NulRange(16),
    Change::Flip(0),
    Change::Flip(2),
    Change::Flip(5),
    Change::Flip(7),
];

#[derive(Clone, Copy, Debug)]
enum Change {
    /// The file ends here.
    CutOff,
    /// From here on there are NULs only.
    NulToTheEnd,
    /// From here on there are so many NULs.
    NulRange(usize),
    /// This bit is the other way round.
    Flip(u8),
}

type Record = (EventId, LogEvent);
/// Makes what is in a small log.
type Cook = fn(&Recipe);
/// Whether somebody has left the mark in its place.
type HasMark = bool;

/// Small logs, and what is in them.
pub(super) struct SmallLogs(Vec<SmallLog>);

struct SmallLog {
    disk: SimDisk,
    records: Vec<Record>,
    cursor: Option<EventId>,
    files: Vec<DamagedFile>,
}

/// A file that is going to be damaged.
struct DamagedFile {
    path: PathBuf,
    content: Vec<u8>,
    kind: Kind,
    /// How much of it was promised to survive.
    synced: usize,
    /// Whether it is the last segment.
    is_last: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Segment,
    Compacted,
    Consumer,
    Lock,
}

impl SmallLogs {
    pub(super) fn build(options: &FileOptions) -> Checked<Self> {
        let recipes: [(Cook, HasMark); 5] = [
            (Recipe::one_segment, true),
            (Recipe::several_segments, true),
            (Recipe::compacted, true),
            (Recipe::not_all_synced, true),
            (Recipe::several_segments, false),
        ];
        let logs = recipes.into_iter();
        let logs = logs.map(|recipe| SmallLog::build(recipe, options));
        Ok(Self(logs.collect::<Checked<_>>()?))
    }

    /// Every change at every byte of every file.
    pub(super) fn scenarios(&self) -> Vec<Scenario> {
        let mut scenarios = Vec::new();
        for (log, small) in self.0.iter().enumerate() {
            for (file, damaged) in small.files.iter().enumerate() {
                for at in 0..damaged.content.len() {
                    let changes = 0..CHANGES.len();
                    scenarios.extend(changes.map(|change| Scenario::Files {
                        log: log as u64,
                        file: file as u64,
                        at: at as u64,
                        change: change as u64,
                    }));
                }
            }
        }
        scenarios
    }

    pub(super) fn run(
        &self,
        (log, file, at, change): (u64, u64, u64, u64),
        options: &FileOptions,
    ) -> Outcome {
        let number = log;
        let index = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let log = self.0.get(index(log));
        let file = log.and_then(|log| log.files.get(index(file)));
        let change = CHANGES.get(index(change));
        let (Some(log), Some(file), Some(change)) = (log, file, change) else {
            return Outcome::default();
        };
        let at = index(at).min(file.content.len() - 1);
        let damaged = change.apply(&file.content, at);
        let case = Case {
            log,
            file,
            at,
            end: change.end(&file.content, at),
            left: damaged.len(),
        };
        let disk = log.disk.copy();
        disk.tamper(&file.path, &damaged);
        let mut story = vec![format!(
            "{change:?} at byte {at} of {}",
            file.path.display()
        )];
        let judged = case.judge(&disk, options, &mut story);
        Outcome {
            violation: judged.err(),
            trace: trace(&story[0], number),
            story,
        }
    }
}

/// A number for a text.
fn trace(text: &str, start: u64) -> u64 {
    let step = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(start, step)
}

impl Change {
    fn apply(self, content: &[u8], at: usize) -> Vec<u8> {
        let mut damaged = content.to_vec();
        let end = self.end(content, at);
        match self {
            Self::CutOff => damaged.truncate(at),
            Self::NulToTheEnd | Self::NulRange(_) => damaged[at..end].fill(0),
            Self::Flip(bit) => damaged[at] ^= 1 << bit,
        }
        damaged
    }

    /// The byte after what is changed.
    fn end(self, content: &[u8], at: usize) -> usize {
        match self {
            Self::CutOff | Self::NulToTheEnd => content.len(),
            Self::NulRange(length) => content.len().min(at + length),
            Self::Flip(_) => at + 1,
        }
    }
}

fn topic() -> Topic {
    Topic::new("t").expect("a plain name")
}

fn consumer() -> ConsumerId {
    ConsumerId::new("reader").expect("a name")
}

fn event(number: u64) -> LogEvent {
    let time_ms = i64::try_from(number).unwrap_or(0);
    LogEvent::at("small", json!({ "n": number }), time_ms).with_header("key", "v")
}

/// Makes a small log.
struct Recipe {
    log: Arc<FileEventLog>,
    disk: SimDisk,
}

impl Recipe {
    fn append(&self, numbers: std::ops::RangeInclusive<u64>) {
        for number in numbers {
            block_on(self.log.append(&topic(), event(number))).expect("nothing is wrong");
        }
    }

    fn one_segment(&self) {
        self.append(1..=2);
        block_on(self.log.ack(&topic(), &consumer(), 2)).expect("the record exists");
    }

    fn several_segments(&self) {
        self.append(1..=7);
    }

    fn compacted(&self) {
        self.append(1..=6);
        block_on(self.log.ack(&topic(), &consumer(), 3)).expect("the record exists");
        let topic = topic();
        let compacted = self.log.compact(&topic, 2, CompactForce::Respect);
        block_on(compacted).expect("the consumer has read them");
    }

    /// The mark is from before the last records, and so is the last promise.
    fn not_all_synced(&self) {
        self.append(1..=4);
        block_on(self.log.barrier()).expect("nothing is wrong");
        self.append(5..=6);
        self.disk.crash(Crash::Process);
    }
}

impl SmallLog {
    fn build((cook, has_mark): (Cook, HasMark), options: &FileOptions) -> Checked<Self> {
        let options = options_of(options);
        let disk = SimDisk::new(0);
        let log = open(&disk, &options)?;
        let kitchen = Recipe {
            log,
            disk: disk.reboot(),
        };
        cook(&kitchen);
        drop(kitchen);
        let disk = disk.reboot();
        let lock = Path::new(ROOT).join("locks/t.lock");
        if !has_mark {
            disk.tamper(&lock, b"");
        }
        let synced = synced(&disk.files()[&lock]);

        let intact = disk.copy();
        let log = open(&intact, &options)?;
        let (records, error) = read_all(&log);
        if let Some(error) = error {
            return violation!("an intact log cannot be read: {error}");
        }
        let cursor = block_on(log.consumer_cursor(&topic(), &consumer()));
        let files = disk.files();
        let segments = files.keys().filter(|path| kind(path) == Kind::Segment);
        let last = segments.max_by_key(|path| (path.components().count(), (*path).clone()));
        let last = last.cloned().unwrap_or_default();
        let damaged = |(path, content): (PathBuf, Vec<u8>)| DamagedFile {
            kind: kind(&path),
            is_last: path == last,
            synced: match (path == last, synced) {
                (false, _) => content.len(),
                (true, synced) => synced.min(content.len()),
            },
            path,
            content,
        };
        Ok(Self {
            cursor: cursor.ok().flatten(),
            records,
            files: files.into_iter().map(damaged).collect(),
            disk,
        })
    }
}

/// How much of the last segment is synced according to a mark.
fn synced(lock: &[u8]) -> usize {
    let text = String::from_utf8_lossy(lock);
    let number = text.split_once(" up to ").map(|(_, rest)| rest);
    let number = number.and_then(|rest| rest.split(' ').next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn kind(path: &Path) -> Kind {
    let inside = path.strip_prefix(ROOT).unwrap_or(path);
    match inside.iter().next().and_then(|folder| folder.to_str()) {
        Some("compacted") => Kind::Compacted,
        Some("consumers") => Kind::Consumer,
        Some("locks") => Kind::Lock,
        _ => Kind::Segment,
    }
}

fn options_of(options: &FileOptions) -> FileOptions {
    FileOptions {
        segment_bytes_max: 1300,
        ..options.clone()
    }
}

fn open(disk: &SimDisk, options: &FileOptions) -> Checked<Arc<FileEventLog>> {
    let opened = FileEventLog::open_on(Arc::new(disk.reboot()), ROOT, options.clone());
    opened.map_err(|error| Violation(format!("it cannot be opened: {error}")))
}

/// Everything up to the end or the first problem.
fn read_all(log: &FileEventLog) -> (Vec<Record>, Option<LogError>) {
    let mut records: Vec<Record> = Vec::new();
    loop {
        let from = records.last().map(|(id, _)| *id);
        match block_on(log.read_range(&topic(), from, 100)) {
            Ok(more) if more.is_empty() => return (records, None),
            Ok(more) => records.extend(more),
            Err(error) => return (records, Some(error)),
        }
    }
}

/// One file of a log, damaged in one place.
struct Case<'a> {
    log: &'a SmallLog,
    file: &'a DamagedFile,
    at: usize,
    end: usize,
    /// How long the file is now.
    left: usize,
}

impl Case<'_> {
    fn judge(&self, disk: &SimDisk, options: &FileOptions, story: &mut Vec<String>) -> Checked {
        let options = options_of(options);
        let log = open(disk, &options)?;
        let (before, problem) = read_all(&log);
        story.push(format!("{} records, then {problem:?}", before.len()));
        self.check_records(&before, None)?;
        self.check_problem(problem.as_ref())?;
        self.check_cursor(&log)?;

        let appended = block_on(log.append(&topic(), event(1000)));
        story.push(format!("append: {appended:?}"));
        let repairs = log.health().repairs;
        story.push(format!("repairs: {repairs:?}"));
        let kept = self.check_repairs(&repairs)?;
        let new_id = match &appended {
            Ok(id) if *id == kept + 1 => Some(*id),
            Ok(id) => return violation!("{kept} records were left and the next is {id}"),
            Err(error) => {
                self.check_problem(Some(error))?;
                None
            }
        };
        self.check_after(&log, kept, new_id, story)?;
        drop(log);
        let log = open(disk, &options)?;
        self.check_after(&log, kept, new_id, story)
    }

    /// Reads all after appending: nothing has changed that was there, and what is not
    /// there is reported.
    fn check_after(
        &self,
        log: &FileEventLog,
        kept: EventId,
        new_id: Option<EventId>,
        story: &mut Vec<String>,
    ) -> Checked {
        let (records, problem) = read_all(log);
        story.push(format!("{} records, then {problem:?}", records.len()));
        self.check_records(&records, new_id)?;
        self.check_problem(problem.as_ref())?;
        let expected = new_id.unwrap_or(kept);
        let last = records.last().map_or(0, |(id, _)| *id);
        match problem {
            None if last != expected => violation!("it ends at {last} and not at {expected}"),
            _ => Ok(()),
        }
    }

    /// Nothing is read that was not written, and nothing is left out in between.
    fn check_records(&self, records: &[Record], new_id: Option<EventId>) -> Checked {
        let first = self.log.records.first().map_or(1, |(id, _)| *id);
        for (at, (id, event)) in records.iter().enumerate() {
            if *id != first + at as u64 {
                return violation!("record {id} is at place {at}");
            }
            let is_known = self.log.records.get(at).map(|(_, known)| known) == Some(event);
            let is_new = new_id == Some(*id) && event.payload == json!({"n": 1000});
            if !is_known && !is_new {
                return violation!("record {id} was never written: {event:?}");
            }
        }
        Ok(())
    }

    /// A problem is about the damage, and says so.
    fn check_problem(&self, problem: Option<&LogError>) -> Checked {
        match problem.map(root) {
            None => Ok(()),
            Some(LogError::Damaged(damage)) => self.check_damage(damage),
            Some(other) => violation!("damage was reported as something else: {other}"),
        }
    }

    fn check_damage(&self, damage: &Damage) -> Checked {
        let can_hurt = matches!(self.file.kind, Kind::Segment | Kind::Compacted);
        if !can_hurt || damage.path != self.file.path {
            return violation!("another file is said to be damaged: {damage}");
        }
        // Somewhere from the beginning of the damaged line to the end of it.
        let content = &self.file.content;
        let is_break = |byte: &u8| *byte == b'\n';
        let start = content[..self.at].iter().rposition(is_break);
        let start = start.map_or(0, |at| at + 1) as u64;
        let end = content[self.end - 1..].iter().position(is_break);
        let end = end.map_or(content.len(), |at| self.end + at) as u64;
        if damage.offset > end || damage.offset + damage.length < start {
            return violation!("bytes {start} to {end} are damaged, and not this: {damage:?}");
        }
        Ok(())
    }

    fn check_cursor(&self, log: &FileEventLog) -> Checked {
        match block_on(log.consumer_cursor(&topic(), &consumer())) {
            Ok(cursor) if cursor == self.log.cursor => Ok(()),
            Ok(cursor) => violation!("the consumer is at {cursor:?}, not {:?}", self.log.cursor),
            Err(LogError::Damaged(damage)) if damage.path == self.file.path => Ok(()),
            Err(error) => violation!("the cursor cannot be read: {error}"),
        }
    }

    /// Checks what was cut off, and returns the last record that is still there.
    fn check_repairs(&self, repairs: &[Repair]) -> Checked<EventId> {
        let head = self.log.records.last().map_or(0, |(id, _)| *id);
        let repair = match repairs {
            [] => return Ok(self.silent_loss().unwrap_or(head)),
            [repair] => repair,
            _ => return violation!("there was one damage and not {repairs:?}"),
        };
        let kept = usize::try_from(repair.offset).unwrap_or(usize::MAX);
        if repair.path != self.file.path || kept + cut_bytes(repair) != self.left {
            return violation!(
                "{} bytes were left, and this was cut: {repair:?}",
                self.left
            );
        }
        if kept < self.file.synced {
            let synced = self.file.synced;
            return violation!("{synced} bytes were promised, and this was cut: {repair:?}");
        }
        if kept > self.at {
            return violation!("byte {} is damaged, and this was cut: {repair:?}", self.at);
        }
        Ok(self.last_before(kept))
    }

    /// A file that ends between two records, where nothing was promised, looks like one
    /// to which nothing more was written.
    fn silent_loss(&self) -> Option<EventId> {
        let is_silent = self.file.kind == Kind::Segment
            && self.file.is_last
            && self.left == self.at
            && self.at >= self.file.synced
            && (self.at == 0 || self.file.content[self.at - 1] == b'\n');
        is_silent.then(|| self.last_before(self.at))
    }

    /// The last record that ends at or before a byte of the last segment.
    fn last_before(&self, at: usize) -> EventId {
        let breaks = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        let head = self.log.records.last().map_or(0, |(id, _)| *id);
        head - (breaks(&self.file.content) - breaks(&self.file.content[..at]))
    }
}

fn cut_bytes(repair: &Repair) -> usize {
    usize::try_from(repair.bytes_cut).unwrap_or(usize::MAX)
}
