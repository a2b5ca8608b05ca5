use std::task::Waker;

use harn_events::{
    BusConfig, CloseSession, DurableSinks, OpaqueEvent, RecordedEvent, ToolCallStatus,
};
use harn_log::{FileEventLog, MemoryEventLog, SqliteEventLog, block_on};
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::keeper::{Keeper, KeptSessions};

/// A bus whose sessions are kept, and where.
struct World {
    bus: EventBus,
    log: Arc<AnyEventLog>,
    emitted: u64,
}

impl World {
    fn new(durable: Arc<dyn DurableSinks>, log: Arc<AnyEventLog>) -> Self {
        let bus = EventBus::new(BusConfig {
            durable: Some(durable),
            ..BusConfig::default()
        });
        bus.open_session("s").unwrap();
        let emitted = 0;
        Self { bus, log, emitted }
    }

    /// Events are in the log before anybody hears of them.
    fn logged(log: Arc<AnyEventLog>) -> Self {
        Self::new(Arc::new(LoggedSessions::new(Arc::clone(&log))), log)
    }

    /// Events are heard first and written some time later.
    fn kept(log: Arc<AnyEventLog>) -> Self {
        let keeper = Keeper::new(Arc::clone(&log));
        let otherwise = None;
        Self::new(Arc::new(KeptSessions { keeper, otherwise }), log)
    }

    fn memory() -> Self {
        Self::logged(memory())
    }

    fn subscribe(&self, after: Option<u64>, bounds: Bounds) -> Subscription {
        let log = Arc::clone(&self.log);
        block_on(Subscription::bounded(&self.bus, log, "s", after, bounds)).unwrap()
    }

    fn subscribe_after(&self, after: Option<u64>) -> Subscription {
        self.subscribe(after, Bounds::default())
    }

    /// Emits an event that is kept; its text is its index.
    fn say(&mut self) {
        self.bus.emit(&chunk(&self.emitted.to_string()));
        self.emitted += 1;
    }

    /// Emits a snapshot that durable sinks leave out.
    fn hint(&self) {
        self.bus.emit(&snapshot("abcdefghijk"));
    }
}

fn memory() -> Arc<AnyEventLog> {
    Arc::new(AnyEventLog::Memory(MemoryEventLog::new(16)))
}

fn chunk(text: &str) -> AgentEvent {
    AgentEvent::AgentMessageChunk {
        session_id: "s".to_owned(),
        content: text.to_owned(),
    }
}

fn snapshot(partial: &str) -> AgentEvent {
    AgentEvent::ToolCallUpdate {
        session_id: "s".into(),
        tool_call_id: "c".into(),
        tool_name: "write".into(),
        status: ToolCallStatus::Pending,
        raw_output: None,
        error: None,
        duration_ms: None,
        execution_duration_ms: None,
        error_category: None,
        executor: None,
        parsing: None,
        raw_input: None,
        raw_input_partial: Some(partial.to_owned()),
        audit: None,
    }
}

/// What there is without waiting.
fn take_ready(subscription: &mut Subscription, max: usize) -> Vec<Seen> {
    let mut cx = Context::from_waker(Waker::noop());
    let mut taken = Vec::new();
    while taken.len() < max
        && let Poll::Ready(Some(seen)) = subscription.poll_next(&mut cx)
    {
        taken.push(seen);
    }
    taken
}

fn indexes(seen: &[Seen]) -> Vec<u64> {
    seen.iter().map(|one| one.index).collect()
}

fn small() -> Bounds {
    Bounds {
        events_max: 4,
        bytes_max: 4096,
    }
}

#[test]
fn what_is_kept_comes_first_and_then_what_happens() {
    let mut world = World::memory();
    (0..3).for_each(|_| world.say());
    let mut subscription = world.subscribe_after(None);
    world.say();
    let seen = take_ready(&mut subscription, usize::MAX);
    assert_eq!(indexes(&seen), [0, 1, 2, 3]);
    let replayed: Vec<_> = seen.iter().map(|one| one.is_replayed).collect();
    assert_eq!(replayed, [true, true, true, false]);
    assert_eq!(seen[3].event, chunk("3"));
}

#[test]
fn only_what_follows_the_index_is_given() {
    let mut world = World::memory();
    (0..5).for_each(|_| world.say());
    let mut subscription = world.subscribe_after(Some(2));
    world.say();
    let seen = take_ready(&mut subscription, usize::MAX);
    assert_eq!(indexes(&seen), [3, 4, 5]);
}

#[test]
fn an_index_that_was_never_reached_counts_as_the_newest() {
    let mut world = World::memory();
    (0..2).for_each(|_| world.say());
    let mut subscription = world.subscribe_after(Some(1000));
    world.say();
    assert_eq!(indexes(&take_ready(&mut subscription, usize::MAX)), [2]);
}

