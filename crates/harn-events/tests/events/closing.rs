//! The end of a session: it comes once, it comes last, and it ends everything.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use harn_events::{
    AgentEvent, AgentEventSink, BusConfig, CloseSession, EventBus, JsonlDirectory, MultiSink,
    RedactionPolicy, load_directory,
};

use crate::support::{
    self, Recording, block_on, interleave, iteration_start, message, sink, tool_call, yield_once,
};

/// Tags of what a sink has seen.
fn tags(recording: &Recording) -> Vec<&'static str> {
    recording.events().iter().map(AgentEvent::tag).collect()
}

#[test]
fn many_threads_that_close_a_session_close_it_once() {
    for _ in 0..50 {
        let (bus, recording) = (EventBus::default(), Recording::new());
        bus.open_session("s").expect("there is room");
        bus.register_sink("s", recording.clone());
        let start = Barrier::new(4);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (bus, start) = (&bus, &start);
                scope.spawn(move || {
                    start.wait();
                    if thread == 0 {
                        bus.emit(&message("s", "meanwhile"));
                    } else {
                        bus.close_session("s", CloseSession::default());
                    }
                });
            }
        });
        let seen = tags(&recording);
        let closed = seen.iter().filter(|tag| **tag == "session_closed").count();
        assert_eq!(closed, 1, "{seen:?}");
        assert_eq!(seen.last(), Some(&"session_closed"));
        assert_eq!(bus.health().sessions, 0);
    }
}

#[test]
fn a_sink_that_closes_the_session_when_it_closes_changes_nothing() {
    let (bus, recording) = (EventBus::default(), Recording::new());
    bus.open_session("s").expect("there is room");
    bus.register_sink("s", recording.clone());
    let again = bus.clone();
    bus.register_sink(
        "s",
        sink(move |_| again.close_session("s", CloseSession::default())),
    );
    bus.close_session("s", CloseSession::default());
    assert_eq!(tags(&recording), ["session_closed"]);
}

#[test]
fn what_a_run_has_open_ends_with_its_session() {
    let (bus, recording) = (EventBus::default(), Recording::new());
    bus.open_session("s").expect("there is room");
    bus.register_sink("s", recording.clone());
    let run = bus.begin_run("s");
    bus.emit(&iteration_start("s", 1));
    bus.emit(&tool_call("s", "1"));
    let question = bus.request_hitl("s", "q", "question", serde_json::Value::Null);
    bus.close_session("s", CloseSession::default());
    drop((run, question));
    assert_eq!(
        tags(&recording),
        [
            "iteration_start",
            "tool_call",
            "hitl_requested",
            "tool_call_update",
            "iteration_end",
            "loop_checkpoint",
            "hitl_resolved",
            "session_closed",
        ]
    );
}

#[test]
fn an_observer_hears_of_an_answer_once_also_when_the_session_closes_first() {
    let (bus, recording) = (EventBus::default(), Recording::new());
    let _observing = bus.observe(recording.clone());
    bus.open_session("s").expect("there is room");
    let question = bus.request_hitl("s", "q", "question", serde_json::Value::Null);
    bus.close_session("s", CloseSession::default());
    question.answered();
    assert_eq!(
        tags(&recording),
        ["hitl_requested", "hitl_resolved", "session_closed"]
    );
}

#[test]
fn a_close_that_is_given_up_half_way_still_removes_the_session() {
    let bus = EventBus::default();
    bus.open_session("s").expect("there is room");
    bus.subscribe(
        "s",
        support::subscriber("never", |_| std::future::pending()),
    );
    let mut closing = Box::pin(bus.close_session_and_await("s", CloseSession::default()));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(closing.as_mut().poll(&mut cx).is_pending());
    drop(closing);
    assert_eq!(bus.health().sessions, 0);
}

#[test]
fn a_session_opened_by_many_threads_has_one_log() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let bus = EventBus::new(BusConfig {
            durable: Some(Arc::new(JsonlDirectory::new(folder.path()))),
            ..BusConfig::default()
        });
        let start = Barrier::new(4);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    start.wait();
                    bus.open_session("s").expect("there is room");
                    bus.emit(&message("s", "x"));
                });
            }
        });
        assert_eq!(bus.health().attach_failures, 0);
        bus.close_session("s", CloseSession::default());
        let log = load_directory(folder.path()).expect("the folder is there");
        assert_eq!(log.sessions["s"].records.len(), 5);
    }
}

