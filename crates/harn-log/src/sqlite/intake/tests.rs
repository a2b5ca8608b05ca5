use std::os::unix::fs::FileExt;

use proptest::prelude::*;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::event::LogEvent;
use crate::log::Batch;
use crate::name::Topic;
use crate::record::Draft;

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.sqlite-intake");
    (folder, path)
}

/// As small as the areas of a file may be.
const AREA_BYTES: usize = AREA_BYTES_MIN;

fn create(path: &Path, next: u64) -> Intake {
    Intake::with_areas(path, next, AREA_BYTES).unwrap()
}

/// The next frame, whose one record has a payload of about so many bytes.
fn frame(intake: &Intake, bytes: usize) -> Frame {
    let topic = Topic::new("t").unwrap();
    let event = LogEvent::at("k", json!({"text": "x".repeat(bytes)}), 7);
    let drafts = [Draft::new(&topic, event).unwrap()];
    Frame::new(intake.next(), &Batch::by_topic(drafts), &[intake.next()])
}

fn put(intake: &mut Intake, bytes: usize, safe: u64) -> Put {
    let frame = frame(intake, bytes);
    intake.put(&frame, safe).unwrap()
}

/// The sequences of the frames that somebody finds who knows of those before `next`.
fn found(path: &Path, next: u64) -> Vec<u64> {
    let (_, frames) = Intake::open(path, OpenFile::Read, next).unwrap().unwrap();
    frames.iter().map(|frame| frame.sequence).collect()
}

/// Makes what is written of the newest frame, which has a payload of so many bytes, worthless, as a
/// power cut can.
fn tear(path: &Path, intake: &Intake, bytes: usize) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    let length = frame(intake, bytes).bytes().len();
    let zeros = whole_blocks(length) - length;
    let last_byte = intake.offset(intake.end.area, intake.end.at - zeros - 1);
    file.write_all_at(&[0xff], last_byte).unwrap();
}

#[test]
fn what_was_put_is_found_again() {
    let (_folder, path) = place();
    let mut intake = create(&path, 1);
    assert_eq!((intake.end.area, intake.end.at), (0, 0));
    let written = frame(&intake, 5000);
    assert_eq!(intake.put(&written, 0).unwrap(), Put::Safe);
    let (again, frames) = Intake::open(&path, OpenFile::Read, 1).unwrap().unwrap();
    assert_eq!(again.end, intake.end);
    let [found] = &frames[..] else {
        panic!("{} frames", frames.len());
    };
    assert_eq!(found.sequence, 1);
    assert!(found.bytes() == written.bytes());
}

#[test]
fn a_file_is_as_large_as_whoever_made_it_wanted() {
    for bytes in [AREA_BYTES_MIN, 2 * AREA_BYTES_MIN] {
        let (_folder, path) = place();
        let mut intake = Intake::with_areas(&path, 1, bytes).unwrap();
        // Each in an area of its own.
        for _ in 1..=2 {
            assert_eq!(put(&mut intake, bytes / 2, 1), Put::Safe);
        }
        let (again, frames) = Intake::open(&path, OpenFile::Read, 1).unwrap().unwrap();
        assert_eq!(again.area_bytes(), bytes);
        assert_eq!(again.end, intake.end);
        assert_eq!(frames.len(), 2);
    }
}

#[test]
fn only_frames_that_the_tables_do_not_have_are_found() {
    let (_folder, path) = place();
    let mut intake = create(&path, 1);
    for _ in 0..3 {
        put(&mut intake, 10, 0);
    }
    assert_eq!(found(&path, 1), [1, 2, 3]);
    assert_eq!(found(&path, 3), [3]);
    assert!(found(&path, 4).is_empty());
    assert!(!intake.has_more(4).unwrap());
}

#[test]
fn a_torn_frame_has_not_happened_and_is_written_over() {
    let (_folder, path) = place();
    let mut intake = create(&path, 1);
    put(&mut intake, 10, 0);
    put(&mut intake, 5000, 0);
    tear(&path, &intake, 5000);
    assert_eq!(found(&path, 1), [1]);
    let (mut again, _) = Intake::open(&path, OpenFile::Existing, 1).unwrap().unwrap();
    assert_eq!(again.next(), 2);
    put(&mut again, 20, 0);
    assert_eq!(found(&path, 1), [1, 2]);
}

#[test]
fn a_frame_whose_first_block_alone_was_written_is_none() {
    let (_folder, path) = place();
    let mut intake = create(&path, 1);
    put(&mut intake, 10, 0);
    let (mut other, _) = Intake::open(&path, OpenFile::Existing, 2).unwrap().unwrap();
    put(&mut other, 3 * BLOCK_BYTES, 0);
    assert!(intake.has_more(2).unwrap());
    tear(&path, &other, 3 * BLOCK_BYTES);
    assert!(!intake.has_more(2).unwrap(), "there is nothing to be found");
    put(&mut intake, 10, 0);
    assert_eq!(found(&path, 1), [1, 2]);
}

