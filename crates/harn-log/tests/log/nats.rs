//! What a log on NATS promises beyond the contract of every log: several processes,
//! a server that goes away and comes back, and leases.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use harn_log::{
    AcknowledgementPolicy, EventId, EventLog, LogError, LogEvent, NatsConfig, NatsDurability,
    NatsEventLog,
};
use serde_json::json;

use crate::support::nats_server::NatsServer;
use crate::support::{self, Driver, block_on, consumer, event, next, next_ids, number, topic};

fn line(writer: u64, number: u64) -> LogEvent {
    LogEvent::at("line", json!({ "writer": writer, "n": number }), 0)
}

/// Two logs at one place, as two processes would have them.
fn two() -> (NatsServer, [Driver<NatsEventLog>; 2]) {
    let server = NatsServer::start();
    let logs = [server.open("p"), server.open("p")].map(Driver);
    (server, logs)
}

#[test]
fn two_logs_append_to_one_topic_without_gap_or_break() {
    const EACH: u64 = 200;
    let (_server, logs) = two();
    let topic = topic("t");
    thread::scope(|scope| {
        for (writer, log) in (0..).zip(&logs) {
            let topic = &topic;
            scope.spawn(move || {
                for number in 0..EACH {
                    log.append(topic, line(writer, number));
                }
            });
        }
    });
    let records = logs[0].read_all(&topic);
    assert!(records.iter().map(|(id, _)| *id).eq(1..=2 * EACH));
    let mut by_writer: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (_, event) in &records {
        let writer = event.payload["writer"].as_u64().unwrap();
        by_writer.entry(writer).or_default().push(number(event));
    }
    for numbers in by_writer.into_values() {
        assert!(numbers.into_iter().eq(0..EACH));
    }
    let report = logs[1].verify(&topic);
    assert!(report.verified, "{:?}", report.errors);
}

/// Many appends of one log are under way when the other one gets in between.
#[test]
fn appends_that_were_overtaken_keep_their_order() {
    const WRITERS: u64 = 8;
    const EACH: u64 = 50;
    let (_server, logs) = two();
    let topic = topic("t");
    thread::scope(|scope| {
        for writer in 0..2 * WRITERS {
            let (log, topic) = (&logs[(writer % 2) as usize], &topic);
            scope.spawn(move || {
                for number in 0..EACH {
                    log.append(topic, line(writer, number));
                }
            });
        }
    });
    let records = logs[0].read_all(&topic);
    assert!(records.iter().map(|(id, _)| *id).eq(1..=2 * WRITERS * EACH));
    let mut next_of: BTreeMap<u64, u64> = BTreeMap::new();
    for (_, event) in &records {
        let next = next_of
            .entry(event.payload["writer"].as_u64().unwrap())
            .or_default();
        assert_eq!(number(event), *next);
        *next += 1;
    }
    assert!(logs[0].verify(&topic).verified);
}

#[test]
fn batches_of_two_logs_stay_together() {
    const SIZE: u64 = 5;
    const EACH: u64 = 40;
    let (_server, logs) = two();
    let topic = topic("t");
    thread::scope(|scope| {
        for (writer, log) in (0..).zip(&logs) {
            let topic = &topic;
            scope.spawn(move || {
                for _ in 0..EACH {
                    let batch = (0..SIZE).map(|number| line(writer, number)).collect();
                    let ids = log.append_batch(topic, batch);
                    let first = ids[0];
                    assert!(ids.into_iter().eq(first..first + SIZE));
                }
            });
        }
    });
    let records = logs[0].read_all(&topic);
    assert_eq!(records.len() as u64, 2 * EACH * SIZE);
    for batch in records.chunks(SIZE as usize) {
        let writer = &batch[0].1.payload["writer"];
        for (expected, (_, event)) in (0..).zip(batch) {
            assert_eq!(&event.payload["writer"], writer);
            assert_eq!(number(event), expected);
        }
    }
    assert!(logs[1].verify(&topic).verified);
}

