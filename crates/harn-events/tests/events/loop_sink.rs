//! The sink of a running loop, and the other facts that travel with a task.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use harn_events::{AgentEventSink, EventBus};

use crate::support::{
    self, Recording, block_on, interleave, message, poll_alternately, receive, within_patience,
    yield_once,
};

fn as_sink(recording: &Arc<Recording>) -> Option<Arc<dyn AgentEventSink>> {
    Some(recording.clone())
}

#[test]
fn a_loop_sink_works_without_any_session_sink() {
    let bus = EventBus::default();
    let recording = Recording::new();
    let guard = bus.install_loop_sink(as_sink(&recording));
    bus.emit(&message("s", "1"));
    drop(guard);
    bus.emit(&message("s", "2"));
    recording.check(&["1"]);
}

#[test]
fn clearing_and_resetting_do_not_touch_a_loop_sink() {
    let bus = EventBus::default();
    let recording = Recording::new();
    let _guard = bus.install_loop_sink(as_sink(&recording));
    bus.register_sink("s", Recording::new());
    bus.clear_session_sinks("s");
    bus.emit(&message("s", "1"));
    bus.reset();
    bus.emit(&message("s", "2"));
    recording.check(&["1", "2"]);
}

#[test]
fn only_the_innermost_loop_sink_receives_events() {
    let bus = EventBus::default();
    let (outer, inner) = (Recording::new(), Recording::new());
    let _outer = bus.install_loop_sink(as_sink(&outer));
    bus.emit(&message("s", "1"));
    {
        let _inner = bus.install_loop_sink(as_sink(&inner));
        bus.emit(&message("s", "2"));
    }
    bus.emit(&message("s", "3"));
    outer.check(&["1", "3"]);
    inner.check(&["2"]);
}

#[test]
fn a_loop_without_a_sink_shadows_the_one_around_it() {
    let bus = EventBus::default();
    let outer = Recording::new();
    let _outer = bus.install_loop_sink(as_sink(&outer));
    {
        let _inner = bus.install_loop_sink(None);
        bus.emit(&message("s", "1"));
    }
    block_on(bus.scope_loop_sink(None, async {
        bus.emit(&message("s", "2"));
    }));
    bus.emit(&message("s", "3"));
    outer.check(&["3"]);
}

#[test]
fn guards_dropped_out_of_order_remove_their_own_sink() {
    let bus = EventBus::default();
    let (a, b, c) = (Recording::new(), Recording::new(), Recording::new());
    let guard_a = bus.install_loop_sink(as_sink(&a));
    let guard_b = bus.install_loop_sink(as_sink(&b));
    let guard_c = bus.install_loop_sink(as_sink(&c));

    drop(guard_b);
    bus.emit(&message("s", "1"));
    drop(guard_a);
    bus.emit(&message("s", "2"));
    drop(guard_c);
    bus.emit(&message("s", "3"));

    a.check(&[]);
    b.check(&[]);
    c.check(&["1", "2"]);
}

#[test]
fn session_guards_dropped_out_of_order_remove_their_own_session() {
    let bus = EventBus::default();
    let current = || bus.current_session_id();
    assert_eq!(current(), None);
    let a = bus.enter_session("a");
    let b = bus.enter_session("b");
    assert_eq!(current().as_deref(), Some("b"));
    drop(a);
    assert_eq!(current().as_deref(), Some("b"));
    let c = bus.enter_session("c");
    drop(b);
    assert_eq!(current().as_deref(), Some("c"));
    drop(c);
    assert_eq!(current(), None);
}

#[test]
fn leaving_a_session_restores_the_one_before() {
    let bus = EventBus::default();
    let _outer = bus.enter_session("outer");
    {
        let _inner = bus.enter_session("inner");
        assert_eq!(bus.current_session_id().as_deref(), Some("inner"));
    }
    assert_eq!(bus.current_session_id().as_deref(), Some("outer"));
}

/// A loop that installs its readers, emits `steps` events and yields after each.
fn a_loop(
    bus: &EventBus,
    name: &'static str,
    steps: usize,
    sink: Option<Arc<dyn AgentEventSink>>,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    let scope = bus.clone();
    let bus = bus.clone();
    Box::pin(scope.scope_task(async move {
        let _session = bus.enter_session(name);
        let _sink = bus.install_loop_sink(sink);
        for step in 0..steps {
            assert_eq!(bus.current_session_id().as_deref(), Some(name));
            bus.emit(&message("shared", &format!("{name}{step}")));
            yield_once().await;
        }
        assert_eq!(bus.current_session_id().as_deref(), Some(name));
    }))
}

#[test]
fn interleaved_loops_see_only_their_own_events() {
    let bus = EventBus::default();
    let (a, b, everything) = (Recording::new(), Recording::new(), Recording::new());
    bus.register_sink("shared", everything.clone());
    interleave([
        a_loop(&bus, "a", 4, as_sink(&a)) as Pin<Box<dyn Future<Output = ()>>>,
        a_loop(&bus, "b", 2, as_sink(&b)),
        a_loop(&bus, "quiet", 3, None),
    ]);
    a.check(&["a0", "a1", "a2", "a3"]);
    b.check(&["b0", "b1"]);
    everything.check(&[
        "a0", "b0", "quiet0", "a1", "b1", "quiet1", "a2", "quiet2", "a3",
    ]);
    assert_eq!(bus.current_session_id(), None);
}

