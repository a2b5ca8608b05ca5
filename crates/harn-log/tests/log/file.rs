//! What only a log in files promises: a format people can read, and what becomes of
//! files that are torn, damaged or refuse to be written.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use harn_log::{
    Disk, DiskFile, EventLog, FileEventLog, FileOptions, LogError, OnDamage, OpenFile, RealDisk,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Driver, block_on, consumer, event, number, topic};

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn open(folder: &TempDir) -> Driver<FileEventLog> {
    Driver(FileEventLog::open(folder.path(), 16).unwrap())
}

fn open_with(folder: &TempDir, change: impl FnOnce(&mut FileOptions)) -> Driver<FileEventLog> {
    let mut options = FileOptions::default();
    change(&mut options);
    Driver(FileEventLog::open_with(folder.path(), options).unwrap())
}

/// A log with some records in topic `t`, closed in peace.
fn closed_log(folder: &TempDir, count: u64) -> PathBuf {
    open(folder).append_numbers(&topic("t"), count);
    folder.path().join("topics/t.jsonl")
}

fn lines(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn numbers(log: &Driver<FileEventLog>) -> Vec<u64> {
    let records = log.read_all(&topic("t"));
    records.iter().map(|(_, event)| number(event)).collect()
}

fn append_bytes(path: &Path, bytes: &[u8]) {
    let mut text = fs::read(path).unwrap();
    text.extend_from_slice(bytes);
    fs::write(path, text).unwrap();
}

/// 5.3: one line per record, `{"id": n, "event": {…}}`.
#[test]
fn a_topic_is_lines_of_json() {
    let folder = folder();
    let path = closed_log(&folder, 2);
    let lines = lines(&path);
    assert_eq!(lines.len(), 2);
    let second: Value = serde_json::from_str(&lines[1]).unwrap();
    assert_eq!(second["id"], 2);
    assert_eq!(second["event"]["kind"], "number");
    assert_eq!(second["event"]["payload"], json!({"n": 2}));
    assert_eq!(second["event"]["occurred_at_ms"], 1_000);
    let headers = second["event"]["headers"].as_object().unwrap();
    assert_eq!(
        headers["harn.provenance.schema"],
        "harn-eventlog-provenance-v1"
    );
}

/// 5.3: `consumers/<topic>__<consumer>.json`.
#[test]
fn a_cursor_is_a_small_file() {
    let folder = folder();
    let log = open(&folder);
    log.append_numbers(&topic("t"), 3);
    log.ack(&topic("t"), &consumer("portal"), 2).unwrap();
    let text = fs::read(folder.path().join("consumers/t__portal.json")).unwrap();
    let cursor: Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(cursor["topic"], "t");
    assert_eq!(cursor["consumer_id"], "portal");
    assert_eq!(cursor["cursor"], 2);
    assert!(cursor["updated_at_ms"].as_i64().unwrap() > 0);
}

#[test]
fn lines_of_other_writers_are_read_and_continued() {
    let folder = folder();
    fs::create_dir_all(folder.path().join("topics")).unwrap();
    let line = |id| {
        format!(
            "{{\"id\": {id}, \"event\": {{\"kind\": \"k\", \"payload\": {{\"n\": {id}}}, \"headers\": {{}}, \"occurred_at_ms\": 5}}}}\n"
        )
    };
    let text = [1, 2, 3].map(line).concat();
    fs::write(folder.path().join("topics/t.jsonl"), text).unwrap();
    let log = open(&folder);
    assert_eq!(numbers(&log), [1, 2, 3]);
    assert_eq!(log.append(&topic("t"), event(4)), 4);
    assert_eq!(numbers(&log), [1, 2, 3, 4]);
    log.compact_read(&topic("t"), 1);
    assert_eq!(numbers(&log), [2, 3, 4]);
}

/// S35.3.
#[test]
fn a_torn_end_is_cut_and_reported() {
    for torn in [
        &b"{\"id\":4,\"event\":{\"kind\":\"numb"[..],
        &[0; 700],
        b"{\"id\":4,\"eve\0\0\0\0\n",
        b"\n",
        b"garbage\n",
    ] {
        let folder = folder();
        let path = closed_log(&folder, 3);
        let whole = fs::metadata(&path).unwrap().len();
        append_bytes(&path, torn);
        let log = open(&folder);
        assert_eq!(numbers(&log), [1, 2, 3], "readers do not mind");
        assert_eq!(log.append(&topic("t"), event(4)), 4);
        assert_eq!(numbers(&log), [1, 2, 3, 4]);
        let repairs = log.0.health().repairs;
        assert_eq!(repairs.len(), 1);
        assert_eq!(repairs[0].topic, "t");
        assert_eq!(repairs[0].path, path);
        assert_eq!(repairs[0].offset, whole);
        assert_eq!(repairs[0].bytes_cut, torn.len() as u64);
        assert_eq!(repairs[0].records_cut, 0);
        assert!(log.verify(&topic("t")).verified);
    }
}

/// Nobody was told that they were safe, and they follow something that is lost.
#[test]
fn records_after_a_hole_in_what_was_not_synced_are_cut_and_counted() {
    let folder = folder();
    let path = closed_log(&folder, 2);
    let mark = fs::read(folder.path().join("locks/t.lock")).unwrap();
    open(&folder).append_numbers(&topic("t"), 3);
    // The disk has lost the third record; the mark is the one from before.
    let mut lines = lines(&path);
    lines[2] = "\0".repeat(lines[2].len());
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    fs::write(folder.path().join("locks/t.lock"), mark).unwrap();
    let log = open(&folder);
    assert_eq!(numbers(&log), [1, 2]);
    let beyond = log.ids(&topic("t"), Some(3), 9);
    assert!(beyond.is_empty(), "{beyond:?} is about to be cut");
    assert_eq!(log.append(&topic("t"), event(3)), 3);
    let repairs = log.0.health().repairs;
    assert_eq!((repairs.len(), repairs[0].records_cut), (1, 2));
    assert!(log.verify(&topic("t")).verified);
}

#[test]
fn a_batch_is_there_or_not() {
    for has_mark in [true, false] {
        let folder = folder();
        let lock = folder.path().join("locks/t.lock");
        let path = closed_log(&folder, 1);
        let mark = fs::read(&lock).unwrap();
        open(&folder).append_batch(&topic("t"), vec![event(2), event(3), event(4)]);
        // As if the process had been killed in the middle of the write, before any sync.
        match has_mark {
            true => fs::write(&lock, mark).unwrap(),
            false => fs::remove_file(&lock).unwrap(),
        }
        let kept = lines(&path)[..3].join("\n") + "\n{\"id\":4";
        fs::write(&path, kept).unwrap();
        let log = open(&folder);
        assert_eq!(numbers(&log), [1]);
        assert_eq!(log.append(&topic("t"), event(2)), 2);
        assert_eq!(numbers(&log), [1, 2]);
        assert_eq!(log.0.health().repairs[0].records_cut, 2);
    }
}

#[test]
fn damage_is_refused_with_its_place_and_skipped_on_request() {
    let folder = folder();
    let path = closed_log(&folder, 5);
    let mut text = fs::read_to_string(&path).unwrap();
    let offset = text.match_indices('\n').nth(1).unwrap().0 + 1;
    text = text.replacen("\"n\":3", "\"n\":8", 1);
    fs::write(&path, text).unwrap();

    let log = open(&folder);
    let error = block_on(log.0.read_range(&topic("t"), None, 100)).unwrap_err();
    let LogError::Damaged(damage) = &error else {
        panic!("{error:?}");
    };
    assert_eq!((&damage.path, damage.offset), (&path, offset as u64));
    let expected = format!(
        "{} is damaged at byte {offset}: its checksum is wrong",
        path.display()
    );
    assert_eq!(error.to_string(), expected);
    assert_eq!(log.ids(&topic("t"), None, 2), [1, 2], "what is before it");
    assert_eq!(log.ids(&topic("t"), Some(3), 9), [4, 5], "what is after it");
    assert_eq!(log.append(&topic("t"), event(6)), 6);
    assert!(log.0.health().repairs.is_empty(), "nothing was cut");
    drop(log);

    let log = open_with(&folder, |options| options.on_damage = OnDamage::Skip);
    assert_eq!(numbers(&log), [1, 2, 4, 5, 6]);
    assert!(!log.verify(&topic("t")).verified);
}

#[test]
fn a_synced_end_that_is_damaged_is_refused_and_not_cut() {
    type Change = fn(&mut Vec<u8>);
    let changes: [Change; 3] = [
        |text| *text.iter_mut().rev().nth(5).unwrap() ^= 1,
        |text| text.truncate(text.len() - 10),
        |text| text.clear(),
    ];
    for change in changes {
        let folder = folder();
        let path = closed_log(&folder, 3);
        let mut text = fs::read(&path).unwrap();
        change(&mut text);
        fs::write(&path, &text).unwrap();
        let log = open(&folder);
        let error = block_on(log.0.append(&topic("t"), event(4))).unwrap_err();
        assert!(error.to_string().contains("t.jsonl"), "{error}");
        assert!(error.to_string().contains("damaged"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), text, "nothing was changed");
        assert_eq!(log.append(&topic("other"), event(1)), 1, "others go on");
    }
}

#[test]
fn a_synced_topic_that_is_gone_is_refused() {
    let folder = folder();
    let path = closed_log(&folder, 3);
    fs::remove_file(path).unwrap();
    let log = open(&folder);
    let error = block_on(log.0.append(&topic("t"), event(4))).unwrap_err();
    assert!(error.to_string().contains("t.jsonl"), "{error}");
}

#[test]
fn without_marks_the_last_readable_record_is_the_end() {
    let folder = folder();
    let path = closed_log(&folder, 3);
    fs::remove_dir_all(folder.path().join("locks")).unwrap();
    append_bytes(&path, b"{\"id\":4,");
    let log = open(&folder);
    assert_eq!(numbers(&log), [1, 2, 3]);
    assert_eq!(log.append(&topic("t"), event(4)), 4);
    assert_eq!(numbers(&log), [1, 2, 3, 4]);
}

/// Nothing of ours writes such files; a damaged disk or another program might.
#[test]
fn odd_files_beside_a_topic_are_no_reason_to_stop() {
    let folder = folder();
    closed_log(&folder, 2);
    let segments = folder.path().join("topics/t.segments");
    fs::create_dir_all(&segments).unwrap();
    for name in ["00000000000000000000.jsonl", "18446744073709551615.jsonl"] {
        fs::write(segments.join(name), "").unwrap();
    }
    let lock = folder.path().join("locks/t.lock");
    let mark = fs::read_to_string(&lock).unwrap();
    let (max, (_, synced)) = (u64::MAX, mark.split_once('\n').unwrap());
    let change = format!("change {max} writer {max:024} shape {:020}", max - 1);
    fs::write(&lock, format!("{change}\n{synced}")).unwrap();
    let log = open_with(&folder, |options| options.segment_bytes_max = 1_500);
    for number in 3..=9 {
        assert_eq!(log.append(&topic("t"), event(number)), number);
    }
    assert_eq!(numbers(&log), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn an_end_of_many_short_lines_is_read_once() {
    let folder = folder();
    let path = closed_log(&folder, 3);
    fs::remove_dir_all(folder.path().join("locks")).unwrap();
    append_bytes(&path, &[b'\n'; 100_000]);
    let (log, mood) = open_moody(&folder);
    assert_eq!(log.append(&topic("t"), event(4)), 4);
    let bytes = mood.bytes_read.load(Ordering::SeqCst);
    assert!(bytes < 500_000, "{bytes}");
}

#[test]
fn without_marks_damage_stays_damage_and_nothing_after_it_is_cut() {
    let folder = folder();
    let path = closed_log(&folder, 5);
    fs::remove_dir_all(folder.path().join("locks")).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"n\":3", "\"n\":8", 1)).unwrap();
    let log = open(&folder);
    assert_eq!(log.append(&topic("t"), event(6)), 6);
    let killed = tempfile::tempdir().unwrap();
    copy_folder(folder.path(), killed.path()); // As a process that dies leaves it.
    for log in [log, open(&killed)] {
        assert_eq!(log.ids(&topic("t"), Some(3), 9), [4, 5, 6]);
        let error = block_on(log.0.read_range(&topic("t"), None, 9)).unwrap_err();
        assert!(matches!(error, LogError::Damaged(_)), "{error:?}");
        assert_eq!(log.append(&topic("t"), event(7)), 7);
        assert!(log.0.health().repairs.is_empty(), "nothing was cut");
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(files_below(&path)),
            false => files.push(path),
        }
    }
    files.sort();
    files
}

