//! The event-log sink against a log that lives in memory.

use std::future::ready;

use super::*;
use crate::{BusConfig, EventBus, IterationInfo, ManualClock, NameList};

#[derive(Default)]
struct MemoryLog {
    topics: Mutex<BTreeMap<String, Vec<LogEvent>>>,
    /// Appends that fail, by how many have been tried before.
    failing: Vec<usize>,
    tried: Mutex<usize>,
    barriers: Mutex<usize>,
    syncs_asked: Mutex<usize>,
    /// How often somebody has looked where a session ends.
    looks: Mutex<usize>,
}

impl AgentEventLog for MemoryLog {
    fn append(&self, topic: &str, record: &EventRecord<'_>) -> Result<(), LogFailure> {
        let mut tried = self.tried.recover();
        *tried += 1;
        if self.failing.contains(&(*tried - 1)) {
            return Err("no space left".into());
        }
        self.topics
            .recover()
            .entry(topic.to_owned())
            .or_default()
            .push(record.log_event()?);
        Ok(())
    }

    fn latest_of(&self, topic: &str, session_id: &str) -> Result<Option<LogEvent>, LogFailure> {
        *self.looks.recover() += 1;
        let topics = self.topics.recover();
        let mut records = topics.get(topic).into_iter().flatten();
        Ok(records
            .rfind(|record| record.headers[SESSION_HEADER] == session_id)
            .cloned())
    }

    fn sync_soon(&self) {
        *self.syncs_asked.recover() += 1;
    }

    fn barrier(&self) -> Pin<Box<dyn Future<Output = Result<(), LogFailure>> + Send + '_>> {
        *self.barriers.recover() += 1;
        Box::pin(ready(Ok(())))
    }
}

impl MemoryLog {
    fn indexes(&self, topic: &str, session_id: &str) -> Vec<u64> {
        let topics = self.topics.recover();
        let records = topics.get(topic).into_iter().flatten();
        let of_session = records.filter(|record| record.headers[SESSION_HEADER] == session_id);
        of_session
            .map(|record| record.payload["index"].as_u64().unwrap())
            .collect()
    }
}

fn chunk(session_id: &str, content: &str) -> AgentEvent {
    AgentEvent::AgentMessageChunk {
        session_id: session_id.into(),
        content: content.into(),
    }
}

fn flush(sink: &EventLogSink) -> Result<(), crate::AgentEventSinkError> {
    crate::block::block_on_timeout(sink.flush(), std::time::Duration::from_secs(60)).unwrap()
}

#[test]
fn a_topic_component_keeps_its_length_in_characters() {
    for (id, topic) in [
        ("plain-1_2.3", "plain-1_2.3"),
        ("a/b c", "a_b_c"),
        ("ä😀", "__"),
        ("  x ", "__x_"),
        ("", ""),
    ] {
        assert_eq!(sanitize_topic_component(id), topic);
    }
}

#[test]
fn nobody_looks_where_a_new_session_ends() {
    let log = Arc::new(MemoryLog::default());
    let clock = Arc::new(ManualClock::at(42));
    let policy = RedactionPolicy::new();
    let sink = EventLogSink::for_new_session(log.clone(), "new", policy.clone(), clock.clone());
    sink.handle_event(&chunk("new", "a"));
    sink.handle_event(&chunk("new", "b"));
    let topic = agent_events_topic("new");
    assert_eq!(log.indexes(&topic, "new"), [0, 1]);
    assert_eq!(*log.looks.recover(), 0);
    let sink = EventLogSink::with_policy(log.clone(), "new", policy, clock);
    sink.handle_event(&chunk("new", "c"));
    assert_eq!(log.indexes(&topic, "new"), [0, 1, 2]);
    assert_eq!(*log.looks.recover(), 1);
}

#[test]
fn a_record_carries_tag_header_index_and_event() {
    let log = Arc::new(MemoryLog::default());
    let clock = Arc::new(ManualClock::at(42));
    let sink = EventLogSink::with_policy(log.clone(), "a/b", RedactionPolicy::new(), clock);
    sink.handle_event(&chunk("a/b", "hi"));
    let topics = log.topics.recover();
    let records = &topics["observability.agent_events.a_b"];
    let expected = serde_json::json!({
        "kind": "agent_message_chunk",
        "payload": {
            "index_hint": 42,
            "session_id": "a/b",
            "event": {"type": "agent_message_chunk", "session_id": "a/b", "content": "hi"},
            "execution_id": null,
            "index": 0,
        },
        "headers": {"session_id": "a/b"},
        "occurred_at_ms": 42,
    });
    assert_eq!(
        serde_json::to_value(records).unwrap(),
        serde_json::json!([expected])
    );
}

