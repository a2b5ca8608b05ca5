//! Everything that begins ends, exactly once, on every way out.

use std::collections::BTreeMap;
use std::sync::Arc;

use harn_events::{AgentEvent, EventBus};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{
    Recording, candidate, checkpoint, event, iteration_end, iteration_start, message, tool_call,
    tool_update,
};

/// A bus with an open session `s` and a reader of it.
fn open_session() -> (EventBus, Arc<Recording>) {
    let (bus, recording) = (EventBus::default(), Recording::new());
    bus.open_session("s").expect("there is room");
    bus.register_sink("s", recording.clone());
    (bus, recording)
}

/// What `work` adds to the stream, in short: tag, id and how it ended.
#[track_caller]
fn check_added(recording: &Recording, work: impl FnOnce(), expected: &[&str]) {
    let before = recording.len();
    work();
    let added: Vec<_> = recording.json()[before..].iter().map(short).collect();
    assert_eq!(added, expected);
}

fn short(event: &Value) -> String {
    let keys = [
        "type",
        "tool_call_id",
        "status",
        "error_category",
        "parsing",
    ];
    let more = ["iteration", "kind", "request_id", "outcome", "tool_use_id"];
    let words: Vec<_> = keys
        .into_iter()
        .chain(more)
        .filter_map(|key| match event.get(key)? {
            Value::String(text) => Some(text.clone()),
            Value::Null => None,
            other => Some(other.to_string()),
        })
        .collect();
    words.join(" ")
}

#[test]
fn a_cancelled_run_closes_what_it_left_open() {
    let (bus, recording) = open_session();
    let run = bus.begin_run("s");
    for event in [
        iteration_start("s", 3),
        tool_call("s", "done"),
        tool_update("s", "done", "completed"),
        tool_call("s", "running"),
        tool_update("s", "running", "in_progress"),
        candidate("s", "text-cand-1"),
    ] {
        bus.emit(&event);
    }
    check_added(
        &recording,
        || drop(run),
        &[
            "tool_call_update running failed abandoned_at_loop_exit",
            "tool_call_update text-cand-1 failed parse_aborted false",
            "iteration_end 3",
            "loop_checkpoint 3 loop_exit",
        ],
    );
    let end = &recording.json()[recording.len() - 2];
    assert_eq!(end["iteration_info"]["dispatch_skipped"], Value::Bool(true));
    assert_eq!(end["iteration_info"]["skip_reason"], json!("cancelled"));
}

#[test]
fn calls_of_a_cancelled_run_end_at_once_and_once() {
    let (bus, recording) = open_session();
    let run = bus.begin_run("s");
    for event in [
        iteration_start("s", 1),
        tool_call("s", "running"),
        tool_update("s", "running", "in_progress"),
    ] {
        bus.emit(&event);
    }
    check_added(
        &recording,
        || bus.cancel_calls("s"),
        &["tool_call_update running failed cancelled"],
    );
    // A tool that ignores it is too late, and one that begins now ends with the run.
    bus.emit(&tool_update("s", "running", "completed"));
    bus.emit(&tool_call("s", "late"));
    check_added(
        &recording,
        || drop(run),
        &[
            "tool_call_update late failed cancelled",
            "iteration_end 1",
            "loop_checkpoint 1 loop_exit",
        ],
    );
}

#[test]
fn an_abandoned_run_closes_nothing_of_the_next_one() {
    let (bus, recording) = open_session();
    let abandoned = bus.begin_run("s");
    bus.emit(&iteration_start("s", 1));
    bus.emit(&tool_call("s", "stuck"));
    check_added(
        &recording,
        || bus.abandon_runs("s"),
        &[
            "tool_call_update stuck failed cancelled",
            "iteration_end 1",
            "loop_checkpoint 1 loop_exit",
        ],
    );
    let next = bus.begin_run("s");
    bus.emit(&iteration_start("s", 1));
    check_added(&recording, || drop(abandoned), &[]);
    check_added(
        &recording,
        || next.finish("done"),
        &["iteration_end 1", "loop_checkpoint 1 loop_exit"],
    );
}

#[test]
fn a_failed_run_names_its_reason() {
    let (bus, recording) = open_session();
    let run = bus.begin_run("s");
    bus.emit(&iteration_start("s", 1));
    run.finish("provider_error");
    let stream = recording.json();
    assert_eq!(
        stream[1]["iteration_info"]["skip_reason"],
        json!("provider_error")
    );
    assert_eq!(short(&stream[2]), "loop_checkpoint 1 loop_exit");
}