/// A writer that dies in the middle of a batch leaves its beginning behind. Whoever
/// comes next finishes it: its first message is copied to where no other follows.
#[test]
fn an_unfinished_batch_is_finished_by_whoever_comes_next() {
    let server = NatsServer::start();
    let (whole, torn) = ("whole", "torn");
    let topic = topic("t");
    let log = Driver(server.open(whole));
    log.append(&topic, event(1));
    log.append_batch(&topic, (2..=5).map(event).collect());
    let expected = log.read_all(&topic);
    type Finisher = fn(&Driver<NatsEventLog>) -> EventId;
    let finishers: [Finisher; 4] = [
        |log| log.append(&support::topic("t"), event(6)),
        |log| {
            log.append_once(&support::topic("t"), ("key", "v"), event(6))
                .event_id
        },
        |log| log.read_all(&support::topic("t")).len() as u64 + 1,
        |log| {
            log.compact_read(&support::topic("t"), 0);
            log.latest(&support::topic("t")).unwrap() + 1
        },
    ];
    for (round, finish) in finishers.into_iter().enumerate() {
        let torn = format!("{torn}-{round}");
        let log = Driver(server.open(&torn));
        log.append(&topic, event(1));
        // One message, then two.
        let last = 2 + round as u64 % 2;
        copy_messages(&server.url(), [whole, &torn], 2..=last);
        assert_eq!(log.latest(&topic), Some(last));
        let other = Driver(server.open(&torn));
        assert_eq!(finish(&other), 6);
        let mut records = log.read_all(&topic);
        records.truncate(5);
        assert_eq!(records, expected);
        assert!(log.verify(&topic).verified);
        assert!(
            log.append(&topic, event(7)) >= 6,
            "the old writer goes on too"
        );
        assert!(log.verify(&topic).verified);
    }
}

/// Copies messages of topic `t` from one prefix to another, as they are.
fn copy_messages(url: &str, [from, to]: [&str; 2], ids: std::ops::RangeInclusive<EventId>) {
    on_runtime(async {
        let client = async_nats::connect(url).await.unwrap();
        let context = async_nats::jetstream::new(client);
        let name = format!("{}+t", from.replace('.', "_"));
        let stream = context.get_stream(name).await.unwrap();
        for id in ids {
            let message = stream.get_raw_message(id).await.unwrap();
            let (subject, headers) = (format!("{to}.t"), message.headers);
            let sent = context.publish_with_headers(subject, headers, message.payload);
            sent.await.unwrap().await.unwrap();
        }
    });
}

#[test]
fn of_two_logs_one_inserts() {
    let (_server, logs) = two();
    let topic = topic("t");
    for round in 0..50 {
        let value = format!("v{round}");
        let inserted: Vec<_> = thread::scope(|scope| {
            let append = |log| {
                let (topic, value) = (&topic, &value);
                scope.spawn(move || Driver::append_once(log, topic, ("key", value), event(round)))
            };
            let running: Vec<_> = logs.iter().map(append).collect();
            running.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert!(inserted[0].inserted != inserted[1].inserted, "one of them");
        assert_eq!(inserted[0].event_id, inserted[1].event_id);
        assert_eq!(inserted[0].event, inserted[1].event);
    }
}

#[test]
fn one_log_sees_what_the_other_does() {
    let (_server, [one, other]) = two();
    let topic = topic("t");
    let mut stream = other.subscribe(&topic, None);
    one.append_numbers(&topic, 3);
    assert_eq!(next_ids(&mut stream, 3), [1, 2, 3]);
    one.ack(&topic, &consumer("c"), 2).unwrap();
    assert_eq!(other.cursor(&topic, &consumer("c")), Some(2));
    other.ack(&topic, &consumer("c"), 1).unwrap();
    assert_eq!(one.cursor(&topic, &consumer("c")), Some(2));
    other.ack(&topic, &consumer("c"), 3).unwrap();
    assert_eq!(one.compact_read(&topic, 3).removed, 3);
    assert_eq!(other.append(&topic, event(4)), 4);
    assert_eq!(
        other.append_once(&topic, ("key", "v"), event(5)).event_id,
        5
    );
    assert_eq!(one.find(&topic, ("key", "v")).unwrap().0, 5);
    assert!(one.verify(&topic).verified);
}

#[test]
fn a_topic_may_have_any_name() {
    let server = NatsServer::start();
    let log = Driver(server.open("p"));
    let long = "x".repeat(300);
    let mut names = ["a.b", "a..b", ".a", "a.", "...", "a_b", "-", &long];
    for (id, name) in (1..).zip(names) {
        let topic = topic(name);
        log.append(&topic, event(id));
        assert_eq!(number(&log.read_all(&topic)[0].1), id);
        assert_eq!(next(&mut log.subscribe(&topic, None)).0, 1);
        log.ack(&topic, &consumer(&"c ".repeat(500)), 1).unwrap();
        assert_eq!(log.cursor(&topic, &consumer(&"c ".repeat(500))), Some(1));
    }
    names.sort_unstable();
    assert_eq!(log.topics(), names);
}

/// The server counts those who read along. One that was dropped is gone when the
/// deletion has arrived, so the count is asked for until then.
#[test]
fn a_reader_leaves_nothing_behind_at_the_server() {
    let server = NatsServer::start();
    let prefix = "p";
    let log = Driver(server.open(prefix));
    let topic = topic("t");
    log.append_numbers(&topic, 3);
    let mut streams: Vec<_> = (0..5).map(|_| log.subscribe(&topic, None)).collect();
    for stream in &mut streams {
        assert_eq!(next_ids(stream, 3), [1, 2, 3]);
    }
    log.read_all(&topic);
    drop(streams);
    let begun = Instant::now();
    while consumer_count(&server.url(), prefix) > 0 {
        assert!(begun.elapsed() < support::LIMIT, "it stays");
    }
}

fn consumer_count(url: &str, prefix: &str) -> usize {
    on_runtime(async {
        let client = async_nats::connect(url).await.unwrap();
        let name = format!("{}+t", prefix.replace('.', "_"));
        let context = async_nats::jetstream::new(client);
        let stream = context.get_stream(name).await.unwrap();
        stream.cached_info().state.consumer_count
    })
}

fn on_runtime<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(work)
}

/// What a writer was told, by id.
type Acknowledged = BTreeMap<EventId, (u64, u64)>;

/// Appends until told to stop. Says what was acknowledged; what failed may or may not
/// have been stored.
fn write_until(log: &NatsEventLog, writer: u64, stop: &AtomicBool) -> Acknowledged {
    let topic = topic("t");
    let mut acknowledged = Acknowledged::new();
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        match block_on(log.append(&topic, line(writer, number))) {
            Ok(id) => {
                let earlier = acknowledged.insert(id, (writer, number));
                assert_eq!(earlier, None, "each id is given once");
            }
            Err(error) => assert!(error.is_transient(), "{error}"),
        }
        number += 1;
    }
    acknowledged
}

