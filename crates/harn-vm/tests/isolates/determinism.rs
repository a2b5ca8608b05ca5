//! The same program with the same completions does the same thing.

use crate::world::{Run, Seen};
use harn_vm::machine::Limits;

/// Everybody waits for room in a channel that nobody reads.
const STUCK: &str = r#"
pipeline default() {
  let ch = channel("work", 3)
  let total = atomic(0)
  let producers = parallel 4 { i ->
    for n in 0 to 20 exclusive {
      sleep((n * 7 + i * 3) % 5)
      send(ch, i * 100 + n)
    }
    i
  }
  close_channel(ch)
  println(producers)
}
"#;

/// Tasks, channels, locks, sleeps and streams, all at once. The longest loop takes a little more
/// than a slice, so a task is also interrupted while another one could run.
const BUSY: &str = r#"
fn busy(n) {
  var sum = 0
  for i in 0 to n { sum = sum + i * i % 7 }
  return sum
}
pipeline default() {
  let ch = channel("results", 2)
  let a = spawn { for i in 0 to 30 { send(ch, "a${i}"); sleep(i % 3) } }
  let b = spawn { for i in 0 to 30 { send(ch, "b${busy(i * 5)}") } }
  let c = spawn {
    for i in 0 to 10 {
      mutex { println("c${i}"); sleep(2) }
    }
  }
  var seen = []
  for i in 0 to 61 { seen = seen.push(receive(ch)) }
  await(a)
  await(b)
  await(c)
  println(seen.join(","))
  let settled = parallel settle [3, 1, 2] with { max_concurrent: 2 } { x ->
    sleep(x * 10)
    if x == 2 { throw "two" }
    busy(x * x * 6000)
  }
  println(settled)
  for x in parallel each [30, 10, 20] { t -> sleep(t); t } as stream { println(x) }
}
"#;

fn once(program: &str) -> Seen {
    let mut run = Run::of(program, &Limits::default());
    let result = run.finish();
    assert!(result.is_ok(), "{result:?}");
    run.seen.take()
}

#[test]
fn a_program_with_many_tasks_does_the_same_thing_a_thousand_times() {
    let first = once(BUSY);
    assert!(first.output.ends_with("10\n20\n30\n"), "{}", first.output);
    for _ in 0..1000 {
        assert_eq!(once(BUSY), first);
    }
}

#[test]
fn tasks_that_wait_for_each_other_are_an_error_and_not_a_hang() {
    let mut run = Run::of(STUCK, &Limits::default());
    let failure = run.finish().unwrap_err();
    assert!(failure.text().contains("nothing can go on"), "{failure}");
}
