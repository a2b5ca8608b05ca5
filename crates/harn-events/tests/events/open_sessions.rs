//! Open sessions: their number, their durable sink and their end.

use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};

use harn_events::{
    AgentEvent, AgentEventSink, BusConfig, CloseSession, DEFAULT_SESSION_CAP, EventBus,
    InboxSource, JsonlDirectory, OpenSessionError, StoredRecord, load_directory,
};
use serde_json::{Value, json};

use crate::support::{
    self, Diary, DurableFactory, Recording, block_on, message, receive, sink, telling_subscriber,
    text_of,
};

fn bus_with_cap(sessions_max: usize) -> EventBus {
    EventBus::new(BusConfig {
        sessions_max,
        ..BusConfig::default()
    })
}

fn bus_with_logs(directory: &Path) -> EventBus {
    EventBus::new(BusConfig {
        durable: Some(Arc::new(JsonlDirectory::new(directory))),
        ..BusConfig::default()
    })
}

fn text_of_record(record: &StoredRecord) -> String {
    text_of(record.event.event().expect("the record is understood"))
}

/// Expects the session's log to be dense and to hold these events.
#[track_caller]
fn check_log(directory: &Path, session: &str, expected: &[&str]) {
    let log = load_directory(directory).expect("the folder is there");
    assert!(log.damage.is_empty());
    let session = &log.sessions[session];
    assert!(session.report.is_dense());
    let texts: Vec<_> = session.records.iter().map(text_of_record).collect();
    assert_eq!(texts, expected);
}

#[test]
fn a_closed_session_says_so_and_leaves_nothing_behind() {
    let (bus, recording) = (EventBus::default(), Recording::new());
    bus.open_session("s").unwrap();
    bus.register_sink("s", recording.clone());
    bus.subscribe("s", telling_subscriber("closure", &Diary::default()));
    bus.push_feedback("s", "note", "x", InboxSource::Loop);
    let closing = CloseSession {
        reason: "user left".to_owned(),
        status: "done".to_owned(),
        metadata: json!({"by": "host"}),
    };
    bus.close_session("s", closing);
    assert_eq!(
        recording.json(),
        [json!({
            "type": "session_closed", "session_id": "s", "reason": "user left",
            "status": "done", "metadata": {"by": "host"},
        })]
    );
    let health = bus.health();
    assert_eq!(
        (health.sessions, health.open_sessions, health.sinks),
        (0, 0, 0)
    );
    assert_eq!((health.subscribers, health.feedback_waiting), (0, 0));
    assert_eq!(Arc::strong_count(&recording), 1, "the sink is released");
}

#[test]
fn a_session_closed_without_a_reason_is_closed() {
    let (bus, recording) = (EventBus::default(), Recording::new());
    bus.open_session("s").unwrap();
    bus.register_sink("s", recording.clone());
    bus.close_session("s", CloseSession::default());
    assert_eq!(
        recording.json(),
        [json!({
            "type": "session_closed", "session_id": "s", "reason": "closed",
            "status": "closed", "metadata": null,
        })]
    );
}

#[test]
fn a_session_is_closed_once() {
    let (bus, recording) = (EventBus::default(), Recording::new());
    let _observer = bus.observe(recording.clone());
    bus.close_session("never opened", CloseSession::default());
    bus.open_session("s").unwrap();
    bus.close_session("s", CloseSession::default());
    bus.close_session("s", CloseSession::default());
    recording.check(&["session_closed"]);
}

#[test]
fn nothing_follows_the_end_of_a_session() {
    let recording = Recording::new();
    let bus = EventBus::new(BusConfig {
        durable: Some(Arc::new(DurableFactory(recording.clone()))),
        ..BusConfig::default()
    });
    bus.open_session("s").unwrap();
    bus.register_sink("s", {
        let bus = bus.clone();
        sink(move |event| {
            if matches!(event, AgentEvent::SessionClosed { .. }) {
                bus.emit(&message("s", "too late"));
            }
        })
    });
    bus.emit(&message("s", "1"));
    bus.close_session("s", CloseSession::default());
    bus.emit(&message("s", "much too late"));
    recording.check(&["1", "session_closed"]);
}

#[test]
fn ten_thousand_short_sessions_leave_no_trace() {
    let bus = EventBus::default();
    let observer = sink(|_| {});
    let _observer = bus.observe(observer);
    let baseline = bus.health();
    for n in 0..10_000 {
        let session = format!("session-{n}");
        bus.open_session(&session).unwrap();
        bus.register_sink(session.as_str(), Recording::new());
        bus.subscribe(&session, telling_subscriber("closure", &Diary::default()));
        bus.push_feedback(&session, "note", "x", InboxSource::Outside);
        let run = bus.begin_run(&session);
        bus.emit(&support::candidate(&session, "text-cand-1"));
        block_on(bus.emit_and_await(&message(&session, "1")));
        // The host's mistake is kept no longer than its session either.
        let payload = json!({"iteration": 1, "iterration": 2});
        block_on(bus.emit_host_event(&session, "iteration_start", &payload)).unwrap();
        run.finish("done");
        bus.close_session(&session, CloseSession::default());
    }
    let health = bus.health();
    assert_eq!(health.sessions, baseline.sessions);
    assert_eq!(health.open_sessions, baseline.open_sessions);
    assert_eq!(health.sinks, baseline.sinks);
    assert_eq!(health.subscribers, baseline.subscribers);
    assert_eq!(health.feedback_waiting, baseline.feedback_waiting);
    assert_eq!(health.observers, baseline.observers);
    assert_eq!(health.hooks, baseline.hooks);
    assert_eq!(health.host_issues, baseline.host_issues);
}

