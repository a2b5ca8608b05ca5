//! Small streams, each with one thing wrong.

use harn_events::AgentEvent;
use serde_json::{Value, json};

use super::*;
use crate::ledger::TaskLedger;
use crate::session::{CallOutcome, Change, JournalRecord};

/// An event written short: `type`, and its fields.
fn event(kind: &str, mut fields: Value) -> AgentEvent {
    fields["type"] = json!(kind);
    if fields.get("session_id").is_none() {
        fields["session_id"] = json!("s");
    }
    serde_json::from_value(fields).expect("the test writes events as they are")
}

fn begin(iteration: usize) -> AgentEvent {
    let fields = json!({"iteration": iteration, "provider": "mock", "model": "m"});
    event("iteration_start", fields)
}

fn end(iteration: usize) -> AgentEvent {
    let fields = json!({"iteration": iteration, "iteration_info": {}});
    event("iteration_end", fields)
}

fn seam(kind: &str, iteration: usize) -> AgentEvent {
    let fields = json!({
        "kind": kind, "iteration": iteration, "delivered": 0, "inbox_delivered": 0,
        "dispatch_skipped": false,
    });
    event("loop_checkpoint", fields)
}

fn call(id: &str) -> AgentEvent {
    let fields = json!({
        "tool_call_id": id, "tool_name": "t", "kind": null, "status": "pending", "raw_input": {},
    });
    event("tool_call", fields)
}

fn update(id: &str, status: &str) -> AgentEvent {
    let fields = json!({
        "tool_call_id": id, "tool_name": "t", "status": status, "raw_output": null, "error": null,
    });
    event("tool_call_update", fields)
}

fn with(event: AgentEvent, key: &str, value: Value) -> AgentEvent {
    let mut fields = serde_json::to_value(event).expect("events are plain JSON");
    fields[key] = value;
    serde_json::from_value(fields).expect("the test writes events as they are")
}

fn closed() -> AgentEvent {
    let fields = json!({"reason": "closed", "status": "closed", "metadata": null});
    event("session_closed", fields)
}

fn stuck() -> AgentEvent {
    let fields = json!({"max_nudges": 1, "last_iteration": 1, "tail_excerpt": ""});
    event("loop_stuck", fields)
}

fn feedback(kind: &str) -> AgentEvent {
    event("feedback_injected", json!({"kind": kind, "content": "x"}))
}

fn compacted(mode: &str) -> AgentEvent {
    let fields = json!({
        "mode": mode, "reason": "threshold", "strategy": "truncate", "archived_messages": 1,
        "estimated_tokens_before": 2, "estimated_tokens_after": 1, "snapshot_asset_id": null,
    });
    event("transcript_compacted", fields)
}

/// An iteration up to the point where calls are made.
fn opening(iteration: usize) -> Vec<AgentEvent> {
    let mut events = vec![begin(iteration)];
    let seams = [
        "iteration_start",
        "pre_compact",
        "post_compact",
        "pre_tool_dispatch",
    ];
    events.extend(seams.map(|kind| seam(kind, iteration)));
    events
}

/// A whole iteration without calls.
fn iteration(number: usize) -> Vec<AgentEvent> {
    let mut events = opening(number);
    events.extend([end(number), seam("iteration_end", number)]);
    events
}

fn run_of(iterations: usize) -> Vec<AgentEvent> {
    let mut events: Vec<AgentEvent> = (1..=iterations).flat_map(iteration).collect();
    events.push(seam("loop_exit", iterations));
    events
}

fn findings(events: &[AgentEvent]) -> Findings {
    check_events((0..).zip(events))
}

/// A stream breaks just one promise, and the finding says so in these words.
#[track_caller]
fn check_broken(events: &[AgentEvent], index: u64, what: &str) {
    let found = findings(events).violations;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].index, &*found[0].what), (index, what));
}

#[track_caller]
fn check_sound(events: &[AgentEvent]) {
    let found = findings(events);
    assert_eq!(found, Findings::default());
}

