//! A reader can fail, misbehave or go away without anybody else noticing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use harn_events::{
    AgentEvent, AgentEventSink, AgentEventSinkFlush, BusConfig, EventBus, QueueOptions, QueuedSink,
    SubscriberOutcome,
};

use crate::support::{
    self, Diary, DurableFactory, Recording, block_on, message, receive, sink, subscriber,
    telling_sink, text_of, within_patience,
};

fn panicking() -> Arc<dyn AgentEventSink> {
    sink(|_| panic!("a sink that panics"))
}

fn bus_with_patience(panics_max: u32) -> EventBus {
    EventBus::new(BusConfig {
        panics_max,
        ..BusConfig::default()
    })
}

#[test]
fn a_panicking_sink_costs_nobody_else_an_event() {
    let (bus, diary) = (bus_with_patience(100), Diary::default());
    bus.register_sink("s", telling_sink("before", &diary));
    bus.register_sink("s", panicking());
    bus.register_sink("s", telling_sink("after", &diary));
    bus.register_wildcard_sink(panicking());
    bus.register_wildcard_sink(telling_sink("observer", &diary));
    let _loop_sink = bus.install_loop_sink(Some(telling_sink("loop", &diary)));

    for text in ["1", "2"] {
        bus.emit(&message("s", text));
    }

    diary.check(&[
        "before:1",
        "after:1",
        "observer:1",
        "loop:1",
        "before:2",
        "after:2",
        "observer:2",
        "loop:2",
    ]);
    assert_eq!(bus.health().sink_panics, 4);
    assert_eq!(bus.session_health("s").unwrap().sink_panics, 2);
}

#[test]
fn a_sink_that_goes_on_panicking_is_detached() {
    let bus = bus_with_patience(3);
    let (calls, recording) = (Arc::new(AtomicUsize::new(0)), Recording::new());
    bus.register_sink("s", {
        let calls = Arc::clone(&calls);
        sink(move |_| {
            calls.fetch_add(1, Ordering::Relaxed);
            panic!("again");
        })
    });
    bus.register_sink("s", recording.clone());
    for _ in 0..10 {
        bus.emit(&message("s", "x"));
    }
    assert_eq!(calls.load(Ordering::Relaxed), 3);
    assert_eq!(recording.len(), 10);
    assert_eq!(bus.health().sink_panics, 3);
    assert_eq!(bus.session_health("s").unwrap().detached_sinks, 1);
    assert_eq!(bus.session_sink_count("s"), 1);
}

#[test]
fn a_sink_that_panics_now_and_then_stays_for_what_it_is_allowed() {
    let bus = bus_with_patience(3);
    let diary = Diary::default();
    bus.register_sink("s", {
        let diary = diary.clone();
        sink(move |event| {
            assert_ne!(text_of(event), "bad", "on purpose");
            diary.note(text_of(event));
        })
    });
    for text in ["1", "bad", "2", "bad", "3"] {
        bus.emit(&message("s", text));
    }
    diary.check(&["1", "2", "3"]);
}

#[test]
fn a_panic_in_a_nested_delivery_is_contained_too() {
    let bus = bus_with_patience(100);
    let recording = Recording::new();
    bus.register_sink("s", {
        let bus = bus.clone();
        sink(move |event| {
            if text_of(event) == "1" {
                bus.emit(&message("s", "2"));
            }
            panic!("after emitting");
        })
    });
    bus.register_sink("s", recording.clone());
    bus.emit(&message("s", "1"));
    bus.emit(&message("s", "3"));
    recording.check(&["1", "2", "3"]);
}