#[test]
fn a_run_that_fails_before_its_first_iteration_still_ends() {
    let (bus, recording) = open_session();
    check_added(
        &recording,
        || bus.begin_run("s").finish("no such model"),
        &["loop_checkpoint 0 loop_exit"],
    );
}

#[test]
fn a_run_that_closed_everything_adds_nothing() {
    let (bus, recording) = open_session();
    let run = bus.begin_run("s");
    for event in [
        iteration_start("s", 1),
        checkpoint("s", 1, "iteration_start"),
        tool_call("s", "1"),
        tool_update("s", "1", "failed"),
        iteration_end("s", 1),
        checkpoint("s", 1, "post_tool_dispatch"),
        checkpoint("s", 1, "loop_exit"),
    ] {
        bus.emit(&event);
    }
    check_added(&recording, || run.finish("done"), &[]);
}

#[test]
fn every_run_of_a_session_has_its_own_exit() {
    let (bus, recording) = open_session();
    let run = bus.begin_run("s");
    bus.emit(&checkpoint("s", 1, "loop_exit"));
    check_added(&recording, || run.finish("done"), &[]);
    check_added(
        &recording,
        || bus.begin_run("s").finish("done"),
        &["loop_checkpoint 0 loop_exit"],
    );
}

#[test]
fn a_broken_stream_aborts_what_it_announced_and_spares_what_runs() {
    let (bus, recording) = open_session();
    let run = bus.begin_run("s");
    for event in [
        iteration_start("s", 1),
        tool_call("s", "running"),
        tool_update("s", "running", "in_progress"),
        tool_call("s", "arriving"),
        tool_update("s", "arriving", "pending"),
        candidate("s", "text-cand-1"),
    ] {
        bus.emit(&event);
    }
    check_added(
        &recording,
        || bus.close_aborted_calls("s"),
        &[
            "tool_call_update arriving failed parse_aborted",
            "tool_call_update text-cand-1 failed parse_aborted false",
        ],
    );
    check_added(&recording, || bus.close_aborted_calls("s"), &[]);
    check_added(
        &recording,
        || run.finish("stream failed"),
        &[
            "tool_call_update running failed abandoned_at_loop_exit",
            "iteration_end 1",
            "loop_checkpoint 1 loop_exit",
        ],
    );
}

#[test]
fn a_suspended_run_keeps_its_calls_open_for_the_next() {
    let (bus, recording) = open_session();
    let run = bus.begin_run("s");
    bus.emit(&tool_call("s", "waits"));
    bus.emit(&tool_update("s", "waits", "in_progress"));
    let before = recording.texts();
    run.suspend();
    let added: Vec<_> = recording.json()[before.len()..].iter().map(short).collect();
    assert!(
        !added.iter().any(|event| event.contains("waits")),
        "{added:?}"
    );

    let run = bus.begin_run("s");
    check_added(
        &recording,
        || bus.emit(&tool_call("s", "waits")),
        &[], // It is open, so this is its second start.
    );
    bus.emit(&tool_update("s", "waits", "completed"));
    check_added(
        &recording,
        || run.finish("done"),
        &["loop_checkpoint 0 loop_exit"],
    );
}

#[test]
fn sinks_see_one_start_of_a_call_that_is_announced_twice() {
    let (bus, recording) = open_session();
    let (observer, loop_sink) = (Recording::new(), Recording::new());
    let _observer = bus.observe(observer.clone());
    let _loop_sink = bus.install_loop_sink(Some(loop_sink.clone()));
    for event in [
        tool_call("s", "1"),
        tool_call("t", "1"),
        tool_update("s", "1", "pending"),
        tool_call("s", "1"),
        tool_update("s", "1", "completed"),
    ] {
        bus.emit(&event);
    }
    recording.check(&["tool_call", "tool_call_update", "tool_call_update"]);
    let with_t = ["tool_call"; 2].into_iter().chain(["tool_call_update"; 2]);
    assert!(observer.texts().iter().eq(with_t.clone()));
    assert!(loop_sink.texts().iter().eq(with_t));
}