#[test]
fn the_replay_has_an_end() {
    let mut world = World::memory();
    (0..2).for_each(|_| world.say());
    let mut subscription = world.subscribe_after(None);
    world.say();
    let replayed: Vec<_> = std::iter::from_fn(|| block_on(subscription.next_replayed())).collect();
    assert_eq!(indexes(&replayed), [0, 1]);
    assert_eq!(indexes(&take_ready(&mut subscription, usize::MAX)), [2]);
    let nothing = block_on(subscription.next_replayed());
    assert_eq!(nothing, None);
}

#[test]
fn the_replay_of_a_session_nobody_knows_is_empty() {
    let world = World::memory();
    let mut subscription = world.subscribe_after(None);
    assert_eq!(block_on(subscription.next_replayed()), None);
}

/// A slow reader must not make the loop's memory grow: it reads the log instead.
#[test]
fn a_slow_reader_goes_back_to_the_log() {
    let mut world = World::memory();
    let mut subscription = world.subscribe(None, small());
    (0..100).for_each(|_| world.say());
    assert!(
        subscription.queue.lock().has_overflown,
        "not all are queued"
    );
    let first = take_ready(&mut subscription, 4);
    assert_eq!(indexes(&first), [0, 1, 2, 3]);
    assert!(
        matches!(subscription.source, Source::Queue),
        "what was queued is not thrown away"
    );
    let seen = take_ready(&mut subscription, usize::MAX);
    assert_eq!(indexes(&seen), (4..100).collect::<Vec<_>>());
    assert!(
        seen.iter().all(|one| !one.is_replayed),
        "it is news to the reader"
    );
    world.say();
    assert_eq!(indexes(&take_ready(&mut subscription, usize::MAX)), [100]);
    assert!(
        matches!(subscription.source, Source::Queue),
        "the two have met"
    );
}

#[test]
fn a_few_large_events_are_too_much_as_well() {
    let mut world = World::memory();
    let mut subscription = world.subscribe(None, small());
    world.bus.emit(&chunk(&"x".repeat(5000)));
    world.emitted += 1;
    assert!(subscription.queue.lock().has_overflown);
    world.say();
    assert_eq!(indexes(&take_ready(&mut subscription, usize::MAX)), [0, 1]);
}

#[test]
fn what_is_not_kept_has_the_index_of_the_record_before_and_is_not_replayed() {
    let mut world = World::memory();
    let mut subscription = world.subscribe_after(None);
    world.bus.emit(&snapshot("abcdefghij"));
    world.emitted += 1;
    world.hint();
    world.say();
    let seen = take_ready(&mut subscription, usize::MAX);
    let places: Vec<_> = seen.iter().map(|one| (one.index, one.is_kept)).collect();
    assert_eq!(places, [(0, true), (0, false), (1, true)]);
    let mut later = world.subscribe_after(None);
    assert_eq!(indexes(&take_ready(&mut later, usize::MAX)), [0, 1]);
}

/// However many snapshots come, a reader that is away finds one.
#[test]
fn a_snapshot_replaces_the_one_before_it() {
    let world = World::memory();
    let mut subscription = world.subscribe(None, small());
    world.bus.emit(&snapshot("abcdefghij"));
    (0..100).for_each(|_| world.hint());
    assert!(!subscription.queue.lock().has_overflown);
    let seen = take_ready(&mut subscription, usize::MAX);
    assert_eq!(indexes(&seen), [0, 0]);
}

#[test]
fn a_record_of_a_later_version_takes_a_place_and_is_passed_over() {
    let mut world = World::memory();
    let later = r#"{"type":"of_a_later_version","session_id":"s"}"#;
    let Ok(RecordedEvent::Opaque(later)) = RecordedEvent::decode(later) else {
        panic!("nobody knows it");
    };
    let emit = |world: &mut World, event: &OpaqueEvent| {
        world.bus.emit_opaque(event);
        world.emitted += 1;
    };
    world.say();
    emit(&mut world, &later);
    let mut subscription = world.subscribe_after(None);
    world.say();
    emit(&mut world, &later);
    world.say();
    assert_eq!(
        indexes(&take_ready(&mut subscription, usize::MAX)),
        [0, 2, 4]
    );
    emit(&mut world, &later);
    let mut at_the_end = world.subscribe_after(Some(4));
    assert_eq!(
        block_on(at_the_end.next_replayed()),
        None,
        "it does not wait for more"
    );
}

#[test]
fn it_ends_with_the_session_after_its_last_event() {
    for bounds in [small(), Bounds::default()] {
        let mut world = World::memory();
        let mut subscription = world.subscribe(None, bounds);
        (0..20).for_each(|_| world.say());
        world.bus.close_session("s", CloseSession::default());
        let all: Vec<_> = std::iter::from_fn(|| block_on(subscription.next())).collect();
        assert_eq!(indexes(&all), (0..=20).collect::<Vec<_>>());
        assert!(matches!(all[20].event, AgentEvent::SessionClosed { .. }));
        assert!(subscription.failure().is_none());
    }
}

