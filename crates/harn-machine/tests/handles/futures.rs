//! Calls as futures, on other threads and on that of the program.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};

use harn_machine::{ClosureHandle, Data, Failure, Value};

use crate::world::{Run, Work};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let waker = Arc::new(Unpark(thread::current())).into();
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

fn shown(result: Result<&Value, &Failure>) -> String {
    match result {
        Ok(value) => value.show(),
        Err(failure) => failure.text(),
    }
}

const DOUBLE: &str = "pipeline default() { return { a -> a * 2 } }";

#[test]
fn another_thread_waits_for_calls() {
    let (mut run, closure) = Run::with_function(DOUBLE);
    let handle = run.isolate.handle(&closure);
    let here = thread::current().id();
    let caller = thread::spawn(move || {
        block_on(async {
            let mut sum = 0;
            for n in 0..100 {
                let doubled = handle.call_async(vec![Data::Int(n)], move |result| {
                    assert_eq!(thread::current().id(), here);
                    shown(result).parse::<i64>()
                });
                sum += doubled.await.unwrap().unwrap();
            }
            sum
        })
    });
    assert_eq!(run.serve(caller), 9900);
}

#[test]
fn there_is_no_value_if_the_program_ends() {
    let (mut run, closure) = Run::with_function(DOUBLE);
    let handle = run.isolate.handle(&closure);
    let before = handle.call_async(vec![Data::Int(1)], shown);
    drop(run);
    assert_eq!(block_on(before), None);
    let after = handle.call_async(vec![Data::Int(1)], shown);
    assert_eq!(block_on(after), None);
}

#[test]
fn there_is_no_value_if_the_call_ends_the_program() {
    let (mut run, closure) = Run::with_function("pipeline default() { return { -> exit(3) } }");
    let handle = run.isolate.handle(&closure);
    let call = handle.call_async(vec![], shown);
    assert_eq!(run.end(), "exit 3");
    assert_eq!(block_on(call), None);
}

#[test]
fn a_future_that_is_dropped_gives_its_call_up() {
    let (mut run, closure) = Run::with_function("pipeline default() { return { -> sleep() } }");
    let handle = run.isolate.handle(&closure);
    drop(handle.call_async(vec![], shown));
    run.settle();
    assert!(run.seen.borrow().slow.is_empty(), "it was never begun");
    let call = handle.call_async(vec![], shown);
    run.settle();
    drop(call);
    run.settle();
    let seen = run.seen.borrow();
    assert_eq!(seen.slow.len(), 1);
    assert_eq!(seen.cancelled, seen.slow);
}

/// Adds up what the first function gives, a hundred times one after the other.
fn add_up(handles: Vec<ClosureHandle>) -> Work {
    Box::pin(async move {
        let mut sum = 0;
        for n in 0..100 {
            let doubled = handles[0].call_async(vec![Data::Int(n)], shown).await;
            let doubled = doubled.expect("the program goes on");
            sum += doubled.parse::<i64>().expect("it is a number");
        }
        sum.to_string()
    })
}

#[test]
fn an_effect_calls_functions_on_the_thread_of_the_program() {
    let text = r#"
pipeline default() {
  return agent_loop("go", nil, {f: { a -> a * 2 }})
}"#;
    let mut run = Run::performing(text, add_up);
    assert_eq!(run.end(), "9900");
    let seen = run.seen.borrow();
    assert_eq!(seen.resumed.len(), 100);
    let here = thread::current().id();
    assert!(seen.threads.iter().all(|thread| *thread == here));
}

/// Calls all functions at once, and leaves when one has ended.
fn race(handles: Vec<ClosureHandle>) -> Work {
    Box::pin(async move {
        let mut calls: Vec<_> = handles
            .iter()
            .map(|handle| handle.call_async(vec![], shown))
            .collect();
        std::future::poll_fn(move |context| {
            let ended =
                calls
                    .iter_mut()
                    .find_map(|call| match std::pin::Pin::new(call).poll(context) {
                        Poll::Ready(shown) => shown,
                        Poll::Pending => None,
                    });
            ended.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    })
}

#[test]
fn an_effect_may_give_up_what_it_has_called() {
    let text = r#"
pipeline default() {
  return agent_loop("go", nil, {a: { -> sleep() }, b: { -> "fast" }, c: { -> sleep() }})
}"#;
    let mut run = Run::performing(text, race);
    assert_eq!(run.end(), "fast");
    run.settle();
    let seen = run.seen.borrow();
    assert_eq!(seen.slow.len(), 2);
    assert_eq!(seen.cancelled, seen.slow);
    assert_eq!(run.isolate.exported(), 0);
}

/// What calls cost, one after the other, each from a resumption.
/// `cargo test --release -p harn-machine --test handles -- --nocapture round_trips` shows it.
fn round_trips(handles: Vec<ClosureHandle>) -> Work {
    Box::pin(async move {
        const CALLS: u32 = 10_000;
        let begun = std::time::Instant::now();
        for n in 0..CALLS {
            let call = handles[0].call_async(vec![Data::Int(n.into())], |result| result.is_ok());
            assert_eq!(call.await, Some(true));
        }
        format!("{:?}", begun.elapsed() / CALLS)
    })
}

#[test]
fn round_trips_are_measured() {
    let text = r#"pipeline default() { return agent_loop("", nil, {f: { a -> a }}) }"#;
    let took = Run::performing(text, round_trips).end();
    eprintln!("a call from the thread of the program takes {took}");
}