#[test]
fn an_id_may_be_used_again_after_its_call_has_ended() {
    let (bus, recording) = open_session();
    for _ in 0..2 {
        bus.emit(&tool_call("s", "1"));
        bus.emit(&tool_update("s", "1", "failed"));
    }
    recording.check(&[
        "tool_call",
        "tool_call_update",
        "tool_call",
        "tool_call_update",
    ]);
}

#[test]
fn a_promoted_candidate_is_closed_and_goes_on_under_the_dispatchers_id() {
    let (bus, recording) = open_session();
    let run = bus.begin_run("s");
    bus.emit(&candidate("s", "text-cand-1"));
    let mut promotion = serde_json::to_value(tool_update("s", "text-cand-1", "pending")).unwrap();
    promotion["parsing"] = json!(false);
    bus.emit(&event(promotion));
    bus.emit(&tool_call("s", "tool-iter-1-1"));
    check_added(
        &recording,
        || drop(run),
        &[
            "tool_call_update tool-iter-1-1 failed abandoned_at_loop_exit",
            "loop_checkpoint 0 loop_exit",
        ],
    );
}

#[test]
fn a_call_that_is_closed_names_the_mutation_session_of_its_start() {
    let (bus, recording) = open_session();
    let run = bus.begin_run("s");
    let mut start = serde_json::to_value(tool_call("s", "1")).unwrap();
    start["audit"] = json!({"session_id": "session_1", "mutation_scope": "apply_workspace"});
    bus.emit(&event(start));
    drop(run);
    let told = recording.json();
    let end = told.iter().find(|one| one["type"] == "tool_call_update");
    let end = end.expect("it was closed");
    assert_eq!(end["audit"]["session_id"], "session_1");
    assert_eq!(end["audit"], told[0]["audit"]);
}

#[test]
fn a_run_read_only_by_its_loop_sink_ends_like_any_other() {
    let (bus, recording) = (EventBus::default(), Recording::new());
    let _loop_sink = bus.install_loop_sink(Some(recording.clone()));
    let run = bus.begin_run("s");
    bus.emit(&iteration_start("s", 1));
    bus.emit(&tool_call("s", "1"));
    bus.emit(&tool_call("s", "1"));
    drop(run);
    let stream: Vec<_> = recording.json().iter().map(short).collect();
    assert_eq!(
        stream,
        [
            "iteration_start 1",
            "tool_call 1 pending",
            "tool_call_update 1 failed abandoned_at_loop_exit",
            "iteration_end 1",
            "loop_checkpoint 1 loop_exit",
        ]
    );
}

#[test]
fn a_search_and_a_composition_are_closed_with_the_run() {
    let (bus, recording) = open_session();
    let run = bus.begin_run("s");
    bus.emit(&event(json!({
        "type": "tool_search_query", "session_id": "s", "tool_use_id": "q1", "name": "find",
        "query": {}, "strategy": "bm25", "mode": "client",
    })));
    bus.emit(&event(json!({
        "type": "composition_start", "session_id": "s", "run": {"run_id": "c1"},
    })));
    let before = recording.len();
    drop(run);
    let added = &recording.json()[before..];
    let of_type = |tag: &str| added.iter().find(|event| event["type"] == tag).cloned();
    let result = of_type("tool_search_result").expect("the search is closed");
    assert_eq!(result["tool_use_id"], "q1");
    assert_eq!(result["promoted"], json!([]));
    let error = of_type("composition_error").expect("the composition is closed");
    assert_eq!(error["run"]["run_id"], "c1");
    assert_eq!(error["run"]["failure_category"], "cancelled");
}

#[test]
fn a_compositions_first_child_is_visible_before_it_finishes() {
    let (bus, recording) = open_session();
    let of = |tag: &str, rest: Value| event(json!({"type": tag, "session_id": "s", "run": rest}));
    bus.emit(&of("composition_start", json!({"run_id": "c1"})));
    bus.emit(&event(json!({
        "type": "composition_child_call", "session_id": "s",
        "call": {"run_id": "c1", "tool_call_id": "1", "tool_name": "read"},
    })));
    recording.check(&["composition_start", "composition_child_call"]);
    bus.emit(&of("composition_finish", json!({"run_id": "c1"})));
    recording.check(&[
        "composition_start",
        "composition_child_call",
        "composition_finish",
    ]);
}