#[test]
fn a_panicking_loop_sink_and_closure_leave_the_loop_running() {
    let (bus, diary) = (bus_with_patience(1), Diary::default());
    let _loop_sink = bus.install_loop_sink(Some(panicking()));
    bus.subscribe(
        "s",
        subscriber("panics at once", |event| {
            assert_ne!(text_of(&event), "1", "before there is a future");
            async { Ok(SubscriberOutcome::Ran) }
        }),
    );
    bus.subscribe(
        "s",
        subscriber("panics later", |event| async move {
            support::yield_once().await;
            assert_ne!(text_of(&event), "1", "while it is polled");
            Ok(SubscriberOutcome::Ran)
        }),
    );
    bus.subscribe("s", support::telling_subscriber("closure", &diary));
    for text in ["1", "2"] {
        block_on(bus.emit_and_await(&message("s", text)));
    }
    diary.check(&["closure:1", "closure:2"]);
    assert_eq!(bus.health().subscriber_failures, 2);
    assert_eq!(bus.health().subscriber_deliveries, 4);
}

/// A sink whose flush panics.
struct PanicsOnFlush;

impl AgentEventSink for PanicsOnFlush {
    fn handle_event(&self, _event: &AgentEvent) {}

    fn flush(&self) -> AgentEventSinkFlush<'_> {
        panic!("a flush that panics")
    }
}

#[test]
fn a_panicking_flush_becomes_an_error_and_the_others_are_flushed() {
    let bus = EventBus::default();
    let flushed = Diary::default();
    struct NotesFlush(Diary);
    impl AgentEventSink for NotesFlush {
        fn handle_event(&self, _event: &AgentEvent) {}
        fn flush(&self) -> AgentEventSinkFlush<'_> {
            self.0.note("flushed");
            Box::pin(std::future::ready(Ok(())))
        }
    }
    bus.register_sink("s", Arc::new(PanicsOnFlush));
    bus.register_sink("s", Arc::new(NotesFlush(flushed.clone())));
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        block_on(bus.flush_and_clear_session_sinks("s"))
    }));
    let outcome = outcome.expect("a reader's panic stays with the reader");
    assert!(outcome.is_err(), "what was not flushed is reported");
    flushed.check(&["flushed"]);
    assert_eq!(bus.session_sink_count("s"), 0);
}

#[test]
fn a_durable_sink_that_cannot_be_opened_does_not_prevent_the_session() {
    struct Broken;
    impl harn_events::DurableSinks for Broken {
        fn open(
            &self,
            _session_id: &str,
            _redaction: &harn_events::RedactionPolicy,
        ) -> std::io::Result<Arc<dyn AgentEventSink>> {
            Err(std::io::Error::other("no disk"))
        }
    }
    let bus = EventBus::new(BusConfig {
        durable: Some(Arc::new(Broken)),
        ..BusConfig::default()
    });
    let recording = Recording::new();
    bus.register_sink("s", recording.clone());
    bus.open_session("s").unwrap();
    bus.emit(&message("s", "1"));
    recording.check(&["1"]);
    assert_eq!(bus.health().attach_failures, 1);
}

#[test]
fn a_panicking_durable_sink_is_contained() {
    let bus = EventBus::new(BusConfig {
        durable: Some(Arc::new(DurableFactory(panicking()))),
        ..BusConfig::default()
    });
    let recording = Recording::new();
    bus.open_session("s").unwrap();
    bus.register_sink("s", recording.clone());
    bus.emit(&message("s", "1"));
    recording.check(&["1"]);
}

#[test]
fn a_sink_may_wait_for_a_thread_that_uses_its_session() {
    let bus = EventBus::default();
    let recording = Recording::new();
    bus.register_sink("s", {
        let bus = bus.clone();
        sink(move |event| {
            if text_of(event) != "1" {
                return;
            }
            let bus = bus.clone();
            let helper = thread::spawn(move || {
                bus.emit(&message("s", "from the helper"));
                drop(bus.register("s", Recording::new()));
                bus.register_wildcard_sink(Recording::new());
                bus.push_feedback("s", "note", "x", harn_events::InboxSource::Outside);
                bus.session_health("s");
                bus.health();
            });
            helper.join().unwrap();
        })
    });
    bus.register_sink("s", recording.clone());
    within_patience("a sink that joins another emitter", {
        let bus = bus.clone();
        move || bus.emit(&message("s", "1"))
    });
    recording.check(&["1", "from the helper"]);
}

