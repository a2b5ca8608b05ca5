//! The inbox of a session: messages for the loop from any thread, in one order.

use std::future::Future;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use harn_events::{BusConfig, EventBus, InboxSource, ManualClock};
use serde_json::json;

use crate::support::{PATIENCE, Recording, block_on, receive};

use InboxSource::{Loop, Outside};

fn push(bus: &EventBus, session: &str, content: &str, source: InboxSource) {
    bus.push_feedback(session, "note", content, source);
}

#[track_caller]
fn check_drained(bus: &EventBus, session: &str, expected: &[&str]) {
    let drained = bus.drain_feedback(session);
    let contents: Vec<_> = drained.iter().map(|(_, content)| content).collect();
    assert_eq!(contents, expected);
}

#[test]
fn notes_from_inside_and_outside_come_out_in_push_order() {
    let bus = EventBus::default();
    for (content, source) in [("1", Loop), ("2", Outside), ("3", Loop), ("4", Outside)] {
        push(&bus, "s", content, source);
    }
    check_drained(&bus, "s", &["1", "2", "3", "4"]);
    check_drained(&bus, "s", &[]);
}

#[test]
fn draining_one_source_leaves_the_other_in_order() {
    let bus = EventBus::default();
    for (content, source) in [("1", Loop), ("2", Outside), ("3", Loop), ("4", Outside)] {
        push(&bus, "s", content, source);
    }
    let outside = bus.drain_feedback_from("s", Outside);
    assert_eq!(
        outside,
        [("2", "4")]
            .iter()
            .flat_map(|(a, b)| [*a, *b])
            .map(|content| ("note".to_owned(), content.to_owned()))
            .collect::<Vec<_>>()
    );
    check_drained(&bus, "s", &["1", "3"]);
}

#[test]
fn notes_for_other_sessions_stay_where_they_are() {
    let bus = EventBus::default();
    for content in ["1", "2"] {
        push(&bus, "a", content, Loop);
        push(&bus, "b", content, Outside);
    }
    check_drained(&bus, "a", &["1", "2"]);
    check_drained(&bus, "b", &["1", "2"]);
}

#[test]
fn a_note_tells_its_place_its_source_its_time_and_its_detail() {
    let bus = EventBus::new(BusConfig {
        clock: Arc::new(ManualClock::at(1_234)),
        ..BusConfig::default()
    });
    bus.push_inbox_item(
        "s",
        "kind",
        "content",
        Outside,
        Some(json!({"n": 1})),
        Some("finish_step".to_owned()),
    );
    push(&bus, "other", "x", Loop);
    push(&bus, "s", "second", Loop);

    let items = bus.drain_inbox("s");
    let item = &items[0];
    assert_eq!(
        (item.sequence, item.session_id.as_str(), item.ts_ms),
        (1, "s", 1_234)
    );
    assert_eq!(
        (item.kind.as_str(), item.content.as_str(), item.source),
        ("kind", "content", Outside)
    );
    assert_eq!(item.payload, Some(json!({"n": 1})));
    assert_eq!(item.delivery.as_deref(), Some("finish_step"));
    assert_eq!(items[1].sequence, 2, "each session counts for itself");
    assert_eq!(items[1].source, Loop);
}

#[test]
fn numbers_go_on_after_a_drain() {
    let bus = EventBus::default();
    bus.open_session("s").unwrap();
    push(&bus, "s", "1", Loop);
    bus.drain_inbox("s");
    push(&bus, "s", "2", Loop);
    assert_eq!(bus.drain_inbox("s")[0].sequence, 2);
}

#[test]
fn a_full_inbox_drops_the_oldest_note_and_counts_it() {
    let bus = EventBus::new(BusConfig {
        inbox_items_max: 3,
        ..BusConfig::default()
    });
    for content in ["1", "2", "3", "4", "5"] {
        push(&bus, "s", content, Outside);
    }
    assert_eq!(bus.health().feedback_waiting, 3);
    assert_eq!(bus.health().feedback_dropped, 2);
    check_drained(&bus, "s", &["3", "4", "5"]);
}

#[test]
fn closing_a_session_empties_its_inbox() {
    let bus = EventBus::default();
    bus.open_session("s").unwrap();
    push(&bus, "s", "1", Loop);
    bus.close_session("s", Default::default());
    assert_eq!(bus.health().feedback_waiting, 0);
    check_drained(&bus, "s", &[]);
}

#[test]
fn clearing_sinks_keeps_the_inbox() {
    let bus = EventBus::default();
    bus.register_sink("s", Recording::new());
    push(&bus, "s", "1", Loop);
    bus.clear_session_sinks("s");
    check_drained(&bus, "s", &["1"]);
}

#[test]
fn inboxes_that_nobody_drains_are_bounded() {
    let bus = EventBus::new(BusConfig {
        orphan_inboxes_max: 10,
        ..BusConfig::default()
    });
    for n in 0..1_000 {
        push(&bus, &format!("s{n}"), "x", Outside);
    }
    assert!(bus.health().sessions <= 10, "{:?}", bus.health());
    assert_eq!(bus.health().feedback_waiting, 10);
    assert_eq!(bus.health().feedback_dropped, 990);
    check_drained(&bus, "s0", &[]);
    check_drained(&bus, "s999", &["x"]);
}