#[test]
fn sessions_that_are_only_looked_at_leave_no_trace() {
    let bus = EventBus::default();
    for n in 0..100 {
        let session = format!("session-{n}");
        bus.emit(&message(&session, "1"));
        drop(bus.register(session.as_str(), Recording::new()));
        bus.drain_feedback(&session);
        bus.clear_session_sinks(&session);
        bus.settle(&session);
        bus.begin_run(&session).finish("done");
        bus.session_health(&session);
    }
    assert_eq!(bus.health().sessions, 0);
}

#[test]
fn by_default_one_hundred_and_twenty_eight_sessions_may_be_open() {
    assert_eq!(DEFAULT_SESSION_CAP, 128);
    let bus = EventBus::default();
    for n in 0..=DEFAULT_SESSION_CAP {
        bus.open_session(&format!("s{n}")).unwrap();
    }
    assert_eq!(bus.health().open_sessions, 128);
    assert_eq!(bus.health().evicted_sessions, 1);
}

#[test]
fn one_session_too_many_evicts_the_idlest_visibly() {
    let bus = bus_with_cap(3);
    let readers: Vec<_> = (0..3)
        .map(|n| {
            let reader = Recording::new();
            bus.open_session(&format!("s{n}")).unwrap();
            bus.register_sink(format!("s{n}"), reader.clone());
            reader
        })
        .collect();
    let everything = Recording::new();
    let _observer = bus.observe(everything.clone());

    bus.open_session("s3").unwrap();

    let evicted = json!({
        "type": "session_closed", "session_id": "s0", "reason": "evicted",
        "status": "evicted", "metadata": null,
    });
    assert_eq!(everything.json(), std::slice::from_ref(&evicted));
    assert_eq!(readers[0].json(), [evicted]);
    assert_eq!(Arc::strong_count(&readers[0]), 1, "its sink is released");
    assert_eq!(bus.health().open_sessions, 3);
    assert_eq!(bus.health().sinks, 2);
    assert!(!bus.is_session_open("s0"));
}

#[test]
fn using_a_session_saves_it_from_eviction() {
    let bus = bus_with_cap(2);
    let everything = Recording::new();
    let _observer = bus.observe(everything.clone());
    let evicted = || -> Vec<String> {
        let closed = everything.events();
        let ids = closed.iter().map(|event| event.session_id().to_owned());
        ids.collect()
    };
    bus.open_session("a").unwrap();
    bus.open_session("b").unwrap();
    bus.open_session("a").unwrap();
    bus.open_session("c").unwrap();
    assert_eq!(evicted(), ["b"]);
    bus.begin_run("a").suspend();
    bus.open_session("d").unwrap();
    assert_eq!(evicted(), ["b", "c"]);
    bus.open_session("e").unwrap();
    assert_eq!(evicted(), ["b", "c", "a"]);
}

#[test]
fn an_active_session_is_never_evicted() {
    let bus = bus_with_cap(2);
    bus.open_session("active").unwrap();
    let run = bus.begin_run("active");
    for n in 0..5 {
        bus.open_session(&format!("s{n}")).unwrap();
        assert!(bus.is_session_open("active"));
    }
    let second = bus.begin_run("active");
    run.finish("done");
    bus.open_session("another").unwrap();
    assert!(bus.is_session_open("active"), "its second run is going on");
    second.finish("done");
    bus.open_session("one").unwrap();
    bus.open_session("two").unwrap();
    assert!(!bus.is_session_open("active"));
}

#[test]
fn opening_fails_when_nothing_can_make_room() {
    let bus = bus_with_cap(2);
    let everything = Recording::new();
    let _observer = bus.observe(everything.clone());
    bus.open_session("a").unwrap();
    bus.open_session("b").unwrap();
    let (_a, b) = (bus.begin_run("a"), bus.begin_run("b"));
    assert_eq!(
        bus.open_session("c"),
        Err(OpenSessionError::AtCapacity {
            session_id: "c".to_owned(),
            sessions_max: 2,
        })
    );
    assert_eq!(bus.open_session("a"), Ok(()), "it is open already");
    assert!(!bus.is_session_open("c"));
    assert_eq!(bus.health().sessions, 2);
    everything.check(&[]);
    b.suspend();
    assert_eq!(bus.open_session("c"), Ok(()));
    assert_eq!(bus.open_session(""), Err(OpenSessionError::EmptyId));
}