#[test]
fn a_request_to_a_person_is_resolved_once_where_it_was_made() {
    let (bus, recording) = open_session();
    let elsewhere = Recording::new();
    bus.register_sink("t", elsewhere.clone());

    let wait = bus.request_hitl("s", "r1", "approval", json!({"q": 1}));
    let _now_in = bus.enter_session("t");
    check_added(
        &recording,
        || drop(wait),
        &["hitl_resolved approval r1 cancelled"],
    );
    let wait = bus.request_hitl("s", "r2", "question", Value::Null);
    check_added(
        &recording,
        || wait.answered(),
        &["hitl_resolved question r2 answered"],
    );
    let wait = bus.request_hitl("s", "r3", "question", Value::Null);
    check_added(
        &recording,
        || wait.timed_out(),
        &["hitl_resolved question r3 timeout"],
    );
    elsewhere.check(&[]);
    assert_eq!(recording.len(), 6, "three requests, three resolutions");
    assert_eq!(recording.json()[0]["payload"], json!({"q": 1}));
}

#[test]
fn a_wait_in_a_dropped_future_is_cancelled() {
    let (bus, recording) = open_session();
    let inside = bus.clone();
    let mut asking = Box::pin(async move {
        let wait = inside.request_hitl("s", "r1", "approval", Value::Null);
        std::future::pending::<()>().await;
        wait.answered();
    });
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(asking.as_mut().poll(&mut cx).is_pending());
    check_added(
        &recording,
        || drop(asking),
        &["hitl_resolved approval r1 cancelled"],
    );
}

#[test]
fn an_event_that_belongs_to_no_session_is_counted() {
    let bus = EventBus::default();
    assert_eq!(bus.current_session_id(), None);
    bus.count_unattributed("handoff");
    bus.count_unattributed("hitl_requested");
    assert_eq!(bus.health().unattributed, 2);
}

/// What a producer may do with one of its calls.
#[derive(Clone, Copy, Debug)]
enum Step {
    Start,
    Candidate,
    Progress,
    Finish,
    BreakStream,
}

fn steps() -> impl Strategy<Value = Vec<(u8, Step)>> {
    let step = prop_oneof![
        Just(Step::Start),
        Just(Step::Candidate),
        Just(Step::Progress),
        Just(Step::Finish),
        Just(Step::BreakStream),
    ];
    proptest::collection::vec((0..4_u8, step), 0..40)
}

/// Starts minus ends for each call, in stream order; never below 0 or above 1.
#[track_caller]
fn check_balance(events: &[AgentEvent]) {
    let mut open: BTreeMap<&str, bool> = BTreeMap::new();
    for event in events {
        let (id, is_open) = match event {
            AgentEvent::ToolCall { tool_call_id, .. } => (tool_call_id, true),
            AgentEvent::ToolCallUpdate {
                tool_call_id,
                error_category: Some(_),
                ..
            } => (tool_call_id, false),
            _ => continue,
        };
        let was_open = open.insert(id, is_open).unwrap_or(false);
        assert_ne!(was_open, is_open, "call {id} in {events:#?}");
    }
    assert!(open.values().all(|is_open| !is_open), "{events:#?}");
}

/// Takes the steps a producer could take on a call in that state.
fn take_steps(bus: &EventBus, steps: Vec<(u8, Step)>) {
    // The open calls, and whether each is running.
    let mut open = BTreeMap::new();
    for (id, step) in steps {
        let name = id.to_string();
        match step {
            Step::Start => {
                open.entry(id).or_insert(false);
                bus.emit(&tool_call("s", &name));
            }
            Step::Candidate => {
                open.entry(id).or_insert(false);
                bus.emit(&candidate("s", &name));
            }
            Step::Progress if open.contains_key(&id) => {
                open.insert(id, true);
                bus.emit(&tool_update("s", &name, "in_progress"));
            }
            Step::Finish if open.remove(&id).is_some() => {
                let end = serde_json::to_value(tool_update("s", &name, "failed"));
                let mut end = end.expect("events are plain JSON");
                end["error_category"] = json!("tool_error");
                bus.emit(&event(end));
            }
            Step::BreakStream => {
                open.retain(|_, is_running| *is_running);
                bus.close_aborted_calls("s");
            }
            Step::Progress | Step::Finish => bus.emit(&message("s", "nothing to do")),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_calls_a_run_makes_each_start_has_one_end(steps in steps()) {
        let (bus, recording) = open_session();
        let run = bus.begin_run("s");
        take_steps(&bus, steps);
        drop(run);
        check_balance(&recording.events());
    }
}