/// Lets writers append while the server is killed and restarted `times` times, with
/// an `outage` in between.
fn write_through_crashes(
    server: &NatsServer,
    logs: &[Arc<NatsEventLog>],
    times: u64,
    outage: impl Fn(),
) -> Acknowledged {
    let stop = AtomicBool::new(false);
    let topic = topic("t");
    let watching = server.open("p");
    thread::scope(|scope| {
        let write = |writer: u64| {
            let (log, stop) = (&logs[writer as usize % logs.len()], &stop);
            scope.spawn(move || write_until(log, writer, stop))
        };
        let writers: Vec<_> = (0..8).map(write).collect();
        let mut seen = 0;
        for _ in 0..times {
            seen = wait_for_more(&watching, &topic, seen);
            server.kill();
            outage();
            server.restart();
        }
        wait_for_more(&watching, &topic, seen);
        stop.store(true, Ordering::Relaxed);
        let acknowledged = writers
            .into_iter()
            .flat_map(|writer| writer.join().unwrap());
        acknowledged.collect()
    })
}

/// Waits until there are more records than `seen`, and returns how many.
fn wait_for_more(log: &Arc<NatsEventLog>, topic: &harn_log::Topic, seen: EventId) -> EventId {
    let mut stream = block_on(Arc::clone(log).subscribe(topic, Some(seen + 100))).unwrap();
    next(&mut stream).0
}

#[track_caller]
fn assert_all_there(log: &Driver<NatsEventLog>, acknowledged: &Acknowledged) {
    let topic = topic("t");
    let records = log.read_all(&topic);
    assert!(
        records
            .iter()
            .map(|(id, _)| *id)
            .eq(1..=records.len() as u64)
    );
    let mut said: BTreeMap<(u64, u64), EventId> = BTreeMap::new();
    for (id, event) in &records {
        let writer = event.payload["writer"].as_u64().unwrap();
        let twice = said.insert((writer, number(event)), *id);
        assert_eq!(twice, None, "{event:?} is there once");
    }
    for (id, said_then) in acknowledged {
        assert_eq!(
            said.get(said_then),
            Some(id),
            "it is where it was acknowledged"
        );
    }
    let mut last_of: BTreeMap<u64, EventId> = BTreeMap::new();
    for ((writer, _), id) in &said {
        let before = last_of.insert(*writer, *id);
        assert!(before < Some(*id), "each writer's records are in order");
    }
    let report = log.verify(&topic);
    assert!(report.verified, "{:?}", report.errors);
}

