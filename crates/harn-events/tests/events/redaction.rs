//! Secrets of tools are seen by nobody but the tools.

use std::sync::{Arc, Mutex};

use harn_events::{
    AgentEvent, BusConfig, Completeness, EventBus, JsonlDirectory, QueueOptions, QueuedSink,
    REDACTED, RedactionPolicy,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Recording, block_on, event, listener, tool_call_with};

/// The part of the token that must not show.
const SECRET: &str = "q7Zr2PLm9XwK4tVb";
const BEARER: &str = "Bearer q7Zr2PLm9XwK4tVb";

/// Everything that every kind of reader was given, as text.
struct AllReaders {
    bus: EventBus,
    recordings: Vec<(&'static str, Arc<Recording>)>,
    closure: Arc<Mutex<Vec<AgentEvent>>>,
    queued: Arc<QueuedSink>,
    folder: tempfile::TempDir,
}

impl AllReaders {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is room for a scratch folder");
        let bus = EventBus::new(BusConfig {
            durable: Some(Arc::new(JsonlDirectory::new(folder.path()))),
            ..BusConfig::default()
        });
        bus.open_session("s").expect("there is room");
        let recordings = ["sink", "observer", "loop sink", "queued sink"]
            .map(|name| (name, Recording::new()))
            .to_vec();
        let queued = QueuedSink::new(recordings[3].1.clone(), QueueOptions::default())
            .expect("there is a thread");
        bus.register_sink("s", recordings[0].1.clone());
        bus.register_wildcard_sink(recordings[1].1.clone());
        bus.register_sink("s", queued.clone());
        let closure: Arc<Mutex<Vec<_>>> = Arc::default();
        bus.subscribe("s", {
            let closure = Arc::clone(&closure);
            listener(move |event| closure.lock().expect("no panic here").push(event))
        });
        Self {
            bus,
            recordings,
            closure,
            queued,
            folder,
        }
    }

    /// Emits with a loop sink installed, and lets all readers finish.
    fn emit(&self, event: &AgentEvent) {
        let _loop_sink = self
            .bus
            .install_loop_sink(Some(self.recordings[2].1.clone()));
        block_on(self.bus.emit_and_await(event));
        block_on(harn_events::AgentEventSink::flush(&*self.queued)).expect("nothing was dropped");
    }

    fn texts(&self) -> Vec<(&'static str, String)> {
        let text =
            |event: &Vec<AgentEvent>| serde_json::to_string(event).expect("events are plain JSON");
        let mut texts: Vec<_> = self
            .recordings
            .iter()
            .map(|(name, recording)| (*name, text(&recording.events())))
            .collect();
        texts.push((
            "closure",
            text(&self.closure.lock().expect("no panic here")),
        ));
        let files = std::fs::read_dir(self.folder.path()).expect("the folder is there");
        for file in files {
            let path = file.expect("the folder can be listed").path();
            texts.push((
                "file",
                std::fs::read_to_string(path).expect("JSONL is text"),
            ));
        }
        texts
    }
}

/// Emits the event and expects every reader to have got it without the secret.
#[track_caller]
fn check_hidden(original: AgentEvent) {
    let before = original.clone();
    let readers = AllReaders::new();
    readers.emit(&original);
    let texts = readers.texts();
    assert_eq!(texts.len(), 6, "five live readers and one file");
    for (reader, text) in texts {
        assert!(text.contains(original.tag()), "{reader} has it: {text}");
        assert!(!text.contains(SECRET), "{reader} sees the secret: {text}");
        assert!(text.contains(REDACTED), "{reader} sees the mark: {text}");
    }
    assert_eq!(original, before, "the loop keeps what it has");
}

fn update(status: &str, fields: Value) -> AgentEvent {
    let mut object = json!({
        "type": "tool_call_update", "session_id": "s", "tool_call_id": "1", "tool_name": "http",
        "status": status, "raw_output": null, "error": null,
    });
    let all = object.as_object_mut().expect("it is an object");
    all.extend(fields.as_object().cloned().unwrap_or_default());
    event(object)
}

#[test]
fn a_token_in_the_arguments_of_a_call_is_hidden() {
    check_hidden(tool_call_with(
        "s",
        "1",
        json!({"headers": {"Authorization": BEARER}}),
    ));
    check_hidden(tool_call_with("s", "1", json!({"argv": ["-H", BEARER]})));
    check_hidden(tool_call_with("s", "1", json!(format!("curl {BEARER}"))));
}

#[test]
fn a_token_in_what_a_tool_returns_is_hidden() {
    check_hidden(update("completed", json!({"raw_output": {"echo": BEARER}})));
    check_hidden(update(
        "completed",
        json!({"raw_output": {"token": SECRET}}),
    ));
    check_hidden(update(
        "failed",
        json!({"error": format!("401 for {BEARER}")}),
    ));
    check_hidden(update("completed", json!({"raw_input": {"h": BEARER}})));
}