#[test]
fn segments_follow_each_other_and_compaction_removes_files() {
    let folder = folder();
    let log = open_with(&folder, |options| options.segment_bytes_max = 1_500);
    for number in 1..=20 {
        log.append(&topic("t"), event(number));
    }
    let topics = folder.path().join("topics");
    let before = files_below(&topics);
    assert!(before.len() > 3, "{before:?}");
    assert!(before.contains(&topics.join("t.jsonl")));
    assert_eq!(log.ids(&topic("t"), Some(7), 4), [8, 9, 10, 11]);
    log.compact_read(&topic("t"), 18);
    let after = files_below(&topics);
    assert!(after.len() <= 2, "{after:?}");
    let text: String = after
        .iter()
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    assert!(!text.contains("\"id\":18,"), "what is compacted is gone");
    assert_eq!(numbers(&log), [19, 20]);
}

fn copy_folder(from: &Path, to: &Path) {
    for path in files_below(from) {
        let target = to.join(path.strip_prefix(from).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(path, target).unwrap();
    }
}

/// The steps of a compaction: a new segment, the note of it, the removal of old ones.
#[test]
fn a_compaction_may_stop_after_any_step() {
    for segment_bytes_max in [1_500, 1_000_000] {
        let (original, before) = (folder(), folder());
        let log = open_with(&original, |options| {
            options.segment_bytes_max = segment_bytes_max;
        });
        for number in 1..=20 {
            log.append(&topic("t"), event(number));
        }
        block_on(log.0.flush()).unwrap();
        copy_folder(original.path(), before.path());
        log.compact_read(&topic("t"), 10);
        drop(log);

        // Before the note was written: nothing has happened.
        let stopped = folder();
        copy_folder(original.path(), stopped.path());
        copy_folder(
            &before.path().join("topics"),
            &stopped.path().join("topics"),
        );
        fs::remove_dir_all(stopped.path().join("compacted")).unwrap();
        let log = open(&stopped);
        assert!(numbers(&log).into_iter().eq(1..=20));
        assert_eq!(log.append(&topic("t"), event(21)), 21);
        assert!(numbers(&log).into_iter().eq(1..=21));
        assert!(log.verify(&topic("t")).verified);
        log.compact_read(&topic("t"), 10);
        assert!(numbers(&log).into_iter().eq(11..=21));

        // Before the old files were removed: it has happened.
        let stopped = folder();
        copy_folder(original.path(), stopped.path());
        copy_folder(
            &before.path().join("topics"),
            &stopped.path().join("topics"),
        );
        let log = open(&stopped);
        assert_eq!(log.latest(&topic("t")), Some(20));
        assert!(numbers(&log).into_iter().eq(11..=20));
        assert_eq!(log.append(&topic("t"), event(21)), 21);
        assert!(log.verify(&topic("t")).verified);
    }
}

#[test]
fn ids_that_have_gone_are_not_given_again_whatever_is_left() {
    let folder = folder();
    let path = closed_log(&folder, 3);
    let first = lines(&path)[0].clone() + "\n";
    let log = open(&folder);
    log.compact_read(&topic("t"), 3);
    drop(log);
    fs::remove_dir_all(folder.path().join("topics/t.segments")).unwrap();
    fs::remove_dir_all(folder.path().join("locks")).unwrap();
    fs::write(&path, first).unwrap();
    let log = open(&folder);
    assert_eq!(log.append(&topic("t"), event(4)), 4);
    assert_eq!(log.append(&topic("t"), event(5)), 5);
    assert_eq!(numbers(&log), [4, 5]);
    drop(log);
    assert_eq!(numbers(&open(&folder)), [4, 5]);
}

/// Where nothing has gone there is nothing to count on from: a hash from there would begin a
/// chain that nobody can verify.
#[test]
fn a_hash_where_nothing_has_gone_is_damage() {
    let folder = folder();
    let path = closed_log(&folder, 0);
    assert!(!path.exists());
    fs::create_dir_all(folder.path().join("compacted")).unwrap();
    let compacted = folder.path().join("compacted/t.json");
    let say = |hash: Value| {
        let text = json!({"topic": "t", "before": 0, "hash": hash, "updated_at_ms": 5});
        fs::write(&compacted, text.to_string()).unwrap();
    };
    say(json!("sha256:00"));
    let log = open(&folder);
    let refused = block_on(log.0.append(&topic("t"), event(1))).unwrap_err();
    let LogError::Shared(refused) = refused else {
        panic!("what keeps a group from beginning is for all in it: {refused}");
    };
    assert!(matches!(*refused, LogError::Damaged(_)), "{refused}");
    let refused = block_on(log.0.latest(&topic("t")));
    assert!(matches!(refused, Err(LogError::Damaged(_))), "{refused:?}");
    say(Value::Null);
    assert_eq!(log.append(&topic("t"), event(1)), 1);
    assert!(log.verify(&topic("t")).verified);
}

/// A disk that counts what is read, and fails to write or sync when told to.
#[derive(Default)]
struct MoodyDisk {
    mood: Arc<Mood>,
}

#[derive(Default)]
struct Mood {
    fails_to_write: AtomicBool,
    fails_to_sync: AtomicBool,
    bytes_read: AtomicU64,
    syncs: AtomicU64,
    folder_syncs: AtomicU64,
}

struct MoodyFile {
    file: Arc<dyn DiskFile>,
    is_segment: bool,
    mood: Arc<Mood>,
}

impl Disk for MoodyDisk {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        RealDisk.create_folder(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        RealDisk.list(path)
    }

    fn open(&self, path: &Path, how: OpenFile) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(MoodyFile {
            file: RealDisk.open(path, how)?,
            is_segment: path.extension().is_some_and(|end| end == "jsonl"),
            mood: Arc::clone(&self.mood),
        }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.mood.folder_syncs.fetch_add(1, Ordering::SeqCst);
        RealDisk.sync_folder(path)
    }
}

impl MoodyFile {
    fn fails(&self, mood: &AtomicBool) -> bool {
        self.is_segment && mood.load(Ordering::SeqCst)
    }
}

impl DiskFile for MoodyFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let read = self.file.read_at(buffer, offset)?;
        let bytes_read = &self.mood.bytes_read;
        bytes_read.fetch_add(read as u64, Ordering::SeqCst);
        Ok(read)
    }

    /// Writes a part before it fails, as a full disk does.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        if !self.fails(&self.mood.fails_to_write) {
            return self.file.write_at(bytes, offset);
        }
        if bytes.len() < 2 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.file.write_at(&bytes[..bytes.len() / 2], offset)
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.file.truncate(len)
    }

    fn sync(&self) -> io::Result<()> {
        if self.fails(&self.mood.fails_to_sync) {
            return Err(io::Error::other("the disk is on fire"));
        }
        self.mood.syncs.fetch_add(1, Ordering::SeqCst);
        self.file.sync()
    }

    fn try_lock(&self) -> io::Result<bool> {
        self.file.try_lock()
    }

    fn lock_within(self: Arc<Self>, limit: Duration) -> io::Result<bool> {
        Arc::clone(&self.file).lock_within(limit)
    }

    fn unlock(&self) -> io::Result<()> {
        self.file.unlock()
    }
}

