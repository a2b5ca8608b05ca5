//! Closures: readers of a session that are awaited.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use harn_events::{
    BusConfig, CloseSession, EventBus, InboxSource, SubscriberCall, SubscriberOutcome,
    SubscriptionId,
};
use serde_json::{Value, json};

use crate::support::{
    Diary, Recording, block_on, event, listener, message, subscriber, telling_subscriber, text_of,
    worker_update, yield_once,
};

#[test]
fn closures_are_awaited_one_after_another_in_subscription_order() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    for name in ["slow", "quick"] {
        let diary = diary.clone();
        bus.subscribe(
            "s",
            subscriber(name, move |_| {
                let diary = diary.clone();
                async move {
                    diary.note(format!("{name} begins"));
                    if name == "slow" {
                        yield_once().await;
                    }
                    diary.note(format!("{name} ends"));
                    Ok(SubscriberOutcome::Ran)
                }
            }),
        );
    }
    block_on(bus.emit_and_await(&message("s", "1")));
    diary.check(&["slow begins", "slow ends", "quick begins", "quick ends"]);
}

#[test]
fn every_event_reaches_closures_wherever_it_was_emitted() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    bus.subscribe("s", telling_subscriber("closure", &diary));

    bus.emit(&worker_update("s"));
    let wait = bus.request_hitl("s", "r1", "approval", Value::Null);
    diary.check(&[]);
    block_on(bus.emit_and_await(&message("s", "1")));
    wait.answered();
    block_on(bus.deliver_to_subscribers("s"));

    diary.check(&[
        "closure:worker_update",
        "closure:hitl_requested",
        "closure:1",
        "closure:hitl_resolved",
    ]);
}

#[test]
fn a_closure_sees_the_events_of_its_own_session_alone() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    bus.subscribe("a", telling_subscriber("a", &diary));
    bus.subscribe("ab", telling_subscriber("ab", &diary));
    for session in ["a", "ab", "A"] {
        block_on(bus.emit_and_await(&message(session, session)));
    }
    diary.check(&["a:a", "ab:ab"]);
}

#[test]
fn the_event_is_handed_over_as_it_is_on_the_wire() {
    let (bus, seen) = (EventBus::default(), Arc::new(Mutex::new(Value::Null)));
    bus.subscribe("s", {
        let seen = Arc::clone(&seen);
        listener(move |event| *seen.lock().unwrap() = serde_json::to_value(&event).unwrap())
    });
    block_on(bus.emit_and_await(&message("s", "1")));
    assert_eq!(
        *seen.lock().unwrap(),
        json!({"type": "agent_message_chunk", "session_id": "s", "content": "1"})
    );
}

#[test]
fn a_closure_added_during_delivery_sees_the_next_event() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    bus.subscribe("s", {
        let (bus, diary) = (bus.clone(), diary.clone());
        listener(move |event| {
            if text_of(&event) == "1" {
                bus.subscribe("s", telling_subscriber("late", &diary));
            }
        })
    });
    for text in ["1", "2"] {
        block_on(bus.emit_and_await(&message("s", text)));
    }
    diary.check(&["late:2"]);
}

#[test]
fn a_closure_does_not_see_what_was_emitted_before_it_subscribed() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    bus.subscribe("s", telling_subscriber("early", &diary));
    bus.emit(&message("s", "1"));
    bus.subscribe("s", telling_subscriber("late", &diary));
    block_on(bus.emit_and_await(&message("s", "2")));
    diary.check(&["early:1", "early:2", "late:2"]);
}

