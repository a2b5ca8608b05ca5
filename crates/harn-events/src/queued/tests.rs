//! What a queue does when it is full, closed, or in front of a sink that fails.

use std::sync::mpsc::{self, Receiver, Sender};

use super::*;

/// A failing test waits this long and no longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Notes what it is given, and stands still at event `stop` until told to go on.
#[derive(Default)]
struct Noting {
    notes: Mutex<Vec<String>>,
    /// What the next flushes return.
    flushes: Mutex<VecDeque<Result<(), AgentEventSinkError>>>,
    stop: Mutex<Option<(Sender<()>, Receiver<()>)>>,
}

impl Noting {
    fn note(&self, note: impl Into<String>) {
        self.notes.recover().push(note.into());
    }

    #[track_caller]
    fn check(&self, expected: &[&str]) {
        assert_eq!(*self.notes.recover(), expected);
    }
}

impl AgentEventSink for Noting {
    fn handle_event(&self, event: &AgentEvent) {
        let text = text_of(event);
        if text == "stop"
            && let Some((arrived, go_on)) = self.stop.recover().take()
        {
            arrived.send(()).expect("the test waits for it");
            go_on.recv_timeout(PATIENCE).expect("the test lets it go");
        }
        assert_ne!(text, "panic", "on purpose");
        self.note(text);
    }

    fn handle_opaque(&self, event: &OpaqueEvent, _emitted_at_ms: i64) {
        self.note(format!("opaque {}", event.tag()));
    }

    fn handle_gap(&self, gap: &EventGap) {
        self.note(format!("-{}", gap.dropped_events));
    }

    fn flush(&self) -> AgentEventSinkFlush<'_> {
        self.note("flush");
        let next = self.flushes.recover().pop_front();
        Box::pin(future::ready(next.unwrap_or(Ok(()))))
    }
}

fn message(text: &str) -> AgentEvent {
    AgentEvent::AgentMessageChunk {
        session_id: "s".to_owned(),
        content: text.to_owned(),
    }
}

fn text_of(event: &AgentEvent) -> String {
    match event {
        AgentEvent::AgentMessageChunk { content, .. } => content.clone(),
        other => other.tag().to_owned(),
    }
}

/// A queue of two whose sink stands still, so that the test decides what is in it.
struct Stuck {
    queue: Arc<QueuedSink>,
    sink: Arc<Noting>,
    go_on: Sender<()>,
}

fn queue_of(
    events_max: usize,
    policy: OverflowPolicy,
    sink: Arc<dyn AgentEventSink>,
) -> Arc<QueuedSink> {
    let options = QueueOptions {
        queue_events_max: events_max,
        policy,
        name: "test",
        ..QueueOptions::default()
    };
    QueuedSink::new(sink, options).expect("there is a thread")
}

fn stuck(policy: OverflowPolicy) -> Stuck {
    let (arrived, has_arrived) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel();
    let sink = Arc::new(Noting {
        stop: Mutex::new(Some((arrived, may_go_on))),
        ..Noting::default()
    });
    let queue = queue_of(2, policy, sink.clone());
    queue.handle_event(&message("stop"));
    has_arrived
        .recv_timeout(PATIENCE)
        .expect("the worker takes the first event");
    Stuck { queue, sink, go_on }
}

impl Stuck {
    fn push(&self, texts: &[&str]) {
        for text in texts {
            self.queue.handle_event(&message(text));
        }
    }

    /// Lets the sink go on and waits until the queue is empty.
    fn drain(&self) -> Result<(), AgentEventSinkError> {
        // A sink that was let go before is not standing still any more.
        let _ = self.go_on.send(());
        flush(&self.queue)
    }
}

#[track_caller]
fn flush(queue: &QueuedSink) -> Result<(), AgentEventSinkError> {
    block_on_timeout(queue.flush(), PATIENCE).expect("a flush comes to an end")
}

/// Runs `work` on another thread and fails if it does not come back.
#[track_caller]
fn within_patience(promise: &str, work: impl FnOnce() + Send + 'static) {
    let (done, is_done) = mpsc::channel();
    thread::spawn(move || {
        work();
        let _ = done.send(());
    });
    assert!(is_done.recv_timeout(PATIENCE).is_ok(), "{promise} hangs");
}