#[test]
fn a_whole_run_is_in_order() {
    check_sound(&run_of(3));
    check_sound(&[run_of(1), run_of(2), vec![seam("loop_exit", 0)]].concat());
    let mut with_call = opening(1);
    with_call.extend([call("a"), call("b"), update("b", "in_progress")]);
    with_call.extend([update("a", "completed"), update("b", "completed")]);
    // Ids may come again once they are closed.
    with_call.extend([call("a"), update("a", "failed"), end(1)]);
    with_call.extend([
        seam("post_tool_dispatch", 1),
        seam("loop_exit", 1),
        closed(),
    ]);
    check_sound(&with_call);
}

#[test]
fn a_failed_run_goes_straight_to_its_end() {
    check_sound(&[
        begin(1),
        seam("iteration_start", 1),
        end(1),
        seam("loop_exit", 1),
    ]);
}

#[test]
fn a_daemon_waits_between_iterations() {
    let mut events = iteration(1);
    for _ in 0..2 {
        events.extend([seam("daemon_idle_pre", 0), seam("daemon_idle_post", 0)]);
    }
    events.extend(iteration(2));
    events.push(seam("loop_exit", 2));
    check_sound(&events);
}

#[test]
fn iterations_do_not_nest_and_are_counted() {
    check_broken(
        &[begin(1), begin(2), end(2)],
        1,
        "iteration 2 begins inside iteration 1",
    );
    check_broken(
        &[begin(1), end(1), begin(3), end(3)],
        2,
        "iteration 3 comes after iteration 1",
    );
    check_broken(
        &[begin(4), end(4)],
        0,
        "iteration 4 comes after the beginning",
    );
    check_broken(
        &[begin(1), end(2)],
        1,
        "iteration 2 ends while iteration 1 is open",
    );
    check_broken(
        &[begin(1), end(1), end(1)],
        2,
        "iteration 1 ends while none is open",
    );
}

#[test]
fn seams_have_one_order() {
    let missed = [
        begin(1),
        seam("iteration_start", 1),
        seam("post_compact", 1),
        end(1),
    ];
    check_broken(
        &missed,
        2,
        "the seam `post_compact` is passed while the run is after the seam `iteration_start`",
    );
    let twice = [
        begin(1),
        seam("iteration_start", 1),
        seam("iteration_start", 1),
        end(1),
    ];
    check_broken(
        &twice,
        2,
        "the seam `iteration_start` is passed while the run is after the seam `iteration_start`",
    );
    let undispatched = [
        begin(1),
        seam("iteration_start", 1),
        end(1),
        seam("post_tool_dispatch", 1),
    ];
    check_broken(
        &undispatched,
        3,
        "the seam `post_tool_dispatch` is passed while the iteration has just ended",
    );
    let other = [begin(1), seam("iteration_start", 2), end(1)];
    check_broken(
        &other,
        1,
        "the seam `iteration_start` of iteration 2 is passed in iteration 1",
    );
    let after = [run_of(1), vec![seam("iteration_end", 1)]].concat();
    check_broken(
        &after,
        8,
        "the seam `iteration_end` is passed while no iteration has begun",
    );
    check_broken(
        &[begin(1), seam("loop_exit", 1)],
        1,
        "the run exits inside iteration 1",
    );
    // A seam of a later version is none of ours.
    check_sound(&[begin(1), seam("command_hold", 1), end(1)]);
}

#[test]
fn feedback_and_compaction_have_their_place() {
    let mut fine = vec![
        begin(1),
        seam("iteration_start", 1),
        feedback("x"),
        feedback("y"),
    ];
    fine.push(with(seam("pre_compact", 1), "inbox_delivered", json!(2)));
    fine.extend([
        compacted("preflight"),
        seam("post_compact", 1),
        compacted("manual"),
    ]);
    fine.extend([
        feedback("missing_tool_call_nudge"),
        end(1),
        compacted("auto"),
        feedback("z"),
    ]);
    check_sound(&[&fine[..], &[seam("loop_exit", 1)]].concat());

    let mut late = opening(1);
    late.extend([feedback("x"), end(1)]);
    check_broken(
        &late,
        5,
        "feedback `x` arrives while the run is after the seam `pre_tool_dispatch`",
    );
    let uncounted = with(seam("pre_compact", 1), "inbox_delivered", json!(1));
    check_broken(
        &[begin(1), seam("iteration_start", 1), uncounted, end(1)],
        2,
        "the seam `pre_compact` has delivered 1 of the inbox, and 0 `feedback_injected` came \
         before it",
    );
    let mut early = opening(1);
    early.extend([compacted("preflight"), end(1)]);
    check_broken(
        &early,
        5,
        "the conversation is compacted while the run is after the seam `pre_tool_dispatch`",
    );
}