#[test]
fn a_closure_removed_during_delivery_does_not_see_the_next_event() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    let id = Arc::new(Mutex::new(None::<SubscriptionId>));
    bus.subscribe("s", {
        let (bus, id) = (bus.clone(), Arc::clone(&id));
        listener(move |event| {
            if text_of(&event) == "1" {
                bus.unsubscribe("s", id.lock().unwrap().unwrap());
            }
        })
    });
    *id.lock().unwrap() = Some(bus.subscribe("s", telling_subscriber("removed", &diary)));
    bus.subscribe("s", telling_subscriber("stays", &diary));
    for text in ["1", "2"] {
        block_on(bus.emit_and_await(&message("s", text)));
    }
    // It may or may not have seen event 1, from the copy.
    let mut notes = diary.notes();
    notes.retain(|note| note != "removed:1");
    assert_eq!(notes, ["stays:1", "stays:2"]);
    assert_eq!(bus.subscriber_count("s"), 2);
}

#[test]
fn unsubscribing_removes_one_closure_and_ignores_unknown_ones() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    let first = bus.subscribe("s", telling_subscriber("first", &diary));
    bus.subscribe("s", telling_subscriber("second", &diary));
    bus.unsubscribe("other", first);
    assert_eq!(bus.subscriber_count("s"), 2);
    bus.unsubscribe("s", first);
    bus.unsubscribe("s", first);
    block_on(bus.emit_and_await(&message("s", "1")));
    diary.check(&["second:1"]);
}

#[test]
fn inside_a_closure_the_current_session_is_the_driven_one() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    bus.subscribe("driven", {
        let (bus, diary) = (bus.clone(), diary.clone());
        subscriber("asks", move |_| {
            let (bus, diary) = (bus.clone(), diary.clone());
            async move {
                diary.note(bus.current_session_id().unwrap_or_default());
                yield_once().await;
                diary.note(bus.current_session_id().unwrap_or_default());
                Ok(SubscriberOutcome::Ran)
            }
        })
    });
    let _outer = bus.enter_session("outer");
    block_on(bus.emit_and_await(&message("driven", "1")));
    diary.check(&["driven", "driven"]);
    assert_eq!(bus.current_session_id().as_deref(), Some("outer"));
}

#[test]
fn a_closure_may_give_feedback_emit_and_subscribe() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    let asked = AtomicBool::new(false);
    bus.subscribe("s", {
        let (bus, diary) = (bus.clone(), diary.clone());
        subscriber("busy", move |event| {
            let is_first = !asked.swap(true, Ordering::Relaxed);
            let (bus, diary) = (bus.clone(), diary.clone());
            async move {
                diary.note(format!("busy:{}", text_of(&event)));
                if is_first {
                    bus.push_feedback("s", "note", "look here", InboxSource::Loop);
                    bus.subscribe("s", telling_subscriber("new", &diary));
                    let payload = json!({"iteration": 1});
                    bus.emit_host_event("s", "iteration_start", &payload)
                        .await
                        .expect("the payload is complete");
                }
                Ok(SubscriberOutcome::Ran)
            }
        })
    });
    block_on(bus.emit_and_await(&message("s", "1")));
    diary.check(&["busy:1", "busy:iteration_start", "new:iteration_start"]);
    assert_eq!(
        bus.drain_feedback("s"),
        [("note".to_owned(), "look here".to_owned())]
    );
}

#[test]
fn what_a_closure_emits_is_delivered_when_it_has_finished() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    bus.subscribe("s", {
        let (bus, diary) = (bus.clone(), diary.clone());
        subscriber("talks", move |event| {
            let (bus, diary) = (bus.clone(), diary.clone());
            async move {
                diary.note(format!("{} begins", text_of(&event)));
                if text_of(&event) == "1" {
                    for text in ["2", "3"] {
                        bus.emit_and_await(&message("s", text)).await;
                    }
                }
                diary.note(format!("{} ends", text_of(&event)));
                Ok(SubscriberOutcome::Ran)
            }
        })
    });
    block_on(bus.emit_and_await(&message("s", "1")));
    diary.check(&[
        "1 begins", "1 ends", "2 begins", "2 ends", "3 begins", "3 ends",
    ]);
}

