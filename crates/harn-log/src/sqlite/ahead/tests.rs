use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::block::block_on;
use crate::event::LogEvent;
use crate::log::EventLog;
use crate::record::Draft;
use crate::sqlite::SqliteEventLog;

fn batches() -> Vec<Batch> {
    let topic = Topic::new("t").unwrap();
    let event = LogEvent::at("k", json!(1), 0);
    Batch::by_topic([Draft::new(&topic, event).unwrap()])
}

/// A log that is not open, and one who commits to it.
fn desk_of_a_log() -> (TempDir, PathBuf, Ahead) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.sqlite");
    drop(SqliteEventLog::open(&path, 16).unwrap());
    let ahead = Ahead::new(&path, Access::Write);
    ahead.shut().unwrap();
    ahead.make_intake(1).unwrap();
    ahead.open_again();
    (folder, path, ahead)
}

/// An intake to which nothing can be written.
fn broken_intake(path: &Path) -> Intake {
    let opened = Intake::open(&intake_of(path), OpenFile::Read, 1);
    opened.unwrap().unwrap().0
}

fn sound_intake(path: &Path) -> Intake {
    let opened = Intake::open(&intake_of(path), OpenFile::Existing, 1);
    opened.unwrap().unwrap().0
}

#[test]
fn after_a_write_that_failed_nothing_is_committed_until_the_writer_has_looked() {
    let (_folder, path, ahead) = desk_of_a_log();
    let first = ahead.commit(&batches()).unwrap().unwrap();
    assert_eq!(first.frame.sections[0].ids(), 1..=1);

    ahead.desk().intake = Some(broken_intake(&path));
    assert!(ahead.commit(&batches()).unwrap().is_err());
    assert!(ahead.is_doubtful());
    ahead.desk().intake = Some(sound_intake(&path));
    ahead.desk().rest_until = None;
    assert!(ahead.commit(&batches()).is_none(), "nobody has looked");

    ahead.shut().unwrap();
    assert!(ahead.leftovers(1).unwrap().is_empty(), "it was not written");
    ahead.note_failure();
    assert!(
        ahead.commit(&batches()).is_none(),
        "it is not in the tables"
    );
    ahead.shut().unwrap();
    ahead.open_again();
    let second = ahead.commit(&batches()).unwrap().unwrap();
    assert_eq!(second.frame.sections[0].ids(), 2..=2);
}

#[test]
fn a_disk_that_failed_is_left_alone_for_a_while() {
    let (_folder, path, ahead) = desk_of_a_log();
    ahead.desk().intake = Some(broken_intake(&path));
    assert!(ahead.commit(&batches()).unwrap().is_err());
    ahead.shut().unwrap();
    ahead.open_again();
    ahead.desk().rest(REST_TIME); // A shorter rest does not end a longer one.
    let until = ahead.desk().rest_until.unwrap();
    assert!(until > Instant::now() + REST_TIME_AFTER_FAILURE / 2);
    assert!(ahead.commit(&batches()).is_none());
}

#[test]
fn a_slow_disk_is_left_to_the_writer_and_a_slow_moment_is_not() {
    let (_folder, _path, ahead) = desk_of_a_log();
    let mut desk = ahead.desk();
    desk.note_time(Duration::from_secs(9));
    for _ in 0..100 {
        desk.note_time(QUICK * 2);
        desk.note_time(QUICK / 2);
    }
    assert!(desk.rest_until.is_none());
    for _ in 0..SLOW_MAX {
        desk.note_time(QUICK * 2);
    }
    assert!(desk.rest_until.is_some());
}

#[test]
fn what_makes_no_frame_is_left_to_the_writer() {
    let (_folder, _path, ahead) = desk_of_a_log();
    assert!(ahead.commit(&[]).is_none(), "a frame says something");
    let twice = [batches(), batches()].concat();
    assert!(ahead.commit(&twice).is_none(), "both would have one id");
    assert!(ahead.commit(&batches()).is_some());
}

