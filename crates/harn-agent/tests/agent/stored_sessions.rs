//! Sessions on a real log.

use std::sync::Arc;

use harn_agent::llm::desk::Desk;
use harn_agent::llm::scenario::Scenario;
use harn_agent::session::{Change, SessionState, load_session, session_records};
use harn_agent::verify::{check_journal, check_topic};
use harn_agent::{
    FunctionTool, LoggedSessions, LoopRequest, Runtime, RuntimeOptions, SessionStorage, TaskLedger,
    session_events,
};
use harn_events::{AgentEvent, BusConfig, CloseSession, DurableSinks, EventBus, RedactionPolicy};
use harn_log::{
    AnyEventLog, EventLog, FileEventLog, MemoryEventLog, SqliteEventLog, Topic, block_on,
    with_active_event_log,
};
use serde_json::json;
use tempfile::TempDir;

fn logs(folder: &TempDir) -> Vec<Arc<AnyEventLog>> {
    let folder = folder.path();
    let logs = [
        AnyEventLog::Memory(MemoryEventLog::new(16)),
        AnyEventLog::File(FileEventLog::open(folder.join("log"), 16).unwrap()),
        AnyEventLog::Sqlite(SqliteEventLog::open(folder.join("log.sqlite"), 16).unwrap()),
    ];
    logs.map(Arc::new).into()
}

fn bus(log: &Arc<AnyEventLog>) -> EventBus {
    EventBus::new(BusConfig {
        durable: Some(Arc::new(LoggedSessions::new(Arc::clone(log)))),
        ..BusConfig::default()
    })
}

fn chunk(session_id: &str, content: impl ToString) -> AgentEvent {
    AgentEvent::AgentMessageChunk {
        session_id: session_id.to_owned(),
        content: content.to_string(),
    }
}

/// The texts and indexes of a session's records.
fn stored(log: &AnyEventLog, topic: &str) -> Vec<(u64, String)> {
    let topic = Topic::new(topic).unwrap();
    let records = block_on(log.read_range(&topic, None, usize::MAX)).unwrap();
    let of_record = |record: harn_log::LogEvent| {
        let content = record.payload["event"]["content"].as_str()?.to_owned();
        Some((record.payload["index"].as_u64()?, content))
    };
    let records = records
        .into_iter()
        .filter_map(|(_, record)| of_record(record));
    records.collect()
}

/// S5: stored order equals the order of emission, indexes are dense.
#[test]
fn events_are_stored_in_order_with_dense_indexes() {
    let folder = tempfile::tempdir().unwrap();
    for log in logs(&folder) {
        let bus = bus(&log);
        bus.open_session("s").unwrap();
        for number in 0..300 {
            bus.emit(&chunk("s", number));
        }
        let stored = stored(&log, "observability.agent_events.s");
        let expected = (0..300).map(|number| (number, number.to_string()));
        assert!(stored.into_iter().eq(expected));
    }
}

/// S16 and S1: a session that is opened again goes on where it was.
#[test]
fn a_session_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    for log in logs(&folder) {
        for round in 0..2 {
            let bus = bus(&log);
            bus.open_session("s").unwrap();
            for number in 0..5 {
                bus.emit(&chunk("s", round * 5 + number));
            }
            bus.close_session("s", CloseSession::because("done"));
        }
        let topic = Topic::new("observability.agent_events.s").unwrap();
        let records = block_on(log.read_range(&topic, None, 100)).unwrap();
        let indexes = records
            .iter()
            .map(|(_, record)| record.payload["index"].as_u64());
        assert!(indexes.eq((0..12).map(Some)), "ten chunks and two closings");
    }
}

/// S19: ids that look alike share a topic and nothing else.
#[test]
fn sessions_with_one_topic_are_kept_apart() {
    let folder = tempfile::tempdir().unwrap();
    for log in logs(&folder) {
        let bus = bus(&log);
        for session_id in ["a/b", "a_b"] {
            bus.open_session(session_id).unwrap();
        }
        for number in 0..3 {
            bus.emit(&chunk("a/b", number));
            bus.emit(&chunk("a_b", number));
        }
        for session_id in ["a/b", "a_b"] {
            let events = block_on(session_events(&*log, session_id)).unwrap();
            assert_eq!(events.len(), 3);
            let sessions = events.iter().map(|(_, event)| event.session_id());
            assert!(sessions.eq([Some(session_id); 3]));
        }
    }
}

