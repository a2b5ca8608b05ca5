//! A log equals a `Vec`: whatever is done to both, they say the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use harn_log::{
    AnyEventLog, Batch, CompactForce, EventId, EventLog, FileEventLog, FileOptions, LogError,
    LogEvent, MemoryEventLog, SqliteEventLog, Topic,
};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use crate::support::{
    Driver, Record, block_on, consumer, draft, hash, next, poll_with, topic, without_provenance,
};

const TOPICS: [&str; 2] = ["a", "b"];
const CONSUMERS: [&str; 2] = ["x", "y"];
const HEADERS: [&str; 2] = ["key", "other"];
const VALUES: [&str; 3] = ["1", "2", "3"];

/// Something done to one topic.
#[derive(Clone, Debug)]
enum Op {
    Append(LogEvent),
    Batch(Vec<LogEvent>),
    /// On this thread, if the log can do that.
    Here(Vec<LogEvent>),
    Once(&'static str, &'static str, LogEvent),
    Chained(&'static str, &'static str, Head, LogEvent),
    Find(&'static str, &'static str),
    Ack(&'static str, EventId),
    Rewind(&'static str, EventId),
    Compact(EventId, CompactForce),
    Read(Option<EventId>, usize),
    Subscribe(Option<EventId>),
    Latest,
    Verify,
}

/// What a chained append expects.
#[derive(Clone, Copy, Debug)]
enum Head {
    Right,
    Wrong,
    Missing,
}

/// Near the ids that a short run makes, and far from them.
fn id() -> impl Strategy<Value = EventId> {
    prop_oneof![20 => 0..24_u64, 1 => Just(u64::MAX)]
}

fn events() -> impl Strategy<Value = LogEvent> {
    let headers = (any::<bool>(), header(), value());
    ("[a-c]", any::<i32>(), any::<i64>(), headers).prop_map(
        |(kind, payload, time, (keyed, header, value))| {
            let event = LogEvent::at(kind, json!({ "p": [payload, null] }), time);
            match keyed {
                true => event.with_header(header, value),
                false => event,
            }
        },
    )
}

fn header() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&HEADERS[..])
}

fn value() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&VALUES[..])
}

fn named() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&CONSUMERS[..])
}

fn op() -> impl Strategy<Value = Op> {
    let from = || prop::option::of(id());
    let limit = prop_oneof![10 => 0..8_usize, 1 => Just(usize::MAX)];
    let head = prop_oneof![
        3 => Just(Head::Right), 1 => Just(Head::Wrong), 1 => Just(Head::Missing)
    ];
    let force = prop_oneof![3 => Just(CompactForce::Respect), 1 => Just(CompactForce::Override)];
    prop_oneof![
        4 => events().prop_map(Op::Append),
        2 => vec(events(), 0..4).prop_map(Op::Batch),
        8 => vec(events(), 1..4).prop_map(Op::Here),
        3 => (header(), value(), events()).prop_map(|(h, v, e)| Op::Once(h, v, e)),
        2 => (header(), value(), head, events()).prop_map(|(h, v, at, e)| Op::Chained(h, v, at, e)),
        2 => (header(), value()).prop_map(|(h, v)| Op::Find(h, v)),
        2 => (named(), id()).prop_map(|(c, to)| Op::Ack(c, to)),
        1 => (named(), id()).prop_map(|(c, to)| Op::Rewind(c, to)),
        2 => (id(), force).prop_map(|(before, force)| Op::Compact(before, force)),
        3 => (from(), limit).prop_map(|(from, limit)| Op::Read(from, limit)),
        1 => from().prop_map(Op::Subscribe),
        1 => Just(Op::Latest),
        1 => Just(Op::Verify),
    ]
}

/// A topic as a list.
#[derive(Default)]
struct Model {
    records: Vec<Record>,
    head: EventId,
    cursors: BTreeMap<&'static str, EventId>,
}

impl Model {
    fn append(&mut self, event: LogEvent) -> EventId {
        self.head += 1;
        self.records.push((self.head, event));
        self.head
    }

    fn latest(&self) -> Option<EventId> {
        (self.head > 0).then_some(self.head)
    }

    fn after(&self, from: Option<EventId>, limit: usize) -> Vec<Record> {
        let after = |record: &&Record| from.is_none_or(|from| record.0 > from);
        let records = self.records.iter().filter(after);
        records.take(limit).cloned().collect()
    }

    fn has_key(&self, header: &str, value: &str) -> bool {
        let has = |record: &Record| record.1.headers.get(header).is_some_and(|is| is == value);
        self.records.iter().any(has)
    }

    /// Removes what nobody needs and says how many, unless somebody does.
    fn compact(&mut self, before: EventId, force: CompactForce) -> Option<u64> {
        let before = before.min(self.head);
        let lowest = self.cursors.values().min();
        if force == CompactForce::Respect && lowest.is_some_and(|lowest| *lowest < before) {
            return None;
        }
        let had = self.records.len();
        self.records.retain(|(id, _)| *id > before);
        Some((had - self.records.len()) as u64)
    }
}