#[test]
fn a_run_is_stopped_once_and_does_not_go_on() {
    let stopped = [iteration(1), vec![stuck(), seam("loop_exit", 1)]].concat();
    check_sound(&stopped);
    check_sound(&[stopped.clone(), stopped].concat());
    let twice = [iteration(1), vec![stuck(), stuck(), seam("loop_exit", 1)]].concat();
    check_broken(&twice, 8, "`loop_stuck` follows `loop_stuck` of record 7");
    let goes_on = [
        iteration(1),
        vec![stuck()],
        iteration(2),
        vec![seam("loop_exit", 2)],
    ]
    .concat();
    check_broken(
        &goes_on,
        8,
        "iteration 2 begins after `loop_stuck` of record 7",
    );
    let inside = [begin(1), stuck(), end(1), seam("loop_exit", 1)];
    check_broken(&inside, 1, "`loop_stuck` comes inside iteration 1");
}

#[test]
fn a_call_has_one_start_and_one_end() {
    check_broken(
        &[call("a"), call("a")],
        1,
        "call `a` starts although it is open since record 0",
    );
    check_broken(
        &[update("a", "completed")],
        0,
        "call `a` is updated although it is not open",
    );
    check_broken(
        &[call("a"), update("a", "completed"), update("a", "failed")],
        2,
        "call `a` is updated although it is not open",
    );
    check_broken(
        &[call("a"), seam("loop_exit", 0)],
        1,
        "call `a` of record 0 has no end",
    );
    check_broken(
        &[
            call("a"),
            update("a", "in_progress"),
            update("a", "pending"),
        ],
        2,
        "call `a` waits again although it runs",
    );
}

#[test]
fn a_candidate_is_promoted_or_withdrawn() {
    let candidate = || with(call("c"), "parsing", json!(true));
    let promoted = || with(update("c", "pending"), "parsing", json!(false));
    check_sound(&[candidate(), promoted(), candidate(), promoted()]);
    check_broken(
        &[candidate(), seam("loop_exit", 0)],
        1,
        "candidate `c` of record 0 has no end",
    );
    check_broken(
        &[call("c"), promoted()],
        1,
        "call `c` ends a candidate phase that it does not have",
    );
    check_broken(
        &[candidate(), promoted(), promoted()],
        2,
        "call `c` is updated although it is not open",
    );
}

#[test]
fn fields_of_an_update_fit_its_status() {
    let early = with(update("a", "in_progress"), "duration_ms", json!(1));
    check_broken(
        &[call("a"), early],
        1,
        "call `a` has a duration before it ends",
    );
    let well = with(update("a", "completed"), "error_category", json!("timeout"));
    check_broken(
        &[call("a"), well],
        1,
        "call `a` has a class of failure although it has not failed",
    );
    let both = with(update("a", "pending"), "raw_input", json!({}));
    let both = with(both, "raw_input_partial", json!("{"));
    check_broken(
        &[call("a"), both],
        1,
        "call `a` has its arguments both read and unread",
    );
}

#[test]
fn searches_requests_and_compositions_are_pairs() {
    let query = || {
        let fields = json!({
            "tool_use_id": "q", "name": "n", "query": {}, "strategy": "bm25", "mode": "client",
        });
        event("tool_search_query", fields)
    };
    let result = || {
        let fields =
            json!({"tool_use_id": "q", "promoted": [], "strategy": "bm25", "mode": "client"});
        event("tool_search_result", fields)
    };
    check_sound(&[query(), result(), query(), result()]);
    check_broken(
        &[query(), query()],
        1,
        "search `q` begins although it is open since record 0",
    );
    check_broken(&[result()], 0, "search `q` ends although it is not open");
    check_broken(
        &[query(), seam("loop_exit", 0)],
        1,
        "search `q` of record 0 has no end",
    );
    let asked = || {
        let fields = json!({"request_id": "r", "kind": "question", "payload": {}});
        event("hitl_requested", fields)
    };
    let resolved = || {
        let fields = json!({"request_id": "r", "kind": "question", "outcome": "answered"});
        event("hitl_resolved", fields)
    };
    // A request outlives the run that made it, and not the session.
    check_sound(&[asked(), seam("loop_exit", 0), resolved(), closed()]);
    check_broken(
        &[asked(), closed()],
        1,
        "request `r` of record 0 has no end",
    );
    check_broken(&[resolved()], 0, "request `r` ends although it is not open");
}

