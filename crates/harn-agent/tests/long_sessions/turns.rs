//! What a turn allocates and stores.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use harn_agent::session::conversation::{self, Part};
use harn_agent::session::{SessionState, load_session};
use harn_agent::session_events;
use harn_events::AgentEvent;
use harn_log::{AnyEventLog, EventLog, SqliteEventLog, Topic, block_on};
use serde_json::json;

use super::{STYLES, Style, assert_flat, heap, run};

const TURNS: usize = 2_000;

/// What is compared: lists that double now and then are averaged out.
const EARLY: std::ops::Range<usize> = 50..450;
const LATE: std::ops::Range<usize> = 1_590..1_990;

#[test]
fn a_turn_allocates_as_much_late_as_early() {
    for style in STYLES {
        let at_call = run(style, TURNS, None, heap::allocated);
        let per_turn = |turns: &std::ops::Range<usize>| {
            let bytes = at_call[turns.end] - at_call[turns.start];
            bytes as f64 / turns.len() as f64
        };
        assert_flat(style, per_turn(&EARLY), per_turn(&LATE));
    }
}

/// Bytes of the records of each iteration, journal and events together.
fn stored_bytes(log: &AnyEventLog) -> Vec<usize> {
    let mut of_turns: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (topic, start) in [
        ("agent_sessions.long", "iteration_started"),
        ("observability.agent_events.long", "iteration_start"),
    ] {
        let turns = of_turns.entry(topic).or_default();
        let topic = Topic::new(topic).unwrap();
        for (_, record) in block_on(log.read_range_bytes(&topic, None, usize::MAX)).unwrap() {
            if record.kind == start {
                turns.push(0);
            }
            if let Some(bytes) = turns.last_mut() {
                let headers = record.headers.iter();
                let headers = headers.map(|(name, value)| name.len() + value.len());
                *bytes += record.kind.len() + record.payload.len() + headers.sum::<usize>();
            }
        }
    }
    let journal = &of_turns["agent_sessions.long"];
    let events = &of_turns["observability.agent_events.long"];
    let both = journal.iter().zip(events);
    both.map(|(journal, events)| journal + events).collect()
}

#[test]
fn a_turn_with_native_calls_stores_as_much_late_as_early() {
    check_stored("native");
}

#[test]
fn a_turn_with_calls_in_its_text_stores_as_much_late_as_early() {
    check_stored("text");
}

/// Also that readers miss nothing of what is not stored again.
#[track_caller]
fn check_stored(format: &'static str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log.sqlite");
    let log = SqliteEventLog::open(file, 16).unwrap();
    let log = Arc::new(AnyEventLog::Sqlite(log));
    run(
        Style::of(format, false),
        TURNS,
        Some(Arc::clone(&log)),
        || (),
    );
    let bytes = stored_bytes(&log);
    assert_eq!(bytes.len(), TURNS);
    let per_turn = |turns: std::ops::Range<usize>| {
        let count = turns.len();
        bytes[turns].iter().sum::<usize>() as f64 / count as f64
    };
    assert_flat(format, per_turn(EARLY), per_turn(LATE));
    let events = block_on(session_events(&*log, "long")).unwrap();
    let mut turns = 0;
    for (_, event) in &events {
        let Some(AgentEvent::IterationEnd { iteration_info, .. }) = event.event() else {
            continue;
        };
        turns += 1;
        if turns % 500 != 1 && turns != TURNS {
            continue;
        }
        let read = json!(iteration_info);
        let used = read["session_tools_used"].as_array().unwrap();
        assert_eq!(used.len(), turns);
        assert_eq!(read["session_successful_tools"], json!(["look"]));
    }
    assert_eq!(turns, TURNS);
    let state = block_on(load_session(&*log, "long", None)).unwrap();
    assert_eq!(turns_in(&state), TURNS);
}

/// How often the model has said something.
fn turns_in(state: &SessionState) -> usize {
    let parts = conversation::of(state);
    let is_turn = |part: &&Part| matches!(part, Part::Said { role, .. } if role == "assistant");
    parts.iter().filter(is_turn).count()
}

/// The shortest of several times: what others do meanwhile only adds to it.
fn time_of(state: &SessionState) -> Duration {
    let took = (0..7).map(|_| {
        let start = Instant::now();
        assert!(!conversation::of(state).is_empty());
        start.elapsed()
    });
    took.min().unwrap()
}

/// Eight times as many messages take eight times as long, and sixty-four times as long where each
/// is compared with all others.
#[test]
fn a_conversation_is_shown_in_linear_time() {
    let state = |count: usize| {
        let messages = (0..count).map(|at| json!({"role": "user", "content": at.to_string()}));
        let transcript = json!({"messages": messages.collect::<Vec<_>>()});
        let mut state = SessionState::default();
        state.apply(harn_agent::session::Change::Restored { transcript });
        state
    };
    let (short, long) = (time_of(&state(1_000)), time_of(&state(8_000)));
    let ratio = long.as_secs_f64() / short.as_secs_f64();
    assert!(ratio < 32.0, "{short:?} and {long:?}");
}
