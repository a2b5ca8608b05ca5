//! The free functions in front of the process-default bus. All tests of this
//! file share that bus, so each has sessions of its own, and none resets it.

#[path = "events/support/mod.rs"]
mod support;

use std::sync::Arc;

use harn_events::{
    AgentEventSink, LoopSinkGuard, clear_session_sinks, current_agent_session_id, current_policy,
    default_bus, drain_global_pending_feedback, drain_pending_feedback, emit_agent_event,
    emit_agent_event_sync, emit_event, flush_and_clear_session_sinks, flush_session_sinks,
    mirror_session_sinks, push_pending_feedback, push_pending_feedback_global,
    register_session_end_hook, register_sink, register_wildcard_sink, scope_agent_event_sink,
    session_closure_subscriber_count, session_external_sink_count, session_has_external_sink,
    unregister_wildcard_sink,
};

use support::{
    Diary, Recording, block_on, message, telling_sink, telling_subscriber, within_patience,
    yield_once,
};

#[test]
fn every_way_to_emit_takes_the_whole_path() {
    let diary = Diary::default();
    register_sink("emit", telling_sink("sink", &diary));
    default_bus().subscribe("emit", telling_subscriber("closure", &diary));
    let _loop_sink = LoopSinkGuard::install(Some(telling_sink("loop", &diary)));

    emit_event(&message("emit", "1"));
    emit_agent_event_sync(&message("emit", "2"));
    diary.check(&["sink:1", "loop:1", "sink:2", "loop:2"]);
    diary.clear();
    block_on(emit_agent_event(&message("emit", "3")));
    diary.check(&["sink:3", "loop:3", "closure:1", "closure:2", "closure:3"]);
}

#[test]
fn sinks_are_counted_recognised_and_cleared() {
    let (one, other): (Arc<dyn AgentEventSink>, Arc<dyn AgentEventSink>) =
        (Recording::new(), Recording::new());
    assert_eq!(session_external_sink_count("count"), 0);
    register_sink("count", Arc::clone(&one));
    register_sink(String::from("count"), Arc::clone(&one));
    assert_eq!(session_external_sink_count("count"), 2);
    assert!(session_has_external_sink("count", &one));
    assert!(!session_has_external_sink("count", &other));

    default_bus().subscribe("count", telling_subscriber("closure", &Diary::default()));
    clear_session_sinks("count");
    assert_eq!(session_external_sink_count("count"), 0);
    assert_eq!(session_closure_subscriber_count("count"), 1);
}

#[test]
fn sinks_can_be_mirrored() {
    register_sink("mirror-source", Recording::new());
    mirror_session_sinks("mirror-source", "mirror-target");
    mirror_session_sinks("mirror-source", "mirror-source");
    assert_eq!(session_external_sink_count("mirror-source"), 1);
    assert_eq!(session_external_sink_count("mirror-target"), 1);
}

#[test]
fn a_wildcard_sink_reads_until_it_is_unregistered() {
    let recording = Recording::new();
    let handle = register_wildcard_sink(recording.clone());
    emit_event(&message("wildcard", "1"));
    unregister_wildcard_sink(handle);
    unregister_wildcard_sink(handle);
    emit_event(&message("wildcard", "2"));
    let mine = recording
        .texts()
        .into_iter()
        .zip(recording.events())
        .filter(|(_, event)| event.session_id() == "wildcard")
        .map(|(text, _)| text);
    assert_eq!(mine.collect::<Vec<_>>(), ["1"]);
}

#[test]
fn flushing_passes_errors_on_and_clears() {
    register_sink("flush", Recording::new());
    assert_eq!(block_on(flush_session_sinks("flush")), Ok(()));
    assert_eq!(session_external_sink_count("flush"), 1);
    assert_eq!(block_on(flush_and_clear_session_sinks("flush")), Ok(()));
    assert_eq!(session_external_sink_count("flush"), 0);
}

#[test]
fn the_current_session_is_that_of_the_running_loop() {
    assert_eq!(current_agent_session_id(), None);
    let guard = default_bus().enter_session("current");
    assert_eq!(current_agent_session_id().as_deref(), Some("current"));
    drop(guard);
    assert_eq!(current_agent_session_id(), None);
}

#[test]
fn a_scoped_sink_reads_what_its_future_emits_and_nothing_else() {
    let recording = Recording::new();
    let sink: Arc<dyn AgentEventSink> = recording.clone();
    let scoped = scope_agent_event_sink(Some(sink), async {
        emit_agent_event_sync(&message("scoped", "1"));
        yield_once().await;
        emit_agent_event(&message("scoped", "2")).await;
        5
    });
    emit_event(&message("scoped", "before"));
    assert_eq!(block_on(scoped), 5);
    emit_event(&message("scoped", "after"));
    recording.check(&["1", "2"]);
}

#[test]
fn feedback_pushed_through_both_functions_comes_out_in_push_order() {
    push_pending_feedback("feedback", "a", "1");
    within_patience("another thread", || {
        push_pending_feedback_global("feedback", "b", "2");
    });
    push_pending_feedback("feedback", "c", "3");
    let pair = |kind: &str, content: &str| (kind.to_owned(), content.to_owned());
    assert_eq!(
        drain_pending_feedback("feedback"),
        [pair("a", "1"), pair("b", "2"), pair("c", "3")]
    );

    push_pending_feedback("feedback", "a", "4");
    push_pending_feedback_global("feedback", "b", "5");
    assert_eq!(drain_global_pending_feedback("feedback"), [pair("b", "5")]);
    assert_eq!(drain_pending_feedback("feedback"), [pair("a", "4")]);
    assert_eq!(drain_pending_feedback("feedback"), []);
}

#[test]
fn a_hook_is_called_with_the_session_of_the_run() {
    let diary = Diary::default();
    register_session_end_hook({
        let diary = diary.clone();
        Arc::new(move |session| {
            if session == "hooked" {
                diary.note(session);
            }
        })
    });
    default_bus().begin_run("hooked").finish("done");
    diary.check(&["hooked"]);
}

#[test]
fn the_policy_in_force_is_the_one_pushed_last() {
    let policy = harn_events::RedactionPolicy::new().with_field("default_functions_pin");
    assert!(!current_policy().is_sensitive_name("default_functions_pin"));
    let guard = default_bus().push_redaction_policy(policy);
    assert!(current_policy().is_sensitive_name("default_functions_pin"));
    drop(guard);
    assert!(!current_policy().is_sensitive_name("default_functions_pin"));
}