#[test]
fn a_flush_makes_a_session_durable() {
    let folder = tempfile::tempdir().unwrap();
    for log in logs(&folder) {
        let sessions = LoggedSessions::new(log);
        let sink = DurableSinks::open(&sessions, "s", &RedactionPolicy::new()).unwrap();
        sink.handle_event(&chunk("s", "x"));
        block_on(sink.flush()).unwrap();
        let health = sink.durable_health().unwrap();
        assert_eq!((health.accepted, health.stored, health.dropped), (1, 1, 0));
    }
}

#[test]
fn the_active_log_comes_before_the_folder_of_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let storage = SessionStorage::in_environment(folder.path(), &|name| {
        (name == "HARN_EVENT_LOG_DIR").then(|| "jsonl".to_owned())
    });
    let policy = RedactionPolicy::new();
    let log = Arc::new(AnyEventLog::Memory(MemoryEventLog::new(16)));
    block_on(with_active_event_log(Arc::clone(&log), async {
        let sink = storage.open("in-the-log", &policy).unwrap();
        sink.handle_event(&chunk("in-the-log", "x"));
    }));
    assert_eq!(
        block_on(session_events(&*log, "in-the-log")).unwrap().len(),
        1
    );
    assert!(!folder.path().join("jsonl").exists());

    let sink = storage.open("in-a-file", &policy).unwrap();
    sink.handle_event(&chunk("in-a-file", "x"));
    let file = folder.path().join("jsonl/event_log-in-a-file.jsonl");
    assert!(
        std::fs::read_to_string(file)
            .unwrap()
            .contains("agent_message_chunk")
    );
}

/// What the model was asked and answered, in order.
fn said(state: &SessionState) -> Vec<&str> {
    let messages = state.messages.iter();
    messages.filter_map(|one| one["content"].as_str()).collect()
}

fn runtime(log: &Arc<AnyEventLog>, resumes: Option<&str>) -> Arc<Runtime> {
    let script = "[[turn]]\ntext = \"Fine.\"\nrepeat = true\n";
    let desk = Desk::staged(Scenario::parse("fine", script).unwrap());
    Runtime::new(
        Arc::new(desk),
        RuntimeOptions {
            log: Some(Arc::clone(log)),
            resumes: resumes.map(str::to_owned),
            ..RuntimeOptions::default()
        },
    )
}

async fn ask(runtime: &Arc<Runtime>, session: &str, prompt: &str) {
    let request = LoopRequest::new(prompt).option("session_id", session);
    runtime.run(request).await.unwrap();
}

/// A process in which the model looks around.
async fn look_once(log: &Arc<AnyEventLog>, script: &str, format: &str) {
    let desk = Desk::staged(Scenario::parse("looking", script).unwrap());
    let options = RuntimeOptions {
        log: Some(Arc::clone(log)),
        resumes: Some("talk".to_owned()),
        ..RuntimeOptions::default()
    };
    let runtime = Runtime::new(Arc::new(desk), options);
    let look = FunctionTool::new("look", "Looks.", json!({}), |_| {
        Box::pin(async { Ok("a lamp".to_owned()) })
    });
    let request = LoopRequest::new("Look")
        .option("session_id", "talk")
        .option("tool_format", format)
        .tool(look);
    runtime.run(request).await.unwrap();
}

/// The ids of the calls that have begun.
async fn starts(log: &Arc<AnyEventLog>) -> Vec<String> {
    let events = session_events(&**log, "talk").await.unwrap();
    let starts = events.iter().filter_map(|(_, event)| match event.event() {
        Some(AgentEvent::ToolCall { tool_call_id, .. }) => Some(tool_call_id.clone()),
        _ => None,
    });
    starts.collect()
}

/// Of calls that are open at once each has an id of its own.
#[tokio::test(start_paused = true)]
async fn two_calls_of_one_id_that_run_together_can_be_told_apart() {
    let log = Arc::new(AnyEventLog::Memory(MemoryEventLog::new(16)));
    let call = "{ tool = \"look\", id = \"1\" }";
    let script = format!("[[turn]]\ncall = [{call}, {call}]\n\n[[turn]]\ntext = \"So.\"\n");
    look_once(&log, &script, "native").await;
    assert_eq!(starts(&log).await, ["tool-1", "tool-1-2"]);
}