#[test]
fn a_sink_may_wait_for_a_thread_that_closes_its_session() {
    let bus = EventBus::default();
    let recording = Recording::new();
    bus.open_session("s").unwrap();
    bus.register_sink("s", {
        let bus = bus.clone();
        sink(move |event| {
            if text_of(event) == "1" {
                let bus = bus.clone();
                let closer = thread::spawn(move || bus.close_session("s", Default::default()));
                closer.join().unwrap();
            }
        })
    });
    bus.register_sink("s", recording.clone());
    within_patience("a sink that joins whoever closes its session", {
        let bus = bus.clone();
        move || bus.emit(&message("s", "1"))
    });
    recording.check(&["1", "session_closed"]);
    assert_eq!(bus.health().sessions, 0);
}

/// A reader that uses the bus when it goes away, as a sink that writes a last
/// event or drains a queue would.
struct SaysGoodbye(EventBus);

impl AgentEventSink for SaysGoodbye {
    fn handle_event(&self, _event: &AgentEvent) {}
}

impl Drop for SaysGoodbye {
    fn drop(&mut self) {
        self.0.emit(&message("s", "goodbye"));
        self.0.health();
    }
}

/// Registers such a reader, takes it away again with `remove`, and expects that
/// no lock was held while it went.
#[track_caller]
fn check_goodbye(promise: &'static str, remove: impl FnOnce(&EventBus) + Send + 'static) {
    let bus = EventBus::default();
    bus.open_session("s").expect("there is room");
    bus.register_sink("s", Arc::new(SaysGoodbye(bus.clone())));
    within_patience(promise, move || remove(&bus));
}

#[test]
fn no_lock_is_held_while_a_cleared_sink_is_dropped() {
    check_goodbye("clearing", |bus| bus.clear_session_sinks("s"));
}

#[test]
fn no_lock_is_held_while_the_sinks_of_a_closed_session_are_dropped() {
    check_goodbye("closing", |bus| bus.close_session("s", Default::default()));
}

#[test]
fn no_lock_is_held_while_the_sinks_of_a_reset_bus_are_dropped() {
    check_goodbye("resetting", EventBus::reset);
}

#[test]
fn no_lock_is_held_while_a_session_closed_by_its_sink_is_dropped() {
    check_goodbye("closing from a sink", |bus| {
        bus.register_sink("s", {
            let bus = bus.clone();
            sink(move |event| {
                if text_of(event) == "1" {
                    bus.register_sink("s", Arc::new(SaysGoodbye(bus.clone())));
                    bus.close_session("s", Default::default());
                }
            })
        });
        bus.emit(&message("s", "1"));
    });
}

#[test]
fn no_lock_is_held_while_a_guard_drops_its_sink() {
    let bus = EventBus::default();
    let guard = bus.register("s", Arc::new(SaysGoodbye(bus.clone())));
    within_patience("dropping a guard", move || drop(guard));
}

#[test]
fn no_lock_is_held_while_an_observer_is_dropped() {
    let bus = EventBus::default();
    let guard = bus.observe(Arc::new(SaysGoodbye(bus.clone())));
    within_patience("dropping an observer", move || drop(guard));
}

#[test]
fn no_lock_is_held_while_a_closure_is_dropped() {
    let bus = EventBus::default();
    let goodbye = SaysGoodbye(bus.clone());
    let id = bus.subscribe(
        "s",
        support::listener(move |_| {
            let _kept = &goodbye;
        }),
    );
    within_patience("unsubscribing", move || bus.unsubscribe("s", id));
}

#[test]
fn no_lock_is_held_while_a_hook_is_dropped() {
    let bus = EventBus::default();
    let goodbye = SaysGoodbye(bus.clone());
    let hook = bus.session_end_hook(Arc::new(move |_| {
        let _kept = &goodbye;
    }));
    within_patience("dropping a hook", {
        let bus = bus.clone();
        move || {
            drop(hook);
            assert_eq!(bus.health().hooks, 0);
        }
    });
}