#[test]
fn a_secret_declared_to_the_bus_does_not_reach_its_logs() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let logs = JsonlDirectory::new(folder.path());
    let path = logs.path_of("s");
    let bus = EventBus::new(BusConfig {
        durable: Some(Arc::new(logs)),
        redaction: RedactionPolicy::new().with_secret("correct horse"),
        ..BusConfig::default()
    });
    bus.open_session("s").expect("there is room");
    bus.emit(&message("s", "the words are correct horse"));
    let text = std::fs::read_to_string(path).expect("the log is there");
    assert!(text.contains("the words are [redacted]"), "{text}");
}

#[test]
fn the_account_of_a_durable_sink_is_part_of_the_sessions_health() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let bus = EventBus::new(BusConfig {
        durable: Some(Arc::new(JsonlDirectory::new(folder.path()))),
        ..BusConfig::default()
    });
    bus.open_session("s").expect("there is room");
    bus.emit(&message("s", "x"));
    let health = bus.session_health("s").expect("the session is known");
    let durable = health.durable.expect("the session is kept");
    assert_eq!(
        (durable.accepted, durable.stored, durable.dropped),
        (1, 1, 0)
    );
}

#[test]
fn a_task_keeps_the_session_it_was_started_in() {
    let bus = EventBus::default();
    let entered = bus.enter_session("a");
    let task = {
        let bus = bus.clone();
        bus.clone()
            .scope_task(async move { bus.current_session_id() })
    };
    drop(entered);
    let _elsewhere = bus.enter_session("b");
    assert_eq!(block_on(task), Some("a".to_owned()));
}

#[test]
fn tasks_that_start_tasks_do_not_see_each_other() {
    let bus = EventBus::default();
    let seen = Recording::new();
    let run = |name: &'static str| -> Pin<Box<dyn Future<Output = ()>>> {
        let (bus, seen) = (bus.clone(), seen.clone());
        Box::pin(
            bus.clone()
                .scope_loop_sink(Some(seen as Arc<dyn AgentEventSink>), async move {
                    let _session = bus.enter_session(name);
                    bus.scope_task(async {
                        assert_eq!(bus.current_session_id().as_deref(), Some(name))
                    })
                    .await;
                    yield_once().await;
                    bus.emit(&message(name, name));
                }),
        )
    };
    interleave(vec![run("one"), run("two")]);
    assert_eq!(seen.len(), 2);
}

#[test]
fn a_member_that_panics_takes_no_other_along() {
    let calls = Arc::new(AtomicUsize::new(0));
    let (bus, group) = (EventBus::default(), Arc::new(MultiSink::new()));
    bus.register_sink("s", group.clone());
    let counted = Arc::clone(&calls);
    group.push(sink(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        panic!("a member of a group");
    }));
    let healthy = Recording::new();
    group.push(healthy.clone());
    for _ in 0..20 {
        bus.emit(&message("s", "x"));
    }
    assert_eq!(healthy.len(), 20);
    assert_eq!(
        calls.load(Ordering::Relaxed),
        8,
        "it is not called for ever"
    );
}

#[test]
fn a_report_that_comes_after_the_end_of_its_call_is_not_told() {
    let (bus, recording) = (EventBus::default(), Recording::new());
    bus.open_session("s").expect("there is room");
    bus.register_sink("s", recording.clone());
    let run = bus.begin_run("s");
    bus.emit(&tool_call("s", "1"));
    run.finish("failed");
    bus.emit(&support::tool_update("s", "1", "completed"));
    assert_eq!(
        tags(&recording),
        ["tool_call", "tool_call_update", "loop_checkpoint"]
    );
    assert_eq!(bus.health().stale, 1);

    bus.emit(&tool_call("s", "1"));
    bus.emit(&support::tool_update("s", "1", "completed"));
    bus.emit(&support::tool_update("s", "never announced", "completed"));
    assert_eq!(
        tags(&recording)[3..],
        ["tool_call", "tool_call_update", "tool_call_update"]
    );
}