/// What a model calls a call does not depend on what it called others in another process.
#[tokio::test(start_paused = true)]
async fn calls_have_the_same_ids_after_a_restart() {
    let log = Arc::new(AnyEventLog::Memory(MemoryEventLog::new(16)));
    for _ in 0..2 {
        let script =
            "[[turn]]\ncall = [{ tool = \"look\", id = \"1\" }]\n\n[[turn]]\ntext = \"So.\"\n";
        look_once(&log, script, "native").await;
    }
    assert_eq!(starts(&log).await, ["tool-1", "tool-1"]);
    for topic in log.topics().await.unwrap() {
        for found in check_topic(&*log, &topic).await.unwrap() {
            assert_eq!(found.findings.violations, [], "{topic:?}");
        }
    }
}

/// Candidates are counted over the session, also by another process.
#[tokio::test(start_paused = true)]
async fn candidates_are_counted_on_after_a_restart() {
    let log = Arc::new(AnyEventLog::Memory(MemoryEventLog::new(16)));
    for _ in 0..2 {
        let script = "[[turn]]\ntext = \"<tool_call>look({})</tool_call>\"\n\n\
            [[turn]]\ntext = \"<user_response>So.</user_response>\"\n";
        look_once(&log, script, "text").await;
    }
    let mut ids = starts(&log).await;
    ids.retain(|id| id.starts_with("text-cand-"));
    assert_eq!(ids, ["text-cand-1", "text-cand-2"]);
}

/// A later process goes on with the one session it was told to, and begins all others anew.
#[tokio::test(start_paused = true)]
async fn a_session_is_taken_up_again_where_its_journal_ends() {
    let folder = tempfile::tempdir().unwrap();
    for log in logs(&folder) {
        for prompt in ["One", "Two"] {
            let runtime = runtime(&log, Some("talk"));
            ask(&runtime, "talk", prompt).await;
            ask(&runtime, "other", prompt).await;
        }
        let talk = load_session(&*log, "talk", None).await.unwrap();
        assert_eq!(said(&talk), ["One", "Fine.", "Two", "Fine."]);
        let other = load_session(&*log, "other", None).await.unwrap();
        assert_eq!(said(&other), ["Two", "Fine."]);
        let records = session_records(&*log, "talk").await.unwrap();
        let resumed = records.iter().filter(|one| one.change == Change::Resumed);
        assert_eq!(resumed.count(), 1);
        let indexes = records.iter().map(|record| record.index);
        assert!(indexes.eq(0..records.len() as u64));
        for topic in log.topics().await.unwrap() {
            for found in check_topic(&*log, &topic).await.unwrap() {
                assert_eq!(found.findings.violations, [], "{topic:?}");
            }
        }
    }
}

/// What a killed process leaves open is not open for ever.
#[tokio::test(start_paused = true)]
async fn a_run_that_never_ended_is_no_obstacle() {
    let folder = tempfile::tempdir().unwrap();
    for log in logs(&folder) {
        {
            let runtime = runtime(&log, None);
            let session = runtime.open_session("talk").await.unwrap();
            session.record(Change::MessageAdded {
                message: serde_json::json!({"role": "user", "content": "One"}),
            });
            session.record(Change::RunStarted {
                ledger: TaskLedger::default(),
                resumed_iterations: 0,
            });
            session.record(Change::IterationStarted { iteration: 0 });
            session.record(Change::CallStarted {
                id: "c".to_owned(),
                name: "run".to_owned(),
                arguments: serde_json::json!({}),
            });
            session.barrier().await;
        }
        let runtime = runtime(&log, Some("talk"));
        let session = runtime.open_session("talk").await.unwrap();
        assert!(session.read(|state| state.run.open_calls.is_empty()));
        ask(&runtime, "talk", "Two").await;
        let talk = load_session(&*log, "talk", None).await.unwrap();
        assert_eq!(said(&talk), ["One", "Two", "Fine."]);
        let records = session_records(&*log, "talk").await.unwrap();
        assert_eq!(check_journal(&records).violations, []);
    }
}