#[test]
fn closures_that_answer_each_other_are_stopped_at_depth_sixteen_and_counted() {
    let (bus, calls) = (EventBus::default(), Arc::new(AtomicU32::new(0)));
    let recording = Recording::new();
    bus.register_sink("s", recording.clone());
    bus.subscribe("s", {
        let (bus, calls) = (bus.clone(), Arc::clone(&calls));
        subscriber("echo", move |event| {
            calls.fetch_add(1, Ordering::Relaxed);
            let bus = bus.clone();
            async move {
                bus.emit_and_await(&event).await;
                Ok(SubscriberOutcome::Ran)
            }
        })
    });
    block_on(bus.emit_and_await(&message("s", "echo")));
    // The event itself and sixteen levels of answers; the answer of the last is cut.
    assert_eq!(calls.load(Ordering::Relaxed), 17);
    assert_eq!(bus.health().subscriber_too_deep, 1);
    assert_eq!(
        recording.len(),
        18,
        "sinks see the last answer all the same"
    );

    block_on(bus.emit_and_await(&message("s", "echo")));
    assert_eq!(
        calls.load(Ordering::Relaxed),
        34,
        "the next event starts anew"
    );
}

#[test]
fn closures_outlive_cleared_sinks_and_end_with_the_session() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    bus.open_session("s").unwrap();
    bus.register_sink("s", Recording::new());
    bus.subscribe("s", telling_subscriber("closure", &diary));
    bus.clear_session_sinks("s");
    block_on(bus.emit_and_await(&message("s", "1")));
    diary.check(&["closure:1"]);

    bus.close_session("s", Default::default());
    diary.clear();
    assert_eq!(bus.subscriber_count("s"), 0);
    bus.open_session("s").unwrap();
    block_on(bus.emit_and_await(&message("s", "2")));
    diary.check(&[]);
}

#[test]
fn subscribing_creates_the_session_and_closing_it_removes_the_closure() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    bus.subscribe("s", telling_subscriber("closure", &diary));
    bus.close_session("s", Default::default());
    assert_eq!(bus.subscriber_count("s"), 0);
    assert_eq!(bus.health().sessions, 0);
}

#[test]
fn closures_are_not_copied_to_a_session_that_mirrors_the_sinks() {
    let bus = EventBus::default();
    bus.register_sink("s", Recording::new());
    bus.subscribe("s", telling_subscriber("closure", &Diary::default()));
    bus.mirror_session_sinks("s", "fork");
    assert_eq!(bus.session_sink_count("fork"), 1);
    assert_eq!(bus.subscriber_count("fork"), 0);
}

#[test]
fn a_backlog_that_is_full_drops_the_oldest_and_counts() {
    let bus = EventBus::new(BusConfig {
        subscriber_backlog_max: 2,
        ..BusConfig::default()
    });
    let diary = Diary::default();
    bus.subscribe("s", telling_subscriber("closure", &diary));
    for text in ["1", "2", "3", "4"] {
        bus.emit(&message("s", text));
    }
    assert_eq!(bus.session_health("s").unwrap().subscriber_backlog, 2);
    block_on(bus.deliver_to_subscribers("s"));
    diary.check(&["closure:3", "closure:4"]);
    assert_eq!(bus.health().subscriber_drops, 2);
    assert_eq!(bus.session_health("s").unwrap().subscriber_backlog, 0);
}

#[test]
fn a_delivery_that_is_cancelled_leaves_the_events_behind_it_for_the_next() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    bus.subscribe("s", {
        let diary = diary.clone();
        subscriber("hangs on 1", move |event| {
            diary.note(text_of(&event));
            async move {
                if text_of(&event) == "1" {
                    std::future::pending::<()>().await;
                }
                Ok(SubscriberOutcome::Ran)
            }
        })
    });
    for text in ["1", "2"] {
        bus.emit(&message("s", text));
    }
    let mut delivery = Box::pin(bus.deliver_to_subscribers("s"));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(delivery.as_mut().poll(&mut cx).is_pending());
    drop(delivery);
    block_on(bus.deliver_to_subscribers("s"));
    diary.check(&["1", "2"]);
}

