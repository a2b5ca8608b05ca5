//! What a keeper promises, with a log that waits and with one that tells.

use std::sync::atomic::AtomicUsize;

use super::*;
use harn_events::{DurableSinks, RedactionPolicy};
use harn_log::MemoryEventLog;
use serde_json::json;

fn keeper() -> Arc<Keeper> {
    Keeper::new(Arc::new(AnyEventLog::Memory(MemoryEventLog::new(16))))
}

fn record(topic: &Topic, number: u64) -> Draft {
    Draft::new(topic, LogEvent::new("n", json!(number))).unwrap()
}

fn numbers(log: &AnyEventLog, topic: &Topic) -> Vec<u64> {
    let records = block_on(log.read_range(topic, None, usize::MAX)).unwrap();
    let numbers = records.iter().map(|(_, record)| record.payload.as_u64());
    numbers.map(Option::unwrap).collect()
}

#[test]
fn one_that_is_lent_writes_with_its_lender_until_it_is_fenced_off() {
    let keeper = keeper();
    let topic = Topic::new("a").unwrap();
    let lent = keeper.lend();
    keeper.put(record(&topic, 0)).unwrap();
    lent.put(record(&topic, 1)).unwrap();
    lent.fence();
    let refused = lent.put(record(&topic, 2));
    assert!(refused.is_err(), "it is fenced off");
    drop(lent);
    keeper.put(record(&topic, 3)).unwrap();
    block_on(keeper.sync()).unwrap();
    let log = keeper.log().unwrap();
    assert_eq!(numbers(log, &topic), [0, 1, 3]);
}

#[test]
fn records_keep_their_order_and_a_barrier_covers_them() {
    let keeper = keeper();
    let topics = ["a", "b"].map(|name| Topic::new(name).unwrap());
    for number in 0..500_u64 {
        let topic = &topics[usize::from(number % 3 == 0)];
        keeper.put(record(topic, number)).unwrap();
    }
    block_on(keeper.sync()).unwrap();
    let [a, b] = topics.map(|topic| numbers(keeper.log().unwrap(), &topic));
    assert!(a.is_sorted() && b.is_sorted());
    assert_eq!(a.len() + b.len(), 500);
}

#[test]
fn the_log_is_opened_once_and_when_the_first_record_comes() {
    let opened = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&opened);
    let keeper = Keeper::opening(Arc::new(move || {
        seen.fetch_add(1, Ordering::Relaxed);
        Some(Arc::new(AnyEventLog::Memory(MemoryEventLog::new(16))))
    }));
    assert_eq!(opened.load(Ordering::Relaxed), 0);
    let topic = Topic::new("a").unwrap();
    for number in 0..2 {
        keeper.put(record(&topic, number)).unwrap();
    }
    block_on(keeper.sync()).unwrap();
    assert_eq!(numbers(keeper.log().unwrap(), &topic), [0, 1]);
    assert_eq!(opened.load(Ordering::Relaxed), 1);
}

#[test]
fn without_a_log_nothing_is_taken_and_events_go_elsewhere() {
    let keeper = Keeper::opening(Arc::new(|| None));
    let topic = Topic::new("a").unwrap();
    assert!(keeper.put(record(&topic, 1)).is_err());
    assert!(block_on(keeper.sync()).is_err());
    let folder = tempfile::tempdir().unwrap();
    let kept = KeptSessions {
        keeper,
        otherwise: Some(Arc::new(harn_events::JsonlDirectory::new(folder.path()))),
    };
    let sink = kept.open("s", &RedactionPolicy::default()).unwrap();
    sink.handle_event(&harn_events::AgentEvent::AgentMessageChunk {
        session_id: "s".to_owned(),
        content: "Hello".to_owned(),
    });
    block_on(sink.flush()).unwrap();
    let text = std::fs::read_to_string(folder.path().join("event_log-s.jsonl")).unwrap();
    assert!(text.contains("Hello"));
}

#[test]
fn what_is_left_is_written_at_the_end() {
    let keeper = keeper();
    let log = Arc::clone(keeper.log().unwrap());
    let topic = Topic::new("a").unwrap();
    keeper.put(record(&topic, 7)).unwrap();
    drop(keeper);
    assert_eq!(numbers(&log, &topic), [7]);
}

/// With a log that tells a barrier itself.
#[cfg(feature = "sqlite")]
mod told_by_the_log {
    use std::io::Read;
    use std::path::Path;
    use std::pin::Pin;

    use futures_core::Stream;

    use super::*;

    /// A keeper whose log tells it itself what became of records, and where the log is.
    fn told_by_its_log() -> (Arc<Keeper>, tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.sqlite");
        let log = harn_log::SqliteEventLog::open(&path, 16).unwrap();
        let keeper = Keeper::new(Arc::new(AnyEventLog::Sqlite(log)));
        (keeper, folder, path)
    }

    fn put(keeper: &Keeper, topic: &Topic, number: u64) {
        keeper.put(record(topic, number)).unwrap();
    }