#[test]
fn stored_order_is_emission_order_also_from_many_threads() {
    let log = Arc::new(MemoryLog::default());
    let bus = EventBus::new(BusConfig::default());
    bus.register_sink("s", EventLogSink::new(log.clone(), "s"));
    let emitted = Arc::new(Mutex::new(Vec::new()));
    struct Order(Arc<Mutex<Vec<String>>>);
    impl AgentEventSink for Order {
        fn handle_event(&self, event: &AgentEvent) {
            let AgentEvent::AgentMessageChunk { content, .. } = event else {
                return;
            };
            self.0.recover().push(content.clone());
        }
    }
    bus.register_sink("s", Arc::new(Order(emitted.clone())));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let bus = &bus;
            scope.spawn(move || {
                for number in 0..2500 {
                    bus.emit(&chunk("s", &format!("{thread}:{number}")));
                }
            });
        }
    });
    let topics = log.topics.recover();
    let records = &topics["observability.agent_events.s"];
    let content = |record: &LogEvent| {
        record.payload["event"]["content"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let stored: Vec<String> = records.iter().map(content).collect();
    assert_eq!(stored.len(), 10_000);
    assert_eq!(stored, *emitted.recover());
    drop(topics);
    let dense: Vec<u64> = (0..10_000).collect();
    assert_eq!(log.indexes("observability.agent_events.s", "s"), dense);
}

#[test]
fn ids_that_share_a_topic_have_records_of_their_own() {
    let log = Arc::new(MemoryLog::default());
    for (round, id) in ["a/b", "a_b", "a/b"].into_iter().enumerate() {
        let sink = EventLogSink::new(log.clone(), id);
        sink.handle_event(&chunk(id, &round.to_string()));
    }
    let topics = log.topics.recover();
    assert_eq!(topics.len(), 1, "the ids collide");
    let records = &topics["observability.agent_events.a_b"];
    let seen = |id: &str| -> Vec<String> {
        let events = records
            .iter()
            .filter_map(|record| event_of_log_record(record, id));
        events
            .map(|event| serde_json::to_value(event).unwrap()["content"].to_string())
            .collect()
    };
    assert_eq!(seen("a/b"), ["\"0\"", "\"2\""]);
    assert_eq!(seen("a_b"), ["\"1\""]);
    drop(topics);
    assert_eq!(log.indexes("observability.agent_events.a_b", "a/b"), [0, 1]);
}

#[test]
fn a_failed_append_is_counted_and_leaves_no_gap() {
    let log = Arc::new(MemoryLog {
        failing: vec![1, 2],
        ..MemoryLog::default()
    });
    let sink = EventLogSink::new(log.clone(), "s");
    for number in 0..5 {
        sink.handle_event(&chunk("s", &number.to_string()));
    }
    assert_eq!(log.indexes("observability.agent_events.s", "s"), [0, 1, 2]);
    let health = sink.health();
    assert_eq!((health.accepted, health.stored, health.dropped), (5, 3, 2));
    let error = flush(&sink).unwrap_err();
    assert_eq!(
        error.to_string(),
        "event_log sink flush failed: no space left (2 dropped events)"
    );
}

/// What a record would have said first is said by the next one.
#[test]
fn after_a_failed_append_lists_are_stored_whole() {
    let log = Arc::new(MemoryLog {
        failing: vec![1],
        ..MemoryLog::default()
    });
    let sink = EventLogSink::new(log.clone(), "s");
    let mut used = NameList::default();
    for iteration in 1..=4 {
        used.push(format!("tool-{iteration}"));
        let info = IterationInfo::from(serde_json::json!({}));
        sink.handle_event(&AgentEvent::IterationEnd {
            session_id: "s".to_owned(),
            iteration,
            iteration_info: info.with_session_tools(used.clone(), NameList::default()),
        });
    }
    let topics = log.topics.recover();
    let records = topics["observability.agent_events.s"].iter();
    let stored: Vec<&Value> = records
        .map(|record| &record.payload["event"]["iteration_info"]["session_tools_used"])
        .collect();
    let expected = [
        serde_json::json!(["tool-1"]),
        serde_json::json!(["tool-1", "tool-2", "tool-3"]),
        serde_json::json!({"$first": 3, "$then": ["tool-4"]}),
    ];
    assert_eq!(stored, expected.iter().collect::<Vec<_>>());
}

#[test]
fn a_flush_takes_a_barrier() {
    let log = Arc::new(MemoryLog::default());
    let sink = EventLogSink::new(log.clone(), "s");
    sink.handle_event(&chunk("s", "x"));
    assert_eq!(flush(&sink), Ok(()));
    assert_eq!(*log.barriers.recover(), 1);
}

#[test]
fn secrets_do_not_reach_the_log() {
    let log = Arc::new(MemoryLog::default());
    let sink = EventLogSink::new(log.clone(), "s");
    sink.handle_event(&chunk("s", "Authorization: Bearer abcdef123456"));
    let closed = |metadata| AgentEvent::SessionClosed {
        session_id: "s".into(),
        reason: "closed".into(),
        status: "closed".into(),
        metadata,
    };
    sink.handle_event(&closed(
        serde_json::json!({"api key": "abcdef123456", "n": 1}),
    ));
    let topics = log.topics.recover();
    let stored = serde_json::to_string(&*topics).unwrap();
    assert!(!stored.contains("abcdef123456"), "{stored}");
    let records = &topics["observability.agent_events.s"];
    assert_eq!(
        records[1].payload,
        serde_json::json!({
            "event": {
                "type": "session_closed", "session_id": "s", "reason": "closed",
                "status": "closed", "metadata": {"api key": "[redacted]", "n": 1},
            },
            "session_id": "s", "index": 1, "index_hint": records[1].occurred_at_ms,
            "execution_id": null,
        })
    );
}

#[test]
fn the_end_of_a_run_is_made_durable() {
    let log = Arc::new(MemoryLog::default());
    let sink = EventLogSink::new(log.clone(), "s");
    sink.handle_event(&chunk("s", "x"));
    assert_eq!(*log.syncs_asked.recover(), 0);
    sink.handle_event(&AgentEvent::SessionClosed {
        session_id: "s".into(),
        reason: "closed".into(),
        status: "closed".into(),
        metadata: Value::Null,
    });
    assert_eq!(*log.syncs_asked.recover(), 1);
}

#[test]
fn an_event_of_another_session_takes_no_index() {
    let log = Arc::new(MemoryLog::default());
    let sink = EventLogSink::new(log.clone(), "s");
    sink.handle_event(&chunk("s", "1"));
    sink.handle_event(&chunk("t", "2"));
    sink.handle_event(&chunk("s", "3"));
    assert_eq!(log.indexes("observability.agent_events.s", "s"), [0, 1]);
    assert_eq!(sink.health().dropped, 1);
}