#[test]
fn a_request_outlives_the_process_that_made_it() {
    let asked = || {
        let fields = json!({"request_id": "r", "kind": "question", "payload": {}});
        event("hitl_requested", fields)
    };
    let resolved = || {
        let fields = json!({"request_id": "r", "kind": "question", "outcome": "answered"});
        event("hitl_resolved", fields)
    };
    let look = |after: Vec<AgentEvent>| {
        let mut events = opening(1);
        events.push(asked());
        let crashed = events.len();
        events.extend(opening(1));
        events.extend(after);
        let mut order = EventOrder::new(Openings::AgainAt(vec![15]));
        for (index, event) in events.iter().enumerate() {
            order.see(Seen {
                index: index as u64,
                at_ms: Some(if index < crashed { 10 } else { 20 }),
                event: Some(event),
            });
        }
        order.finish().violations
    };
    assert_eq!(look(vec![resolved()]), []);
    assert_eq!(look(vec![]), []);
    assert_eq!(look(vec![resolved(), resolved()]).len(), 1);
    assert_eq!(look(vec![asked()]).len(), 1);
}

#[test]
fn nothing_follows_the_end_of_a_session() {
    check_broken(
        &[closed(), begin(1)],
        1,
        "`iteration_start` comes after the session was closed by record 0",
    );
    check_broken(
        &[begin(1), closed()],
        1,
        "the session is closed inside iteration 1",
    );
}

#[test]
fn a_stream_belongs_to_one_session() {
    let other = with(end(1), "session_id", json!("other"));
    check_broken(
        &[begin(1), other],
        1,
        "`iteration_end` belongs to session `other`",
    );
}

#[test]
fn indexes_are_dense_and_times_never_go_back() {
    let at = |places: &[(u64, i64)]| {
        let mut order = EventOrder::default();
        for (index, at_ms) in places {
            order.see(Seen {
                index: *index,
                at_ms: Some(*at_ms),
                event: None,
            });
        }
        let found = order.finish().violations;
        found.into_iter().map(|one| one.what).collect::<Vec<_>>()
    };
    assert!(at(&[(0, 5), (1, 5), (2, 9)]).is_empty());
    assert_eq!(at(&[(1, 5)]), ["the index is 1 where 0 comes next"]);
    assert_eq!(
        at(&[(0, 5), (2, 5), (3, 5)]),
        ["the index is 2 where 1 comes next"]
    );
    assert_eq!(at(&[(0, 5), (0, 5)]), ["the index is 0 where 1 comes next"]);
    let back = ["its time is 3 ms before that of the record before"];
    assert_eq!(at(&[(0, 5), (1, 2)]), back);
}

#[test]
fn a_run_without_an_end_is_interrupted() {
    let found = findings(&opening(1));
    assert!(found.is_sound());
    assert_eq!(
        found.interruptions,
        [Interruption {
            index: 4,
            what: "iteration 1 has no end".to_owned()
        }]
    );
    let found = findings(&iteration(1));
    assert_eq!(
        found.interruptions[0].to_string(),
        "interrupted after record 6: nothing follows iteration 1, not even `loop_exit`"
    );
}

/// After a crash, the next process opens the session again and its events go on.
#[test]
fn a_session_that_was_opened_again_begins_again() {
    let mut events = opening(1);
    events.push(call("a"));
    let crashed = events.len();
    events.extend(run_of(1));
    events.push(closed());
    let reopened = events.len();
    events.extend(run_of(1));
    let look = |openings: Openings| {
        let mut order = EventOrder::new(openings);
        for (index, event) in (0..).zip(&events) {
            let at_ms = match usize::try_from(index) {
                Ok(place) if place < crashed => 10,
                Ok(place) if place < reopened => 20,
                _ => 20,
            };
            order.see(Seen {
                index,
                at_ms: Some(at_ms),
                event: Some(event),
            });
        }
        order.finish()
    };
    let found = look(Openings::AgainAt(vec![15, 20]));
    assert!(found.is_sound(), "{found:?}");
    assert_eq!(found.interruptions.len(), 1);
    assert!(look(Openings::Unknown).is_sound());
    assert_eq!(look(Openings::Once).violations[0].index, 6);
    let once = look(Openings::AgainAt(vec![15])).violations;
    assert_eq!(once[0].index, u64::try_from(reopened).unwrap());
}

