//! In which order readers are called, and what they agree on.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use harn_events::{AgentEventSink, BusConfig, EventBus, ManualClock, MultiSink};

use crate::support::{
    Diary, DurableFactory, Recording, block_on, message, sink, telling_sink, telling_subscriber,
    text_of,
};

#[test]
fn sinks_come_first_then_observers_then_the_loop_sink_then_closures() {
    let diary = Diary::default();
    let durable = telling_sink("durable", &diary);
    let bus = EventBus::new(BusConfig {
        durable: Some(Arc::new(DurableFactory(durable))),
        ..BusConfig::default()
    });
    // Registered in the wrong order on purpose.
    bus.subscribe("s", telling_subscriber("closure", &diary));
    let _loop_sink = bus.install_loop_sink(Some(telling_sink("loop", &diary)));
    let _observer = bus.observe(telling_sink("observer", &diary));
    bus.register_sink("s", telling_sink("sink", &diary));
    bus.open_session("s").unwrap();

    block_on(bus.emit_and_await(&message("s", "1")));

    diary.check(&["durable:1", "sink:1", "observer:1", "loop:1", "closure:1"]);
}

#[test]
fn readers_of_one_kind_run_in_registration_order() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    for name in ["a", "b", "c"] {
        bus.register_sink("s", telling_sink(&format!("sink-{name}"), &diary));
        bus.register_wildcard_sink(telling_sink(&format!("observer-{name}"), &diary));
        bus.subscribe("s", telling_subscriber(&format!("closure-{name}"), &diary));
    }

    block_on(bus.emit_and_await(&message("s", "1")));

    diary.check(&[
        "sink-a:1",
        "sink-b:1",
        "sink-c:1",
        "observer-a:1",
        "observer-b:1",
        "observer-c:1",
        "closure-a:1",
        "closure-b:1",
        "closure-c:1",
    ]);
}

#[test]
fn a_sink_registered_twice_is_called_twice() {
    let (bus, recording) = (EventBus::default(), Recording::new());
    bus.register_sink("s", recording.clone());
    bus.register_sink("s", recording.clone());
    bus.emit(&message("s", "1"));
    recording.check(&["1", "1"]);
}

#[test]
fn members_of_a_multi_sink_run_in_push_order() {
    let (bus, diary, multi) = (
        EventBus::default(),
        Diary::default(),
        Arc::new(MultiSink::new()),
    );
    assert!(multi.is_empty());
    for name in ["c", "a", "b"] {
        multi.push(telling_sink(name, &diary));
    }
    assert_eq!(multi.len(), 3);
    bus.register_sink("s", multi);

    bus.emit(&message("s", "1"));
    bus.emit(&message("s", "2"));

    diary.check(&["c:1", "a:1", "b:1", "c:2", "a:2", "b:2"]);
}

#[test]
fn a_member_pushed_during_delivery_sees_the_next_event() {
    let (bus, diary, multi) = (
        EventBus::default(),
        Diary::default(),
        Arc::new(MultiSink::new()),
    );
    multi.push(sink({
        let (multi, diary) = (Arc::downgrade(&multi), diary.clone());
        move |event| {
            if text_of(event) == "1"
                && let Some(multi) = multi.upgrade()
            {
                multi.push(telling_sink("late", &diary));
            }
        }
    }));
    bus.register_sink("s", multi);
    for text in ["1", "2"] {
        bus.emit(&message("s", text));
    }
    diary.check(&["late:2"]);
}

#[test]
fn the_members_of_a_multi_sink_get_the_frame_as_it_was_emitted() {
    let bus = EventBus::default();
    let (inside, outside) = (Recording::new(), Recording::new());
    let multi = MultiSink::default();
    multi.push(inside.clone());
    bus.register_sink("s", Arc::new(multi));
    bus.register_sink("s", outside.clone());
    let _frame = bus.enter_frame(4);
    bus.emit(&message("s", "1"));
    assert_eq!(inside.frames(), outside.frames());
}

#[test]
fn a_sink_registered_during_delivery_sees_the_next_event() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    bus.register_sink("s", {
        let (bus, diary) = (bus.clone(), diary.clone());
        sink(move |event| {
            if text_of(event) == "1" {
                bus.register_sink("s", telling_sink("late", &diary));
            }
        })
    });
    for text in ["1", "2"] {
        bus.emit(&message("s", text));
    }
    diary.check(&["late:2"]);
}