#[test]
fn drop_oldest_keeps_the_newest_and_tells_where_the_others_were() {
    let stuck = stuck(OverflowPolicy::DropOldest);
    stuck.push(&["1", "2", "3", "4", "5"]);
    assert_eq!(stuck.queue.health().waiting, 2);
    assert_eq!(stuck.queue.health().dropped, 3);
    assert_eq!(stuck.drain().unwrap_err().dropped_events(), 3);
    stuck.sink.check(&["stop", "-3", "4", "5", "flush"]);
    assert_eq!(stuck.queue.health().delivered, 3);
}

#[test]
fn drop_newest_keeps_the_oldest_and_tells_where_the_others_were() {
    let stuck = stuck(OverflowPolicy::DropNewest);
    stuck.push(&["1", "2", "3", "4", "5"]);
    assert_eq!(stuck.queue.health().dropped, 3);
    assert_eq!(stuck.drain().unwrap_err().dropped_events(), 3);
    stuck.push(&["6"]);
    assert_eq!(stuck.drain().unwrap_err().dropped_events(), 3);
    stuck
        .sink
        .check(&["stop", "1", "2", "-3", "flush", "6", "flush"]);
}

#[test]
fn block_waits_for_room_and_drops_nothing() {
    let stuck = stuck(OverflowPolicy::Block);
    let emitter = thread::spawn({
        let queue = Arc::clone(&stuck.queue);
        move || {
            for n in 1..=10 {
                queue.handle_event(&message(&n.to_string()));
            }
        }
    });
    stuck.go_on.send(()).unwrap();
    within_patience("the emitter", move || emitter.join().unwrap());
    assert_eq!(stuck.drain(), Ok(()));
    stuck.sink.check(&[
        "stop", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "flush",
    ]);
    assert_eq!(stuck.queue.health().dropped, 0);
    assert_eq!(stuck.queue.health().delivered, 11);
}

#[test]
fn a_flush_waits_for_everything_taken_before_it() {
    let stuck = stuck(OverflowPolicy::Block);
    stuck.push(&["1", "2"]);
    assert_eq!(stuck.drain(), Ok(()));
    stuck.sink.check(&["stop", "1", "2", "flush"]);
    assert_eq!(stuck.queue.health().waiting, 0);
}

#[test]
fn a_flush_needs_no_room_and_is_never_dropped() {
    for policy in [OverflowPolicy::DropOldest, OverflowPolicy::DropNewest] {
        let stuck = stuck(policy);
        stuck.push(&["1", "2"]);
        let flushed = stuck.queue.flush();
        stuck.push(&["3", "4", "5"]);
        stuck.go_on.send(()).unwrap();
        let outcome = block_on_timeout(flushed, PATIENCE);
        assert!(outcome.is_some(), "{policy:?}");
    }
}

#[test]
fn a_flush_passes_on_what_the_sink_reports() {
    let error = AgentEventSinkError::new("jsonl", "disk full", 1);
    let sink = Arc::new(Noting::default());
    sink.flushes.recover().push_back(Err(error.clone()));
    let queue = queue_of(2, OverflowPolicy::Block, sink);
    assert_eq!(flush(&queue), Err(error));
    assert_eq!(flush(&queue), Ok(()));
}

#[test]
fn a_flush_says_which_sink_lost_how_many() {
    let stuck = stuck(OverflowPolicy::DropNewest);
    stuck.push(&["1", "2", "3"]);
    let error = stuck.drain().unwrap_err();
    assert!(
        error.to_string().ends_with(" (1 dropped events)"),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .starts_with(&format!("{} sink flush failed: ", error.sink())),
        "{error}"
    );
}

#[test]
fn dropping_a_queue_delivers_what_is_in_it() {
    let Stuck { queue, sink, go_on } = stuck(OverflowPolicy::Block);
    queue.handle_event(&message("1"));
    queue.handle_event(&message("2"));
    go_on.send(()).unwrap();
    within_patience("dropping the queue", move || drop(queue));
    sink.check(&["stop", "1", "2"]);
    assert_eq!(Arc::strong_count(&sink), 1, "the worker is gone");
}

#[test]
fn a_sink_hears_of_a_loss_after_which_nothing_came() {
    let Stuck { queue, sink, go_on } = stuck(OverflowPolicy::DropNewest);
    for text in ["1", "2", "3", "4"] {
        queue.handle_event(&message(text));
    }
    go_on.send(()).unwrap();
    within_patience("dropping the queue", move || drop(queue));
    sink.check(&["stop", "1", "2", "-2"]);
}

