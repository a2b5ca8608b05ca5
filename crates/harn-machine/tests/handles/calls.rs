//! Calls: what they give, how they fail, how they are given up.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use harn_machine::{Answer, ClosureHandle, Data, FaultKind, PendingCall, Value};

use crate::world::Run;

/// Calls a function. What comes back is shown with its kind.
fn call(handle: &ClosureHandle, arguments: Vec<Data>) -> (PendingCall, Receiver<String>) {
    let (sender, receiver) = channel();
    let pending = handle.call(arguments, move |result| {
        let shown = match result {
            Ok(value @ (Value::Closure(_) | Value::Generator(_))) => value.type_name().to_owned(),
            Ok(value) => value.show(),
            Err(failure) => match &failure.kind {
                FaultKind::Categorised { category, message } => format!("{category}/{message}"),
                FaultKind::Thrown(Value::Dict(dict)) => format!("dict {}", dict.len()),
                _ => failure.text(),
            },
        };
        let _test_is_over = sender.send(shown);
    });
    (pending, receiver)
}

/// What comes back from a call of the function that a program gives.
#[track_caller]
fn check(function: &str, arguments: Vec<Data>, expected: &str) {
    let text = format!("pipeline default() {{ return {function} }}");
    let (mut run, closure) = Run::with_function(&text);
    let handle = run.isolate.handle(&closure);
    let (_pending, shown) = call(&handle, arguments);
    run.settle();
    assert_eq!(shown.try_recv().as_deref(), Ok(expected), "{function}");
}

#[test]
fn whoever_calls_sees_the_value_and_the_error_themselves() {
    check("{ a, b -> a + b }", vec![Data::Int(1), Data::Int(2)], "3");
    check("{ -> { -> 1 } }", vec![], "closure");
    check(
        r#"{ -> throw_error("slow down", "rate_limit") }"#,
        vec![],
        "rate_limit/slow down",
    );
    check(r#"{ -> throw {code: 1, text: "x"} }"#, vec![], "dict 2");
    check(
        "{ a -> a + nil }",
        vec![Data::Text("x".to_owned())],
        "Type error: Cannot add string and nil (line 1)",
    );
}

#[test]
fn a_function_that_makes_streams_gives_one() {
    let text = "gen fn numbers(a) { println(a); yield a }\npipeline default() { return numbers }";
    let (mut run, closure) = Run::with_function(text);
    let handle = run.isolate.handle(&closure);
    let (_pending, shown) = call(&handle, vec![Data::Int(1), Data::Int(2)]);
    run.settle();
    assert_eq!(shown.try_recv().as_deref(), Ok("stream"));
    assert_eq!(run.output(), "");
}

#[test]
fn a_call_of_a_program_that_has_ended_fails() {
    let (mut run, closure) = Run::with_function("pipeline default() { return { -> 1 } }");
    let handle = run.isolate.handle(&closure);
    drop(run);
    let (_pending, shown) = call(&handle, vec![]);
    assert_eq!(shown.recv().unwrap(), "the program has ended");
    let blocking = handle.call_blocking(vec![]);
    assert_eq!(blocking, Err("the program has ended".to_owned()));
}

#[test]
fn a_call_of_a_function_that_nobody_exported_fails() {
    let mut run = Run::with_function("pipeline default() { return { -> 1 } }").0;
    let (_pending, shown) = call(&run.outside.claim(99), vec![]);
    run.settle();
    assert_eq!(shown.recv().unwrap(), "there is no such function");
}

/// Also where it would ask a model: that there is none is not the reason.
#[test]
fn a_builtin_without_a_body_says_that_it_is_not_built() {
    for (name, call) in [("llm_call", "llm_call(\"Hello\")"), ("stat", "stat(\"a\")")] {
        let mut run = Run::of(&format!("pipeline default() {{ {call} }}"));
        let expected = format!("{name} is specified and not built in this version of Harn");
        assert!(run.end().contains(&expected), "{}", run.end());
    }
}

#[test]
fn a_call_that_ends_the_program_has_no_answer() {
    let (mut run, closure) = Run::with_function("pipeline default() { return { -> exit(3) } }");
    let handle = run.isolate.handle(&closure);
    let (_pending, shown) = call(&handle, vec![]);
    assert_eq!(run.end(), "exit 3");
    assert!(shown.recv().is_err());
}

const WAITS: &str = r#"
pipeline default() {
  return { ->
    println("begun")
    sleep()
    println("woken")
    return "slept"
  }
}"#;

#[test]
fn a_call_that_is_given_up_before_it_is_taken_is_never_begun() {
    let (mut run, closure) = Run::with_function(WAITS);
    let handle = run.isolate.handle(&closure);
    let (pending, shown) = call(&handle, vec![]);
    pending.cancel();
    run.settle();
    assert_eq!(run.output(), "");
    assert!(shown.recv().is_err(), "the reply is dropped");
}

#[test]
fn a_call_that_is_given_up_is_stopped_with_what_it_waits_for() {
    let (mut run, closure) = Run::with_function(WAITS);
    let handle = run.isolate.handle(&closure);
    let (pending, shown) = call(&handle, vec![]);
    run.settle();
    let slow = run.seen.borrow().slow.clone();
    assert_eq!((run.output().as_str(), slow.len()), ("begun\n", 1));
    drop(pending);
    run.settle();
    assert_eq!(run.seen.borrow().cancelled, slow);
    run.outside.complete(slow[0], Answer::Done);
    run.settle();
    assert_eq!(run.output(), "begun\n");
    assert!(shown.recv().is_err(), "the reply is dropped");
}

#[test]
fn tasks_that_a_call_waits_for_are_stopped_with_it() {
    let (mut run, closure) = Run::with_function(
        "pipeline default() { return { -> parallel each [1, 2, 3] { x -> sleep() } } }",
    );
    let handle = run.isolate.handle(&closure);
    let (pending, _shown) = call(&handle, vec![]);
    run.settle();
    drop(pending);
    run.settle();
    let seen = run.seen.borrow();
    let mut cancelled = seen.cancelled.clone();
    cancelled.sort();
    assert_eq!(seen.slow.len(), 3);
    assert_eq!(cancelled, seen.slow);
}

#[test]
fn a_call_that_is_let_go_goes_on() {
    let (mut run, closure) = Run::with_function(WAITS);
    let handle = run.isolate.handle(&closure);
    let (pending, shown) = call(&handle, vec![]);
    pending.detach();
    run.settle();
    let slow = run.seen.borrow().slow[0];
    run.outside.complete(slow, Answer::Done);
    run.settle();
    assert_eq!(shown.recv().unwrap(), "slept");
    assert_eq!(run.output(), "begun\nwoken\n");
}

#[test]
fn giving_up_a_call_that_is_over_changes_nothing() {
    let (mut run, closure) = Run::with_function("pipeline default() { return { -> 1 } }");
    let handle = run.isolate.handle(&closure);
    let kept = Arc::new(Mutex::new(None::<PendingCall>));
    let in_reply = kept.clone();
    let pending = handle.call(vec![], move |_| {
        // Dropped while the call ends.
        drop(in_reply.lock().unwrap().take());
    });
    *kept.lock().unwrap() = Some(pending);
    run.settle();
    assert!(kept.lock().unwrap().is_none());
    let (pending, shown) = call(&handle, vec![]);
    run.settle();
    drop(pending);
    run.settle();
    assert_eq!(shown.recv().unwrap(), "1");
}