#[test]
fn a_sink_that_clears_the_session_ends_delivery_with_this_event() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    bus.register_sink("s", {
        let bus = bus.clone();
        sink(move |_| bus.clear_session_sinks("s"))
    });
    bus.register_sink("s", telling_sink("after", &diary));
    for text in ["1", "2"] {
        bus.emit(&message("s", text));
    }
    // The list was copied before the first call, so event 1 reaches both.
    diary.check(&["after:1"]);
}

#[test]
fn an_event_emitted_by_a_sink_follows_the_one_that_caused_it_for_every_reader() {
    let bus = EventBus::default();
    let (before, after, observer) = (Recording::new(), Recording::new(), Recording::new());
    bus.register_sink("s", before.clone());
    bus.register_sink("s", {
        let bus = bus.clone();
        sink(move |event| match text_of(event).as_str() {
            "1" => {
                bus.emit(&message("s", "1.1"));
                bus.emit(&message("s", "1.2"));
            }
            "1.1" => bus.emit(&message("s", "1.1.1")),
            _ => {}
        })
    });
    bus.register_sink("s", after.clone());
    let _observer = bus.observe(observer.clone());

    bus.emit(&message("s", "1"));
    // Everything has arrived when the outermost emission returns.
    let expected = ["1", "1.1", "1.2", "1.1.1"];
    before.check(&expected);
    after.check(&expected);
    observer.check(&expected);
    assert_eq!(before.frames(), after.frames());
    assert_eq!(before.frames(), observer.frames());

    bus.emit(&message("s", "2"));
    assert_eq!(before.texts().last().unwrap(), "2");
}

#[test]
fn a_sink_may_emit_to_another_session() {
    let bus = EventBus::default();
    let (here, there) = (Recording::new(), Recording::new());
    bus.register_sink("here", {
        let bus = bus.clone();
        sink(move |event| bus.emit(&message("there", &format!("re {}", text_of(event)))))
    });
    bus.register_sink("here", here.clone());
    bus.register_sink("there", there.clone());
    bus.emit(&message("here", "1"));
    here.check(&["1"]);
    there.check(&["re 1"]);
}

#[test]
fn a_sink_may_close_its_session() {
    let bus = EventBus::default();
    let recording = Recording::new();
    bus.open_session("s").unwrap();
    bus.register_sink("s", {
        let bus = bus.clone();
        sink(move |event| {
            if text_of(event) == "1" {
                bus.close_session("s", Default::default());
            }
        })
    });
    bus.register_sink("s", recording.clone());
    bus.emit(&message("s", "1"));
    bus.emit(&message("s", "2"));
    recording.check(&["1", "session_closed"]);
    assert!(!bus.is_session_open("s"));
    assert_eq!(bus.health().sinks, 0);
    assert_eq!(bus.health().sessions, 0);
}

#[test]
fn a_sink_that_answers_itself_is_stopped_and_counted() {
    let bus = EventBus::new(BusConfig {
        nesting_max: 5,
        ..BusConfig::default()
    });
    let recording = Recording::new();
    bus.register_sink("s", {
        let bus = bus.clone();
        sink(move |event| bus.emit(event))
    });
    bus.register_sink("s", recording.clone());

    bus.emit(&message("s", "echo"));
    // The event itself and one answer for each level.
    assert_eq!(recording.len(), 6);
    assert_eq!(bus.health().too_deep, 1);

    bus.emit(&message("s", "echo"));
    assert_eq!(
        recording.len(),
        12,
        "a stopped echo does not cost later events"
    );
    assert_eq!(bus.health().too_deep, 2);
}

#[test]
fn sessions_that_answer_each_other_are_stopped_and_counted() {
    let bus = EventBus::new(BusConfig {
        nesting_max: 5,
        ..BusConfig::default()
    });
    for (here, there) in [("a", "b"), ("b", "a")] {
        let inside = bus.clone();
        bus.register_sink(here, sink(move |_| inside.emit(&message(there, "echo"))));
    }
    bus.emit(&message("a", "echo"));
    assert!(bus.health().too_deep > 0);
}

