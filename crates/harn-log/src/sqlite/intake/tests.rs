use std::os::unix::fs::FileExt;

use proptest::prelude::*;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::sqlite::write_through::BLOCK_BYTES;

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.sqlite-intake");
    (folder, path)
}

/// A section whose one record has a payload of about so many bytes.
fn section(first_id: EventId, bytes: usize) -> Section {
    let topic = Topic::new("t").unwrap();
    let mut event = LogEvent::at("k", json!({"text": "x".repeat(bytes)}), 7);
    event.headers.insert("name".to_owned(), "value".to_owned());
    let drafts = vec![Draft::new(&topic, event).unwrap()];
    Section {
        topic,
        first_id,
        drafts,
    }
}

fn put(intake: &mut Intake, bytes: usize, safe: u64) -> Put {
    let section = section(intake.next(), bytes);
    intake.put(&[section], safe).unwrap()
}

/// The sequences of the frames that somebody finds who knows of those before `next`.
fn found(path: &Path, next: u64) -> Vec<u64> {
    let (_, frames) = Intake::open(path, OpenFile::Read, next).unwrap().unwrap();
    frames.iter().map(|frame| frame.sequence).collect()
}

/// Makes what is written of the newest frame worthless, as a power cut can.
fn tear(path: &Path, intake: &Intake) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    let zeros = whole_blocks(intake.frame.len()) - intake.frame.len();
    let last_byte = offset(intake.end.area, intake.end.at - zeros - 1);
    file.write_all_at(&[0xff], last_byte).unwrap();
}

#[test]
fn what_was_put_is_found_again_as_it_was() {
    let (_folder, path) = place();
    let mut intake = Intake::create(&path, 1).unwrap();
    let topic = Topic::new("t").unwrap();
    let headers = Headers::new(BTreeMap::from([("a".to_owned(), "ä".to_owned())]));
    let draft = |number: i64| {
        let payload = json!({"b": number, "a": [null, "\u{1}"]});
        Draft::encode(&topic, "kind", &headers, -number, &payload).unwrap()
    };
    let other = Section {
        topic: Topic::new("other").unwrap(),
        ..section(9, 3)
    };
    let sections = [
        Section {
            topic: topic.clone(),
            first_id: 4,
            drafts: vec![draft(1), draft(2)],
        },
        other,
    ];
    assert_eq!(intake.put(&sections, 0).unwrap(), Put::Safe);
    let (again, frames) = Intake::open(&path, OpenFile::Read, 1).unwrap().unwrap();
    assert_eq!(again.end, intake.end);
    let [frame] = &frames[..] else {
        panic!("{} frames", frames.len());
    };
    assert_eq!(frame.sequence, 1);
    let told: Vec<_> = frame
        .sections
        .iter()
        .map(|section| {
            let events: Vec<_> = section.drafts.iter().map(Draft::event).collect();
            (section.topic.as_str(), section.ids(), events)
        })
        .collect();
    let expected: Vec<_> = sections
        .iter()
        .map(|section| {
            let events: Vec<_> = section.drafts.iter().map(Draft::event).collect();
            (section.topic.as_str(), section.ids(), events)
        })
        .collect();
    assert_eq!(told, expected);
    assert_eq!(told[0].1, 4..=5);
    assert_eq!(told[0].2[1].headers["a"], "ä");
}

#[test]
fn only_frames_that_the_tables_do_not_have_are_found() {
    let (_folder, path) = place();
    let mut intake = Intake::create(&path, 1).unwrap();
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
    let mut intake = Intake::create(&path, 1).unwrap();
    put(&mut intake, 10, 0);
    put(&mut intake, 5000, 0);
    tear(&path, &intake);
    assert_eq!(found(&path, 1), [1]);
    let (mut again, _) = Intake::open(&path, OpenFile::Existing, 1).unwrap().unwrap();
    assert_eq!(again.next(), 2);
    put(&mut again, 20, 0);
    assert_eq!(found(&path, 1), [1, 2]);
}

#[test]
fn a_frame_whose_first_block_alone_was_written_is_none() {
    let (_folder, path) = place();
    let mut intake = Intake::create(&path, 1).unwrap();
    put(&mut intake, 10, 0);
    let (mut other, _) = Intake::open(&path, OpenFile::Existing, 2).unwrap().unwrap();
    put(&mut other, 3 * BLOCK_BYTES, 0);
    assert!(intake.has_more(2).unwrap());
    tear(&path, &other);
    assert!(!intake.has_more(2).unwrap(), "there is nothing to be found");
    put(&mut intake, 10, 0);
    assert_eq!(found(&path, 1), [1, 2]);
}

#[test]
fn a_frame_of_somebody_else_is_noticed() {
    let (_folder, path) = place();
    let mut intake = Intake::create(&path, 1).unwrap();
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
    let mut intake = Intake::create(&path, 1).unwrap();
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
    let mut intake = Intake::create(&path, 1).unwrap();
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
    let mut intake = Intake::create(&path, 5).unwrap();
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
    let mut intake = Intake::create(&path, 1).unwrap();
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
        let mut intake = Intake::create(&path, 1).unwrap();
        let (mut safe, mut next) = (1, 1);
        for (bytes, what) in steps {
            match what {
                // The tables are synced, with everything.
                0 | 1 => safe = next,
                // A power cut while a frame is written.
                2 => {
                    if put(&mut intake, bytes, safe) == Put::Safe {
                        tear(&path, &intake);
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