#[test]
fn no_lock_is_held_while_a_loop_sink_is_dropped() {
    let bus = EventBus::default();
    within_patience("dropping a loop sink", move || {
        let guard = bus.install_loop_sink(Some(Arc::new(SaysGoodbye(bus.clone()))));
        drop(guard);
    });
}

/// Sends a signal when it goes away.
struct Signals(mpsc::Sender<()>);

impl AgentEventSink for Signals {
    fn handle_event(&self, _event: &AgentEvent) {}
}

impl Drop for Signals {
    fn drop(&mut self) {
        // Nobody listens any more once the test has failed.
        let _ = self.0.send(());
    }
}

#[test]
fn clearing_drains_a_queued_sink_that_emits() {
    let bus = EventBus::default();
    let (entered, has_entered) = mpsc::channel();
    let (leave, may_leave) = mpsc::channel::<()>();
    let may_leave = Mutex::new(may_leave);
    let slow = sink({
        let bus = bus.clone();
        move |event| {
            if text_of(event) == "1" {
                entered.send(()).unwrap();
                receive(&may_leave.lock().unwrap());
                bus.emit(&message("s", "late"));
            }
        }
    });
    let queued = QueuedSink::new(slow, QueueOptions::default()).unwrap();
    // Goes first, so the queue has to be drained while the session is cleared.
    bus.register_sink("s", Arc::new(Signals(leave)));
    bus.register_sink("s", queued);
    bus.emit(&message("s", "1"));
    receive(&has_entered);
    within_patience("clearing while the queue drains", {
        let bus = bus.clone();
        move || bus.clear_session_sinks("s")
    });
}

/// A bus with one place in each session's queue, whose session `busy` is being
/// delivered by another thread until the sender is used or dropped.
fn busy_bus() -> (EventBus, mpsc::Sender<()>, thread::JoinHandle<()>) {
    let bus = EventBus::new(BusConfig {
        waiting_events_max: 1,
        ..BusConfig::default()
    });
    let (go_on, may_go_on) = mpsc::channel::<()>();
    let (arrived, has_arrived) = mpsc::channel();
    let may_go_on = Mutex::new(may_go_on);
    bus.register_sink(
        "busy",
        sink(move |event| {
            if text_of(event) == "first" {
                arrived.send(()).expect("the test waits for this");
                // It makes no difference whether the test sends or has ended.
                let _ = may_go_on.lock().expect("one reader").recv();
            }
        }),
    );
    let emitter = thread::spawn({
        let bus = bus.clone();
        move || bus.emit(&message("busy", "first"))
    });
    receive(&has_arrived);
    (bus, go_on, emitter)
}

#[test]
fn a_reader_never_waits_for_room_in_another_session() {
    let (bus, go_on, emitter) = busy_bus();
    bus.emit(&message("busy", "fills the queue"));
    bus.register_sink("other", {
        let bus = bus.clone();
        sink(move |_| bus.emit(&message("busy", "no room for this")))
    });
    within_patience("a reader that emits to a full session", {
        let bus = bus.clone();
        move || bus.emit(&message("other", "1"))
    });
    assert_eq!(bus.health().refused, 1);
    go_on.send(()).unwrap();
    emitter.join().unwrap();
}

#[test]
fn whoever_waits_for_a_session_is_let_go_when_the_bus_is_reset() {
    let (bus, go_on, emitter) = busy_bus();
    let (done, is_done) = mpsc::channel();
    let waiter = thread::spawn({
        let bus = bus.clone();
        move || {
            bus.settle("busy");
            done.send(()).unwrap();
        }
    });
    bus.reset();
    receive(&is_done);
    waiter.join().unwrap();
    go_on.send(()).unwrap();
    emitter.join().unwrap();
}