#[test]
fn an_observer_that_answers_in_ever_new_sessions_is_stopped_and_counted() {
    const STOP: usize = 100;
    let bus = EventBus::new(BusConfig {
        nesting_max: 5,
        ..BusConfig::default()
    });
    let calls = Arc::new(AtomicUsize::new(0));
    bus.register_wildcard_sink({
        let (bus, calls) = (bus.clone(), Arc::clone(&calls));
        sink(move |_| {
            // Without an end of its own, this test would end the process.
            let call = calls.fetch_add(1, Ordering::Relaxed);
            if call < STOP {
                bus.emit(&message(&format!("s{call}"), "echo"));
            }
        })
    });
    bus.emit(&message("first", "echo"));
    assert_eq!(calls.load(Ordering::Relaxed), 6);
    assert_eq!(bus.health().too_deep, 1);
}

#[test]
fn times_never_decrease_although_the_clock_does() {
    let clock = Arc::new(ManualClock::at(1_000));
    let bus = EventBus::new(BusConfig {
        clock: clock.clone(),
        ..BusConfig::default()
    });
    let (one, other) = (Recording::new(), Recording::new());
    bus.register_sink("s", one.clone());
    bus.register_sink("s", other.clone());
    for now in [1_000, 1_500, 400, -7, 1_499, 1_501, i64::MIN] {
        clock.set(now);
        bus.emit(&message("s", "tick"));
    }

    let times: Vec<_> = one.frames().iter().map(|f| f.emitted_at_ms).collect();
    assert_eq!(times, [1_000, 1_500, 1_500, 1_500, 1_500, 1_501, 1_501]);
    assert_eq!(
        one.frames(),
        other.frames(),
        "both sinks agree on all of it"
    );
}

#[test]
fn sequence_numbers_rise_with_every_event_of_a_session() {
    let bus = EventBus::default();
    let recording = Recording::new();
    bus.register_sink("s", recording.clone());
    for text in ["1", "2", "3"] {
        bus.emit(&message("other", text));
        bus.emit(&message("s", text));
    }
    let sequences: Vec<_> = recording.frames().iter().map(|f| f.sequence).collect();
    assert!(sequences.is_sorted_by(|a, b| a < b), "{sequences:?}");
}

#[test]
fn events_carry_the_call_depth_in_force_where_they_were_emitted() {
    let bus = EventBus::default();
    let recording = Recording::new();
    bus.register_sink("s", recording.clone());

    bus.emit(&message("s", "no interpreter"));
    let outer = bus.enter_frame(1);
    bus.emit(&message("s", "one deep"));
    let inner = bus.enter_frame(2);
    bus.emit(&message("s", "two deep"));
    drop(inner);
    bus.emit(&message("s", "back"));
    drop(outer);
    bus.emit(&message("s", "out"));

    let depths: Vec<_> = recording.frames().iter().map(|f| f.frame_depth).collect();
    assert_eq!(depths, [None, Some(1), Some(2), Some(1), None]);
}

#[test]
fn the_depth_of_an_event_that_had_to_wait_is_that_of_its_emitter() {
    let bus = EventBus::default();
    let recording = Recording::new();
    let asked = AtomicBool::new(false);
    bus.register_sink("s", {
        let bus = bus.clone();
        sink(move |_| {
            if !asked.swap(true, Ordering::Relaxed) {
                let _deeper = bus.enter_frame(9);
                bus.emit(&message("s", "nested"));
            }
        })
    });
    bus.register_sink("s", recording.clone());
    let _frame = bus.enter_frame(3);
    bus.emit(&message("s", "outer"));
    let depths: Vec<_> = recording.frames().iter().map(|f| f.frame_depth).collect();
    assert_eq!(depths, [Some(3), Some(9)]);
}

#[test]
fn a_sink_runs_on_the_thread_that_emits() {
    let bus = EventBus::default();
    let ran_on = Arc::new(Mutex::new(None));
    let sink: Arc<dyn AgentEventSink> = sink({
        let ran_on = Arc::clone(&ran_on);
        move |_| *ran_on.lock().unwrap() = Some(std::thread::current().id())
    });
    bus.register_sink("s", sink);
    bus.emit(&message("s", "1"));
    assert_eq!(*ran_on.lock().unwrap(), Some(std::thread::current().id()));
}
