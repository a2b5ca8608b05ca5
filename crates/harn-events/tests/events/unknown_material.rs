//! What this version does not understand keeps its place, its order and its text.

use std::sync::{Arc, Mutex};

use harn_events::{
    AgentEvent, AgentEventSink, EventBus, JsonlEventSink, OpaqueEvent, RawObject, RecordedEvent,
    StoredRecord, load_file,
};

#[track_caller]
fn opaque(text: &str) -> OpaqueEvent {
    match RecordedEvent::decode(text).expect("it is an object") {
        RecordedEvent::Opaque(opaque) => opaque,
        other => panic!("{other:?}"),
    }
}

fn content(text: &str) -> Vec<(String, String)> {
    let object: RawObject = serde_json::from_str(text).expect("an object");
    let entries = object.iter();
    entries
        .map(|(key, value)| (key.to_owned(), value.get().to_owned()))
        .collect()
}

#[track_caller]
fn check_unchanged(text: &str) {
    let copy = serde_json::to_string(opaque(text).raw()).expect("it is plain JSON");
    assert_eq!(content(&copy), content(text));
}

#[test]
fn an_opaque_event_says_what_is_known_of_it() {
    let event = opaque(r#"{"type":"zz_later","session_id":"s","a":1}"#);
    assert_eq!((event.tag(), event.session_id()), ("zz_later", Some("s")));
    assert!(event.reason().contains("zz_later"), "{}", event.reason());
    let event = opaque(r#"{"a":1}"#);
    assert_eq!((event.tag(), event.session_id()), ("", None));
    let event = opaque(r#"{"type":["plan"],"session_id":7}"#);
    assert_eq!((event.tag(), event.session_id()), ("", None));
    let event = opaque(r#"{"type":"loop_checkpoint","session_id":"s"}"#);
    assert!(
        event.reason().contains("missing field"),
        "{}",
        event.reason()
    );
}

#[test]
fn odd_but_valid_json_is_written_back_as_it_came() {
    for text in [
        r#"{"type":"zz","n":1.0,"m":1e2,"k":-0,"big":123456789012345678901234567890}"#,
        r#"{"type":"zz","n":1e999,"m":0.1000,"s":"\u00fc\/\ud83d\ude00"}"#,
        r#"{"type":"zz","a":1,"a":2,"type":"zy","b":{"x":1,"x":2}}"#,
        r#"{"zebra":1,"type":"zz","alpha":2,"":3}"#,
        r#"{"type":"zz","s":"\ud800"}"#,
        r#"{ "type" : "zz" , "a" : [ 1 , { "b" : null } ] }"#,
    ] {
        check_unchanged(text);
    }
}

#[test]
fn nesting_beyond_any_parser_is_kept() {
    for depth in [127, 128, 129, 10_000] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        check_unchanged(&format!(r#"{{"type":"zz_later","deep":{deep}}}"#));
    }
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    check_unchanged(&format!(
        r#"{{"type":"plan","session_id":"s","plan":{deep}}}"#
    ));
}

struct Opaques(Mutex<Vec<OpaqueEvent>>);

impl AgentEventSink for Opaques {
    fn handle_event(&self, event: &AgentEvent) {
        panic!("an opaque event is not an event: {event:?}");
    }

    fn handle_opaque(&self, event: &OpaqueEvent, _emitted_at_ms: i64) {
        let mut events = self.0.lock().expect("no reader panics");
        events.push(event.clone());
    }
}

#[test]
fn readers_that_ask_for_opaque_events_get_them_unchanged() {
    let bus = EventBus::default();
    let sink = Arc::new(Opaques(Mutex::default()));
    let _registered = bus.register("s", sink.clone());
    let event = opaque(r#"{"type":"zz_later","session_id":"s","n":1.50}"#);
    bus.emit_opaque(&event);
    bus.emit_opaque(&opaque(r#"{"type":"zz_later","session_id":"t"}"#));
    assert_eq!(*sink.0.lock().unwrap(), [event]);
}

/// Stores an opaque event between two others and loads the log again.
#[track_caller]
fn check_stored(text: &str) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("event_log.jsonl");
    let sink = JsonlEventSink::open(&path).expect("the scratch folder is writable");
    let event = AgentEvent::AgentMessageChunk {
        session_id: "s".into(),
        content: "c".into(),
    };
    sink.handle_event(&event);
    sink.handle_opaque(&opaque(text), 1);
    sink.handle_event(&event);
    sink.flush().expect("nothing was dropped");
    drop(sink);
    let log = load_file(&path).expect("the log is there");
    assert_eq!(log.damage, []);
    let records = &log.sessions["s"].records;
    let indexes: Vec<u64> = records.iter().map(|record| record.index).collect();
    assert_eq!(indexes, [0, 1, 2]);
    let values = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    let stored = serde_json::to_string(&records[1].event).expect("it is plain JSON");
    assert_eq!(values(&stored), values(text));
}

#[test]
fn an_opaque_event_takes_part_in_the_order_of_a_log() {
    check_stored(r#"{"type":"zz_later","session_id":"s","n":1.50}"#);
}

#[test]
fn an_opaque_event_is_one_line_however_it_was_laid_out() {
    check_stored(
        "{\n  \"type\": \"zz_later\",\n  \"session_id\": \"s\",\n  \"list\": [\n    1,\n    2\n  ]\n}",
    );
}

#[test]
fn a_log_with_an_invented_tag_is_otherwise_readable() {
    let chunk = |index: u64| {
        format!(
            r#"{{"index":{index},"emitted_at_ms":{index},"frame_depth":null,"execution_id":null,"type":"agent_message_chunk","session_id":"s","content":"c"}}"#
        )
    };
    let invented = r#"{"index":1,"emitted_at_ms":1,"frame_depth":null,"execution_id":null,"session_id":"s","type":"invented","n":1.50}"#;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("event_log.jsonl");
    let lines = [chunk(0), invented.to_owned(), chunk(2)];
    std::fs::write(&path, format!("{}\n", lines.join("\n"))).unwrap();
    let log = load_file(&path).unwrap();
    let records = &log.sessions["s"].records;
    let copies: Vec<String> = records
        .iter()
        .map(|record| serde_json::to_string(record).unwrap())
        .collect();
    assert_eq!(copies, lines);
    assert!(log.sessions["s"].report.is_dense());
}

#[test]
fn a_line_that_is_no_record_is_an_error() {
    for text in [
        "",
        "null",
        "[]",
        "5",
        "\"text\"",
        "{",
        "{}",
        r#"{"type":"plan","session_id":"s","plan":1}"#,
        r#"{"index":0,"type":"plan","session_id":"s","plan":1}"#,
        r#"{"index":-1,"emitted_at_ms":0,"type":"plan","session_id":"s","plan":1}"#,
        r#"{"index":0,"emitted_at_ms":0,"type":"plan","session_id":"s","plan":1} x"#,
    ] {
        assert!(StoredRecord::decode(text).is_err(), "{text}");
    }
}

#[test]
fn keys_nobody_knows_inside_a_record_survive_a_copy() {
    let line = r#"{"index":0,"emitted_at_ms":1,"frame_depth":null,"execution_id":null,"type":"composition_start","session_id":"s","run":{"run_id":"r","from_the_future":1.10}}"#;
    let record = StoredRecord::decode(line).expect("a record");
    let RecordedEvent::Adapted(adapted) = &record.event else {
        panic!("{record:?}");
    };
    assert_eq!(adapted.adaptations, [harn_events::Adaptation::NestedKeys]);
    assert_eq!(serde_json::to_string(&record).expect("plain JSON"), line);
}

#[test]
fn a_strange_depth_does_not_cost_the_record() {
    let line = r#"{"index":0,"emitted_at_ms":1,"frame_depth":-1,"execution_id":7,"type":"agent_message_chunk","session_id":"s","content":"c"}"#;
    let record = StoredRecord::decode(line).expect("a record");
    assert_eq!((record.frame_depth, record.execution_id), (None, None));
    assert!(record.event.event().is_some());
}
