use std::sync::Arc;

use harn_events::{SESSION_HEADER, agent_events_topic};
use harn_log::{AnyEventLog, LogEvent, MemoryEventLog};
use harn_vm::agent::session::journal_topic;
use serde_json::{Value, json};

use super::*;

fn log() -> OpenLog {
    OpenLog {
        log: Arc::new(AnyEventLog::Memory(MemoryEventLog::new(16))),
    }
}

fn append(log: &OpenLog, topic: String, session: &str, at_ms: i64, kind: &str, payload: Value) {
    let mut event = LogEvent::new(kind, payload);
    event.occurred_at_ms = at_ms;
    let header = (SESSION_HEADER.to_owned(), session.to_owned());
    event.headers.extend([header]);
    let topic = Topic::new(topic).unwrap();
    block_on(log.log.append(&topic, event)).unwrap();
}

/// Appends these changes to the journal of a session, a millisecond each.
fn journal(log: &OpenLog, id: &str, changes: &[Value]) {
    for (index, change) in changes.iter().enumerate() {
        let mut record = json!({"index": index, "events_before": 0});
        let fields = change.as_object().unwrap().clone();
        record.as_object_mut().unwrap().extend(fields);
        let kind = change["change"].as_str().unwrap();
        let at_ms = 1 + i64::try_from(index).unwrap();
        append(log, journal_topic(id), id, at_ms, kind, record);
    }
}

fn said(role: &str, text: &str) -> Value {
    json!({"change": "message_added", "message": {"role": role, "content": text}})
}

/// A turn with a call, about as agents write it.
fn turn(iteration: usize) -> Vec<Value> {
    vec![
        json!({"change": "iteration_started", "iteration": iteration}),
        json!({"change": "answered", "input_tokens": 3, "output_tokens": 2, "cost_usd": 0.0}),
        said("assistant", "I look."),
        json!({"change": "turn_read", "last_text": "I look."}),
        json!({"change": "call_started", "id": "c", "name": "look", "arguments": {}}),
        json!({"change": "call_finished", "id": "c", "name": "look", "outcome": "ok", "text": "x"}),
        json!({"change": "result_seen", "key": "look", "result": "x"}),
        json!({"change": "tool_turn_ended", "calls": 1}),
        said("tool", "x"),
    ]
}

/// A list decodes of a long session what its line needs.
#[test]
fn of_each_turn_only_the_answer_is_decoded() {
    const TURNS: usize = 200;
    let log = log();
    let mut changes = vec![
        json!({"change": "opened"}),
        said("user", "Look around.\nThen stop."),
    ];
    changes.extend((0..TURNS).flat_map(turn));
    journal(&log, "long", &changes);
    let sessions = overviews(&log).unwrap();
    let [session] = &sessions[..] else {
        panic!("{sessions:?}");
    };
    let turns = TURNS as u64;
    assert_eq!(session.decoded_records, 1 + turns);
    assert_eq!(session.messages, Some(1 + 2 * turns));
    assert_eq!(session.last_record, Some(changes.len() as u64 - 1));
    assert_eq!(
        (session.tally.turns, session.tally.tool_calls),
        (turns, turns)
    );
    assert_eq!(session.tally.input_tokens, 3 * turns);
    let first_words = session.first_words.as_deref();
    assert_eq!(first_words, Some("Look around.\nThen stop."));
}

/// The numbers of a list and those of the session read whole are the same numbers.
#[test]
fn the_numbers_of_a_session_are_those_of_its_state() {
    let log = log();
    let mut changes = vec![json!({"change": "opened"}), said("user", "before")];
    changes.push(json!({"change": "opened"}));
    changes.push(json!({"change": "prepended", "message": {"role": "system", "content": "s"}}));
    changes.push(said("user", "after"));
    changes.extend((0..3).flat_map(turn));
    journal(&log, "s", &changes);
    let session = overviews(&log).unwrap().remove(0);
    let whole = super::super::named(&log, "s", super::super::StoredUpTo::End);
    let whole = whole.unwrap().unwrap();
    assert_eq!(session.messages, Some(whole.state.recorded.len() as u64));
    assert_eq!(session.first_words, first_words(&whole.state));
    assert_eq!(session.first_words.as_deref(), Some("after"));
    assert_eq!(session.tally, whole.tally);
    assert_eq!(session.last_record, whole.last_record);
    assert_eq!(
        (session.first_ms, session.last_ms),
        (whole.first_ms, whole.last_ms)
    );
    journal(
        &log,
        "undone",
        &[
            json!({"change": "opened"}),
            json!({"change": "rolled_back"}),
        ],
    );
    let undone = overviews(&log).unwrap().remove(1);
    assert_eq!(undone.messages, None, "only the whole session knows");
}

/// Of events a list needs when they happened, and nearly all of a log are events.
#[test]
fn the_ends_of_the_events_say_when_a_session_was_active() {
    let log = log();
    journal(&log, "s", &[json!({"change": "opened"})]);
    let events = agent_events_topic("s");
    for (at_ms, session) in [(5, "s"), (90, "hidden"), (70, "s")] {
        append(
            &log,
            events.clone(),
            session,
            at_ms,
            "plan",
            json!({"event": {}}),
        );
    }
    let sessions = overviews(&log).unwrap();
    let times: Vec<_> = sessions
        .iter()
        .map(|one| (&*one.id, one.first_ms, one.last_ms))
        .collect();
    assert_eq!(
        times,
        [("s", 1, 70)],
        "what lies between the ends is not read"
    );
}

#[test]
fn sessions_that_share_a_topic_have_their_own_times() {
    let log = log();
    for id in ["a/1", "a_1"] {
        journal(&log, id, &[json!({"change": "opened"})]);
    }
    let events = agent_events_topic("a_1");
    for (at_ms, session) in [(5, "a/1"), (90, "a_1"), (70, "a/1")] {
        append(
            &log,
            events.clone(),
            session,
            at_ms,
            "plan",
            json!({"event": {}}),
        );
    }
    let sessions = overviews(&log).unwrap();
    let times: Vec<_> = sessions.iter().map(|one| (&*one.id, one.last_ms)).collect();
    assert_eq!(times, [("a/1", 70), ("a_1", 90)]);
    assert_eq!(ids_starting_with(&log, "a/").unwrap(), ["a/1"]);
}
