//! What an operator learns about a closure that does not work.

use harn_events::{
    AgentEventSubscriber, EventBus, SubscriberCall, SubscriberError, SubscriberFuture,
    SubscriberOutcome,
};

use crate::support::{
    self, Diary, LogLine, block_on, capture_logs, message, subscriber, telling_subscriber,
    tool_call,
};

/// The one line about closures that delivering `event` logs.
#[track_caller]
fn failure_line(bus: &EventBus, event: &harn_events::AgentEvent) -> LogLine {
    let mut lines = capture_logs(|| block_on(bus.emit_and_await(event)));
    lines.retain(|line| line.target == "agent.subscriber");
    assert_eq!(lines.len(), 1, "{lines:?}");
    lines.remove(0)
}

#[test]
fn the_log_line_names_the_event_the_session_the_closure_and_the_error() {
    let bus = EventBus::default();
    bus.subscribe(
        "session-7",
        subscriber("hooks.harn:12", |_| async {
            Err(SubscriberError("division by zero".to_owned()))
        }),
    );
    let line = failure_line(&bus, &tool_call("session-7", "1"));
    assert_eq!(line.level, tracing::Level::WARN);
    for named in [
        "tool_call",
        "session-7",
        "hooks.harn:12",
        "division by zero",
    ] {
        assert!(line.names(named), "{named} is missing in {line:?}");
    }
}

#[test]
fn a_panic_in_a_closure_is_logged_like_an_error() {
    let bus = EventBus::default();
    bus.subscribe(
        "s",
        subscriber("broken.harn:1", |_| -> std::future::Ready<_> {
            panic!("on purpose")
        }),
    );
    let line = failure_line(&bus, &message("s", "1"));
    for named in ["agent_message_chunk", "s", "broken.harn:1"] {
        assert!(line.names(named), "{named} is missing in {line:?}");
    }
}

#[test]
fn a_failing_closure_does_not_stop_the_ones_behind_it() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    bus.subscribe(
        "s",
        subscriber("fails", |_| async { Err(SubscriberError("no".to_owned())) }),
    );
    bus.subscribe("s", telling_subscriber("behind", &diary));
    for text in ["1", "2"] {
        block_on(bus.emit_and_await(&message("s", text)));
    }
    diary.check(&["behind:1", "behind:2"]);
    assert_eq!(bus.health().subscriber_failures, 2);
    assert_eq!(bus.health().subscriber_deliveries, 2);
}

#[test]
fn a_delivery_without_an_interpreter_is_counted_and_not_a_failure() {
    let bus = EventBus::default();
    bus.subscribe(
        "s",
        subscriber("nowhere to run", |_| async {
            Ok(SubscriberOutcome::NoInterpreter)
        }),
    );
    let lines = capture_logs(|| {
        block_on(bus.emit_and_await(&message("s", "1")));
        block_on(bus.emit_and_await(&message("s", "2")));
    });
    assert_eq!(bus.health().subscriber_skips, 2);
    assert_eq!(bus.health().subscriber_failures, 0);
    assert_eq!(bus.health().subscriber_deliveries, 0);
    assert!(lines.iter().all(|line| line.level != tracing::Level::WARN));
}

#[test]
fn a_panicking_sink_is_logged_with_the_event_it_failed_on() {
    let bus = EventBus::default();
    bus.register_sink("s", support::sink(|_| panic!("on purpose")));
    let lines = capture_logs(|| bus.emit(&tool_call("s", "1")));
    let warned = lines
        .iter()
        .any(|line| line.level == tracing::Level::WARN && line.names("tool_call"));
    assert!(warned, "{lines:?}");
}

#[test]
fn a_closure_whose_name_cannot_be_told_is_contained() {
    struct Nameless;
    impl AgentEventSubscriber for Nameless {
        fn name(&self) -> std::borrow::Cow<'_, str> {
            panic!("on purpose")
        }
        fn on_event<'a>(&'a self, _call: SubscriberCall<'a>) -> SubscriberFuture<'a> {
            Box::pin(async { Err(SubscriberError("no".to_owned())) })
        }
    }
    let (bus, diary) = (EventBus::default(), Diary::default());
    bus.subscribe("s", std::sync::Arc::new(Nameless));
    bus.subscribe("s", telling_subscriber("behind", &diary));
    block_on(bus.emit_and_await(&message("s", "1")));
    diary.check(&["behind:1"]);
    assert_eq!(bus.health().subscriber_failures, 1);
}