#[test]
fn what_was_acknowledged_survives_crashes_of_the_server() {
    let server = NatsServer::start();
    let log = server.open("p");
    let acknowledged = write_through_crashes(&server, &[Arc::clone(&log)], 3, || {});
    assert!(acknowledged.len() >= 400);
    assert_all_there(&Driver(log), &acknowledged);
}

#[test]
fn two_logs_go_on_after_crashes_of_the_server() {
    let server = NatsServer::start();
    let logs = [server.open("p"), server.open("p")];
    let acknowledged = write_through_crashes(&server, &logs, 2, || {});
    let [log, _] = logs;
    assert_all_there(&Driver(log), &acknowledged);
}

/// Some records are given up while others are sent again. None of them may be stored
/// twice, wherever its messages turn up.
#[test]
fn records_that_outlast_an_outage_are_stored_once() {
    let server = NatsServer::start();
    let hasty = || {
        let mut config = server.config("p");
        config.request_timeout = Duration::from_millis(150);
        NatsEventLog::open(config).unwrap()
    };
    let (logs, clock) = ([hasty(), hasty()], hasty());
    // An append that fails takes as long as others may take.
    let outage = || drop(block_on(clock.append(&topic("other"), event(1))).unwrap_err());
    let acknowledged = write_through_crashes(&server, &logs, 6, outage);
    assert_all_there(&Driver(server.open("p")), &acknowledged);
}

#[test]
fn a_reader_goes_on_after_a_crash_of_the_server() {
    let server = NatsServer::start();
    let log = Driver(server.open("p"));
    let topic = topic("t");
    log.append_numbers(&topic, 10);
    let mut stream = log.subscribe(&topic, None);
    assert!(next_ids(&mut stream, 10).into_iter().eq(1..=10));
    for round in 1..=3 {
        server.kill();
        server.restart();
        let first = round * 10 + 1;
        for id in first..first + 10 {
            assert_eq!(log.append(&topic, event(id)), id);
        }
        let expected = first..first + 10;
        assert!(next_ids(&mut stream, 10).into_iter().eq(expected));
    }
}

/// Everything else that is kept on the server.
#[test]
fn cursors_anchors_and_keys_survive_a_crash_of_the_server() {
    let server = NatsServer::start();
    let log = Driver(server.open("p"));
    let (topic, consumer) = (topic("t"), consumer("c"));
    log.append_once(&topic, ("key", "v"), event(1));
    log.append_numbers(&topic, 4);
    log.ack(&topic, &consumer, 5).unwrap();
    server.kill();
    server.restart();
    assert_eq!(log.cursor(&topic, &consumer), Some(5));
    assert!(!log.append_once(&topic, ("key", "v"), event(2)).inserted);
    assert_eq!(log.compact_read(&topic, 5).removed, 5);
    server.kill();
    server.restart();
    assert_eq!(log.latest(&topic), Some(5), "ids never restart");
    assert_eq!(log.append(&topic, event(6)), 6);
    assert!(log.verify(&topic).verified);
}

#[test]
fn an_append_waits_for_the_server_but_not_for_ever() {
    let server = NatsServer::start();
    let mut config = server.config("p");
    config.request_timeout = Duration::from_millis(300);
    let log = NatsEventLog::open(config).unwrap();
    let topic = topic("t");
    block_on(log.append(&topic, event(1))).unwrap();
    server.kill();
    let begun = Instant::now();
    let failed = block_on(log.append(&topic, event(2))).unwrap_err();
    assert!(failed.is_transient(), "{failed}");
    assert!(block_on(log.latest(&topic)).unwrap_err().is_transient());
    assert!(
        block_on(log.read_range(&topic, None, 9))
            .unwrap_err()
            .is_transient()
    );
    assert!(begun.elapsed() < Duration::from_secs(10));
    server.restart();
    let log = Driver(server.open("p"));
    let id = log.append(&topic, event(3));
    let last = log.read_all(&topic).pop().unwrap();
    assert_eq!((last.0, number(&last.1)), (id, 3));
    assert!(log.verify(&topic).verified);
}