#[test]
fn time_spent_in_closures_is_measured_and_overruns_are_counted() {
    struct Overruns;
    impl harn_events::AgentEventSubscriber for Overruns {
        fn name(&self) -> std::borrow::Cow<'_, str> {
            "overruns".into()
        }
        fn on_event<'a>(&'a self, call: SubscriberCall<'a>) -> harn_events::SubscriberFuture<'a> {
            assert_eq!(call.time_limit, Some(Duration::ZERO));
            let started = std::time::Instant::now();
            while started.elapsed().is_zero() {
                std::hint::spin_loop();
            }
            Box::pin(async { Ok(SubscriberOutcome::Ran) })
        }
    }
    let bus = EventBus::new(BusConfig {
        subscriber_time_limit: Some(Duration::ZERO),
        ..BusConfig::default()
    });
    bus.subscribe("s", Arc::new(Overruns));
    block_on(bus.emit_and_await(&message("s", "1")));
    assert_eq!(bus.health().subscriber_overruns, 1);
    assert_eq!(bus.health().subscriber_failures, 0);
    assert!(!bus.session_health("s").unwrap().subscriber_time.is_zero());
}

#[test]
fn a_second_start_of_an_open_call_reaches_closures() {
    let (bus, recording, diary) = (EventBus::default(), Recording::new(), Diary::default());
    bus.register_sink("s", recording.clone());
    bus.subscribe("s", telling_subscriber("closure", &diary));
    let start = event(json!({
        "type": "tool_call", "session_id": "s", "tool_call_id": "1", "tool_name": "read",
        "kind": null, "status": "pending", "raw_input": {},
    }));
    block_on(bus.emit_and_await(&start));
    block_on(bus.emit_and_await(&start));
    recording.check(&["tool_call"]);
    diary.check(&["closure:tool_call", "closure:tool_call"]);
}

#[test]
fn a_closure_that_closes_its_session_sees_its_end() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    bus.open_session("s").expect("there is room");
    bus.subscribe("s", {
        let (bus, diary) = (bus.clone(), diary.clone());
        subscriber("closing", move |event| {
            let (bus, diary) = (bus.clone(), diary.clone());
            async move {
                diary.note(format!("{} begins", event.tag()));
                let closing = CloseSession::default();
                bus.close_session_and_await("s", closing).await;
                bus.emit_and_await(&message("s", "too late")).await;
                diary.note(format!("{} ends", event.tag()));
                Ok(SubscriberOutcome::Ran)
            }
        })
    });
    bus.subscribe("s", telling_subscriber("other", &diary));
    block_on(bus.emit_and_await(&message("s", "1")));
    diary.check(&[
        "agent_message_chunk begins",
        "agent_message_chunk ends",
        "other:1",
        "session_closed begins",
        "session_closed ends",
        "other:session_closed",
    ]);
    assert_eq!(bus.health().sessions, 0);
}

#[test]
fn closures_of_a_session_see_nothing_of_its_successor() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    bus.open_session("s").expect("there is room");
    bus.subscribe("s", {
        let bus = bus.clone();
        let diary = diary.clone();
        subscriber("opening", move |event| {
            let (bus, diary) = (bus.clone(), diary.clone());
            async move {
                diary.note(format!("opening:{}", event.tag()));
                bus.close_session_and_await("s", CloseSession::default())
                    .await;
                bus.open_session("s").expect("there is room");
                bus.subscribe("s", telling_subscriber("new", &diary));
                bus.emit(&message("s", "2"));
                Ok(SubscriberOutcome::Ran)
            }
        })
    });
    bus.subscribe("s", telling_subscriber("old", &diary));
    block_on(bus.emit_and_await(&message("s", "1")));
    diary.check(&[
        "opening:agent_message_chunk",
        "old:1",
        "opening:session_closed",
        "old:session_closed",
        "new:2",
        "new:session_closed",
        "new:2",
    ]);
    assert!(bus.is_session_open("s"));
}
