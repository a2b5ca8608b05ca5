//! Resetting the process-default bus. It touches every session, so this test has
//! a process of its own.

#[path = "events/support/mod.rs"]
mod support;

use harn_events::{
    LoopSinkGuard, default_bus, drain_pending_feedback, emit_event, push_pending_feedback,
    register_sink, reset_all_sinks, session_closure_subscriber_count, session_external_sink_count,
};

use support::{Diary, Recording, message, telling_subscriber};

#[test]
fn a_reset_removes_every_sink_and_every_session_but_no_loop_sink() {
    let (sink, loop_sink) = (Recording::new(), Recording::new());
    for session in ["a", "b"] {
        default_bus().open_session(session).unwrap();
        register_sink(session, sink.clone());
        default_bus().subscribe(session, telling_subscriber("closure", &Diary::default()));
        push_pending_feedback(session, "note", "x");
    }
    let _loop_sink = LoopSinkGuard::install(Some(loop_sink.clone()));

    reset_all_sinks();
    emit_event(&message("a", "1"));

    sink.check(&[]);
    loop_sink.check(&["1"]);
    for session in ["a", "b"] {
        assert_eq!(session_external_sink_count(session), 0);
        assert_eq!(session_closure_subscriber_count(session), 0);
        assert_eq!(drain_pending_feedback(session), []);
        assert!(!default_bus().is_session_open(session));
    }
    let health = default_bus().health();
    assert_eq!(
        (health.sessions, health.sinks, health.subscribers),
        (0, 0, 0)
    );

    // The bus works on as if new.
    default_bus().open_session("a").unwrap();
    register_sink("a", sink.clone());
    emit_event(&message("a", "2"));
    sink.check(&["2"]);
}
