//! `cargo xtask bench log`: the event log against the bare system calls below it.
//!
//! On paper, before measuring: an `fdatasync` costs a few hundred microseconds
//! whatever it writes, so 256 records that share one should cost about as much as one
//! alone. What is left to us per record is JSON, a hash and two hand-overs between
//! threads: two or three microseconds, most of which can overlap the sync.

#![expect(clippy::print_stdout, reason = "the table is this program's output")]

mod nats;

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use harn_bench::{Effort, Goal, Samples, Table, time, versus};
use harn_log::{EventLog, FileEventLog, LogEvent, SqliteEventLog, Topic, block_on};
use mimalloc::MiMalloc;
use rusqlite::{Connection, params};
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// What the `harn` program uses as well.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Appends that are under way at the same time.
const IN_FLIGHT: usize = 256;

/// A part of the benchmark, by name.
type Part<'a> = (&'a str, &'a dyn Fn(&mut Table));

fn main() -> ExitCode {
    let effort = Effort::from_args();
    let mut table = Table::new();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime can be made");
    let work: [Part<'_>; 6] = [
        ("file", &|table| {
            file_with_many_in_flight(effort, &runtime, table)
        }),
        ("sqlite", &|table| {
            sqlite_with_many_in_flight(effort, &runtime, table)
        }),
        ("barrier", &|table| one_append_and_barrier(effort, table)),
        ("open", &|table| open_and_read_the_end(effort, table)),
        ("follow", &|table| follow(effort, &runtime, table)),
        ("nats", &|table| nats::append(effort, &runtime, table)),
    ];
    for (_, measure) in work.iter().filter(|(name, _)| harn_bench::is_wanted(name)) {
        measure(&mut table);
    }
    println!("{}", table.render());
    if table.all_met() || effort == Effort::Smoke {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn folder() -> TempDir {
    // Not in /tmp, which may be memory: a sync has to be a sync.
    tempfile::tempdir_in("target").expect("a folder can be made")
}

fn topic() -> Topic {
    Topic::new("bench").expect("a plain name")
}

/// An event of about 512 bytes.
fn event() -> LogEvent {
    LogEvent::new("bench", json!({"text": "x".repeat(500)}))
}

/// The line of such an event in a file.
fn line() -> Vec<u8> {
    let folder = folder();
    let log = FileEventLog::open(folder.path(), 128).expect("a log can be opened");
    let topic = topic();
    for _ in 0..2 {
        block_on(log.append(&topic, event())).expect("an append succeeds");
    }
    drop(log);
    let text = std::fs::read(folder.path().join("topics/bench.jsonl")).expect("it was written");
    let mut lines = text.split_inclusive(|byte| *byte == b'\n');
    lines.next_back().expect("there are two").to_vec()
}

/// Appends and makes durable, many at a time.
fn append_in_flight<L: EventLog + 'static>(
    runtime: &Runtime,
    log: &Arc<L>,
    operations: usize,
) -> Duration {
    let append = |log: Arc<L>| async move {
        // At hand, as the bytes are that the bare loop writes.
        let (topic, event) = (topic(), event());
        for _ in 0..operations / IN_FLIGHT {
            let appended = log.append_durable(&topic, event.clone()).await;
            appended.expect("an append succeeds");
        }
    };
    time(|| {
        runtime.block_on(async {
            let tasks = (0..IN_FLIGHT).map(|_| tokio::spawn(append(Arc::clone(log))));
            for task in tasks.collect::<Vec<_>>() {
                task.await.expect("no task panics");
            }
        });
    })
}

fn file_with_many_in_flight(effort: Effort, runtime: &Runtime, table: &mut Table) {
    let (folder, line) = (folder(), line());
    let log = FileEventLog::open(folder.path().join("log"), 128).expect("a log can be opened");
    let mut bare = append_only(&folder.path().join("bare"));
    let group = line.repeat(IN_FLIGHT);
    let samples = versus(
        effort,
        effort.operations(64_000).next_multiple_of(IN_FLIGHT),
        |operations| append_in_flight(runtime, &log, operations),
        |operations| {
            time(|| {
                for _ in 0..operations / IN_FLIGHT {
                    bare.write_all(&group).expect("the disk has room");
                    bare.sync_data().expect("the disk works");
                }
            })
        },
    );
    table.times(
        "file: append durably, 512 B events, 256 in flight",
        "`write` of the same 256 lines + `fdatasync`",
        &samples,
        Goal::SpeedAtLeast(0.5),
    );
}

fn sqlite_with_many_in_flight(effort: Effort, runtime: &Runtime, table: &mut Table) {
    let folder = folder();
    let log = SqliteEventLog::open(folder.path().join("log.sqlite"), 128);
    let log = log.expect("a log can be opened");
    let mut bare = bare_database(&folder.path().join("bare.sqlite"));
    let payload = event().payload.to_string();
    let headers = headers();
    let mut id = 0;
    let samples = versus(
        effort,
        effort.operations(64_000).next_multiple_of(IN_FLIGHT),
        |operations| append_in_flight(runtime, &log, operations),
        |operations| {
            time(|| {
                for _ in 0..operations / IN_FLIGHT {
                    insert_group(&mut bare, &mut id, &payload, &headers);
                }
            })
        },
    );
    table.times(
        "sqlite: append durably, 512 B events, 256 in flight",
        "bare transactions of 256 rows, `synchronous=FULL`",
        &samples,
        Goal::SpeedAtLeast(0.6),
    );
}

/// The headers our log gives a record: they are part of the row.
fn headers() -> String {
    let line = line();
    let line: serde_json::Value = serde_json::from_slice(&line).expect("a line is JSON");
    line["event"]["headers"].to_string()
}

/// A database with the table of records that our log has.
fn bare_database(path: &Path) -> Connection {
    let database = Connection::open(path).expect("a database can be opened");
    database
        .execute_batch(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;
             CREATE TABLE events (
                 topic TEXT NOT NULL, event_id INTEGER NOT NULL, kind TEXT NOT NULL,
                 payload TEXT NOT NULL, headers TEXT NOT NULL, occurred_at_ms INTEGER NOT NULL,
                 PRIMARY KEY (topic, event_id))",
        )
        .expect("the table can be made");
    database
}

fn insert_group(database: &mut Connection, id: &mut i64, payload: &str, headers: &str) {
    let transaction = database.transaction().expect("it can begin");
    for _ in 0..IN_FLIGHT {
        *id += 1;
        transaction
            .prepare_cached("INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
            .and_then(|mut insert| {
                insert.execute(params![
                    "bench",
                    *id,
                    "bench",
                    payload,
                    headers,
                    1_700_000_000_000_i64
                ])
            })
            .expect("a row can be inserted");
    }
    transaction.commit().expect("it can be committed");
}

fn append_only(path: &Path) -> File {
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.expect("a file can be made")
}

fn nanoseconds(times: &[Duration]) -> Vec<f64> {
    times.iter().map(|time| time.as_nanos() as f64).collect()
}

fn one_append_and_barrier(effort: Effort, table: &mut Table) {
    let (folder, line) = (folder(), line());
    let file = FileEventLog::open(folder.path().join("log"), 128).expect("a log can be opened");
    let sqlite = SqliteEventLog::open(folder.path().join("log.sqlite"), 128);
    let sqlite = sqlite.expect("a log can be opened");
    let mut bare = append_only(&folder.path().join("bare"));
    let (mut file_times, mut sqlite_times, mut bare_times) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..effort.operations(1_000) {
        file_times.push(append_and_wait(&*file));
        sqlite_times.push(append_and_wait(&*sqlite));
        bare.write_all(&line).expect("the disk has room");
        bare_times.push(time(|| bare.sync_data().expect("the disk works")));
    }
    let samples = |times: &[Duration]| Samples::of(nanoseconds(times));
    for (name, times, goal) in [
        ("file", &file_times, Goal::TimeAtMost(2.0)),
        ("sqlite", &sqlite_times, Goal::Shown),
    ] {
        table.times(
            &format!("{name}: one append and barrier, idle, p50"),
            "one bare `fdatasync` after a `write`",
            &(samples(times), samples(&bare_times)),
            goal,
        );
    }
}

fn append_and_wait<L: EventLog>(log: &L) -> Duration {
    let (topic, event) = (topic(), event());
    time(|| {
        block_on(async {
            log.append(&topic, event).await.expect("an append succeeds");
            log.barrier().await.expect("a barrier succeeds");
        });
    })
}

fn open_and_read_the_end(effort: Effort, table: &mut Table) {
    let folder = folder();
    let sizes = [
        effort.operations(100_000) as u64,
        effort.operations(1_000) as u64,
    ];
    for size in sizes {
        let file = FileEventLog::open(folder.path().join(size.to_string()), 128);
        fill(&*file.expect("a log can be opened"), size);
        let sqlite = SqliteEventLog::open(folder.path().join(format!("{size}.sqlite")), 128);
        fill(&*sqlite.expect("a log can be opened"), size);
    }
    let [many, few] = sizes;
    let open_file = |size: u64| {
        let log = FileEventLog::open(folder.path().join(size.to_string()), 128);
        read_the_end(&*log.expect("a log can be opened"));
    };
    let open_sqlite = |size: u64| {
        let log = SqliteEventLog::open(folder.path().join(format!("{size}.sqlite")), 128);
        read_the_end(&*log.expect("a log can be opened"));
    };
    let opened: [(&str, &dyn Fn(u64)); 2] = [("file", &open_file), ("sqlite", &open_sqlite)];
    for (name, open) in opened {
        let repeat = |operations, size| time(|| (0..operations).for_each(|_| open(size)));
        let samples = versus(
            effort,
            effort.operations(20),
            |operations| repeat(operations, many),
            |operations| repeat(operations, few),
        );
        table.times(
            &format!("{name}: open and read the last 100 of {many} events"),
            &format!("of {few} events"),
            &samples,
            Goal::TimeAtMost(3.0),
        );
    }
}

fn fill<L: EventLog>(log: &L, size: u64) {
    let topic = topic();
    let mut left = size;
    while left > 0 {
        let batch = left.min(1_000);
        let events = (0..batch).map(|_| event()).collect();
        block_on(log.append_batch(&topic, events)).expect("a batch succeeds");
        left -= batch;
    }
    block_on(log.flush()).expect("a flush succeeds");
}

fn read_the_end<L: EventLog>(log: &L) {
    let topic = topic();
    block_on(async {
        let head = log.latest(&topic).await.expect("it can be read");
        let head = head.expect("there are records");
        let from = head.saturating_sub(100);
        let records = log.read_range(&topic, Some(from), 100).await;
        assert!(!records.expect("it can be read").is_empty());
    });
}

/// How long it takes from an append to its reader.
fn follow(effort: Effort, runtime: &Runtime, table: &mut Table) {
    let operations = effort.operations(20_000);
    let folder = folder();
    let file = FileEventLog::open(folder.path().join("log"), 128).expect("a log can be opened");
    let (mut ours, mut peer) = (Vec::new(), Vec::new());
    for _ in 0..effort.operations(9_000) / 1_000 + 1 {
        ours.push(p99(runtime.block_on(follow_log(&file, operations))));
        peer.push(p99(runtime.block_on(follow_channel(operations))));
    }
    table.times(
        "file: from an append to its reader, p99",
        "a `tokio::sync::broadcast` channel",
        &(Samples::of(ours), Samples::of(peer)),
        Goal::TimeAtMost(20.0),
    );
}

async fn follow_log(log: &Arc<FileEventLog>, operations: usize) -> Vec<Duration> {
    let topic = topic();
    let head = log.latest(&topic).await.expect("it can be read");
    let stream = Arc::clone(log).subscribe(&topic, head.or(Some(0))).await;
    let mut stream = stream.expect("a log can be followed");
    let (sent, mut started) = tokio::sync::mpsc::channel::<Instant>(1);
    let reader = tokio::spawn(async move {
        let mut times = Vec::with_capacity(operations);
        while times.len() < operations {
            stream
                .next()
                .await
                .expect("it does not end")
                .expect("it is not cut off");
            let seen = Instant::now();
            let started = started.recv().await.expect("each append has a beginning");
            times.push(seen - started);
        }
        times
    });
    for _ in 0..operations {
        let event = event();
        let now = Instant::now();
        log.append(&topic, event).await.expect("an append succeeds");
        sent.send(now).await.expect("the reader is there");
    }
    reader.await.expect("no task panics")
}

async fn follow_channel(operations: usize) -> Vec<Duration> {
    let (sender, mut receiver) = tokio::sync::broadcast::channel::<LogEvent>(128);
    let (sent, mut started) = tokio::sync::mpsc::channel::<Instant>(1);
    let reader = tokio::spawn(async move {
        let mut times = Vec::with_capacity(operations);
        while times.len() < operations {
            receiver.recv().await.expect("it keeps up");
            let seen = Instant::now();
            let started = started.recv().await.expect("each event has a beginning");
            times.push(seen - started);
        }
        times
    });
    for _ in 0..operations {
        let event = event();
        let now = Instant::now();
        sender.send(event).expect("the reader is there");
        sent.send(now).await.expect("the reader is there");
    }
    reader.await.expect("no task panics")
}

fn p99(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() * 99 / 100].as_nanos() as f64
}
