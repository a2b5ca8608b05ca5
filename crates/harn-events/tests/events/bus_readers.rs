//! Which events a reader gets, and how readers come and go.

use std::future::ready;
use std::sync::{Arc, mpsc};
use std::thread;

use harn_events::{
    AgentEvent, AgentEventSink, AgentEventSinkError, AgentEventSinkFlush, EventBus, MultiSink,
    OpaqueEvent, RecordedEvent,
};

use crate::support::{
    Diary, Recording, block_on, listener, message, receive, sink, telling_subscriber, text_of,
    within_patience,
};

/// Registers a reader for each id, emits one event per id, and expects each
/// reader to have exactly its own.
#[track_caller]
fn check_routing(ids: &[&str]) {
    let bus = EventBus::default();
    let readers: Vec<_> = ids.iter().map(|id| (*id, Recording::new())).collect();
    for (id, reader) in &readers {
        bus.register_sink(*id, reader.clone());
    }
    for id in ids {
        bus.emit(&message(id, id));
    }
    for (id, reader) in readers {
        assert_eq!(reader.texts(), [id], "reader of {id:?}");
    }
}

#[test]
fn a_reader_gets_the_events_whose_session_is_its_own_byte_for_byte() {
    check_routing(&["a", "ab", "abc", "a/b", "a/", "/a", "A", " a", "a "]);
    check_routing(&["*", "a*", "?", ".*", "%", "a:b", "a:*", "\0", "a\0"]);
    // The same letter in two spellings is two sessions.
    check_routing(&["\u{e9}", "e\u{301}", "E\u{301}", "\u{c9}"]);
    check_routing(&["parent", "parent/child", "parent.child", "child"]);
}

#[test]
fn an_event_nobody_reads_is_counted() {
    let bus = EventBus::default();
    bus.emit(&message("s", "1"));
    assert_eq!(bus.health().emitted, 1);
    assert_eq!(bus.health().unheard, 1);
    assert_eq!(bus.health().sessions, 0, "it leaves nothing behind");
}

#[test]
fn clearing_a_session_removes_its_sinks_and_nothing_else() {
    let bus = EventBus::default();
    let (here, there, closure) = (Recording::new(), Recording::new(), Diary::default());
    bus.open_session("here").unwrap();
    bus.register_sink("here", here.clone());
    bus.register_sink("there", there.clone());
    bus.subscribe("here", telling_subscriber("closure", &closure));
    bus.push_feedback("here", "note", "text", harn_events::InboxSource::Loop);

    bus.clear_session_sinks("here");
    block_on(bus.emit_and_await(&message("here", "1")));
    bus.emit(&message("there", "2"));

    here.check(&[]);
    there.check(&["2"]);
    closure.check(&["closure:1"]);
    assert!(bus.is_session_open("here"));
    assert_eq!(bus.drain_feedback("here").len(), 1);
}

#[test]
fn a_guard_removes_its_own_registration_and_no_other() {
    let bus = EventBus::default();
    let recording = Recording::new();
    let first = bus.register("s", recording.clone());
    let second = bus.register("s", recording.clone());
    let elsewhere = bus.register("t", recording.clone());
    assert_eq!(bus.session_sink_count("s"), 2);

    drop(first);
    assert_eq!(bus.session_sink_count("s"), 1);
    assert_eq!(bus.session_sink_count("t"), 1);
    bus.emit(&message("s", "1"));
    recording.check(&["1"]);

    drop(second);
    drop(elsewhere);
    assert_eq!(bus.health().sinks, 0);
    assert_eq!(bus.health().sessions, 0);
}

#[test]
fn a_guard_that_outlives_its_registration_spares_the_next_one() {
    let bus = EventBus::default();
    let old = bus.register("s", Recording::new());
    bus.clear_session_sinks("s");
    let recording = Recording::new();
    bus.register_sink("s", recording.clone());
    drop(old);
    bus.emit(&message("s", "1"));
    recording.check(&["1"]);
}

#[test]
fn a_guard_may_outlive_its_bus() {
    let bus = EventBus::default();
    let guards = (
        bus.register("s", Recording::new()),
        bus.observe(Recording::new()),
        bus.session_end_hook(Arc::new(|_| {})),
        bus.install_loop_sink(None),
    );
    drop(bus);
    drop(guards);
}

#[test]
fn an_observer_reads_every_session_until_it_is_unregistered() {
    let bus = EventBus::default();
    let (first, second) = (Recording::new(), Recording::new());
    let handle = bus.register_wildcard_sink(first.clone());
    bus.register_wildcard_sink(second.clone());
    bus.emit(&message("a", "1"));
    bus.emit(&message("b", "2"));

    bus.unregister_wildcard_sink(handle);
    bus.emit(&message("a", "3"));
    // By now the handle is unknown, which is not an error.
    bus.unregister_wildcard_sink(handle);
    bus.emit(&message("a", "4"));

    first.check(&["1", "2"]);
    second.check(&["1", "2", "3", "4"]);
}