#[test]
fn a_gap_of_an_earlier_queue_is_passed_on_in_its_place() {
    let stuck = stuck(OverflowPolicy::Block);
    stuck.push(&["1"]);
    stuck.queue.handle_gap(&EventGap { dropped_events: 7 });
    assert_eq!(stuck.drain(), Ok(()));
    stuck.sink.check(&["stop", "1", "-7", "flush"]);
}

/// What the gaps that a sink was told of add up to.
fn told(sink: &Noting) -> u64 {
    let notes = sink.notes.recover();
    let gaps = notes.iter().filter_map(|note| note.strip_prefix('-'));
    gaps.filter_map(|gap| gap.parse::<u64>().ok()).sum()
}

#[test]
fn a_gap_that_has_to_go_is_added_to_the_next() {
    for policy in [OverflowPolicy::DropOldest, OverflowPolicy::DropNewest] {
        let stuck = stuck(policy);
        if policy == OverflowPolicy::DropNewest {
            stuck.push(&["1", "2"]);
        }
        stuck.queue.handle_gap(&EventGap { dropped_events: 7 });
        if policy == OverflowPolicy::DropOldest {
            stuck.push(&["1", "2"]);
        }
        // Nothing but the gap had to go, so no event of this queue is missing.
        let _ = stuck.drain();
        assert_eq!(told(&stuck.sink), 7, "{policy:?}");
    }
}

#[test]
fn a_panic_costs_the_event_and_not_the_queue() {
    let sink = Arc::new(Noting::default());
    let queue = queue_of(10, OverflowPolicy::Block, sink.clone());
    for text in ["1", "panic", "2"] {
        queue.handle_event(&message(text));
    }
    assert_eq!(flush(&queue), Ok(()));
    sink.check(&["1", "2", "flush"]);
    assert_eq!(queue.health().panics, 1);
    assert_eq!(queue.health().delivered, 2);
}

#[test]
fn a_flush_that_panics_is_an_error() {
    struct PanicsOnFlush;
    impl AgentEventSink for PanicsOnFlush {
        fn handle_event(&self, _event: &AgentEvent) {}
        fn flush(&self) -> AgentEventSinkFlush<'_> {
            panic!("on purpose")
        }
    }
    let queue = queue_of(2, OverflowPolicy::Block, Arc::new(PanicsOnFlush));
    assert!(flush(&queue).is_err());
    assert!(flush(&queue).is_err(), "the worker is still there");
}

#[test]
fn opaque_records_keep_their_place() {
    let sink = Arc::new(Noting::default());
    let queue = queue_of(10, OverflowPolicy::Block, sink.clone());
    let opaque = match crate::RecordedEvent::decode(r#"{"type":"new","session_id":"s"}"#) {
        Ok(crate::RecordedEvent::Opaque(event)) => event,
        other => panic!("{other:?}"),
    };
    queue.handle_event(&message("1"));
    queue.handle_opaque(&opaque, 1);
    queue.handle_event(&message("2"));
    assert_eq!(flush(&queue), Ok(()));
    sink.check(&["1", "opaque new", "2", "flush"]);
}

#[test]
fn a_sink_may_hold_the_last_reference_to_its_own_queue() {
    /// Lets go of its queue when it is called.
    #[derive(Default)]
    struct LetsGo(Mutex<Option<Arc<QueuedSink>>>, Mutex<Option<Sender<()>>>);
    impl AgentEventSink for LetsGo {
        fn handle_event(&self, _event: &AgentEvent) {
            let queue = self.0.recover().take();
            drop(queue);
            if let Some(done) = self.1.recover().take() {
                done.send(()).expect("the test waits for it");
            }
        }
    }
    let (done, is_done) = mpsc::channel();
    let sink = Arc::new(LetsGo(Mutex::default(), Mutex::new(Some(done))));
    let queue = queue_of(2, OverflowPolicy::Block, sink.clone());
    // The worker waits for the lock until this thread has let go of its own reference.
    let mut place = sink.0.recover();
    queue.handle_event(&message("1"));
    *place = Some(queue);
    drop(place);
    assert!(
        is_done.recv_timeout(PATIENCE).is_ok(),
        "it waits for itself"
    );
}

#[test]
fn the_smallest_queue_holds_one_event() {
    let sink = Arc::new(Noting::default());
    let queue = queue_of(0, OverflowPolicy::Block, sink.clone());
    queue.handle_event(&message("1"));
    assert_eq!(flush(&queue), Ok(()));
    sink.check(&["1", "flush"]);
}