/// A record that was given up may have been stored, and others go on behind it.
#[test]
fn a_record_that_was_given_up_disturbs_nobody() {
    let server = NatsServer::start();
    let mut config = server.config("p");
    config.request_timeout = Duration::from_millis(200);
    let hasty = NatsEventLog::open(config).unwrap();
    let topic = topic("t");
    block_on(hasty.append(&topic, event(1))).unwrap();
    for round in 0..3 {
        server.kill();
        block_on(hasty.append(&topic, event(100 + round))).unwrap_err();
        server.restart();
        let patient = Driver(server.open("p"));
        patient.append(&topic, event(200 + round));
    }
    let log = Driver(server.open("p"));
    let numbers: Vec<_> = log
        .read_all(&topic)
        .iter()
        .map(|(_, event)| number(event))
        .collect();
    for round in 0..3 {
        let count = |wanted| numbers.iter().filter(|number| **number == wanted).count();
        assert_eq!(count(200 + round), 1);
        assert!(count(100 + round) <= 1);
    }
    assert!(log.verify(&topic).verified);
}

#[test]
fn a_record_that_is_too_large_is_refused_alone() {
    let server = NatsServer::start();
    let log = Driver(server.open("p"));
    let topic = topic("t");
    let large = || LogEvent::at("large", json!("x".repeat(2 << 20)), 0);
    log.append(&topic, event(1));
    let refusals = [
        block_on(log.0.append(&topic, large())).unwrap_err(),
        block_on(log.0.append_batch(&topic, vec![event(2), large()])).unwrap_err(),
        block_on(
            log.0
                .append_idempotent_by_header(&topic, "key", "v", large()),
        )
        .unwrap_err(),
    ];
    for refused in refusals {
        let LogError::TooLarge { bytes_max, .. } = refused else {
            panic!("{refused}");
        };
        assert_eq!(bytes_max, 1 << 20, "the server's max_payload");
    }
    assert_eq!(log.append(&topic, event(2)), 2);
    assert_eq!(log.append_once(&topic, ("key", "v"), event(3)).event_id, 3);
    assert!(log.verify(&topic).verified);
}

#[test]
fn a_wrong_address_is_reported_in_time() {
    let begun = Instant::now();
    for (url, is_config) in [
        ("nats://127.0.0.1:1", false),
        ("nats://no-such-host.invalid:4222", false),
        ("nats://:::", true),
        ("", true),
    ] {
        let error = NatsEventLog::open(NatsConfig::new(url)).unwrap_err();
        assert_eq!(
            matches!(error, LogError::Config(_)),
            is_config,
            "{url}: {error}"
        );
    }
    let mut config = NatsConfig::new("nats://127.0.0.1:1");
    config.prefix = "a b".to_owned();
    let error = NatsEventLog::open(config).unwrap_err();
    assert!(matches!(error, LogError::Config(_)), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(15));
}

#[test]
fn credentials_are_needed_where_they_are_wanted() {
    let server = NatsServer::start_with("authorization { token: \"secret\" }");
    let refused = NatsEventLog::open(server.config("p")).unwrap_err();
    assert!(matches!(refused, LogError::Config(_)), "{refused}");
    let mut config = server.config("p");
    config.credentials = harn_log::NatsCredentials::Token("secret".to_owned());
    let log = Driver(NatsEventLog::open(config).unwrap());
    assert_eq!(log.append(&topic("t"), event(1)), 1);
}

/// The server of Debian 12 is older than 2.10 and knows no `sync_interval`.
#[test]
fn unsynced_acknowledgements_must_be_accepted() {
    let server = NatsServer::start();
    let prefix = "p";
    let mut config = server.config(prefix);
    let log = NatsEventLog::open(config.clone()).unwrap();
    assert_ne!(log.durability(), NatsDurability::Always);
    config.acknowledgements = AcknowledgementPolicy::RequireSynced;
    let error = NatsEventLog::open(config).unwrap_err();
    assert!(matches!(error, LogError::Config(_)), "{error}");
    let text = error.to_string();
    assert!(text.contains("sync_interval: always"), "{text}");
    assert!(text.contains("accept unsynced acknowledgements"), "{text}");
}

#[test]
fn a_log_may_go_while_it_is_used() {
    let server = NatsServer::start();
    let log = Driver(server.open("p"));
    let topic = topic("t");
    log.append_numbers(&topic, 3);
    let mut stream = log.subscribe(&topic, None);
    drop(log);
    assert_eq!(
        next_ids(&mut stream, 3),
        [1, 2, 3],
        "a reader keeps its log"
    );
}
