//! The files of a topic may say anything. Opening them loses nothing that could be read,
//! and what is appended afterwards can be read unless damage is in the way.
//!
//! An input is several files; see `harn_fuzz::files`. Random bytes never have the right
//! checksum, so a checksum of eight dashes is replaced by the right one.

#![no_main]

use std::path::Path;
use std::sync::Arc;

use harn_fuzz::disk::MemoryDisk;
use harn_fuzz::files;
use harn_log::{
    ConsumerId, EventId, EventLog, FileEventLog, FileOptions, LogError, LogEvent, OnDamage, Topic,
    block_on,
};
use serde_json::{Value, json};

const ROOT: &str = "/log";
/// What stands for the right checksum of everything before it.
const SUM: &[u8] = b"--------";
/// What comes before the checksum of a record, which it does not cover.
const SUM_OF_RECORD: &[u8] = b",\"crc\":\"";
/// What comes before the checksum of a mark, which it covers.
const SUM_OF_MARK: &[u8] = b" crc ";

type Records = Vec<(EventId, LogEvent)>;

/// Whether a file is one that a log may find.
fn is_possible(name: &str) -> bool {
    let known = ["topics/", "compacted/", "consumers/", "locks/"];
    let rest = known.iter().find_map(|folder| name.strip_prefix(folder));
    rest.is_some_and(|rest| rest.split('/').all(|part| !matches!(part, "" | "." | "..")))
}

/// A file with its checksums.
fn summed(content: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len());
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        let start = out.len();
        out.extend_from_slice(line);
        let Some(at) = files::find(line, SUM) else {
            continue;
        };
        let covered = match line[..at].strip_suffix(SUM_OF_RECORD) {
            Some(record) => record,
            None if line[..at].ends_with(SUM_OF_MARK) => &line[..at],
            None => continue,
        };
        let sum = format!("{:08x}", crc32fast::hash(covered));
        out[start + at..start + at + SUM.len()].copy_from_slice(sum.as_bytes());
    }
    out
}

/// Whether a file has only records that belong where they are: in a segment the ids count on
/// from the one in its name, except across lines that cannot be read. Whatever breaks a disk
/// leaves them so. Somebody who writes right checksums in the wrong places can make readers and
/// writers disagree on what is torn, and finding that out would take reading everything.
fn is_orderly(name: &str, content: &[u8]) -> bool {
    let Some(first) = first_of(name) else {
        return true;
    };
    // What the next id is at least, and whether it is just that.
    let (mut next, mut is_exact) = (first, true);
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\n").and_then(id_of) {
            None => is_exact = false,
            Some(id) if id < next || id > next && is_exact => return false,
            Some(id) => (next, is_exact) = (id.saturating_add(1), true),
        }
    }
    true
}

/// The first id of a segment.
fn first_of(name: &str) -> Option<EventId> {
    match name {
        "topics/t.jsonl" => Some(1),
        _ => {
            let name = name.strip_prefix("topics/t.segments/")?;
            name.strip_suffix(".jsonl")?.parse().ok()
        }
    }
}

/// The id of a line that has one and, if it has a checksum, the right one.
fn id_of(line: &[u8]) -> Option<EventId> {
    let sum = line.len().checked_sub(SUM.len() + 2);
    let summed = sum.and_then(|at| line[..at].strip_suffix(SUM_OF_RECORD));
    if let (Some(at), Some(summed)) = (sum, summed)
        && format!("{:08x}\"}}", crc32fast::hash(summed)).as_bytes() != &line[at..]
    {
        return None;
    }
    // Not as JSON if it can be helped: a line may be too deep for that.
    let rest = line.strip_prefix(b"{\"id\":");
    let digits = rest.and_then(|rest| rest.split(|byte| *byte == b',').next());
    let id = digits.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
    id.or_else(|| {
        serde_json::from_slice::<Value>(line)
            .ok()?
            .get("id")?
            .as_u64()
    })
}

fn open(disk: &MemoryDisk, on_damage: OnDamage) -> Arc<FileEventLog> {
    let options = FileOptions {
        on_damage,
        segment_bytes_max: 4096,
        ..FileOptions::default()
    };
    let log = FileEventLog::open_on(Arc::new(disk.clone()), Path::new(ROOT), options);
    log.expect("a log can be opened whatever its topics look like")
}

/// All records up to the end or to damage. One by one, because a read that meets damage
/// returns nothing else.
fn read(log: &FileEventLog, topic: &Topic) -> (Records, Option<LogError>) {
    let mut records = Records::new();
    loop {
        let from = records.last().map(|(id, _)| *id);
        match block_on(log.read_range(topic, from, 1)) {
            Ok(more) if more.is_empty() => return (records, None),
            Ok(more) => records.extend(more),
            Err(error) => return (records, Some(error)),
        }
    }
}

fn check_dense(records: &Records) {
    for pair in records.windows(2) {
        assert_eq!(pair[0].0 + 1, pair[1].0, "ids have no gaps");
    }
}

harn_fuzz::target!(|bytes| {
    let disk = MemoryDisk::default();
    let mut is_orderly_log = true;
    for (name, content) in files::split(bytes) {
        let path = match name.as_str() {
            "" => "topics/t.jsonl",
            name if is_possible(name) => name,
            _ => continue,
        };
        let content = summed(&content);
        is_orderly_log &= is_orderly(path, &content);
        disk.write(Path::new(ROOT).join(path), content);
    }
    let topic = Topic::new("t").expect("a letter is a name");
    let consumer = ConsumerId::new("c").expect("a letter is a name");

    // Whoever skips damage sees what is left in order.
    let log = open(&disk, OnDamage::Skip);
    let (left, _) = read(&log, &topic);
    assert!(left.is_sorted_by(|one, next| one.0 < next.0), "ids rise");
    drop(log);

    let log = open(&disk, OnDamage::Refuse);
    let (before, damage) = read(&log, &topic);
    check_dense(&before);
    let verified = block_on(log.verify_topic(&topic)).is_ok_and(|report| report.verified);
    let _may_be_damaged = block_on(log.consumer_cursor(&topic, &consumer));
    let _may_be_damaged = block_on(log.latest(&topic));
    let _may_be_damaged = block_on(log.topics());

    let event = |number: u64| LogEvent::at("k", json!({ "n": number }), 5);
    let mut added = Vec::new();
    for number in 1..=2 {
        match block_on(log.append(&topic, event(number))) {
            Ok(id) => added.push(id),
            Err(_) => break,
        }
    }
    if !is_orderly_log {
        return;
    }
    let last = before.last().map_or(0, |(id, _)| *id);
    assert!(added.iter().all(|id| *id > last), "{added:?} after {last}");
    let (after, damage_after) = read(&log, &topic);
    check_dense(&after);
    assert!(after.starts_with(&before), "what could be read has changed");
    if damage.is_none() && added.len() == 2 {
        assert!(damage_after.is_none(), "{damage_after:?}");
        let ids: Vec<_> = after[before.len()..].iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, added, "exactly what was appended is new");
        assert_eq!(
            block_on(log.latest(&topic)).ok().flatten(),
            added.last().copied()
        );
        let report = block_on(log.verify_topic(&topic)).expect("it can be read");
        assert!(report.verified || !verified, "{:?}", report.errors);
    }
    let _may_be_refused = block_on(log.ack(&topic, &consumer, last));
    let _may_be_damaged = block_on(log.barrier());
    drop(log);

    let log = open(&disk, OnDamage::Refuse);
    let (again, damage_again) = read(&log, &topic);
    assert_eq!(
        again, after,
        "it reads the same after it was closed: {damage_again:?}"
    );
});
