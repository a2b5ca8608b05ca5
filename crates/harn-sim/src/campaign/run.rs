//! Runs a program on a log while the disk breaks, and compares with the model.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use harn_log::{
    CompactForce, ConsumerId, EventId, EventLog, FileEventLog, FileOptions, LogError, LogEvent,
    Repair, Topic,
};

use crate::disk::{Crash, SimDisk};
use crate::random::Random;
use crate::wait::block_on;

use super::lines::count_records;
use super::model::{Answer, Checked, KEY_HEADER, Promise, TopicModel, Violation, violation};
use super::program::{Step, TOPICS};

/// Where the log is. The folders above it are not there either, when it is made.
const ROOT: &str = "/state/events";
/// How often a log is opened while the disk breaks under it.
const OPEN_ATTEMPTS_MAX: usize = 100;
/// The padding of a small record.
const SMALL_BYTES: u64 = 20;
/// More than the line of a small record ever takes.
const SMALL_LINE_BYTES_MAX: u64 = 450;

/// A log on a disk that breaks.
pub(super) struct Run {
    disk: Arc<SimDisk>,
    options: FileOptions,
    log: Option<Arc<FileEventLog>>,
    topics: Vec<Topic>,
    models: Vec<TopicModel>,
    consumer: ConsumerId,
    next_number: u64,
    /// Topics that this process has appended to. A barrier speaks for them only: what
    /// a process before it has left unsynced is synced when somebody appends to it.
    touched: [bool; TOPICS],
    /// The power cuts that everything has been compared after.
    cuts_seen: u64,
    random: Random,
}

impl Run {
    /// Opens a log on an empty disk.
    pub(super) fn start(disk: SimDisk, options: FileOptions, random: Random) -> Checked<Self> {
        let topic = |name| Topic::new(name).expect("a plain name");
        let mut run = Self {
            disk: Arc::new(disk),
            options,
            log: None,
            topics: (0..TOPICS).map(|at| topic(format!("t{at}"))).collect(),
            models: (0..TOPICS).map(|_| TopicModel::new()).collect(),
            consumer: ConsumerId::new("reader").expect("a name"),
            next_number: 0,
            touched: [false; TOPICS],
            cuts_seen: 0,
            random,
        };
        run.open()?;
        run.cuts_seen = run.disk.power_cuts(); // There was nothing to lose.
        Ok(run)
    }

    pub(super) fn disk(&self) -> &SimDisk {
        &self.disk
    }

    /// Does one step, and what has to be done after it.
    pub(super) fn step(&mut self, step: &Step) -> Checked {
        self.disk.tell(|| format!("{step:?}"));
        self.perform(step)?;
        if self.disk.is_dead() {
            return self.restart();
        }
        let is_soon = self.random.percent(70);
        if self.is_refusing() && is_soon {
            self.recover()?;
        }
        match self.disk.is_dead() {
            true => self.restart(),
            false => Ok(()),
        }
    }

    fn perform(&mut self, step: &Step) -> Checked {
        match *step {
            Step::Append { topic, bytes } => self.append(topic, 1, bytes),
            Step::Batch {
                topic,
                records,
                bytes,
            } => self.append(topic, records, bytes),
            Step::Once { topic, key } => self.append_once(topic, &format!("k{key}")),
            Step::Barrier => {
                let known = self.known();
                let was_refusing = self.is_refusing();
                let barrier = block_on(self.log()?.barrier());
                self.barrier_ended(barrier, &known, was_refusing)
            }
            Step::SlowBarrier { topic } => self.slow_barrier(topic),
            Step::Ack { topic, part } => self.move_cursor(topic, part, false),
            Step::Rewind { topic, part } => self.move_cursor(topic, part, true),
            Step::Compact { topic, part, force } => self.compact(topic, part, force),
            Step::Reopen => self.reopen(),
            Step::Recover => self.recover(),
            Step::Read => match self.is_refusing() {
                true => Ok(()), // What is there is uncertain until somebody recovers.
                false => self.check(),
            },
        }
    }

