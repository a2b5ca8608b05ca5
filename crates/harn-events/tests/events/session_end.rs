//! What is called when a run ends, however it ends.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use harn_events::{EventBus, SessionEndHook};

use crate::support::{Diary, iteration_start, telling_sink, within_patience};

fn telling_hook(name: &'static str, diary: &Diary) -> SessionEndHook {
    let diary = diary.clone();
    Arc::new(move |session| diary.note(format!("{name}:{session}")))
}

#[test]
fn hooks_run_in_registration_order_with_the_id_of_the_session() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    for name in ["a", "b"] {
        bus.register_session_end_hook(telling_hook(name, &diary));
    }
    bus.begin_run("s").finish("done");
    diary.check(&["a:s", "b:s"]);
}

#[test]
fn a_hook_registered_twice_is_called_twice() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    let hook = telling_hook("a", &diary);
    bus.register_session_end_hook(Arc::clone(&hook));
    bus.register_session_end_hook(hook);
    bus.begin_run("s").finish("done");
    diary.check(&["a:s", "a:s"]);
}

#[test]
fn a_guarded_hook_goes_with_its_guard_and_no_other_does() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    let hook = telling_hook("same", &diary);
    let first = bus.session_end_hook(Arc::clone(&hook));
    let second = bus.session_end_hook(hook);
    drop(first);
    assert_eq!(bus.health().hooks, 1);
    bus.begin_run("s").finish("done");
    diary.check(&["same:s"]);
    drop(second);
    assert_eq!(bus.health().hooks, 0);
    bus.begin_run("s").finish("done");
    diary.check(&["same:s"]);
}

/// Ends a run with `end` and expects its hook to have run exactly once.
#[track_caller]
fn check_once(end: impl FnOnce(&EventBus)) {
    let (bus, diary) = (EventBus::default(), Diary::default());
    bus.register_session_end_hook(telling_hook("hook", &diary));
    end(&bus);
    diary.check(&["hook:s"]);
}

#[test]
fn hooks_run_once_on_every_way_out() {
    check_once(|bus| bus.begin_run("s").finish("done"));
    check_once(|bus| bus.begin_run("s").suspend());
    check_once(|bus| drop(bus.begin_run("s")));
    check_once(|bus| {
        bus.open_session("s").unwrap();
        let run = bus.begin_run("s");
        bus.emit(&iteration_start("s", 1));
        run.finish("the first model call failed");
    });
}

#[test]
fn hooks_run_once_when_a_run_panics() {
    check_once(|bus| {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let _run = bus.begin_run("s");
            panic!("a bug in the loop");
        }));
        assert!(outcome.is_err());
    });
}

#[test]
fn hooks_run_once_when_the_future_of_a_run_is_cancelled() {
    check_once(|bus| {
        let inside = bus.clone();
        let mut run = Box::pin(async move {
            let _run = inside.begin_run("s");
            std::future::pending::<()>().await;
        });
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(run.as_mut().poll(&mut cx).is_pending());
        drop(run);
    });
}

#[test]
fn hooks_run_after_the_run_has_said_its_last_word() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    bus.open_session("s").unwrap();
    bus.register_sink("s", telling_sink("sink", &diary));
    bus.register_session_end_hook(telling_hook("hook", &diary));
    let run = bus.begin_run("s");
    bus.emit(&iteration_start("s", 1));
    drop(run);
    diary.check(&[
        "sink:iteration_start",
        "sink:iteration_end",
        "sink:loop_checkpoint",
        "hook:s",
    ]);
}

#[test]
fn a_hook_that_panics_does_not_stop_the_others() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    bus.register_session_end_hook(Arc::new(|_| panic!("a hook that panics")));
    bus.register_session_end_hook(telling_hook("after", &diary));
    bus.begin_run("s").finish("done");
    bus.begin_run("t").finish("done");
    diary.check(&["after:s", "after:t"]);
    assert_eq!(bus.health().hook_panics, 2);
}

#[test]
fn a_hook_that_panics_while_a_run_unwinds_is_contained() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    bus.register_session_end_hook(Arc::new(|_| panic!("a hook that panics")));
    bus.register_session_end_hook(telling_hook("after", &diary));
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let _run = bus.begin_run("s");
        panic!("a bug in the loop");
    }));
    assert!(outcome.is_err());
    diary.check(&["after:s"]);
}

#[test]
fn a_hook_may_register_a_hook_for_the_next_run() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    bus.register_session_end_hook({
        let (bus, diary) = (bus.clone(), diary.clone());
        Arc::new(move |_| bus.register_session_end_hook(telling_hook("new", &diary)))
    });
    within_patience("a hook that registers a hook", {
        let bus = bus.clone();
        move || bus.begin_run("s").finish("done")
    });
    // Hooks run from a copy, so the new one waits for its first run.
    diary.check(&[]);
    bus.begin_run("t").finish("done");
    diary.check(&["new:t"]);
}

#[test]
fn a_hook_may_use_the_bus_in_any_way() {
    let (bus, diary) = (EventBus::default(), Diary::default());
    bus.open_session("s").unwrap();
    bus.register_session_end_hook({
        let (bus, diary) = (bus.clone(), diary.clone());
        Arc::new(move |session| {
            diary.note(session);
            if session == "s" {
                bus.emit(&iteration_start("s", 1));
                bus.begin_run("nested").finish("done");
                drop(bus.session_end_hook(Arc::new(|_| {})));
                bus.close_session("s", Default::default());
            }
        })
    });
    within_patience("a hook that uses the bus", {
        let bus = bus.clone();
        move || bus.begin_run("s").finish("done")
    });
    diary.check(&["s", "nested"]);
    assert!(!bus.is_session_open("s"));
}
