//! Functions that a task lets out: how long they are kept, and what their calls inherit.

use std::rc::Rc;

use harn_machine::Data;

use crate::world::Run;

#[test]
fn functions_are_forgotten_when_nobody_can_call_them() {
    let (mut run, closure) = Run::with_function("pipeline default() { return { -> 1 } }");
    let before = Rc::strong_count(&closure);
    for _ in 0..10_000 {
        let handle = run.isolate.handle(&closure);
        let other = handle.clone();
        drop(handle);
        run.settle();
        assert_eq!(run.isolate.exported(), 1, "a clone is left");
        drop(other);
    }
    run.settle();
    assert_eq!(run.isolate.exported(), 0);
    assert_eq!(Rc::strong_count(&closure), before);
}

#[test]
fn what_effects_are_given_is_forgotten_after_them() {
    let text = r#"
pipeline default() {
  for i in 1 to 1000 { agent_loop("go", nil, {a: { -> i }, b: { -> 2 }}) }
  return "done"
}"#;
    let mut run = Run::of(text);
    assert_eq!(run.end(), "done");
    run.settle();
    assert_eq!(run.isolate.exported(), 0);
}

#[test]
fn a_program_that_only_its_handles_could_wake_notices_when_they_are_gone() {
    let text = "pipeline default() { return { -> 1 } }";
    let (mut run, closure) = Run::with_function(text);
    let handle = run.isolate.handle(&closure);
    let caller = std::thread::spawn(move || drop(handle));
    run.settle();
    while run.isolate.exported() > 0 {
        run.isolate.wait(None);
    }
    caller.join().unwrap();
}

/// Calls its only function once.
fn once(mut handles: Vec<harn_machine::ClosureHandle>) -> crate::world::Work {
    Box::pin(async move {
        let handle = handles.remove(0);
        let shown = handle.call_async(vec![Data::Int(1)], |result| match result {
            Ok(value) => value.show(),
            Err(failure) => failure.text(),
        });
        shown.await.unwrap_or_else(|| "no answer".to_owned())
    })
}

/// What a program gives and writes whose effects call their function once.
#[track_caller]
fn check(body: &str, value: &str, output: &str) {
    let text = format!("pipeline default() {{\n{body}\n}}");
    let mut run = Run::performing(&text, once);
    assert_eq!(run.end(), value, "{body}");
    assert_eq!(run.output(), output, "{body}");
    run.settle();
    assert_eq!(run.isolate.exported(), 0, "{body}");
}

#[test]
fn calls_start_with_the_values_of_the_task() {
    check(
        r#"
runtime_context_set("tenant", "acme")
let shown = agent_loop("", nil, {f: { x ->
  runtime_context_set("tenant", "other")
  return x
}})
return "${shown} ${runtime_context().values.tenant}""#,
        "1 acme",
        "",
    );
    check(
        r#"
runtime_context_set("tenant", "acme")
return agent_loop("", nil, {f: { x -> runtime_context().values.tenant }})"#,
        "acme",
        "",
    );
}

#[test]
fn calls_have_the_values_of_the_handle_besides() {
    let text = r#"pipeline default() {
  runtime_context_set("tenant", "acme")
  runtime_context_set("depth", 1)
  return agent_loop("", nil, {f: { x ->
    let inner = await(spawn { runtime_context().values.depth })
    return "${runtime_context().values} ${inner}"
  }})
}"#;
    let deeper = |handles: Vec<harn_machine::ClosureHandle>| {
        let depth = ("depth", Data::Int(2));
        let with =
            |handle: harn_machine::ClosureHandle| handle.with_value(depth.0, depth.1.clone());
        once(handles.into_iter().map(with).collect())
    };
    assert_eq!(
        Run::performing(text, deeper).end(),
        "{depth: 2, tenant: acme} 2"
    );
}

#[test]
fn calls_have_the_task_as_their_parent_and_its_group() {
    check(
        r#"return agent_loop("", nil, {f: { x -> "${runtime_context().parent} ${runtime_context().group}" }})"#,
        "task_root nil",
        "",
    );
    check(
        r#"
let shown = parallel each [1] { n ->
  agent_loop("", nil, {f: { x -> "${runtime_context().parent} ${runtime_context().group}" }})
}
return shown[0]"#,
        "task_root:parallel_each:1:0 task_root:parallel_each:1",
        "",
    );
}

#[test]
fn calls_write_where_the_task_writes() {
    check(
        r#"
println("before")
agent_loop("", nil, {f: { x -> println("inside") }})
println("after")"#,
        "nil",
        "before\ninside\nafter\n",
    );
    check(
        r#"
let task = spawn {
  println("before")
  agent_loop("", nil, {f: { x ->
    println("inside")
    agent_loop("", nil, {f: { y -> println("deep inside") }})
    await(spawn { println("spawned inside") })
  }})
  println("after")
}
agent_loop("", nil, {f: { x -> println("first") }})
await(task)"#,
        "nil",
        "first\nbefore\ninside\ndeep inside\nspawned inside\nafter\n",
    );
}

#[test]
fn what_calls_write_for_a_generator_is_not_shown() {
    check(
        r#"
gen fn numbers() {
  println("muted")
  agent_loop("", nil, {f: { x -> println("muted too") }})
  yield 1
}
for n in numbers() { println(n) }"#,
        "nil",
        "1\n",
    );
}

#[test]
fn calls_nest_as_deep_as_their_task() {
    check(
        r#"
fn inner() { return agent_loop("", nil, {f: { x -> runtime_context().depth }}) }
return "${runtime_context().depth} ${inner()}""#,
        "1 3",
        "",
    );
}

#[test]
fn calls_that_call_themselves_through_effects_end_with_an_error() {
    let text = r#"
fn again() { return agent_loop("", nil, {f: { x -> again() }}) }
pipeline default() { return again() }"#;
    let mut run = Run::performing(text, once);
    let end = run.end();
    let overflow = "Stack overflow: too many nested calls";
    assert!(end.contains(overflow), "{end}");
}

#[test]
fn calls_know_that_their_task_was_asked_to_stop() {
    let body = r#"
let task = spawn {
  agent_loop("", nil, {f: { x -> println(is_cancelled()); await(spawn { nil }); is_cancelled() }})
}
await(spawn { nil })
cancel_graceful(task)
return await(task)"#;
    check(body, "true", "false\n");
}

#[test]
fn calls_end_with_the_task_that_they_are_called_for() {
    let text = r#"
pipeline default() {
  let task = spawn { agent_loop("", nil, {f: { x -> sleep() }}) }
  agent_loop("", nil, {f: { x -> nil }})
  cancel(task)
  agent_loop("", nil, {f: { x -> nil }})
  return "over"
}"#;
    let mut run = Run::performing(text, once);
    assert_eq!(run.end(), "over");
    run.settle();
    let seen = run.seen.borrow();
    assert_eq!(seen.slow.len(), 1);
    assert!(seen.cancelled.contains(&seen.slow[0]));
    assert_eq!(run.isolate.exported(), 0);
}