    fn append(&mut self, topic: usize, records: u64, bytes: u64) -> Checked {
        let was_refusing = self.is_refusing();
        let (events, numbers) = self.make(topic, records, bytes, None);
        let log = self.log()?;
        let name = &self.topics[topic];
        let appended = match records {
            1 => block_on(log.append(name, events[0].clone())).map(|id| vec![id]),
            _ => block_on(log.append_batch(name, events)),
        };
        match appended {
            Ok(_) if was_refusing => violation!("appended while refusing"),
            Ok(ids) => {
                self.touched[topic] = true;
                self.models[topic].appended(&ids, &numbers)
            }
            Err(error) => {
                self.models[topic].failed(&numbers);
                self.excuse(&error)
            }
        }
    }

    fn append_once(&mut self, topic: usize, key: &str) -> Checked {
        let expected = self.models[topic].find(key);
        let (mut events, numbers) = self.make(topic, 1, 10, Some(key));
        let event = events.remove(0);
        let name = &self.topics[topic];
        let log = self.log()?;
        let outcome = block_on(log.append_idempotent_by_header(name, KEY_HEADER, key, event));
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => {
                self.models[topic].failed(&numbers);
                return self.excuse(&error);
            }
        };
        let found = (!outcome.inserted).then_some(outcome.event_id);
        if expected.is_ok_and(|expected| expected != found) {
            return violation!("key {key} was found at {found:?}, not at {expected:?}");
        }
        match outcome.inserted {
            true => {
                self.touched[topic] = true;
                self.models[topic].appended(&[outcome.event_id], &numbers)
            }
            false => Ok(()),
        }
    }

    /// Takes a barrier and appends while it syncs: what comes later is not promised,
    /// what came before is.
    fn slow_barrier(&mut self, topic: usize) -> Checked {
        let known = self.known();
        let was_refusing = self.is_refusing();
        let (log, disk) = (self.log()?, Arc::clone(&self.disk));
        disk.hold_next_sync();
        let (appended, barrier) = thread::scope(|scope| {
            let barrier = scope.spawn(|| block_on(log.barrier()));
            disk.wait_for_held_sync(|| barrier.is_finished());
            if self.may_begin_a_segment(topic) {
                // That syncs the old one, and syncs take turns: nobody would ever release it.
                disk.release_sync();
                let barrier = barrier.join();
                return (self.append(topic, 1, SMALL_BYTES), barrier);
            }
            let appended = self.append(topic, 1, SMALL_BYTES);
            disk.release_sync();
            (appended, barrier.join())
        });
        appended?;
        match barrier {
            Ok(barrier) => self.barrier_ended(barrier, &known, was_refusing),
            Err(_) => violation!("a barrier panicked"),
        }
    }

    /// Whether there may be no room in the last segment of a topic for a small record.
    fn may_begin_a_segment(&self, topic: usize) -> bool {
        let name = &self.topics[topic];
        let first = Path::new(ROOT).join(format!("topics/{name}.jsonl"));
        let later = Path::new(ROOT).join(format!("topics/{name}.segments"));
        let is_later = |path: &Path| {
            path.starts_with(&later) && path.extension().is_some_and(|end| end == "jsonl")
        };
        let files = self.disk.files();
        let segments = files.iter();
        let mut segments = segments.filter(|(path, _)| **path == first || is_later(path));
        // The first one sorts before the others, and those like their ids.
        segments.next_back().is_some_and(|(_, content)| {
            content.len() as u64 + SMALL_LINE_BYTES_MAX > self.options.segment_bytes_max
        })
    }

    fn barrier_ended(
        &mut self,
        barrier: Result<(), LogError>,
        known: &[usize],
        was_refusing: bool,
    ) -> Checked {
        match barrier {
            Ok(()) if was_refusing => violation!("a barrier was taken while refusing"),
            Ok(()) => {
                for (topic, known) in known.iter().enumerate() {
                    self.models[topic].synced(*known);
                }
                Ok(())
            }
            Err(error) => self.excuse(&error),
        }
    }

    fn move_cursor(&mut self, topic: usize, part: u64, rewinds: bool) -> Checked {
        let to = self.models[topic].part(part);
        let (log, name) = (self.log()?, &self.topics[topic]);
        let moved = match rewinds {
            true => block_on(log.rewind(name, &self.consumer, to)),
            false => block_on(log.ack(name, &self.consumer, to)),
        };
        let model = &mut self.models[topic];
        match moved {
            Ok(()) if rewinds => model.rewound(to),
            Ok(()) => model.acked(to),
            Err(error) => {
                model.cursor_failed(to);
                self.excuse(&error)?;
            }
        }
        Ok(())
    }

    fn compact(&mut self, topic: usize, part: u64, force: bool) -> Checked {
        let before = self.models[topic].part(part);
        let (log, name) = (self.log()?, &self.topics[topic]);
        let how = match force {
            true => CompactForce::Override,
            false => CompactForce::Respect,
        };
        let compacted = block_on(log.compact(name, before, how));
        let model = &mut self.models[topic];
        match compacted {
            Ok(_) => model.compacted(before),
            Err(LogError::CompactionBlocked { .. }) if !force && model.may_block(before) => {}
            Err(error) => {
                model.compaction_failed(before);
                self.excuse(&error)?;
            }
        }
        Ok(())
    }

    fn reopen(&mut self) -> Checked {
        self.log = None;
        if self.disk.hides_a_loss() {
            self.disk.crash(Crash::Process);
        }
        self.restart()
    }

    fn recover(&mut self) -> Checked {
        if !self.is_refusing() {
            return Ok(());
        }
        self.disk.tell(|| "recover".to_owned());
        match block_on(self.log()?.recover()) {
            Ok(()) if self.disk.is_dead() => Ok(()), // It only seemed to work.
            Ok(()) if self.is_refusing() => violation!("recovered, and still refusing"),
            Ok(()) => self.check(),
            Err(error) => self.excuse(&error),
        }
    }

    /// Opens what is left and compares.
    fn restart(&mut self) -> Checked {
        self.log = None;
        self.open()?;
        match self.disk.is_dead() {
            true => self.restart(),
            false => self.check(),
        }
    }

    /// Opens the log, again and again while the disk breaks.
    fn open(&mut self) -> Checked {
        let mut last = None;
        for _ in 0..OPEN_ATTEMPTS_MAX {
            if self.disk.is_dead() {
                self.disk = Arc::new(self.disk.reboot());
            }
            let disk: Arc<SimDisk> = Arc::clone(&self.disk);
            match FileEventLog::open_on(disk, ROOT, self.options.clone()) {
                Ok(log) => {
                    self.touched = [false; TOPICS];
                    self.log = Some(log);
                    return Ok(());
                }
                Err(error) => {
                    self.excuse(&error)?;
                    last = Some(error);
                }
            }
        }
        violation!("it cannot be opened any more: {last:?}")
    }

    /// The end of a scenario: a crash, and nothing goes wrong any more.
    pub(super) fn finish(&mut self, crash: Crash) -> Checked {
        self.disk.heal();
        self.disk.crash(crash);
        self.log = None;
        let left = self.disk.files();
        self.restart()?;
        self.append_to_all()?;
        self.check_repairs(&left)?;
        self.perform(&Step::Barrier)?;
        self.check()?;
        self.verify()?;

        // What a barrier has acknowledged after the crash survives the next one.
        self.disk.crash(Crash::Power);
        self.log = None;
        let left = self.disk.files();
        self.restart()?;
        self.append_to_all()?;
        self.check_repairs(&left)?;
        if let Some(repair) = self.log()?.health().repairs.first() {
            return violation!("something was torn after a barrier: {repair:?}");
        }
        self.check()?;
        self.verify()
    }

    fn append_to_all(&mut self) -> Checked {
        for topic in 0..TOPICS {
            let head = self.models[topic].head();
            self.append(topic, 1, 15)?;
            if self.models[topic].head() != head + 1 {
                return violation!("topic {topic} cannot be appended to");
            }
        }
        Ok(())
    }

    /// The loss that was reported is the loss that was suffered: every byte the crash
    /// has left in a segment is still there, or has been reported as cut.
    fn check_repairs(&self, left: &BTreeMap<PathBuf, Vec<u8>>) -> Checked {
        let repairs = self.log()?.health().repairs;
        let now = self.disk.files();
        let topics = Path::new(ROOT).join("topics");
        let is_segment = |path: &Path| path.extension().is_some_and(|end| end == "jsonl");
        for (path, before) in left {
            if !path.starts_with(&topics) || !is_segment(path) {
                continue;
            }
            let Some(after) = now.get(path) else {
                return violation!("{} is gone", path.display());
            };
            let repair = repairs.iter().find(|repair| repair.path == *path);
            let kept = match repair {
                None => before.len(),
                Some(repair) => check_repair(repair, before)?,
            };
            if after.get(..kept) != before.get(..kept) {
                let path = path.display();
                return violation!("{path} lost some of its {kept} bytes, {repair:?}");
            }
        }
        Ok(())
    }

    fn verify(&self) -> Checked {
        for topic in &self.topics {
            match block_on(self.log()?.verify_topic(topic)) {
                Ok(report) if report.verified => {}
                Ok(report) => return violation!("the chain is broken: {:?}", report.errors),
                Err(error) => return violation!("the chain cannot be read: {error}"),
            }
        }
        Ok(())
    }

    /// Compares everything with the model.
    fn check(&mut self) -> Checked {
        let cuts = self.disk.power_cuts();
        let promise = match cuts == self.cuts_seen {
            true => Promise::Acknowledged,
            false => Promise::Durable,
        };
        for topic in 0..TOPICS {
            let answer = self.ask(topic)?;
            let checked = self.models[topic].check(&answer, promise);
            checked.map_err(|Violation(problem)| Violation(format!("topic {topic}: {problem}")))?;
        }
        self.cuts_seen = cuts;
        Ok(())
    }

    fn ask(&self, topic: usize) -> Checked<Answer> {
        let (log, name) = (self.log()?, &self.topics[topic]);
        let answer = block_on(async {
            let mut records = Vec::new();
            loop {
                // In small pieces, so that reading on is tried as well.
                let from = records.last().map(|(id, _): &(EventId, LogEvent)| *id);
                let more = log.read_range(name, from, 7).await?;
                let is_last = more.is_empty();
                records.extend(more);
                if is_last {
                    break;
                }
            }
            Ok(Answer {
                records,
                latest: log.latest(name).await?,
                cursor: log.consumer_cursor(name, &self.consumer).await?,
            })
        });
        answer
            .map_err(|error: LogError| Violation(format!("topic {topic} cannot be read: {error}")))
    }

    /// Whether something may fail like this. A broken disk is an excuse, also for
    /// what comes later; damage that nobody did is none.
    fn excuse(&self, error: &LogError) -> Checked {
        let is_dead = self.disk.is_dead();
        self.disk.tell(|| format!("      {error}"));
        match root(error) {
            LogError::Damaged(damage) => violation!("damage that nobody did: {damage}"),
            LogError::Closed => violation!("a thread of the log has died"),
            LogError::Locked { .. } => violation!("a lock was never given back: {error}"),
            _ if is_dead => Ok(()),
            _ if !self.disk.faults_happened().is_empty() => Ok(()),
            _ => violation!("it failed although nothing was wrong: {error}"),
        }
    }

    fn make(
        &mut self,
        topic: usize,
        records: u64,
        bytes: u64,
        key: Option<&str>,
    ) -> (Vec<LogEvent>, Vec<u64>) {
        let first = self.next_number + 1;
        self.next_number += records;
        let numbers: Vec<u64> = (first..first + records).collect();
        let model = &mut self.models[topic];
        let events = numbers.iter().map(|number| model.make(*number, bytes, key));
        (events.collect(), numbers)
    }

    /// How many records of each topic a barrier would speak for.
    fn known(&self) -> Vec<usize> {
        let known = |topic: usize| match self.touched[topic] {
            true => self.models[topic].known(),
            false => 0,
        };
        (0..TOPICS).map(known).collect()
    }

    fn is_refusing(&self) -> bool {
        let health = self.log.as_ref().map(|log| log.health());
        health.is_some_and(|health| health.refusing.is_some())
    }

    fn log(&self) -> Checked<Arc<FileEventLog>> {
        match &self.log {
            Some(log) => Ok(Arc::clone(log)),
            None => violation!("there is no log"),
        }
    }
}

/// Checks what a repair says about the file it cut, and returns how much it kept.
fn check_repair(repair: &Repair, before: &[u8]) -> Checked<usize> {
    let kept = usize::try_from(repair.offset).unwrap_or(usize::MAX);
    let Some(cut) = before.get(kept..).filter(|cut| !cut.is_empty()) else {
        return violation!("{} bytes cannot be cut like this: {repair:?}", before.len());
    };
    if repair.bytes_cut != cut.len() as u64 || repair.records_cut != count_records(cut) {
        let (bytes, records) = (cut.len(), count_records(cut));
        return violation!("{bytes} bytes and {records} records were cut, not {repair:?}");
    }
    Ok(kept)
}

/// What an error is really about.
pub(super) fn root(error: &LogError) -> &LogError {
    match error {
        LogError::Shared(cause) | LogError::Poisoned(cause) => root(cause),
        other => other,
    }
}