fn open_moody(folder: &TempDir) -> (Driver<FileEventLog>, Arc<Mood>) {
    open_moody_with(folder, FileOptions::default())
}

fn open_moody_with(folder: &TempDir, options: FileOptions) -> (Driver<FileEventLog>, Arc<Mood>) {
    let disk = MoodyDisk::default();
    let mood = Arc::clone(&disk.mood);
    let log = FileEventLog::open_on(Arc::new(disk), folder.path(), options);
    (Driver(log.unwrap()), mood)
}

#[test]
fn a_failed_write_stops_the_log_until_it_is_recovered() {
    let folder = folder();
    let (log, mood) = open_moody(&folder);
    log.append_numbers(&topic("t"), 3);
    mood.fails_to_write.store(true, Ordering::SeqCst);
    let error = block_on(log.0.append(&topic("t"), event(4))).unwrap_err();
    assert_eq!(
        error.to_string(),
        io::Error::from(io::ErrorKind::StorageFull).to_string()
    );
    mood.fails_to_write.store(false, Ordering::SeqCst);
    let refused = block_on(log.0.append(&topic("other"), event(1))).unwrap_err();
    assert!(
        refused.to_string().starts_with("the log refuses to append"),
        "{refused}"
    );
    block_on(log.0.barrier()).unwrap_err();
    assert_eq!(numbers(&log), [1, 2, 3], "reading goes on");
    let health = log.0.health();
    assert!(health.refusing.is_some());
    assert!(health.first_error.is_some());

    block_on(log.0.recover()).unwrap();
    assert!(log.0.health().refusing.is_none());
    assert_eq!(log.append(&topic("t"), event(5)), 4);
    block_on(log.0.barrier()).unwrap();
    assert_eq!(numbers(&log), [1, 2, 3, 5]);
    assert!(log.verify(&topic("t")).verified);
}

