//! Effects that want to be called again.

use harn_machine::EffectId;

use crate::world::Run;

const EFFECT: EffectId = EffectId(77);

fn idle() -> Run {
    Run::with_function("pipeline default() { return { -> 1 } }").0
}

#[test]
fn wakes_count_once_until_they_are_answered() {
    let mut run = idle();
    let waker = run.outside.waker(EFFECT);
    for _ in 0..3 {
        waker.wake_by_ref();
    }
    let clone = waker.clone();
    clone.wake_by_ref();
    run.settle();
    assert_eq!(run.seen.borrow().resumed, [EFFECT]);
    waker.wake();
    run.settle();
    assert_eq!(run.seen.borrow().resumed, [EFFECT, EFFECT]);
}

#[test]
fn whoever_is_woken_by_another_thread_is_resumed_on_the_thread_of_the_program() {
    let mut run = idle();
    run.settle();
    let waker = run.outside.waker(EFFECT);
    let other = std::thread::spawn(move || waker.wake());
    run.isolate.wait(None);
    other.join().unwrap();
    let here = std::thread::current().id();
    assert_eq!(run.seen.borrow().threads, [here]);
}

#[test]
fn no_wake_of_many_threads_is_lost() {
    let mut run = idle();
    let waker = run.outside.waker(EFFECT);
    let count = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (waker, count) = (waker.clone(), count.clone());
            std::thread::spawn(move || {
                for _ in 0..500 {
                    count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    waker.wake_by_ref();
                }
            })
        })
        .collect();
    // Whenever a wake is answered, the counts that came before it can be seen.
    let mut last_seen = 0;
    while last_seen < 2000 {
        let before = run.seen.borrow().resumed.len();
        run.isolate.wait(None);
        run.settle();
        if run.seen.borrow().resumed.len() > before {
            last_seen = count.load(std::sync::atomic::Ordering::Relaxed);
        }
    }
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    assert!(run.seen.borrow().resumed.len() <= 2000);
}

#[test]
fn whoever_always_wakes_itself_does_not_stop_the_program() {
    let text = r#"
pipeline default() {
  var n = 0
  for i in 1 to 20000 { n = n + 1 }
  return n
}"#;
    let mut run = Run::of(text);
    *run.again.borrow_mut() = u32::MAX;
    run.outside.waker(EFFECT).wake();
    assert_eq!(run.end(), "20000");
    assert!(run.seen.borrow().resumed.len() > 1);
}

#[test]
fn a_wake_during_a_resumption_leads_to_another() {
    let mut run = idle();
    *run.again.borrow_mut() = 5;
    run.outside.waker(EFFECT).wake();
    run.settle();
    assert_eq!(run.seen.borrow().resumed.len(), 6);
}
