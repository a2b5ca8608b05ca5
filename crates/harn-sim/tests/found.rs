//! What the crash campaign has found, each as the shortest story that shows it.

#![expect(clippy::unwrap_used, reason = "a story that cannot be told has failed")]

use std::sync::Arc;

use harn_log::{
    CompactForce, ConsumerId, EventId, EventLog, FileEventLog, FileOptions, LogEvent, Topic,
};
use harn_sim::{Crash, Fault, FaultKind, SimDisk, block_on};
use serde_json::json;

const ROOT: &str = "/state/events";

/// A log on a disk that can break.
struct Story {
    disk: Arc<SimDisk>,
    log: Option<Arc<FileEventLog>>,
}

impl Story {
    fn begin(seed: u64) -> Self {
        let mut story = Self {
            disk: Arc::new(SimDisk::new(seed)),
            log: None,
        };
        story.open();
        story
    }

    fn open(&mut self) {
        let options = FileOptions {
            segment_bytes_max: 1000,
            ..FileOptions::default()
        };
        self.disk = Arc::new(self.disk.reboot());
        let disk: Arc<SimDisk> = Arc::clone(&self.disk);
        self.log = Some(FileEventLog::open_on(disk, ROOT, options).unwrap());
    }

    fn crash(&mut self, crash: Crash) {
        self.disk.crash(crash);
        self.log = None;
        self.open();
    }

    fn log(&self) -> &FileEventLog {
        self.log.as_ref().unwrap()
    }

    fn append(&self, count: u64) {
        for _ in 0..count {
            self.try_append().unwrap();
        }
    }

    fn append_until_it_fails(&self) {
        let failed = (0..10).any(|_| self.try_append().is_err());
        assert!(failed, "the failure should have been noticed");
    }

    fn try_append(&self) -> harn_log::Result<EventId> {
        let event = LogEvent::at("k", json!({"padding": "p".repeat(20)}), 1);
        block_on(self.log().append(&topic(), event))
    }

    fn barrier(&self) {
        block_on(self.log().barrier()).unwrap();
    }

    fn ack(&self, to: EventId) -> harn_log::Result<()> {
        block_on(self.log().ack(&topic(), &consumer(), to))
    }

    fn compact(&self, before: EventId) -> harn_log::Result<()> {
        let topic = topic();
        let compacted = self.log().compact(&topic, before, CompactForce::Override);
        block_on(compacted).map(drop)
    }

    fn recover(&self) {
        block_on(self.log().recover()).unwrap();
    }

    fn fail_next(&self, operation: &str, path_part: &str, kind: FaultKind) {
        self.disk.plan_next(operation, path_part, kind);
    }

    fn ids(&self) -> Vec<EventId> {
        let records = block_on(self.log().read_range(&topic(), None, usize::MAX)).unwrap();
        records.into_iter().map(|(id, _)| id).collect()
    }
}

fn topic() -> Topic {
    Topic::new("t").unwrap()
}

fn consumer() -> ConsumerId {
    ConsumerId::new("c").unwrap()
}

/// A power cut leaves something else every time.
fn for_many_seeds(tell: impl Fn(Story)) {
    for seed in 0..40 {
        tell(Story::begin(seed));
    }
}

#[test]
fn the_folders_above_a_log_survive() {
    for_many_seeds(|mut story| {
        story.append(1);
        story.barrier();
        story.crash(Crash::Power);
        assert_eq!(story.ids(), [1]);
    });
}

#[test]
fn a_segment_that_may_have_begun_is_not_passed_over() {
    for_many_seeds(|mut story| {
        story.append(2);
        story.fail_next("create", "t.segments", FaultKind::FailAfter);
        story.append_until_it_fails();
        story.recover();
        let before = story.ids().len();
        story.append(3);
        assert_eq!(story.ids().len(), before + 3);
        story.crash(Crash::Process);
        assert_eq!(story.ids().len(), before + 3);
    });
}

#[test]
fn a_full_segment_whose_sync_failed_is_written_again() {
    for_many_seeds(|mut story| {
        story.append(2);
        story.fail_next("sync", "t.jsonl", FaultKind::FailForgetting);
        story.append_until_it_fails();
        story.recover();
        story.append(1);
        story.barrier();
        let before = story.ids();
        story.crash(Crash::Power);
        assert_eq!(story.ids(), before);
    });
}