#[test]
fn an_observer_is_not_a_sink_of_any_session() {
    let bus = EventBus::default();
    let recording = Recording::new();
    let _observer = bus.observe(recording.clone());
    bus.clear_session_sinks("s");
    bus.emit(&message("s", "1"));
    recording.check(&["1"]);
    assert_eq!(bus.session_sink_count("s"), 0);
    let observer: Arc<dyn AgentEventSink> = recording;
    assert!(!bus.session_has_sink("s", &observer));
}

#[test]
fn a_sink_is_recognised_by_identity() {
    let bus = EventBus::default();
    let (one, twin): (Arc<dyn AgentEventSink>, Arc<dyn AgentEventSink>) =
        (Recording::new(), Recording::new());
    bus.register_sink("s", Arc::clone(&one));
    assert!(bus.session_has_sink("s", &one));
    assert!(bus.session_has_sink("s", &Arc::clone(&one)));
    assert!(!bus.session_has_sink("s", &twin));
    assert!(!bus.session_has_sink("t", &one));
    bus.clear_session_sinks("s");
    assert!(!bus.session_has_sink("s", &one));
}

#[test]
fn mirroring_adds_what_the_target_does_not_have() {
    let bus = EventBus::default();
    let (shared, extra) = (Recording::new(), Recording::new());
    bus.register_sink("source", shared.clone());
    bus.register_sink("source", extra.clone());
    bus.register_sink("target", shared.clone());

    bus.mirror_session_sinks("source", "target");
    bus.mirror_session_sinks("source", "target");
    assert_eq!(bus.session_sink_count("target"), 2);
    assert_eq!(bus.session_sink_count("source"), 2);

    bus.emit(&message("target", "1"));
    shared.check(&["1"]);
    extra.check(&["1"]);
}

#[test]
fn mirroring_copies_sinks_once_and_not_for_ever() {
    let bus = EventBus::default();
    let (early, late) = (Recording::new(), Recording::new());
    bus.register_sink("source", early.clone());
    bus.mirror_session_sinks("source", "target");
    bus.register_sink("source", late.clone());
    bus.clear_session_sinks("source");
    bus.emit(&message("target", "1"));
    early.check(&["1"]);
    late.check(&[]);
}

#[test]
fn mirroring_needs_two_different_sessions_with_a_name() {
    let bus = EventBus::default();
    bus.register_sink("s", Recording::new());
    bus.register_sink("", Recording::new());
    bus.mirror_session_sinks("s", "s");
    bus.mirror_session_sinks("s", "");
    bus.mirror_session_sinks("", "s");
    assert_eq!(bus.session_sink_count("s"), 1);
    assert_eq!(bus.session_sink_count(""), 1);
    bus.mirror_session_sinks("unknown", "fresh");
    assert_eq!(bus.session_sink_count("fresh"), 0);
}

/// A sink whose flush fails, and that notes that it was asked.
struct Failing(AgentEventSinkError, Diary);

impl AgentEventSink for Failing {
    fn handle_event(&self, _event: &AgentEvent) {}

    fn flush(&self) -> AgentEventSinkFlush<'_> {
        self.1.note(self.0.message());
        Box::pin(ready(Err(self.0.clone())))
    }
}

fn failing(
    message: &'static str,
    dropped_events: u64,
    asked: &Diary,
) -> (AgentEventSinkError, Arc<dyn AgentEventSink>) {
    let error = AgentEventSinkError::new("jsonl", message, dropped_events);
    (error.clone(), Arc::new(Failing(error, asked.clone())))
}

#[test]
fn a_flush_error_says_which_sink_what_and_how_many() {
    let error = AgentEventSinkError::new("jsonl", "disk full", 3);
    assert_eq!(
        error.to_string(),
        "jsonl sink flush failed: disk full (3 dropped events)"
    );
    assert_eq!(
        (error.sink(), error.message(), error.dropped_events()),
        ("jsonl", "disk full", 3)
    );
    let error = AgentEventSinkError::new("event_log", "closed", 0);
    assert_eq!(error.to_string(), "event_log sink flush failed: closed");
}

#[test]
fn flushing_asks_every_sink_and_returns_the_first_error() {
    let (bus, asked) = (EventBus::default(), Diary::default());
    let (first, one) = failing("one", 1, &asked);
    let (_, two) = failing("two", 2, &asked);
    bus.register_sink("s", Recording::new());
    bus.register_sink("s", one);
    bus.register_sink("s", two);
    assert_eq!(block_on(bus.flush_session_sinks("s")), Err(first));
    asked.check(&["one", "two"]);
    assert_eq!(bus.session_sink_count("s"), 3);
    assert_eq!(block_on(bus.flush_session_sinks("unknown")), Ok(()));
}

