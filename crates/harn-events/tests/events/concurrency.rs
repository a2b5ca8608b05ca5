//! Many sessions and many threads at once: nothing is mixed up, lost or reordered.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;

use harn_events::{BusConfig, Clock, EventBus, ManualClock};

use crate::support::{
    Diary, Frame, Recording, block_on, message, receive, sink, telling_subscriber, text_of,
    within_patience,
};

/// What every reader of a session may rely on.
#[track_caller]
fn check_order(frames: &[Frame]) {
    assert!(
        frames.is_sorted_by(|a, b| a.sequence < b.sequence),
        "sequence numbers rise"
    );
    assert!(
        frames.is_sorted_by(|a, b| a.emitted_at_ms <= b.emitted_at_ms),
        "times do not decrease"
    );
}

#[test]
fn sessions_on_many_threads_do_not_see_each_other() {
    const THREADS: usize = 8;
    const SESSIONS: usize = 50;
    const EVENTS: usize = 200;

    let bus = EventBus::default();
    let observer = Recording::new();
    let _observer = bus.observe(observer.clone());
    let start = Arc::new(Barrier::new(THREADS));
    let workers: Vec<_> = (0..THREADS)
        .map(|thread| {
            let (bus, start) = (bus.clone(), Arc::clone(&start));
            thread::spawn(move || {
                let session = |n| format!("session-{thread}-{n}");
                let readers: Vec<_> = (0..SESSIONS)
                    .map(|n| {
                        let (one, other) = (Recording::new(), Recording::new());
                        bus.register_sink(session(n), one.clone());
                        bus.register_sink(session(n), other.clone());
                        (one, other)
                    })
                    .collect();
                start.wait();
                for count in 0..EVENTS {
                    for n in 0..SESSIONS {
                        bus.emit(&message(&session(n), &format!("{count}")));
                    }
                }
                for (n, (one, other)) in readers.iter().enumerate() {
                    let frames = one.frames();
                    check_order(&frames);
                    assert_eq!(frames, other.frames());
                    assert!(frames.iter().all(|f| f.event.session_id() == session(n)));
                    let expected: Vec<_> = (0..EVENTS).map(|count| count.to_string()).collect();
                    assert_eq!(one.texts(), expected);
                }
            })
        })
        .collect();
    for worker in workers {
        worker.join().unwrap();
    }

    let frames = observer.frames();
    assert_eq!(frames.len(), THREADS * SESSIONS * EVENTS);
    let sequences: HashSet<_> = frames.iter().map(|f| f.sequence).collect();
    assert_eq!(sequences.len(), frames.len(), "no number is used twice");
    assert_eq!(bus.health().emitted, (THREADS * SESSIONS * EVENTS) as u64);
}

#[test]
fn threads_that_share_a_session_agree_on_one_order() {
    const THREADS: usize = 6;
    const EVENTS: usize = 300;

    let bus = EventBus::default();
    let (before, after, observer) = (Recording::new(), Recording::new(), Recording::new());
    bus.register_sink("shared", before.clone());
    // Answers every question from inside the delivery.
    bus.register_sink("shared", {
        let bus = bus.clone();
        sink(move |event| {
            if let Some(question) = text_of(event).strip_prefix("ask ") {
                bus.emit(&message("shared", &format!("answer {question}")));
            }
        })
    });
    bus.register_sink("shared", after.clone());
    let _observer = bus.observe(observer.clone());

    let start = Arc::new(Barrier::new(THREADS));
    let workers: Vec<_> = (0..THREADS)
        .map(|thread| {
            let (bus, start) = (bus.clone(), Arc::clone(&start));
            thread::spawn(move || {
                start.wait();
                for count in 0..EVENTS {
                    bus.emit(&message("shared", &format!("ask {thread} {count}")));
                }
            })
        })
        .collect();
    for worker in workers {
        worker.join().unwrap();
    }
    bus.settle("shared");

    let frames = before.frames();
    assert_eq!(frames.len(), 2 * THREADS * EVENTS, "nothing is lost");
    check_order(&frames);
    assert_eq!(frames, after.frames());
    assert_eq!(frames, observer.frames());

    let texts = before.texts();
    let position: HashMap<_, _> = texts.iter().enumerate().map(|(at, t)| (t, at)).collect();
    assert_eq!(position.len(), texts.len(), "nothing comes twice");
    for thread in 0..THREADS {
        let mut last = None;
        for count in 0..EVENTS {
            let asked = position[&format!("ask {thread} {count}")];
            let answered = position[&format!("answer {thread} {count}")];
            assert!(asked < answered, "an answer follows its question");
            assert!(last < Some(asked), "a thread's own events keep their order");
            last = Some(asked);
        }
    }
}