#[test]
fn what_was_thrown_away_may_end_here() {
    let mut order = EventOrder::default().after_cut();
    let events = [update("a", "completed"), end(3), seam("iteration_end", 3)];
    for (index, event) in (70..).zip(&events) {
        order.see((index, event).into());
    }
    assert!(order.finish().is_sound());
}

fn journal(changes: Vec<Change>) -> Vec<JournalRecord> {
    let record = |(index, change)| JournalRecord {
        index,
        events_before: 0,
        change,
    };
    (0..).zip(changes).map(record).collect()
}

fn run_started() -> Change {
    Change::RunStarted {
        ledger: TaskLedger::default(),
        resumed_iterations: 0,
    }
}

fn call_started(id: &str) -> Change {
    Change::CallStarted {
        id: id.to_owned(),
        name: "t".to_owned(),
        arguments: json!({"x": 0.1}),
    }
}

fn call_finished(id: &str) -> Change {
    Change::CallFinished {
        id: id.to_owned(),
        name: "t".to_owned(),
        outcome: CallOutcome::Ok,
        text: "fine".to_owned(),
    }
}

fn run_ended(status: &str) -> Change {
    let status = status.to_owned();
    Change::RunEnded { status }
}

fn iteration_started(iteration: usize) -> Change {
    Change::IterationStarted { iteration }
}

#[track_caller]
fn check_broken_journal(changes: Vec<Change>, index: u64, what: &str) {
    let found = check_journal(&journal(changes)).violations;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].index, &*found[0].what), (index, what));
}

#[test]
fn a_whole_journal_is_in_order() {
    let run = [
        run_started(),
        iteration_started(0),
        call_started("a"),
        call_finished("a"),
        iteration_started(1),
        run_ended("done"),
    ];
    let changes = [vec![Change::Opened], run.to_vec(), run.to_vec()].concat();
    assert_eq!(check_journal(&journal(changes)), Findings::default());
    let failed = vec![
        Change::Opened,
        run_started(),
        iteration_started(0),
        call_started("a"),
        run_ended("error"),
    ];
    assert_eq!(check_journal(&journal(failed)), Findings::default());
}

#[test]
fn a_journal_says_what_is_wrong_with_it() {
    let opened = || Change::Opened;
    check_broken_journal(vec![Change::Reset], 0, "the first record is not `opened`");
    check_broken_journal(
        vec![opened(), run_started(), run_started(), run_ended("done")],
        2,
        "a run begins although that of record 1 has not ended",
    );
    check_broken_journal(
        vec![opened(), run_ended("done")],
        1,
        "a run ends that has not begun",
    );
    check_broken_journal(
        vec![
            opened(),
            run_started(),
            iteration_started(1),
            run_ended("done"),
        ],
        2,
        "iteration 1 begins where 0 comes next",
    );
    let within = |changes: Vec<Change>, status: &str| {
        let mut all = vec![opened(), run_started(), iteration_started(0)];
        all.extend(changes);
        all.push(run_ended(status));
        all
    };
    check_broken_journal(
        within(vec![call_started("a")], "done"),
        4,
        "the run ends well while call `a` of record 3 runs",
    );
    check_broken_journal(
        within(vec![call_started("a"), call_started("a")], "error"),
        4,
        "call `a` starts although it runs since record 3",
    );
    check_broken_journal(
        within(vec![call_finished("a")], "done"),
        3,
        "call `a` is finished although it does not run",
    );
    check_broken_journal(
        vec![
            opened(),
            run_started(),
            call_started("a"),
            run_ended("error"),
        ],
        2,
        "call `a` starts outside of an iteration",
    );
}