/// An editor may attach to a session before it is taken up again.
#[test]
fn a_session_that_is_not_open_yet_can_be_read_along_with() {
    let mut world = World::memory();
    world.say();
    world.bus.close_session("s", CloseSession::default());
    let mut subscription = world.subscribe_after(None);
    assert_eq!(indexes(&take_ready(&mut subscription, usize::MAX)), [0, 1]);
    world.bus.open_session("s").unwrap();
    world.say();
    assert_eq!(indexes(&take_ready(&mut subscription, usize::MAX)), [2]);
}

#[test]
fn sessions_whose_ids_look_alike_do_not_mix() {
    let world = World::memory();
    for id in ["a/b", "a:b", "a/b"] {
        world.bus.open_session(id).unwrap();
        world.bus.emit(&AgentEvent::AgentMessageChunk {
            session_id: id.to_owned(),
            content: id.to_owned(),
        });
    }
    let log = Arc::clone(&world.log);
    let subscription = Subscription::open(&world.bus, log, "a/b", None);
    let mut subscription = block_on(subscription).unwrap();
    let seen = take_ready(&mut subscription, usize::MAX);
    assert_eq!(indexes(&seen), [0, 1]);
}

#[test]
fn a_reader_that_waits_is_woken() {
    let mut world = World::memory();
    let mut subscription = world.subscribe_after(None);
    let (told, hears) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        while let Some(seen) = block_on(subscription.next()) {
            told.send(seen.index).unwrap();
        }
    });
    for index in 0..50 {
        world.say();
        assert_eq!(hears.recv().unwrap(), index);
    }
    world.bus.close_session("s", CloseSession::default());
    reader.join().unwrap();
}

#[test]
fn a_runtime_without_a_log_says_so() {
    let program = crate::testing::Program::default();
    let refused = block_on(program.runtime.subscribe("s", None))
        .err()
        .unwrap();
    assert_eq!(
        refused.to_string(),
        "sessions are not kept: there is no event log to read them from"
    );
}

/// One step of a story about a session and its readers.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A number of events that are kept.
    Say(u8),
    /// A snapshot that is not.
    Hint,
    /// A reader takes what is there, but not more than this.
    Take(u8),
    /// A reader goes and another goes on where it was.
    Reattach,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (1..12_u8).prop_map(Step::Say),
        2 => Just(Step::Hint),
        3 => (1..9_u8).prop_map(Step::Take),
        1 => Just(Step::Reattach),
    ];
    proptest::collection::vec(step, 1..40)
}

/// Whatever the reader does, it sees the log, and hears hints in their place.
fn check_story(mut world: World, steps: &[Step]) -> Result<(), TestCaseError> {
    // The first snapshot is kept; those that say the same afterwards are not.
    world.bus.emit(&snapshot("abcdefghijk"));
    world.emitted += 1;
    let mut subscription = world.subscribe(None, small());
    let mut seen = Vec::new();
    for step in steps {
        match step {
            Step::Say(count) => (0..*count).for_each(|_| world.say()),
            Step::Hint => world.hint(),
            Step::Take(max) => seen.extend(take_ready(&mut subscription, usize::from(*max))),
            Step::Reattach => {
                let after = subscription.cursor();
                subscription = world.subscribe(after, small());
            }
        }
    }
    world.say();
    let last = world.emitted - 1;
    while seen.last().is_none_or(|one: &Seen| one.index < last) {
        seen.extend(block_on(subscription.next()));
    }
    let kept: Vec<_> = seen.iter().filter(|one| one.is_kept).collect();
    let in_order: Vec<u64> = kept.iter().map(|one| one.index).collect();
    prop_assert_eq!(in_order, (0..=last).collect::<Vec<_>>());
    for one in &kept[1..] {
        prop_assert_eq!(&one.event, &chunk(&one.index.to_string()));
    }
    prop_assert!(seen.is_sorted_by_key(|one| (one.index, !one.is_kept)));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_story_gives_the_order_of_the_log(steps in steps()) {
        check_story(World::memory(), &steps)?;
    }

    #[test]
    fn any_story_gives_the_order_of_a_log_that_is_written_later(steps in steps()) {
        check_story(World::kept(memory()), &steps)?;
    }
}

#[test]
fn logs_on_disk_are_read_along_with_as_well() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let logs = [
        AnyEventLog::File(FileEventLog::open(path.join("log"), 16).unwrap()),
        AnyEventLog::Sqlite(SqliteEventLog::open(path.join("log.sqlite"), 16).unwrap()),
    ];
    let steps = [
        Step::Say(7),
        Step::Take(3),
        Step::Hint,
        Step::Say(9),
        Step::Reattach,
        Step::Take(2),
        Step::Say(30),
        Step::Hint,
        Step::Take(8),
        Step::Say(2),
    ];
    for log in logs {
        check_story(World::kept(Arc::new(log)), &steps).unwrap();
    }
}