#[test]
fn a_failed_sync_stops_the_log_until_everything_is_written_again() {
    let folder = folder();
    let (log, mood) = open_moody(&folder);
    log.append_numbers(&topic("t"), 2);
    block_on(log.0.barrier()).unwrap();
    log.append(&topic("t"), event(3));
    mood.fails_to_sync.store(true, Ordering::SeqCst);
    let error = block_on(log.0.barrier()).unwrap_err();
    assert!(error.to_string().contains("on fire"), "{error}");
    block_on(log.0.append(&topic("t"), event(4))).unwrap_err();
    block_on(log.0.recover()).unwrap_err();
    mood.fails_to_sync.store(false, Ordering::SeqCst);
    block_on(log.0.barrier()).unwrap_err();
    block_on(log.0.recover()).unwrap();
    block_on(log.0.barrier()).unwrap();
    assert_eq!(log.append(&topic("t"), event(4)), 4);
    assert_eq!(numbers(&log), [1, 2, 3, 4]);
}

#[test]
fn a_durable_append_is_synced_or_fails() {
    let folder = folder();
    let (log, mood) = open_moody(&folder);
    log.append(&topic("t"), event(1));
    let before = mood.syncs.load(Ordering::SeqCst);
    assert_eq!(
        block_on(log.0.append_durable(&topic("t"), event(2))).unwrap(),
        2
    );
    assert!(mood.syncs.load(Ordering::SeqCst) > before, "it was synced");
    mood.fails_to_sync.store(true, Ordering::SeqCst);
    let error = block_on(log.0.append_durable(&topic("t"), event(3))).unwrap_err();
    assert!(error.to_string().contains("on fire"), "{error}");
    assert!(log.0.health().refusing.is_some());
}