#[test]
fn an_inbox_that_is_drained_every_time_is_never_dropped() {
    let bus = EventBus::new(BusConfig {
        orphan_inboxes_max: 2,
        ..BusConfig::default()
    });
    for n in 0..10 {
        let content = n.to_string();
        push(&bus, "s", &content, Outside);
        check_drained(&bus, "s", &[&content]);
    }
    assert_eq!(bus.health().feedback_dropped, 0);
}

#[test]
fn the_inbox_of_an_open_session_is_no_orphan() {
    let bus = EventBus::new(BusConfig {
        orphan_inboxes_max: 1,
        ..BusConfig::default()
    });
    push(&bus, "s", "early", Outside);
    bus.open_session("s").unwrap();
    for n in 0..10 {
        push(&bus, &format!("stray{n}"), "x", Outside);
    }
    check_drained(&bus, "s", &["early"]);
}

#[test]
fn notes_pushed_from_many_threads_all_arrive() {
    let bus = EventBus::default();
    bus.open_session("s").unwrap();
    let workers: Vec<_> = (0..4)
        .map(|thread| {
            let bus = bus.clone();
            thread::spawn(move || {
                for count in 0..200 {
                    push(&bus, "s", &format!("{thread} {count}"), Outside);
                }
            })
        })
        .collect();
    for worker in workers {
        worker.join().unwrap();
    }
    let items = bus.drain_inbox("s");
    assert_eq!(items.len(), 800);
    assert!(items.is_sorted_by(|a, b| a.sequence < b.sequence));
    for thread in 0..4 {
        let mine: Vec<_> = items
            .iter()
            .filter_map(|item| item.content.strip_prefix(&format!("{thread} ")))
            .collect();
        let expected: Vec<_> = (0..200).map(|count| count.to_string()).collect();
        assert_eq!(mine, expected);
    }
}

#[test]
fn waiting_blocks_until_a_note_arrives() {
    let bus = EventBus::default();
    let (waiting, is_waiting) = mpsc::channel();
    let waiter = thread::spawn({
        let bus = bus.clone();
        move || {
            waiting.send(()).unwrap();
            bus.wait_for_inbox_blocking("s", PATIENCE)
        }
    });
    receive(&is_waiting);
    push(&bus, "s", "1", Outside);
    let items = waiter.join().unwrap();
    assert_eq!(items.len(), 1);
    assert_eq!(items[0].content, "1");
}

#[test]
fn waiting_ends_at_its_time_limit_and_leaves_nothing_behind() {
    let bus = EventBus::default();
    let items = bus.wait_for_inbox_blocking("s", Duration::from_millis(1));
    assert!(items.is_empty());
    assert_eq!(bus.health().sessions, 0);
}

/// Counts how often it was woken.
#[derive(Default)]
struct Woken(std::sync::atomic::AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn an_awaited_inbox_wakes_its_task() {
    let bus = EventBus::default();
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut cx = Context::from_waker(&waker);
    let mut wait = Box::pin(bus.wait_for_inbox("s"));
    assert!(wait.as_mut().poll(&mut cx).is_pending());
    push(&bus, "t", "elsewhere", Outside);
    assert_eq!(woken.0.load(std::sync::atomic::Ordering::Relaxed), 0);
    push(&bus, "s", "1", Outside);
    assert_eq!(woken.0.load(std::sync::atomic::Ordering::Relaxed), 1);
    match wait.as_mut().poll(&mut cx) {
        Poll::Ready(items) => assert_eq!(items[0].content, "1"),
        Poll::Pending => panic!("a note is there"),
    }
}

#[test]
fn a_wait_that_is_given_up_takes_nothing() {
    let bus = EventBus::default();
    let mut cx = Context::from_waker(Waker::noop());
    let mut wait = Box::pin(bus.wait_for_inbox("s"));
    assert!(wait.as_mut().poll(&mut cx).is_pending());
    push(&bus, "s", "1", Outside);
    drop(wait);
    check_drained(&bus, "s", &["1"]);
    assert_eq!(bus.health().sessions, 0);
}

#[test]
fn a_note_taken_by_one_waiter_leaves_the_other_waiting() {
    let bus = EventBus::default();
    bus.open_session("s").unwrap();
    let mut cx = Context::from_waker(Waker::noop());
    let mut one = Box::pin(bus.wait_for_inbox("s"));
    let mut other = Box::pin(bus.wait_for_inbox("s"));
    assert!(one.as_mut().poll(&mut cx).is_pending());
    assert!(other.as_mut().poll(&mut cx).is_pending());
    push(&bus, "s", "1", Outside);
    assert!(one.as_mut().poll(&mut cx).is_ready());
    assert!(other.as_mut().poll(&mut cx).is_pending());
    push(&bus, "s", "2", Outside);
    assert_eq!(block_on(other)[0].content, "2");
}

#[test]
fn waiting_ends_with_nothing_when_the_session_is_closed() {
    let bus = EventBus::default();
    bus.open_session("s").unwrap();
    let (waiting, is_waiting) = mpsc::channel();
    let waiter = thread::spawn({
        let bus = bus.clone();
        move || {
            let mut cx = Context::from_waker(Waker::noop());
            let mut wait = Box::pin(bus.wait_for_inbox("s"));
            assert!(wait.as_mut().poll(&mut cx).is_pending());
            waiting.send(()).unwrap();
            block_on(wait)
        }
    });
    receive(&is_waiting);
    bus.close_session("s", Default::default());
    assert!(waiter.join().unwrap().is_empty());
    assert_eq!(bus.health().sessions, 0);
}