/// The log and its model.
struct Pair {
    log: Driver<AnyEventLog>,
    topic: Topic,
    model: Model,
    /// Hash of the newest record ever.
    head_hash: Option<String>,
}

fn plain(records: Vec<Record>) -> Vec<Record> {
    let plain = |(id, event)| (id, without_provenance(event));
    records.into_iter().map(plain).collect()
}

impl Pair {
    fn apply(&mut self, op: Op) {
        let (log, topic) = (&self.log.clone(), &self.topic.clone());
        let model = &mut self.model;
        match op {
            Op::Append(event) => {
                assert_eq!(log.append(topic, event.clone()), model.append(event));
            }
            Op::Batch(events) => {
                let ids = log.append_batch(topic, events.clone());
                let expected: Vec<_> = events.into_iter().map(|e| model.append(e)).collect();
                assert_eq!(ids, expected);
            }
            Op::Here(events) => {
                let drafts = events.iter().map(|event| draft(topic, event.clone()));
                let batches = Batch::by_topic(drafts);
                let appended = log.0.append_batches_here(&batches);
                let appended = appended.unwrap_or_else(|| block_on(log.0.append_batches(&batches)));
                let expected: Vec<_> = events.into_iter().map(|e| model.append(e)).collect();
                assert_eq!(appended[0].as_deref().unwrap(), expected);
            }
            Op::Once(header, value, event) => {
                let outcome = log.append_once(topic, (header, value), event.clone());
                assert_eq!(outcome.inserted, !model.has_key(header, value));
                if outcome.inserted {
                    model.append(event.with_header(header, value));
                }
                self.assert_keyed(header, value, (outcome.event_id, outcome.event));
            }
            Op::Chained(header, value, head, event) => {
                let expected = match head {
                    Head::Right => self.head_hash.as_deref(),
                    Head::Wrong => Some("sha256:00"),
                    Head::Missing => None,
                };
                let outcome = log.append_chained(topic, (header, value), expected, event.clone());
                let exists = model.has_key(header, value);
                if !exists && expected != self.head_hash.as_deref() {
                    let stale = matches!(outcome, Err(LogError::StaleTopicHead { .. }));
                    assert!(stale, "{outcome:?}");
                    return;
                }
                let outcome = outcome.expect("the head is right or the record is there");
                assert_eq!(outcome.inserted, !exists);
                if outcome.inserted {
                    model.append(event.with_header(header, value));
                }
                self.assert_keyed(header, value, (outcome.event_id, outcome.event));
            }
            Op::Find(header, value) => match log.find(topic, (header, value)) {
                Some(found) => self.assert_keyed(header, value, found),
                None => assert!(!model.has_key(header, value)),
            },
            Op::Ack(name, to) => {
                let moved = log.ack(topic, &consumer(name), to);
                assert_eq!(moved.is_ok(), to <= model.head, "{moved:?}");
                if moved.is_ok() {
                    let cursor = model.cursors.entry(name).or_insert(to);
                    *cursor = to.max(*cursor);
                }
            }
            Op::Rewind(name, to) => {
                // Setting forward is not what it is for, and not specified.
                let at = model.cursors.get(name).copied();
                if at.is_some_and(|at| to <= at) || to > model.head {
                    let moved = log.rewind(topic, &consumer(name), to);
                    assert_eq!(moved.is_ok(), to <= model.head, "{moved:?}");
                    if moved.is_ok() {
                        model.cursors.insert(name, to);
                    }
                }
            }
            Op::Compact(before, force) => match log.compact(topic, before, force) {
                Ok(report) => {
                    assert_eq!(Some(report.removed), model.compact(before, force));
                    assert_eq!(report.remaining, model.records.len() as u64);
                    assert_eq!(report.latest, model.latest());
                }
                Err(LogError::CompactionBlocked { .. }) => {
                    assert_eq!(model.compact(before, force), None);
                }
                Err(other) => panic!("{other}"),
            },
            Op::Read(from, limit) => {
                let records = plain(log.read(topic, from, limit));
                assert_eq!(records, model.after(from, limit));
            }
            Op::Subscribe(from) => {
                let mut stream = log.subscribe(topic, from);
                for expected in model.after(from, usize::MAX) {
                    assert_eq!(plain(vec![next(&mut stream)]), [expected]);
                }
                let more = poll_with(&mut stream, std::task::Waker::noop());
                assert_eq!(more, None);
            }
            Op::Latest => assert_eq!(log.latest(topic), model.latest()),
            Op::Verify => self.assert_verified(),
        }
        self.note_head();
    }

    /// One of the model's records with this key.
    fn assert_keyed(&self, header: &str, value: &str, found: Record) {
        assert_eq!(found.1.headers[header], value);
        let found = (found.0, without_provenance(found.1));
        assert!(self.model.records.contains(&found), "{found:?}");
    }