#[test]
fn times_rise_for_every_session_while_threads_turn_the_clock() {
    let clock = Arc::new(ManualClock::at(0));
    let bus = EventBus::new(BusConfig {
        clock: clock.clone(),
        ..BusConfig::default()
    });
    let readers: Vec<_> = (0..4)
        .map(|n| {
            let reader = Recording::new();
            bus.register_sink(format!("s{n}"), reader.clone());
            reader
        })
        .collect();
    let workers: Vec<_> = (0..4_i64)
        .map(|thread| {
            let (bus, clock) = (bus.clone(), Arc::clone(&clock));
            thread::spawn(move || {
                for step in 0..500_i64 {
                    clock.set(clock.now_ms() + (step * 7 + thread * 13) % 41 - 20);
                    bus.emit(&message(&format!("s{}", step % 4), "tick"));
                }
            })
        })
        .collect();
    for worker in workers {
        worker.join().unwrap();
    }
    for reader in readers {
        assert_eq!(reader.len(), 500);
        check_order(&reader.frames());
    }
}

#[test]
fn a_full_session_makes_emitters_wait_and_loses_nothing() {
    let bus = EventBus::new(BusConfig {
        waiting_events_max: 2,
        ..BusConfig::default()
    });
    let recording = Recording::new();
    let (entered, has_entered) = mpsc::channel();
    let (leave, may_leave) = mpsc::channel::<()>();
    let (first, may_leave) = (AtomicBool::new(true), Mutex::new(may_leave));
    bus.register_sink(
        "s",
        sink(move |_| {
            if first.swap(false, Ordering::Relaxed) {
                entered.send(()).unwrap();
                receive(&may_leave.lock().unwrap());
            }
        }),
    );
    bus.register_sink("s", recording.clone());

    let mut workers = vec![thread::spawn({
        let bus = bus.clone();
        move || bus.emit(&message("s", "first"))
    })];
    receive(&has_entered);
    for thread in 0..4 {
        let bus = bus.clone();
        workers.push(thread::spawn(move || {
            for count in 0..10 {
                bus.emit(&message("s", &format!("{thread} {count}")));
            }
        }));
    }
    leave.send(()).unwrap();
    within_patience("emitters that waited for room", move || {
        for worker in workers {
            worker.join().unwrap();
        }
        bus.settle("s");
    });
    assert_eq!(recording.len(), 41);
    check_order(&recording.frames());
}

#[test]
fn a_closure_sees_every_event_of_many_threads_once_and_in_the_order_of_the_sinks() {
    const THREADS: usize = 4;
    const EVENTS: usize = 200;
    let (bus, recording, diary) = (EventBus::default(), Recording::new(), Diary::default());
    bus.register_sink("s", recording.clone());
    bus.subscribe("s", telling_subscriber("closure", &diary));
    let workers: Vec<_> = (0..THREADS)
        .map(|thread| {
            let bus = bus.clone();
            thread::spawn(move || {
                for count in 0..EVENTS {
                    let event = message("s", &format!("{thread} {count}"));
                    if count % 2 == 0 {
                        bus.emit(&event);
                    } else {
                        block_on(bus.emit_and_await(&event));
                    }
                }
            })
        })
        .collect();
    for worker in workers {
        worker.join().unwrap();
    }
    bus.settle("s");
    block_on(bus.deliver_to_subscribers("s"));
    let expected: Vec<_> = recording
        .texts()
        .iter()
        .map(|text| format!("closure:{text}"))
        .collect();
    assert_eq!(expected.len(), THREADS * EVENTS);
    assert_eq!(diary.notes(), expected);
}

#[test]
fn registering_and_clearing_on_other_threads_disturbs_no_delivery() {
    let bus = EventBus::default();
    let recording = Recording::new();
    let _kept = bus.register("s", recording.clone());
    let stop = Arc::new(AtomicBool::new(false));
    let churn: Vec<_> = (0..2)
        .map(|_| {
            let (bus, stop) = (bus.clone(), Arc::clone(&stop));
            thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    drop(bus.register("s", Recording::new()));
                    drop(bus.observe(Recording::new()));
                    bus.register_sink("t", Recording::new());
                    bus.clear_session_sinks("t");
                }
            })
        })
        .collect();
    for count in 0..2_000 {
        bus.emit(&message("s", &count.to_string()));
    }
    stop.store(true, Ordering::Relaxed);
    for worker in churn {
        worker.join().unwrap();
    }
    let expected: Vec<_> = (0..2_000).map(|count| count.to_string()).collect();
    assert_eq!(recording.texts(), expected);
    assert_eq!(bus.health().sinks, 1);
    assert_eq!(bus.health().observers, 0);
}

#[test]
fn two_buses_share_nothing() {
    let (one, other) = (EventBus::default(), EventBus::default());
    let (here, there) = (Recording::new(), Recording::new());
    one.register_sink("s", here.clone());
    other.register_sink("s", there.clone());
    let _loop_sink = one.install_loop_sink(Some(here.clone()));
    let _session = one.enter_session("s");
    one.push_feedback("s", "k", "c", harn_events::InboxSource::Loop);

    other.emit(&message("s", "1"));
    here.check(&[]);
    there.check(&["1"]);
    assert_eq!(other.current_session_id(), None);
    assert!(other.drain_feedback("s").is_empty());
    assert_eq!(one.drain_feedback("s").len(), 1);
}