#[test]
fn a_frame_of_somebody_else_is_noticed() {
    let (_folder, path) = place();
    let mut intake = create(&path, 1);
    put(&mut intake, 10, 0);
    let (mut other, _) = Intake::open(&path, OpenFile::Existing, 2).unwrap().unwrap();
    assert!(!intake.has_more(2).unwrap());
    put(&mut other, 10, 0);
    assert!(intake.has_more(2).unwrap(), "it was left behind");
    assert!(intake.has_more(3).unwrap(), "it was moved into the tables");
    let frames = intake.look_around(2).unwrap();
    assert_eq!(frames.len(), 1);
    assert_eq!(intake.next(), 3);
}

#[test]
fn an_area_is_written_over_only_when_its_frames_are_safe() {
    const HALF: usize = AREA_BYTES / 2 - BLOCK_BYTES;
    let (_folder, path) = place();
    let mut intake = create(&path, 1);
    // An area has room for two; nobody has synced the tables when the second is needed.
    assert_eq!(put(&mut intake, HALF, 1), Put::Safe);
    assert!(intake.has_begun_area());
    assert_eq!(put(&mut intake, HALF, 1), Put::Safe);
    assert!(!intake.has_begun_area());
    for _ in 3..=4 {
        assert_eq!(put(&mut intake, HALF, 1), Put::Safe);
    }
    assert_eq!(
        put(&mut intake, HALF, 2),
        Put::NoRoom,
        "the second is not safe"
    );
    assert_eq!(found(&path, 1), [1, 2, 3, 4]);
    assert_eq!(put(&mut intake, HALF, 3), Put::Safe);
    assert_eq!(found(&path, 3), [3, 4, 5]);
    assert_eq!(
        put(&mut intake, AREA_BYTES, 6),
        Put::NoRoom,
        "it is too large"
    );
    assert_eq!(put(&mut intake, 10, 6), Put::Safe);
    assert_eq!(found(&path, 5), [5, 6]);
}

#[test]
fn a_file_of_the_past_is_gone_on_with() {
    let (_folder, path) = place();
    let mut intake = create(&path, 1);
    put(&mut intake, 10, 0);
    // The tables have frames that this file never had: it is that of an earlier copy.
    let (mut intake, frames) = Intake::open(&path, OpenFile::Existing, 9).unwrap().unwrap();
    assert!(frames.is_empty());
    assert_eq!(put(&mut intake, 10, 9), Put::Safe);
    assert_eq!(put(&mut intake, 10, 9), Put::Safe);
    assert_eq!(found(&path, 9), [9, 10]);
}

#[test]
fn missing_frames_are_damage() {
    let (_folder, path) = place();
    let mut intake = create(&path, 5);
    put(&mut intake, 10, 5);
    let Err(error) = Intake::open(&path, OpenFile::Read, 3) else {
        panic!("it was opened");
    };
    let error = error.to_string();
    assert!(error.contains("-intake is damaged at byte 0"), "{error}");
}

#[test]
fn a_file_that_was_never_finished_is_none() {
    let (_folder, path) = place();
    assert!(Intake::open(&path, OpenFile::Read, 1).unwrap().is_none());
    std::fs::write(&path, [0; 4096]).unwrap();
    assert!(Intake::open(&path, OpenFile::Read, 1).unwrap().is_none());
    let mut intake = create(&path, 1);
    put(&mut intake, 10, 0);
    assert_eq!(found(&path, 1), [1]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    /// Whatever is put, synced and cut off: the frames that the tables do not have are there.
    #[test]
    fn no_frame_is_lost_before_the_tables_have_it(
        steps in prop::collection::vec((0..AREA_BYTES / 3, 0..10_u8), 1..60)
    ) {
        let (_folder, path) = place();
        let mut intake = create(&path, 1);
        let (mut safe, mut next) = (1, 1);
        for (bytes, what) in steps {
            match what {
                // The tables are synced, with everything.
                0 | 1 => safe = next,
                // A power cut while a frame is written.
                2 => {
                    if put(&mut intake, bytes, safe) == Put::Safe {
                        tear(&path, &intake, bytes);
                    }
                    let opened = Intake::open(&path, OpenFile::Existing, safe).unwrap();
                    intake = opened.unwrap().0;
                }
                // Another process goes on.
                3 => intake = Intake::open(&path, OpenFile::Existing, safe).unwrap().unwrap().0,
                _ => next += u64::from(put(&mut intake, bytes, safe) == Put::Safe),
            }
            let sequences: Vec<_> = (safe..next).collect();
            prop_assert_eq!(found(&path, safe), sequences);
            prop_assert_eq!(intake.next(), next);
        }
    }
}