#[test]
fn barriers_share_syncs_and_a_clean_log_needs_none() {
    let folder = folder();
    let (log, mood) = open_moody(&folder);
    log.append_numbers(&topic("t"), 1);
    block_on(log.0.barrier()).unwrap();
    let syncs = mood.syncs.load(Ordering::SeqCst);
    block_on(log.0.barrier()).unwrap();
    assert_eq!(mood.syncs.load(Ordering::SeqCst), syncs, "nothing to sync");

    std::thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| {
                for _ in 0..20 {
                    block_on(async {
                        log.0.append(&topic("t"), event(1)).await.unwrap();
                        log.0.barrier().await.unwrap();
                    });
                }
            });
        }
    });
    let health = log.0.health();
    assert_eq!(health.records_appended, 641);
    assert_eq!(health.barriers, 642);
    assert!(health.syncs < 500, "{} syncs", health.syncs);
    assert!(health.groups < 600, "{} groups", health.groups);
}

/// S35.2: what an append costs does not depend on what is there.
/// Only its own name is new; those of its folder and of the lock file are safe already.
#[test]
fn a_new_segment_costs_one_sync_of_a_folder() {
    let folder = folder();
    let options = FileOptions {
        segment_bytes_max: 1,
        ..FileOptions::default()
    };
    let (log, mood) = open_moody_with(&folder, options);
    log.append_numbers(&topic("t"), 2);
    let before = mood.folder_syncs.load(Ordering::SeqCst);
    for number in 3..=7 {
        log.append(&topic("t"), event(number));
    }
    assert_eq!(mood.folder_syncs.load(Ordering::SeqCst), before + 5);
}