    #[test]
    fn those_who_take_barriers_at_the_same_time_all_find_their_records_in_order() {
        const WRITERS: u64 = 6;
        const RECORDS: u64 = 60;
        let (keeper, _folder, _path) = told_by_its_log();
        let ours = |writer: u64| Topic::new(format!("t{writer}")).unwrap();
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let (keeper, topic) = (&keeper, ours(writer));
                scope.spawn(move || {
                    for number in 0..RECORDS {
                        put(keeper, &topic, number);
                        if number % 7 == writer {
                            block_on(keeper.sync()).unwrap();
                            let log = keeper.log().unwrap();
                            let stored = block_on(log.latest(&topic)).unwrap();
                            assert_eq!(stored, Some(number + 1), "what was promised is there");
                        }
                    }
                });
            }
        });
        block_on(keeper.sync()).unwrap();
        for writer in 0..WRITERS {
            let stored = numbers(keeper.log().unwrap(), &ours(writer));
            assert!(stored.into_iter().eq(0..RECORDS));
        }
    }

    /// Whether a number stands where an intake that is new has its first frames.
    fn intake_begins_with(folder: &Path, number: u64) -> bool {
        let Ok(intake) = std::fs::File::open(folder.join("events.sqlite-intake")) else {
            return false;
        };
        let (mut bytes, text) = (Vec::new(), number.to_string());
        intake.take(64 * 1024).read_to_end(&mut bytes).unwrap();
        let mut windows = bytes.windows(text.len());
        windows.any(|bytes| bytes == text.as_bytes())
    }

    /// Also if the thread that gathers is quicker than one of the barriers, it is not quicker than
    /// all of them.
    #[test]
    fn a_run_that_takes_one_barrier_after_the_other_writes_itself() {
        let (keeper, folder, _path) = told_by_its_log();
        let topic = Topic::new("a").unwrap();
        let mut is_in_the_intake = false;
        for number in 70_000..70_100 {
            put(&keeper, &topic, number);
            block_on(keeper.sync()).unwrap();
            is_in_the_intake = is_in_the_intake || intake_begins_with(folder.path(), number);
        }
        assert!(is_in_the_intake);
        assert!(
            numbers(keeper.log().unwrap(), &topic)
                .into_iter()
                .eq(70_000..70_100)
        );
    }

    #[test]
    fn what_a_log_does_not_take_is_written_once_and_in_order_when_it_does() {
        let (keeper, _folder, path) = told_by_its_log();
        let topic = Topic::new("a").unwrap();
        put(&keeper, &topic, 0);
        block_on(keeper.sync()).unwrap();
        let other = rusqlite::Connection::open(&path).unwrap();
        let rename = |from: &str, to: &str| {
            let renamed = other.execute_batch(&format!("ALTER TABLE {from} RENAME TO {to}"));
            renamed.unwrap();
        };
        rename("events", "hidden");
        for number in 1..4 {
            put(&keeper, &topic, number);
            assert!(
                block_on(keeper.sync()).is_err(),
                "there is nowhere to write to"
            );
        }
        rename("hidden", "events");
        put(&keeper, &topic, 4);
        block_on(keeper.sync()).unwrap();
        put(&keeper, &topic, 5);
        block_on(keeper.sync()).unwrap();
        assert_eq!(numbers(keeper.log().unwrap(), &topic), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn nobody_depends_on_those_who_took_a_barrier_before() {
        let (keeper, _folder, _path) = told_by_its_log();
        let topic = Topic::new("a").unwrap();
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        put(&keeper, &topic, 0);
        let mut gone = Box::pin(keeper.sync());
        let _it_may_be_pending = gone.as_mut().poll(&mut context);
        drop(gone);
        put(&keeper, &topic, 1);
        let mut asleep = Box::pin(keeper.sync());
        let _it_may_be_pending = asleep.as_mut().poll(&mut context);
        put(&keeper, &topic, 2);
        block_on(keeper.sync()).unwrap();
        assert_eq!(numbers(keeper.log().unwrap(), &topic), [0, 1, 2]);
        block_on(asleep).unwrap();
    }

    #[test]
    fn records_nobody_waits_for_are_written_after_a_barrier_too() {
        let (keeper, _folder, _path) = told_by_its_log();
        let log = Arc::clone(keeper.log().unwrap());
        let topic = Topic::new("a").unwrap();
        put(&keeper, &topic, 0);
        block_on(keeper.sync()).unwrap();
        let mut stream = block_on(Arc::clone(&log).subscribe(&topic, Some(1))).unwrap();
        put(&keeper, &topic, 1);
        let next = std::future::poll_fn(|context| Pin::new(&mut stream).poll_next(context));
        let (id, _) = block_on(next).unwrap().unwrap();
        assert_eq!(id, 2);
    }
}

#[test]
fn a_journal_is_written_before_the_events_that_follow_from_it() {
    let names = [
        "observability.agent_events.s",
        "agent_sessions.s",
        "observability.agent_events.t",
        "agent_sessions.t",
    ];
    let topics = names.map(|name| Topic::new(name).unwrap());
    let records = topics.iter().map(|topic| record(topic, 0)).collect();
    let batches = journals_first(records);
    let order: Vec<&str> = batches.iter().map(|one| one.topic().as_str()).collect();
    assert_eq!(order, [names[1], names[3], names[0], names[2]]);
}
