//! A slow reader behind a queue, seen from the bus.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};

use harn_events::{
    AgentEvent, AgentEventSink, EmissionFrame, EventBus, EventGap, OverflowPolicy, QueueOptions,
    QueuedSink,
};

use crate::support::{self, Recording, block_on, message, receive, text_of, within_patience};

/// A sink that stands still at the first event until it is told to go on.
struct Stuck {
    recording: Arc<Recording>,
    arrived: Sender<()>,
    go_on: Mutex<Receiver<()>>,
}

impl AgentEventSink for Stuck {
    fn handle_event(&self, _event: &AgentEvent) {
        unreachable!("frames are handed on as frames");
    }

    fn handle_frame(&self, frame: &EmissionFrame<'_>) {
        if text_of(frame.event) == "1" {
            self.arrived.send(()).expect("the test is waiting");
            receive(&self.go_on.lock().expect("nobody else waits here"));
        }
        self.recording.handle_frame(frame);
    }

    fn handle_gap(&self, gap: &EventGap) {
        self.recording.handle_gap(gap);
    }
}

/// A bus whose session `s` has a stuck sink behind a queue, and another reader.
struct Scene {
    bus: EventBus,
    queue: Arc<QueuedSink>,
    behind: Arc<Recording>,
    beside: Arc<Recording>,
    arrived: Receiver<()>,
    go_on: Sender<()>,
}

fn scene(policy: OverflowPolicy, queue_events_max: usize) -> Scene {
    let (behind, beside) = (Recording::new(), Recording::new());
    let (has_arrived, arrived) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel();
    let stuck = Stuck {
        recording: behind.clone(),
        arrived: has_arrived,
        go_on: Mutex::new(may_go_on),
    };
    let options = QueueOptions {
        queue_events_max,
        policy,
        name: "test",
        ..QueueOptions::default()
    };
    let queue = QueuedSink::new(Arc::new(stuck), options).expect("there is a thread");
    let bus = EventBus::default();
    bus.register_sink("s", queue.clone());
    bus.register_sink("s", beside.clone());
    Scene {
        bus,
        queue,
        behind,
        beside,
        arrived,
        go_on,
    }
}

#[test]
fn a_stuck_sink_behind_a_queue_does_not_hold_up_the_loop() {
    let scene = scene(OverflowPolicy::DropOldest, 4);
    scene.bus.emit(&message("s", "1"));
    receive(&scene.arrived);
    for n in 2..=1_000 {
        scene.bus.emit(&message("s", &n.to_string()));
    }
    // The sink still stands at event 1, and everybody else is done.
    assert_eq!(scene.beside.len(), 1_000);
    assert_eq!(scene.behind.len(), 0);
    assert_eq!(scene.queue.health().dropped, 995);

    scene.go_on.send(()).unwrap();
    let error = block_on(scene.bus.flush_session_sinks("s")).expect_err("events were dropped");
    assert_eq!(error.dropped_events(), 995);
    assert_eq!(
        scene.behind.story(),
        ["1", "-995", "997", "998", "999", "1000"]
    );
}

#[test]
fn frames_pass_a_queue_unchanged() {
    let scene = scene(OverflowPolicy::Block, 100);
    scene.go_on.send(()).unwrap();
    let _frame = scene.bus.enter_frame(3);
    for n in 1..=50 {
        scene.bus.emit(&message("s", &n.to_string()));
    }
    block_on(scene.bus.flush_session_sinks("s")).unwrap();
    assert_eq!(scene.behind.frames(), scene.beside.frames());
    assert_eq!(scene.behind.len(), 50);
}

#[test]
fn a_blocking_queue_makes_the_emitter_wait_and_loses_nothing() {
    let scene = scene(OverflowPolicy::Block, 2);
    let emitter = std::thread::spawn({
        let bus = scene.bus.clone();
        move || {
            for n in 1..=20 {
                bus.emit(&message("s", &n.to_string()));
            }
        }
    });
    receive(&scene.arrived);
    scene.go_on.send(()).unwrap();
    within_patience("the emitter", move || emitter.join().unwrap());
    block_on(scene.bus.flush_session_sinks("s")).unwrap();
    assert_eq!(scene.behind.frames(), scene.beside.frames());
    assert_eq!(scene.queue.health().dropped, 0);
}

#[test]
fn closing_a_session_delivers_what_its_queue_holds() {
    let scene = scene(OverflowPolicy::DropNewest, 10);
    let Scene {
        bus, behind, queue, ..
    } = scene;
    bus.open_session("s").unwrap();
    scene.go_on.send(()).unwrap();
    for n in 1..=5 {
        bus.emit(&message("s", &n.to_string()));
    }
    // The bus has the last reference.
    drop(queue);
    within_patience("closing", move || {
        bus.close_session("s", Default::default());
    });
    behind.check(&["1", "2", "3", "4", "5", "session_closed"]);
}

#[test]
fn a_sink_behind_a_blocking_queue_may_emit() {
    let (bus, recording) = (EventBus::default(), Recording::new());
    let answering = support::sink({
        let bus = bus.clone();
        move |event| {
            if text_of(event) == "1" {
                for n in 2..=5 {
                    bus.emit(&message("s", &n.to_string()));
                }
            }
        }
    });
    let options = QueueOptions {
        queue_events_max: 1,
        policy: OverflowPolicy::Block,
        name: "test",
        ..QueueOptions::default()
    };
    let queue = QueuedSink::new(answering, options).unwrap();
    bus.register_sink("s", queue.clone());
    bus.register_sink("s", recording.clone());
    within_patience("a queue that would wait for itself", move || {
        bus.emit(&message("s", "1"));
        // What was dropped to avoid the deadlock may be reported here.
        let _ = block_on(queue.flush());
        bus.settle("s");
    });
    recording.check(&["1", "2", "3", "4", "5"]);
}

#[test]
fn time_spent_in_sinks_is_measured() {
    let bus = EventBus::default();
    bus.register_sink(
        "s",
        support::sink(|_| {
            let started = std::time::Instant::now();
            while started.elapsed().as_micros() < 50 {
                std::hint::spin_loop();
            }
        }),
    );
    bus.emit(&message("s", "1"));
    bus.emit(&message("s", "2"));
    let health = bus.session_health("s").unwrap();
    assert_eq!(health.delivered, 2);
    assert!(health.sink_time.as_micros() >= 100, "{health:?}");
}