#[test]
fn an_append_reads_nothing_but_the_mark() {
    let folder = folder();
    let (log, mood) = open_moody(&folder);
    let read_by_appends = |count: u64| {
        log.append_batch(&topic("t"), (0..count).map(event).collect());
        let before = mood.bytes_read.load(Ordering::SeqCst);
        log.append_numbers(&topic("t"), 20);
        mood.bytes_read.load(Ordering::SeqCst) - before
    };
    let (short, long) = (read_by_appends(10), read_by_appends(5_000));
    assert_eq!(short, long);
    assert!(short <= 20 * 100, "{short} bytes");
}

/// Opening looks at the end only.
#[test]
fn what_is_read_to_open_does_not_grow_with_the_topic() {
    let read_at_open = |count: u64| {
        let folder = folder();
        let log = open(&folder);
        let events = (1..=count).map(event).collect();
        log.append_batch(&topic("t"), events);
        drop(log);
        let (log, mood) = open_moody(&folder);
        assert_eq!(log.append(&topic("t"), event(0)), count + 1);
        assert_eq!(log.ids(&topic("t"), Some(count - 1), 9), [count, count + 1]);
        mood.bytes_read.load(Ordering::SeqCst)
    };
    let (few, many) = (read_at_open(500), read_at_open(20_000));
    assert!(many < few + 200_000, "{few} bytes, then {many}");
}