#[test]
fn a_journal_has_dense_indexes() {
    let mut records = journal(vec![Change::Opened, Change::Reset, Change::Reset]);
    records.remove(1);
    let found = check_journal(&records).violations;
    assert_eq!(found[0].what, "the index is 2 where 1 comes next");
    let cut = check_journal_after_cut(&records[1..]);
    assert_eq!(cut, Findings::default());
    records[1].events_before = 3;
    records.push(JournalRecord {
        index: 3,
        events_before: 2,
        change: Change::Reset,
    });
    let found = check_journal(&records[1..]).violations;
    let last = found.last().expect("the count falls");
    assert_eq!(
        last.what,
        "2 events came before it, and 3 before the record before"
    );
}

/// The process died; what it was doing matters to whoever takes the session up.
#[test]
fn a_journal_may_end_in_the_middle() {
    let died = vec![
        Change::Opened,
        run_started(),
        iteration_started(0),
        call_started("a"),
    ];
    let found = check_journal(&journal(died.clone()));
    assert!(found.is_sound());
    assert_eq!(
        found.interruptions[0].what,
        "the run of record 1 has no end, and these calls may have had an effect: a"
    );
    let again = [died, vec![Change::Opened]].concat();
    let found = check_journal(&journal(again));
    assert!(found.is_sound());
    assert_eq!(found.interruptions[0].index, 3);
}

#[test]
fn a_violation_reads_like_a_sentence() {
    let found = findings(&[update("a", "completed")]);
    assert_eq!(
        found.violations[0].to_string(),
        "record 0: call `a` is updated although it is not open; a call has one start, and \
         nothing is said about it after its end"
    );
}

fn worker(id: &str, transition: &str) -> AgentEvent {
    let known: harn_events::WorkerEvent =
        serde_json::from_value(json!(transition)).expect("the test writes events as they are");
    let fields = json!({
        "worker_id": id, "worker_name": "n", "worker_task": "t", "worker_mode": "stage",
        "event": transition, "status": known.status().as_str(), "metadata": {}, "audit": null,
    });
    event("worker_update", fields)
}

#[test]
fn workers_begin_pause_and_end_in_order() {
    let rows: [(&[&str], bool); 9] = [
        (&["WorkerSpawned", "WorkerCompleted"], true),
        (&["WorkerCompleted"], false),
        (
            &["WorkerSpawned", "WorkerCompleted", "WorkerCancelled"],
            false,
        ),
        (
            &["WorkerSpawned", "WorkerCompleted", "WorkerCompleted"],
            false,
        ),
        (
            &["WorkerSpawned", "WorkerCompleted", "WorkerProgressed"],
            false,
        ),
        // Another task begins anew.
        (
            &[
                "WorkerSpawned",
                "WorkerFailed",
                "WorkerSpawned",
                "WorkerCompleted",
            ],
            true,
        ),
        (
            &["WorkerSpawned", "WorkerSuspended", "WorkerCompleted"],
            false,
        ),
        (
            &[
                "WorkerSpawned",
                "WorkerSuspended",
                "WorkerResumed",
                "WorkerCompleted",
            ],
            true,
        ),
        (
            &[
                "WorkerSpawned",
                "WorkerWaitingForInput",
                "WorkerProgressed",
                "WorkerCancelled",
            ],
            true,
        ),
    ];
    for (transitions, is_sound) in rows {
        let events: Vec<AgentEvent> = transitions
            .iter()
            .flat_map(|transition| [worker("a", transition), worker("b", transition)])
            .collect();
        let findings = check_events((0..).zip(&events));
        assert_eq!(
            findings.is_sound(),
            is_sound,
            "{transitions:?}: {findings:?}"
        );
    }
}

#[test]
fn the_status_of_a_worker_is_that_of_its_event() {
    let odd = with(worker("a", "WorkerSpawned"), "status", json!("failed"));
    assert!(!check_events([(0, &odd)]).is_sound());
}

#[test]
fn a_worker_may_have_begun_where_the_stream_was_cut() {
    let mut order = EventOrder::default().after_cut();
    let event = worker("a", "WorkerCompleted");
    order.see(Seen {
        index: 7,
        at_ms: None,
        event: Some(&event),
    });
    assert!(order.finish().is_sound());
}