#[test]
fn a_multi_sink_flushes_every_member_and_returns_the_first_error() {
    let (asked, multi) = (Diary::default(), MultiSink::new());
    let (first, one) = failing("one", 1, &asked);
    let (_, two) = failing("two", 2, &asked);
    multi.push(one);
    multi.push(two);
    assert_eq!(block_on(multi.flush()), Err(first));
    asked.check(&["one", "two"]);
}

#[test]
fn flush_and_clear_clears_also_when_flushing_failed() {
    let (bus, asked) = (EventBus::default(), Diary::default());
    let (error, sink) = failing("one", 0, &asked);
    bus.register_sink("s", sink);
    assert_eq!(block_on(bus.flush_and_clear_session_sinks("s")), Err(error));
    assert_eq!(bus.session_sink_count("s"), 0);
    bus.register_sink("s", Recording::new());
    assert_eq!(block_on(bus.flush_and_clear_session_sinks("s")), Ok(()));
    assert_eq!(bus.session_sink_count("s"), 0);
}

#[track_caller]
fn opaque(text: &str) -> OpaqueEvent {
    match RecordedEvent::decode(text) {
        Ok(RecordedEvent::Opaque(event)) => event,
        other => panic!("not an opaque record: {other:?}"),
    }
}

#[test]
fn a_record_we_do_not_understand_reaches_the_sinks_that_ask_for_it() {
    let bus = EventBus::default();
    let (asking, elsewhere, observer) = (Recording::new(), Recording::new(), Recording::new());
    let (plain, closure) = (Diary::default(), Diary::default());
    bus.register_sink("s", asking.clone());
    bus.register_sink("other", elsewhere.clone());
    bus.register_sink("s", {
        let plain = plain.clone();
        sink(move |event| plain.note(text_of(event)))
    });
    let _observer = bus.observe(observer.clone());
    bus.subscribe("s", {
        let closure = closure.clone();
        listener(move |event| closure.note(text_of(&event)))
    });

    bus.emit_opaque(&opaque(
        r#"{"type":"from_the_future","session_id":"s","x":1}"#,
    ));
    block_on(bus.emit_and_await(&message("s", "1")));

    assert_eq!(asking.opaque_tags(), ["from_the_future"]);
    assert_eq!(observer.opaque_tags(), ["from_the_future"]);
    assert_eq!(elsewhere.opaque_tags(), [""; 0]);
    plain.check(&["1"]);
    closure.check(&["1"]);
}

#[test]
fn a_record_without_a_session_belongs_to_no_session() {
    let bus = EventBus::default();
    let (nameless, observer) = (Recording::new(), Recording::new());
    bus.register_sink("", nameless.clone());
    let _observer = bus.observe(observer.clone());
    bus.emit_opaque(&opaque(r#"{"type":"from_the_future"}"#));
    assert_eq!(observer.opaque_tags(), ["from_the_future"]);
    assert_eq!(nameless.opaque_tags(), [""; 0]);
}

#[test]
fn settling_waits_for_what_another_thread_delivers() {
    let bus = EventBus::default();
    let recording = Recording::new();
    let (entered, has_entered) = mpsc::channel();
    let (leave, may_leave) = mpsc::channel::<()>();
    let may_leave = std::sync::Mutex::new(may_leave);
    bus.register_sink(
        "s",
        sink(move |event| {
            if text_of(event) == "1" {
                entered.send(()).unwrap();
                receive(&may_leave.lock().unwrap());
            }
        }),
    );
    bus.register_sink("s", recording.clone());

    let delivering = thread::spawn({
        let bus = bus.clone();
        move || bus.emit(&message("s", "1"))
    });
    receive(&has_entered);
    let (settled, seen) = mpsc::channel();
    let settling = thread::spawn({
        let (bus, recording) = (bus.clone(), recording.clone());
        move || {
            bus.emit(&message("s", "2"));
            settled.send(Vec::new()).unwrap();
            bus.settle("s");
            settled.send(recording.texts()).unwrap();
        }
    });
    assert!(receive(&seen).is_empty(), "emitting does not wait");
    leave.send(()).unwrap();
    assert_eq!(receive(&seen), ["1", "2"]);
    delivering.join().unwrap();
    settling.join().unwrap();
}

#[test]
fn a_reader_that_settles_its_own_session_does_not_wait_for_itself() {
    let bus = EventBus::default();
    bus.register_sink("s", {
        let bus = bus.clone();
        sink(move |_| {
            bus.settle("s");
            block_on(bus.flush_session_sinks("s")).unwrap();
        })
    });
    within_patience("settling from a sink", move || {
        bus.emit(&message("s", "1"));
        bus.settle("s");
        bus.settle("unknown");
    });
}