#[test]
fn a_token_in_streamed_arguments_is_hidden() {
    let text = format!("{{\"header\": \"{BEARER}");
    check_hidden(update("pending", json!({"raw_input_partial": text})));
    check_hidden(update("pending", json!({"raw_input": {"header": BEARER}})));
}

#[test]
fn no_snapshot_of_arriving_arguments_shows_the_beginning_of_a_token() {
    let readers = AllReaders::new();
    readers.emit(&tool_call_with("s", "1", json!({})));
    let text = format!("{{\"header\": \"{BEARER}\"}}");
    for end in 1..=text.len() {
        readers.emit(&update(
            "pending",
            json!({"raw_input_partial": text[..end]}),
        ));
    }
    for end in 1..=BEARER.len() {
        readers.emit(&update(
            "pending",
            json!({"raw_input": {"header": BEARER[..end]}}),
        ));
    }
    for (reader, text) in readers.texts() {
        assert!(!text.contains(&SECRET[..3]), "{reader}: {text}");
    }
}

fn composition(tag: &str, key: &str, value: Value) -> AgentEvent {
    event(json!({"type": tag, "session_id": "s", key: value}))
}

#[test]
fn a_token_in_a_child_call_of_a_composition_is_hidden() {
    let call = json!({"raw_input": {"h": BEARER}});
    check_hidden(composition("composition_child_call", "call", call));
    for result in [json!({"raw_output": BEARER}), json!({"error": BEARER})] {
        check_hidden(composition("composition_child_result", "result", result));
    }
}

#[test]
fn a_token_in_the_details_of_a_failed_child_is_hidden() {
    let result = json!({"error_details": {"request": BEARER}});
    check_hidden(composition("composition_child_result", "result", result));
}

#[test]
fn a_token_in_the_errors_of_earlier_attempts_is_hidden() {
    let result = json!({"retry_errors": ["timeout", BEARER]});
    check_hidden(composition("composition_child_result", "result", result));
}

#[test]
fn a_token_in_the_outcome_of_a_composition_is_hidden() {
    for run in [
        json!({"stdout": BEARER}),
        json!({"stderr": BEARER}),
        json!({"result": {"h": BEARER}}),
    ] {
        check_hidden(composition("composition_finish", "run", run));
    }
    let run = json!({"error": BEARER});
    check_hidden(composition("composition_error", "run", run));
}

#[test]
fn a_token_in_the_artifacts_of_a_composition_is_hidden() {
    let run = json!({"artifacts": [{"body": BEARER}]});
    check_hidden(composition("composition_finish", "run", run));
}

#[test]
fn a_token_in_the_audit_of_a_call_is_hidden() {
    check_hidden(event(json!({
        "type": "tool_call_audit", "session_id": "s", "tool_call_id": "1", "tool_name": "http",
        "audit": {"description": BEARER},
    })));
}

#[test]
fn a_token_in_what_a_tool_search_was_asked_is_hidden() {
    check_hidden(event(json!({
        "type": "tool_search_query", "session_id": "s", "tool_use_id": "1", "name": "find",
        "query": {"q": BEARER}, "strategy": "bm25", "mode": "client",
    })));
}

#[test]
fn a_token_in_the_arguments_of_a_call_that_waits_for_approval_is_hidden() {
    check_hidden(event(json!({
        "type": "hitl_requested", "session_id": "s", "request_id": "1", "kind": "approval",
        "payload": {"tool": "http", "args": {"h": BEARER}},
    })));
}

/// Streams `text` as arguments, growing by a character each time, and expects no
/// snapshot to hold `hidden`.
#[track_caller]
fn check_streamed(policy: RedactionPolicy, text: &str, hidden: &str) {
    let bus = EventBus::new(BusConfig {
        redaction: policy,
        ..BusConfig::default()
    });
    let recording = Recording::new();
    bus.register_sink("s", recording.clone());
    for end in 1..=text.len() {
        let partial = json!({"raw_input_partial": text[..end]});
        bus.emit(&update("pending", partial));
    }
    assert_eq!(recording.len(), text.len());
    for snapshot in recording.json() {
        let shown = snapshot["raw_input_partial"].as_str().unwrap_or_default();
        assert!(!shown.contains(hidden), "{shown}");
    }
}