/// The sync may fail when everything was written.
#[test]
fn a_frame_that_was_written_though_it_seemed_to_fail_is_stored_once() {
    let folder = tempfile::tempdir().unwrap();
    let log = SqliteEventLog::open(folder.path().join("events.sqlite"), 16).unwrap();
    let topic = Topic::new("t").unwrap();
    let ids = || {
        let records = block_on(log.read_range(&topic, None, 16)).unwrap();
        records.into_iter().map(|(id, _)| id).collect::<Vec<_>>()
    };
    log.ahead.shut().unwrap();
    log.ahead.make_intake(1).unwrap();
    log.ahead.open_again();
    let mut desk = log.ahead.desk();
    let Prepared::Safe(frame) = desk.put(&batches()).unwrap() else {
        panic!("there is room");
    };
    desk.doubtful = Some(frame.sequence);
    drop(desk);
    log.ahead.is_doubtful.store(true, Ordering::Release);
    assert!(ids().is_empty(), "nobody knows yet");
    block_on(log.recover()).unwrap();
    assert_eq!(ids(), [1]);
    block_on(log.recover()).unwrap();
    assert_eq!(ids(), [1]);
    assert!(!log.ahead.is_doubtful());
}

fn frame(sequence: u64) -> Arc<Frame> {
    Arc::new(Frame::new(sequence, &batches(), &[sequence]))
}

/// Frames of which the first came `first` and the last `last` before now.
fn gathered(first: Duration, last: Duration, now: Instant) -> Unshelved {
    let mut unshelved = Unshelved {
        bytes_max: usize::MAX,
        ..Unshelved::default()
    };
    unshelved.add(frame(1), now - first);
    unshelved.add(frame(2), now - last);
    unshelved
}

#[test]
fn frames_are_moved_when_it_is_quiet_or_when_they_have_waited_long() {
    let now = Instant::now();
    assert_eq!(Unshelved::default().due(), None);
    let busy = gathered(QUIET_TIME * 3, Duration::ZERO, now);
    assert_eq!(busy.due(), Some(now + QUIET_TIME));
    let quiet = gathered(QUIET_TIME * 3, QUIET_TIME, now);
    assert_eq!(quiet.due(), Some(now));
    let never_quiet = gathered(GATHERING_TIME, Duration::ZERO, now);
    assert_eq!(never_quiet.due(), Some(now));
}

#[test]
fn frames_are_moved_when_there_are_many() {
    let now = Instant::now();
    let mut unshelved = gathered(Duration::ZERO, Duration::ZERO, now);
    unshelved.bytes_max = unshelved.bytes + 1;
    assert_eq!(unshelved.due(), Some(now + QUIET_TIME));
    unshelved.add(frame(3), now);
    assert_eq!(unshelved.due(), Some(now));
    assert_eq!(unshelved.remove_before(3), 2);
    assert_eq!(unshelved.bytes, frame(3).bytes().len());
    assert!(unshelved.due() > Some(now), "one alone can wait");
    assert_eq!(unshelved.remove_before(4), 1);
    assert_eq!(unshelved.due(), None);
}

#[test]
fn the_writer_is_told_what_it_would_see_too_late() {
    let now = Instant::now();
    let mut unshelved = gathered(Duration::ZERO, Duration::ZERO, now);
    assert!(unshelved.is_news(), "it sleeps");
    unshelved.add(frame(3), now + QUIET_TIME / 2);
    assert!(!unshelved.is_news(), "it looks before it has to");
    unshelved.bytes_max = 1;
    assert!(unshelved.is_news(), "it would look too late");
    assert!(!unshelved.is_news());
}

#[test]
fn what_could_not_be_moved_is_tried_again_later() {
    let (_folder, _path, ahead) = desk_of_a_log();
    ahead.commit(&batches()).unwrap().unwrap();
    let failed = Instant::now();
    ahead.shut().unwrap();
    ahead.note_failure();
    assert!(ahead.due() >= Some(failed + RETRY_TIME));
    assert!(!ahead.is_due());
    ahead.shut().unwrap();
    ahead.note_shelved(2, Synced::Yes);
    ahead.open_again();
    assert_eq!(ahead.due(), None);
}