#[test]
fn a_loop_that_moves_between_threads_keeps_its_readers() {
    let bus = EventBus::default();
    let recording = Recording::new();
    let ((), threads) = poll_alternately(a_loop(&bus, "a", 5, as_sink(&recording)));
    assert_eq!(threads.len(), 6);
    assert_ne!(threads[0], threads[1]);
    assert_eq!(threads[0], threads[2]);
    recording.check(&["a0", "a1", "a2", "a3", "a4"]);
}

#[test]
fn a_thread_between_two_polls_of_a_loop_is_not_inside_it() {
    let bus = EventBus::default();
    let (mine, stranger) = (Recording::new(), Recording::new());
    let mut task = a_loop(&bus, "a", 2, as_sink(&mine));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(task.as_mut().poll(&mut cx).is_pending());

    assert_eq!(bus.current_session_id(), None);
    let guard = bus.install_loop_sink(as_sink(&stranger));
    bus.emit(&message("shared", "between"));
    assert!(task.as_mut().poll(&mut cx).is_pending());
    drop(guard);
    assert!(task.as_mut().poll(&mut cx).is_ready());

    mine.check(&["a0", "a1"]);
    stranger.check(&["between"]);
}

#[test]
fn a_task_inherits_what_was_in_force_where_it_was_made() {
    let bus = EventBus::default();
    let recording = Recording::new();
    let task = {
        let _session = bus.enter_session("parent");
        let _frame = bus.enter_frame(7);
        let _sink = bus.install_loop_sink(as_sink(&recording));
        let inside = bus.clone();
        let task = bus.scope_task(async move {
            yield_once().await;
            let session = inside.current_session_id();
            inside.emit(&message("s", "1"));
            session
        });
        let (session, _) = poll_alternately(task);
        session
    };
    assert_eq!(task.as_deref(), Some("parent"));
    recording.check(&["1"]);
    assert_eq!(recording.frames()[0].frame_depth, Some(7));
}

#[test]
fn what_a_task_states_is_seen_by_nobody_else() {
    let bus = EventBus::default();
    let inside = bus.clone();
    let mut guard = None;
    block_on(bus.scope_task(async {
        guard = Some(inside.enter_session("inner"));
        assert_eq!(inside.current_session_id().as_deref(), Some("inner"));
    }));
    // The guard is alive, and still the fact belongs to the task alone.
    assert_eq!(bus.current_session_id(), None);
    drop(guard);
}

#[test]
fn a_cancelled_task_cleans_up_under_its_own_sink() {
    struct EmitsOnDrop(EventBus);
    impl Drop for EmitsOnDrop {
        fn drop(&mut self) {
            self.0.emit(&message("s", "cleaned up"));
        }
    }
    let bus = EventBus::default();
    let (mine, stranger) = (Recording::new(), Recording::new());
    let cleanup = EmitsOnDrop(bus.clone());
    let mut task = Box::pin(bus.scope_loop_sink(as_sink(&mine), async move {
        let _cleanup = cleanup;
        std::future::pending::<()>().await;
    }));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(task.as_mut().poll(&mut cx).is_pending());
    let _stranger = bus.install_loop_sink(as_sink(&stranger));
    drop(task);
    mine.check(&["cleaned up"]);
    stranger.check(&[]);
}

#[test]
fn a_task_that_panics_leaves_its_thread_clean() {
    let bus = EventBus::default();
    let recording = Recording::new();
    let task = bus.scope_loop_sink(as_sink(&recording), async { panic!("on purpose") });
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| block_on::<_>(task)));
    assert!(outcome.is_err());
    bus.emit(&message("s", "after"));
    recording.check(&[]);
}

#[test]
fn a_guard_may_be_dropped_on_another_thread() {
    let bus = EventBus::default();
    let recording = Recording::new();
    let guard = bus.install_loop_sink(as_sink(&recording));
    std::thread::spawn(move || drop(guard)).join().unwrap();
    bus.emit(&message("s", "1"));
    recording.check(&[]);
}

#[test]
fn a_loop_sink_belongs_to_its_thread_and_not_to_others() {
    let bus = EventBus::default();
    let recording = Recording::new();
    let _guard = bus.install_loop_sink(as_sink(&recording));
    within_patience("another thread", {
        let bus = bus.clone();
        move || bus.emit(&message("s", "elsewhere"))
    });
    bus.emit(&message("s", "here"));
    recording.check(&["here"]);
}

#[test]
fn an_event_that_waits_for_its_turn_goes_to_its_own_loop_sink() {
    let bus = EventBus::default();
    let (mine, other) = (Recording::new(), Recording::new());
    let (entered, has_entered) = std::sync::mpsc::channel();
    let (leave, may_leave) = std::sync::mpsc::channel::<()>();
    let may_leave = std::sync::Mutex::new(may_leave);
    bus.register_sink(
        "s",
        support::sink(move |event| {
            if support::text_of(event) == "slow" {
                entered.send(()).unwrap();
                receive(&may_leave.lock().unwrap());
            }
        }),
    );
    let worker = std::thread::spawn({
        let (bus, other) = (bus.clone(), other.clone());
        move || {
            let _guard = bus.install_loop_sink(as_sink(&other));
            bus.emit(&message("s", "slow"));
        }
    });
    receive(&has_entered);
    let guard = bus.install_loop_sink(as_sink(&mine));
    bus.emit(&message("s", "mine"));
    drop(guard);
    leave.send(()).unwrap();
    worker.join().unwrap();
    mine.check(&["mine"]);
    other.check(&["slow"]);
}
