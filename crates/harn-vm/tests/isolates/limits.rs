//! Programs that would not end by themselves.

use crate::world::Run;
use harn_vm::machine::{Data, Limits, Step, Value};

fn text_of(program: &str, limits: &Limits) -> String {
    match Run::of(program, limits).finish() {
        Ok(value) => value.show(),
        Err(failure) => failure.text(),
    }
}

#[test]
fn memory_that_is_kept_is_limited() {
    let limits = Limits {
        memory: Some(8 << 20),
    };
    for program in [
        "var xs = []\nwhile true { xs = xs + [1] }",
        "var xs = []\nwhile true { xs = [xs, xs] }",
        "var s = \"x\"\nwhile true { s = s + s }",
        "var d = {}\nvar i = 0\nwhile true { d[\"${i}\"] = i; i = i + 1 }",
        "println(\"x\" * 1000000000000)",
        "var ts = []\nwhile true { ts = ts.push(spawn { receive(channel(\"c\")) }) }",
    ] {
        let text = text_of(program, &limits);
        assert!(
            text.starts_with("Memory limit exceeded"),
            "{program}: {text}"
        );
    }
}

#[test]
fn memory_that_is_given_back_does_not_count() {
    let limits = Limits {
        memory: Some(8 << 20),
    };
    let program = r#"
pipeline default() {
  var n = 0
  for i in 0 to 20000 {
    let text = "x" * 1000
    n = n + len(text) / 1000
  }
  return n
}"#;
    assert_eq!(text_of(program, &limits), "20001");
}

#[test]
fn tasks_that_hand_over_to_each_other_for_ever_can_be_stopped() {
    let program = r#"
let there = channel("there")
let back = channel("back")
spawn { while true { send(back, receive(there)) } }
while true {
  send(there, "ball")
  receive(back)
}"#;
    let mut run = Run::of(program, &Limits::default());
    for _ in 0..10 {
        let step = run.isolate.step();
        assert!(matches!(step, Step::SliceSpent), "{step:?}");
    }
}

#[test]
fn values_that_are_nested_deeply_can_be_used_and_dropped() {
    let program = r#"
pipeline default() {
  var xs = []
  for i in 0 to 200000 { xs = [xs] }
  var d = {}
  for i in 0 to 200000 { d = {inner: d, n: i} }
  let same = xs == xs
  return "${len("${xs}")} ${same} ${len("${d}") > 1000}"
}"#;
    assert_eq!(text_of(program, &Limits::default()), "400004 true true");
}

#[test]
fn functions_can_be_called_from_other_threads() {
    let program = r#"
pipeline default() {
  return { a, b ->
    sleep(5)
    let all = {sum: a + b, list: [a, b]}
    all
  }
}"#;
    let mut run = Run::of(program, &Limits::default());
    let Ok(Value::Closure(closure)) = run.finish() else {
        panic!("the program gives a closure");
    };
    let handle = run.isolate.handle(&closure);
    let caller = std::thread::spawn(move || {
        let good = handle.call_blocking(vec![Data::Int(1), Data::Int(2)]);
        let bad = handle.call_blocking(vec![Data::Text("x".to_owned()), Data::Nil]);
        (good, bad)
    });
    while !caller.is_finished() {
        match run.isolate.step() {
            Step::Done(_) => panic!("it has ended already"),
            Step::SliceSpent => {}
            Step::Awaiting { until: Some(until) } => run.pass_until(until),
            Step::Awaiting { until: None } => {
                run.isolate.wait(Some(std::time::Duration::from_millis(50)));
            }
        }
    }
    let (good, bad) = caller.join().unwrap();
    let Ok(Data::Dict(fields)) = good else {
        panic!("{good:?}");
    };
    assert_eq!(fields["sum"], Data::Int(3));
    assert_eq!(fields["list"], Data::List(vec![Data::Int(1), Data::Int(2)]));
    assert_eq!(
        bad,
        Err("Type error: Cannot add string and nil (line 5)".to_owned())
    );
}