#[test]
fn the_cap_can_be_changed_and_is_at_least_one() {
    let bus = bus_with_cap(1);
    bus.set_session_cap(3);
    for n in 0..3 {
        bus.open_session(&format!("s{n}")).unwrap();
    }
    assert_eq!(bus.health().open_sessions, 3);
    bus.set_session_cap(0);
    bus.open_session("last").unwrap();
    assert!(bus.is_session_open("last"));
}

#[test]
fn both_runs_of_a_session_are_in_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let bus = bus_with_logs(folder.path());
    bus.open_session("s").unwrap();
    for text in ["run 1", "run 2"] {
        let run = bus.begin_run("s");
        bus.open_session("s").unwrap();
        bus.register_sink("s", Recording::new());
        bus.emit(&message("s", text));
        run.finish("done");
        block_on(bus.flush_and_clear_session_sinks("s")).unwrap();
        bus.clear_session_sinks("s");
    }
    check_log(
        folder.path(),
        "s",
        &["run 1", "loop_checkpoint", "run 2", "loop_checkpoint"],
    );
    assert_eq!(bus.session_sink_count("s"), 0);
}

#[test]
fn a_session_that_is_opened_again_continues_its_log() {
    let folder = tempfile::tempdir().unwrap();
    for text in ["1", "2"] {
        let bus = bus_with_logs(folder.path());
        bus.open_session("agent_session_x").unwrap();
        bus.emit(&message("agent_session_x", text));
        bus.close_session("agent_session_x", CloseSession::default());
    }
    check_log(
        folder.path(),
        "agent_session_x",
        &["1", "session_closed", "2", "session_closed"],
    );
}

#[test]
fn an_evicted_session_has_its_end_in_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let bus = bus_with_logs(folder.path());
    bus.set_session_cap(1);
    bus.open_session("a").unwrap();
    bus.emit(&message("a", "1"));
    bus.open_session("b").unwrap();
    check_log(folder.path(), "a", &["1", "session_closed"]);
    let log = load_directory(folder.path()).unwrap();
    let stored = serde_json::to_value(&log.sessions["a"].records[1]).unwrap();
    assert_eq!(stored["reason"], Value::from("evicted"));
}

#[test]
fn frames_are_stored_with_their_time_and_depth() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(harn_events::ManualClock::at(2_000));
    let bus = EventBus::new(BusConfig {
        clock: clock.clone(),
        durable: Some(Arc::new(JsonlDirectory::new(folder.path()))),
        ..BusConfig::default()
    });
    bus.open_session("s").unwrap();
    bus.emit(&message("s", "1"));
    clock.set(1_000);
    let _frame = bus.enter_frame(2);
    bus.emit(&message("s", "2"));
    let log = load_directory(folder.path()).unwrap();
    let stored: Vec<_> = log.sessions["s"]
        .records
        .iter()
        .map(|record| (record.index, record.emitted_at_ms, record.frame_depth))
        .collect();
    assert_eq!(stored, [(0, 2_000, None), (1, 2_000, Some(2))]);
}

#[test]
fn a_session_reopened_while_its_last_event_is_delivered_is_kept() {
    let recording = Recording::new();
    let bus = EventBus::new(BusConfig {
        durable: Some(Arc::new(DurableFactory(recording.clone()))),
        ..BusConfig::default()
    });
    bus.open_session("s").unwrap();
    let (entered, has_entered) = mpsc::channel();
    let (leave, may_leave) = mpsc::channel::<()>();
    let may_leave = Mutex::new(may_leave);
    let slow: Arc<dyn AgentEventSink> = sink(move |event| {
        if text_of(event) == "slow" {
            entered.send(()).unwrap();
            receive(&may_leave.lock().unwrap());
        }
    });
    bus.register_sink("s", slow);
    let delivering = std::thread::spawn({
        let bus = bus.clone();
        move || bus.emit(&message("s", "slow"))
    });
    receive(&has_entered);
    bus.close_session("s", CloseSession::default());
    bus.open_session("s").unwrap();
    leave.send(()).unwrap();
    delivering.join().unwrap();

    bus.emit(&message("s", "second life"));
    recording.check(&["slow", "session_closed", "second life"]);
    assert!(bus.is_session_open("s"));
    assert_eq!(bus.health().sessions, 1);
}

#[test]
fn a_run_of_a_closed_session_is_no_run_of_its_successor() {
    let (bus, recording) = (bus_with_cap(2), Recording::new());
    bus.open_session("s").unwrap();
    let stale = bus.begin_run("s");
    bus.close_session("s", CloseSession::default());

    bus.open_session("s").unwrap();
    bus.register_sink("s", recording.clone());
    let _current = bus.begin_run("s");
    bus.emit(&support::iteration_start("s", 1));
    drop(stale);
    recording.check(&["iteration_start"]);
    bus.open_session("a").unwrap();
    bus.open_session("b").unwrap();
    assert!(bus.is_session_open("s"), "it is active");
}