#[test]
fn what_is_appended_after_a_failed_compaction_is_there() {
    for_many_seeds(|mut story| {
        story.append(2);
        story.fail_next("sync folder", "t.segments", FaultKind::Fail);
        story.compact(1).unwrap_err();
        assert!(story.try_append().is_err(), "nobody knows where to");
        story.recover();
        story.append(1);
        assert_eq!(story.ids().last(), Some(&3));
        story.crash(Crash::Process);
        assert_eq!(story.ids().last(), Some(&3));
    });
}

#[test]
fn a_crash_within_a_compaction_damages_nothing() {
    for crash in [Crash::Process, Crash::Power] {
        for before in [1, 2] {
            for_many_seeds(|mut story| {
                story.append(2);
                story.fail_next("create", "compacted", FaultKind::CrashBefore(crash));
                story.compact(before).unwrap_err();
                story.crash(crash);
                let left = story.ids();
                story.append(1);
                assert_eq!(story.ids().len(), left.len() + 1);
            });
        }
    }
}

#[test]
fn a_consumer_is_never_beyond_the_end() {
    for_many_seeds(|mut story| {
        story.append(2);
        story.ack(2).unwrap();
        story.crash(Crash::Power);
        assert_eq!(story.ids(), [1, 2]);
    });
}

#[test]
fn an_acknowledgement_that_is_repeated_after_a_failure_is_durable() {
    for_many_seeds(|mut story| {
        story.append(2);
        story.fail_next("sync folder", "consumers", FaultKind::Fail);
        story.ack(2).unwrap_err();
        story.ack(2).unwrap();
        story.crash(Crash::Power);
        let cursor = block_on(story.log().consumer_cursor(&topic(), &consumer()));
        assert_eq!(cursor.unwrap(), Some(2));
    });
}

#[test]
fn a_segment_of_a_process_that_died_while_making_it_survives() {
    for_many_seeds(|mut story| {
        let death = FaultKind::CrashBefore(Crash::Process);
        story.fail_next("sync folder", "topics", death);
        story.try_append().unwrap_err();
        story.crash(Crash::Process);
        story.append(1);
        story.barrier();
        story.crash(Crash::Power);
        assert_eq!(story.ids(), [1]);
    });
}

#[test]
fn a_sync_that_failed_while_the_end_was_looked_for_is_not_just_repeated() {
    for_many_seeds(|mut story| {
        story.append(2);
        story.crash(Crash::Process);
        story.fail_next("sync", "t.jsonl", FaultKind::FailForgetting);
        story.try_append().unwrap_err();
        assert!(story.try_append().is_err(), "nobody has recovered it");
        story.recover();
        story.append(1);
        story.barrier();
        story.crash(Crash::Power);
        assert_eq!(story.ids(), [1, 2, 3]);
    });
}

#[test]
fn a_torn_end_is_told_from_damage_also_after_an_early_power_cut() {
    for_many_seeds(|mut story| {
        let events = vec![LogEvent::at("k", json!(1), 1); 8];
        block_on(story.log().append_batch(&topic(), events)).unwrap();
        story.crash(Crash::Power);
        let left = story.ids();
        story.append(1);
        assert_eq!(story.ids().len(), left.len() + 1);
    });
}

#[test]
fn a_log_that_is_closed_after_a_failed_sync_does_not_say_that_all_is_safe() {
    for_many_seeds(|mut story| {
        story.append(2);
        story.fail_next("sync", "t.jsonl", FaultKind::FailForgetting);
        story.ack(2).unwrap_err();
        story.log = None;
        story.crash(Crash::Power);
        let left = story.ids();
        assert!([1, 2].starts_with(&left), "{left:?}");
        story.append(1);
    });
}

/// The mark of a segment is not half written and then relied upon.
#[test]
fn a_torn_end_is_told_from_damage_whatever_write_of_a_compaction_or_a_barrier_failed() {
    for after in 1..=18 {
        for_many_seeds(|mut story| {
            story.append(2);
            let at = story.disk.operations() + after;
            let kind = FaultKind::ShortThenFail;
            story.disk.plan(Fault { at, kind });
            let _may_fail = block_on(story.log().barrier());
            let _may_fail = story.compact(2);
            story.disk.heal();
            if story.log().health().refusing.is_some() {
                story.recover();
            }
            let events = vec![LogEvent::at("k", json!(1), 1); 8];
            block_on(story.log().append_batch(&topic(), events)).unwrap();
            story.crash(Crash::Power);
            let left = story.ids();
            story.append(1);
            assert_eq!(story.ids().len(), left.len() + 1, "{after}");
        });
    }
}
