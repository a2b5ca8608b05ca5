//! Turns are undone and done again.

use std::sync::Arc;

use harn_log::{AnyEventLog, MemoryEventLog, block_on};
use serde_json::json;

use super::texts;
use crate::runtime::RuntimeOptions;
use crate::session::load_session;
use crate::testing::Program;

#[test]
fn the_last_turn_is_undone_and_done_again() {
    let program = Program::default();
    program.mock("a1");
    program.mock("a2");
    program.run("q1", "s");
    program.run("q2", "s");
    assert_eq!(texts(&program, "s"), ["q1", "a1", "q2", "a2"]);
    let undone = program.get("agent_session_rollback", json!(["s"]));
    let expected = json!({
        "ok": true, "session_id": "s", "message_count": 2, "can_rollback": true, "can_redo": true,
    });
    assert_eq!(undone, expected);
    assert_eq!(texts(&program, "s"), ["q1", "a1"]);
    program.get("agent_session_redo", json!(["s"]));
    assert_eq!(texts(&program, "s"), ["q1", "a1", "q2", "a2"]);
    program.get("agent_session_rollback", json!(["s"]));
    program.get("agent_session_rollback", json!(["s"]));
    assert_eq!(texts(&program, "s"), [""; 0]);
    let nothing = program.get("agent_session_rollback", json!(["s"]));
    assert_eq!(
        (&nothing["ok"], &nothing["can_redo"]),
        (&json!(false), &json!(true))
    );
}

#[test]
fn a_new_turn_replaces_the_one_that_was_undone() {
    let program = Program::default();
    for text in ["a1", "a2"] {
        program.mock(text);
    }
    program.run("q1", "s");
    program.get("agent_session_rollback", json!(["s"]));
    program.run("q2", "s");
    let nothing = program.get("agent_session_redo", json!(["s"]));
    assert_eq!(nothing["ok"], false);
    assert_eq!(texts(&program, "s"), ["q2", "a2"]);
}

#[test]
fn a_journal_that_is_read_again_undoes_the_same_turns() {
    let log = Arc::new(AnyEventLog::Memory(MemoryEventLog::new(256)));
    let program = Program::with(RuntimeOptions {
        log: Some(Arc::clone(&log)),
        ..RuntimeOptions::default()
    });
    for text in ["a1", "a2", "a3"] {
        program.mock(text);
    }
    program.run("q1", "s");
    program.run("q2", "s");
    program.get("agent_session_compact", json!(["s", {"keep_last": 1}]));
    program.get("agent_session_rollback", json!(["s"]));
    program.get("agent_session_redo", json!(["s"]));
    program.get("agent_session_rollback", json!(["s"]));
    program.get(
        "agent_session_set_scratchpad",
        json!(["s", {"goals": ["ship"]}]),
    );
    let session = program.runtime.session("s").unwrap();
    block_on(session.barrier());
    let again = block_on(load_session(&*log, "s", None)).unwrap();
    assert_eq!(session.read(Clone::clone), again);
    assert_eq!(again.turns.undone(), 1);
}