    fn assert_verified(&self) {
        let report = self.log.verify(&self.topic);
        assert!(report.verified, "{:?}", report.errors);
        assert_eq!(report.event_count, self.model.records.len());
        if !self.model.records.is_empty() {
            assert_eq!(report.last_hash, self.head_hash);
        }
    }

    fn note_head(&mut self) {
        let Some(before) = self.model.head.checked_sub(1) else {
            return;
        };
        if let [(_, head)] = &self.log.read(&self.topic, Some(before), 1)[..] {
            self.head_hash = Some(hash(head).to_owned());
        }
    }

    fn assert_equal(&self) {
        let Self {
            log, topic, model, ..
        } = self;
        assert_eq!(plain(log.read_all(topic)), model.records);
        assert_eq!(log.latest(topic), model.latest());
        for name in CONSUMERS {
            let cursor = log.cursor(topic, &consumer(name));
            // A forced compaction may move those it has overtaken.
            let first = model.records.first().map_or(model.head + 1, |(id, _)| *id);
            let effective = |cursor: Option<EventId>| cursor.map(|at| at.max(first - 1));
            let expected = model.cursors.get(name).copied();
            assert_eq!(effective(cursor), effective(expected), "{name}");
        }
        for header in HEADERS {
            for value in VALUES {
                let found = log.find(topic, (header, value));
                assert_eq!(found.is_some(), model.has_key(header, value));
            }
        }
        self.assert_verified();
    }
}

/// Where a log is kept.
#[derive(Clone, Copy, Debug)]
enum Backend {
    Memory,
    File,
    Sqlite,
}

/// A place for one log.
struct Place {
    backend: Backend,
    folder: tempfile::TempDir,
    queue_depth: usize,
}

impl Place {
    fn open(&self) -> Driver<AnyEventLog> {
        let (folder, queue_depth) = (self.folder.path(), self.queue_depth);
        let log = match self.backend {
            Backend::Memory => AnyEventLog::Memory(MemoryEventLog::new(queue_depth)),
            Backend::File => {
                let options = FileOptions {
                    queue_depth,
                    segment_bytes_max: 2_000,
                    ..FileOptions::default()
                };
                let log = FileEventLog::open_with(folder, options);
                AnyEventLog::File(log.expect("a log can be opened"))
            }
            Backend::Sqlite => {
                let log = SqliteEventLog::open(folder.join("log.sqlite"), queue_depth);
                AnyEventLog::Sqlite(log.expect("a log can be opened"))
            }
        };
        Driver(Arc::new(log))
    }

    /// Closes the log and opens it again, unless that would be the end of it.
    fn reopen(&self, pairs: &mut [Pair]) {
        if let Backend::Memory = self.backend {
            return;
        }
        for pair in &mut *pairs {
            let nothing = AnyEventLog::Memory(MemoryEventLog::new(1));
            pair.log = Driver(Arc::new(nothing));
        }
        let log = self.open();
        for pair in pairs {
            pair.log = log.clone();
        }
    }
}

fn check(backend: Backend, queue_depth: usize, ops: Vec<Step>) {
    let place = Place {
        backend,
        folder: tempfile::tempdir().expect("a folder can be made"),
        queue_depth,
    };
    let log = place.open();
    let mut pairs = TOPICS.map(|name| Pair {
        log: log.clone(),
        topic: topic(name),
        model: Model::default(),
        head_hash: None,
    });
    drop(log);
    for step in ops {
        match step {
            Step::Do(at, op) => pairs[at].apply(op),
            Step::Reopen => place.reopen(&mut pairs),
        }
    }
    for pair in &pairs {
        pair.assert_equal();
    }
    let used = pairs.iter().filter(|pair| pair.model.head > 0);
    let used: Vec<_> = used.map(|pair| pair.topic.to_string()).collect();
    assert_eq!(pairs[0].log.topics(), used);
}

/// Something done to a log.
#[derive(Clone, Debug)]
enum Step {
    /// Something done to one topic.
    Do(usize, Op),
    /// It is closed and opened again.
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        20 => (0..TOPICS.len(), op()).prop_map(|(at, op)| Step::Do(at, op)),
        1 => Just(Step::Reopen),
    ];
    vec(step, 0..80)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_log_equals_a_list(queue_depth in 1..5_usize, steps in steps()) {
        check(Backend::Memory, queue_depth, steps);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        cases: 40, // They write to a disk.
        ..ProptestConfig::default()
    })]

    #[test]
    fn files_equal_a_list(queue_depth in 1..5_usize, steps in steps()) {
        check(Backend::File, queue_depth, steps);
    }

    #[test]
    fn a_sqlite_file_equals_a_list(queue_depth in 1..5_usize, steps in steps()) {
        check(Backend::Sqlite, queue_depth, steps);
    }
}
