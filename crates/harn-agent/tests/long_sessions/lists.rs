//! Lists of a session that are read from the middle of a log.

use std::sync::Arc;

use harn_agent::events::EventBus;
use harn_agent::{Subscription, WholeLists};
use harn_events::{AgentEvent, agent_events_topic};
use harn_log::{AnyEventLog, EventLog, MemoryEventLog, Topic, block_on};
use serde_json::{Value, json};

use super::{Style, run};

const TURNS: usize = 20;

fn log() -> (Arc<AnyEventLog>, Topic) {
    let log = Arc::new(AnyEventLog::Memory(MemoryEventLog::new(16)));
    run(
        Style::of("native", false),
        TURNS,
        Some(Arc::clone(&log)),
        || (),
    );
    (log, Topic::new(agent_events_topic("long")).unwrap())
}

/// How many calls the ends of iterations among some records speak of.
fn counts(records: &[Value]) -> Vec<Option<usize>> {
    let infos = records.iter().map(|event| &event["iteration_info"]);
    let lists = infos.filter_map(|info| info.get("session_tools_used"));
    lists.map(|list| Some(list.as_array()?.len())).collect()
}

#[test]
fn records_are_made_whole_wherever_reading_begins() {
    let (log, topic) = log();
    let all = block_on(log.read_range(&topic, None, usize::MAX)).unwrap();
    let ends: Vec<usize> = all
        .iter()
        .enumerate()
        .filter_map(|(at, (_, record))| (record.kind == "iteration_end").then_some(at))
        .collect();
    assert_eq!(ends.len(), TURNS);
    let whole = |whole: &mut WholeLists, at: usize| {
        let (id, mut record) = all[at].clone();
        block_on(whole.complete(&*log, &topic, (id, &mut record))).unwrap();
        let mut bytes = block_on(log.read_range_bytes(&topic, Some(id - 1), 1)).unwrap();
        let (_, bytes) = &mut bytes[0];
        let mut alone = WholeLists::default();
        block_on(alone.complete_bytes(&*log, &topic, (id, bytes))).unwrap();
        let parsed: Value = serde_json::from_slice(&bytes.payload).unwrap();
        assert_eq!(parsed, record.payload, "both ways to read say the same");
        record.payload["event"].clone()
    };
    let mut jumping = WholeLists::default();
    for turn in [TURNS - 1, 3, 4, 0, 12] {
        let event = whole(&mut jumping, ends[turn]);
        assert_eq!(counts(&[event]), [Some(turn + 1)]);
    }
    let mut in_order = WholeLists::default();
    let events: Vec<Value> = (0..all.len()).map(|at| whole(&mut in_order, at)).collect();
    let expected: Vec<_> = (1..=TURNS).map(Some).collect();
    assert_eq!(counts(&events), expected);
    let stored: Vec<Value> = all
        .iter()
        .map(|(_, one)| one.payload["event"].clone())
        .collect();
    let is_small = |event: &&Value| event["iteration_info"].get("session_tools_used").is_some();
    let last = stored.iter().rfind(is_small).unwrap();
    let expected = json!({"$first": TURNS - 1, "$then": ["look"]});
    assert_eq!(last["iteration_info"]["session_tools_used"], expected);
}

#[test]
fn whoever_reads_along_from_the_middle_sees_whole_lists() {
    let (log, _) = log();
    let bus = EventBus::default();
    for after in [None, Some(0), Some(200)] {
        let opened = Subscription::open(&bus, Arc::clone(&log), "long", after);
        let mut subscription = block_on(opened).unwrap();
        let mut events = Vec::new();
        while let Some(seen) = block_on(subscription.next_replayed()) {
            if matches!(seen.event, AgentEvent::IterationEnd { .. }) {
                events.push(json!(seen.event));
            }
        }
        let counts = counts(&events);
        let first = TURNS - counts.len();
        let expected: Vec<_> = (first + 1..=TURNS).map(Some).collect();
        assert_eq!(counts, expected);
        assert_eq!(first > 0, after == Some(200), "{after:?} is in the middle");
    }
}