#[test]
fn a_declared_secret_is_hidden_while_it_arrives() {
    let policy = RedactionPolicy::new().with_secret("vermilion-otter-42");
    check_streamed(policy, r#"{"say": "vermilion-otter-42"}"#, "vermilion");
}

#[test]
fn a_declared_secret_is_hidden_in_the_spelling_of_streamed_json() {
    let policy = RedactionPolicy::new().with_secret("first-4711\nsecond-4712");
    let text = r#"{"key": "first-4711\nsecond-4712", "more": 1}"#;
    check_streamed(policy, text, "second-4712");
}

#[test]
fn a_second_policy_is_in_force_until_its_guard_is_dropped() {
    let (bus, recording) = (EventBus::default(), Recording::new());
    bus.register_sink("s", recording.clone());
    let call = |id: &str| tool_call_with("s", id, json!({"text": "correct horse battery"}));

    bus.emit(&call("1"));
    let outer = bus.push_redaction_policy(RedactionPolicy::new().with_secret("horse"));
    let inner = bus.push_redaction_policy(RedactionPolicy::new().with_secret("battery"));
    bus.emit(&call("2"));
    drop(outer);
    bus.emit(&call("3"));
    drop(inner);
    bus.emit(&call("4"));

    let seen: Vec<_> = recording
        .json()
        .iter()
        .map(|event| event["raw_input"]["text"].clone())
        .collect();
    assert_eq!(
        seen,
        [
            "correct horse battery",
            "correct horse [redacted]",
            "correct horse [redacted]",
            "correct horse battery",
        ]
    );
}

#[test]
fn the_bus_hides_what_its_configuration_names() {
    let policy = RedactionPolicy::new()
        .with_field("pin")
        .with_secret("open sesame");
    let bus = EventBus::new(BusConfig {
        redaction: policy,
        ..BusConfig::default()
    });
    let recording = Recording::new();
    bus.register_sink("s", recording.clone());
    bus.emit(&tool_call_with(
        "s",
        "1",
        json!({"pin": "1234", "say": "open sesame!", "door": 4}),
    ));
    assert_eq!(
        recording.json()[0]["raw_input"],
        json!({"pin": "[redacted]", "say": "[redacted]!", "door": 4})
    );
}

#[test]
fn credentials_in_urls_headers_and_fields_are_replaced_by_the_mark() {
    let mut value = json!({
        "url": "https://user:hunter2@example.org/x?access_token=abc123&page=2",
        "headers": {"X-Api-Key": "k", "Cookie": "a=b", "Accept": "text/html"},
        "nested": [{"password": {"old": 1}}],
        "none": {"token": null},
    });
    assert!(RedactionPolicy::new().redact_value(&mut value, Completeness::Whole));
    assert_eq!(
        value,
        json!({
            "url": "https://[redacted]@example.org/x?access_token=[redacted]&page=2",
            "headers": {"X-Api-Key": "[redacted]", "Cookie": "[redacted]", "Accept": "text/html"},
            "nested": [{"password": "[redacted]"}],
            "none": {"token": null},
        })
    );
}

/// Names of secrets in all their spellings, texts that hold secrets, and much that is neither.
fn values_with_secrets() -> impl Strategy<Value = Value> {
    let names = prop::sample::select(vec![
        "access_key",
        "api_key",
        "client_secret",
        "set_cookie",
        "x_csrf_token",
        "private_key",
        "employee_number",
        "pass",
        "plain",
        "db_password",
        "secret_key",
    ]);
    let spelled = (names, prop::sample::select(vec!["_", "-", " ", ""]), 0..3).prop_map(
        |(name, between, case)| match case {
            0 => name.replace('_', between),
            1 => name.replace('_', between).to_uppercase(),
            _ => {
                let words = name
                    .split('_')
                    .map(|word| word[..1].to_uppercase() + &word[1..]);
                words.collect::<Vec<_>>().join(between)
            }
        },
    );
    let texts = prop::sample::select(vec![
        "plain",
        "Bearer q7Zr2PLm9XwK4tVb",
        "token\tq7Zr2PLm9X",
        "tulip \"1\"",
        "sk-abcdefghijklmno1",
        "https://a:b@c.example/",
        "password: \"q7Zr2PLm\"",
        "api key = q7Zr2PLm9XwK4tVb",
    ]);
    let leaves = prop_oneof![
        texts.prop_map(Value::from),
        any::<u8>().prop_map(Value::from)
    ];
    leaves.prop_recursive(3, 12, 3, move |inner| {
        let fields = prop::collection::vec((spelled.clone(), inner.clone()), 0..3);
        prop_oneof![
            fields.prop_map(|fields| Value::Object(fields.into_iter().collect())),
            prop::collection::vec(inner, 0..3).prop_map(Value::from),
        ]
    })
}

proptest! {
    /// Durable sinks look at the text alone before they take an event apart.
    #[test]
    fn whatever_is_redacted_in_a_value_is_suspected_in_its_text(value in values_with_secrets()) {
        let policy = RedactionPolicy::new()
            .with_field("employee_number")
            .with_secret("tulip \"1\"");
        let text = value.to_string();
        let mut redacted = value;
        if policy.redact_value(&mut redacted, Completeness::Whole) {
            prop_assert!(policy.might_match(&text), "{text}");
        }
    }
}
