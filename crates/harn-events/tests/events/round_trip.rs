//! Whatever is written can be read, and whatever is read is an event, a record
//! kept as it is, or an error.

use crate::support::catalogue_samples::{Entries, Samples, text, with, without};
use crate::support::catalogue_strategies::{any_event, any_json, any_text, finite};
use harn_events::{
    Adaptation, AgentEvent, PersistedAgentEvent, RawObject, RecordedEvent, StoredRecord,
    ToolCallStatus,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

const AGAIN: &str = "what was written can be read";

fn written(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("it is plain JSON")
}

/// Reads a text in every way there is. What can be read can be written, and then
/// reads the same; the rest is an error and not a panic.
#[track_caller]
fn check_any(text: &str) {
    if let Ok(recorded) = RecordedEvent::decode(text) {
        let text = written(&recorded);
        assert_eq!(RecordedEvent::decode(&text).expect(AGAIN), recorded);
    }
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        let parsed = RecordedEvent::decode_value(&value).ok();
        assert_eq!(parsed, RecordedEvent::decode(&value.to_string()).ok());
    }
    if let Ok(stored) = StoredRecord::decode(text) {
        let text = written(&stored);
        assert_eq!(StoredRecord::decode(&text).expect(AGAIN), stored);
    }
    if let Ok(event) = serde_json::from_str::<AgentEvent>(text) {
        let text = written(&event);
        assert_eq!(
            serde_json::from_str::<AgentEvent>(&text).expect(AGAIN),
            event
        );
    }
    if let Ok(record) = serde_json::from_str::<PersistedAgentEvent>(text) {
        let text = written(&record);
        let again: PersistedAgentEvent = serde_json::from_str(&text).expect(AGAIN);
        assert_eq!(again, record);
    }
}

fn raw_entries(text: &str) -> Vec<(String, String)> {
    let object: RawObject = serde_json::from_str(text).expect("an object");
    let entries = object.iter();
    entries
        .map(|(key, value)| (key.to_owned(), value.get().to_owned()))
        .collect()
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn every_event_survives_being_written_and_read(entries in any_event()) {
        let event: AgentEvent = serde_json::from_str(&text(&entries)).unwrap();
        let written = serde_json::to_string(&event).unwrap();
        prop_assert_eq!(&serde_json::from_str::<AgentEvent>(&written).unwrap(), &event);
        let parsed = serde_json::to_value(&event).unwrap();
        let recorded = RecordedEvent::decode(&written).unwrap();
        prop_assert_eq!(&RecordedEvent::decode_value(&parsed).unwrap(), &recorded);
        prop_assert_eq!(&recorded, &RecordedEvent::Known(event));
        prop_assert_eq!(serde_json::to_string(&recorded).unwrap(), written);
    }

    #[test]
    fn every_record_survives_being_written_and_read(
        entries in any_event(),
        index: u64,
        emitted_at_ms: i64,
        frame_depth: Option<u32>,
        execution_id in proptest::option::of(any_text()),
    ) {
        let event: AgentEvent = serde_json::from_str(&text(&entries)).unwrap();
        let record = PersistedAgentEvent { index, emitted_at_ms, frame_depth, execution_id, event };
        let line = serde_json::to_string(&record).unwrap();
        prop_assert!(!line.contains('\n'));
        let read: PersistedAgentEvent = serde_json::from_str(&line).unwrap();
        prop_assert_eq!(&read, &record);
        let stored = StoredRecord::decode(&line).unwrap();
        prop_assert_eq!(serde_json::to_string(&stored).unwrap(), line);
        prop_assert_eq!(
            (stored.index, stored.emitted_at_ms, stored.frame_depth, stored.execution_id),
            (record.index, record.emitted_at_ms, record.frame_depth, record.execution_id)
        );
        prop_assert_eq!(stored.event, RecordedEvent::Known(record.event));
    }

    #[test]
    fn a_key_with_any_other_value_is_no_reason_to_panic(
        entries in any_event(),
        chosen: proptest::sample::Index,
        odd in any_json(),
    ) {
        let (key, _) = chosen.get(&entries);
        check_any(&text(&with(&entries, key, odd)));
        check_any(&text(&without(&entries, key)));
    }

    #[test]
    fn any_json_is_no_reason_to_panic(odd in any_json(), tail in any_text()) {
        check_any(&odd.to_string());
        check_any(&format!("{odd}{tail}"));
        check_any(&tail);
    }

    #[test]
    fn half_an_event_is_no_reason_to_panic(entries in any_event(), cut: proptest::sample::Index) {
        let whole = text(&entries);
        let mut at = cut.index(whole.len());
        while !whole.is_char_boundary(at) {
            at -= 1;
        }
        prop_assert!(RecordedEvent::decode(&whole[..at]).is_err());
        check_any(&whole[..at]);
    }

    #[test]
    fn an_opaque_record_is_written_back_key_by_key(
        fields in proptest::collection::vec((any_text(), odd_text()), 0..6),
        (index, emitted_at_ms) in any::<(u64, i64)>(),
    ) {
        let fields: Vec<String> = fields
            .iter()
            .map(|(key, raw)| format!(",{}:{raw}", json!(format!("zz{key}"))))
            .collect();
        let body = format!(r#""type":"zz_later","session_id":"s"{}"#, fields.concat());
        let bare = format!("{{{body}}}");
        let recorded = RecordedEvent::decode(&bare).unwrap();
        prop_assert!(matches!(recorded, RecordedEvent::Opaque(_)));
        prop_assert_eq!(serde_json::to_string(&recorded).unwrap(), bare);
        let line = format!(
            r#"{{"index":{index},"emitted_at_ms":{emitted_at_ms},"frame_depth":null,"execution_id":null,{body}}}"#
        );
        let stored = StoredRecord::decode(&line).unwrap();
        prop_assert_eq!(serde_json::to_string(&stored).unwrap(), line);
    }

    #[test]
    fn a_record_with_a_later_key_is_written_back_key_by_key(
        entries in any_event(),
        raw in odd_text(),
    ) {
        let known = text(&entries);
        let later = format!(r#"{},"zz_later":{raw}}}"#, &known[..known.len() - 1]);
        let recorded = RecordedEvent::decode(&later).unwrap();
        let event: AgentEvent = serde_json::from_str(&known).unwrap();
        // A value that no parser can take makes the whole record opaque.
        prop_assert!(recorded.event().is_none_or(|found| *found == event));
        let copy = serde_json::to_string(&recorded).unwrap();
        prop_assert_eq!(raw_entries(&copy), raw_entries(&later));
    }

    #[test]
    fn old_promotions_carry_their_arguments_as_output(arguments in any_json()) {
        let update = |raw_output: Option<Value>, raw_input: Option<Value>| {
            AgentEvent::ToolCallUpdate {
                session_id: "s".into(),
                tool_call_id: "t".into(),
                tool_name: "edit".into(),
                status: ToolCallStatus::Pending,
                raw_output,
                error: None,
                duration_ms: None,
                execution_duration_ms: None,
                error_category: None,
                executor: None,
                parsing: Some(false),
                raw_input,
                raw_input_partial: None,
                audit: None,
            }
        };
        let arguments = Some(arguments).filter(|arguments| !arguments.is_null());
        let old = serde_json::to_string(&update(arguments.clone(), None)).unwrap();
        let today = update(None, arguments.clone());
        prop_assert_eq!(&serde_json::from_str::<AgentEvent>(&old).unwrap(), &today);
        let recorded = RecordedEvent::decode(&old).unwrap();
        prop_assert_eq!(recorded.event(), Some(&today));
        prop_assert_eq!(serde_json::to_string(&recorded).unwrap(), old);
        // With arguments of its own, the output is an output.
        let both = update(Some(json!("output")), Some(json!({"a": 1})));
        let written = serde_json::to_string(&both).unwrap();
        prop_assert_eq!(RecordedEvent::decode(&written).unwrap(), RecordedEvent::Known(both));
    }

    #[test]
    fn finite_measurements_are_kept_to_the_last_bit(number in finite()) {
        let event = verdict(number);
        let written = serde_json::to_string(&event).unwrap();
        let AgentEvent::ScopeClassifierVerdict { confidence, .. } =
            serde_json::from_str(&written).unwrap()
        else {
            panic!("{written}");
        };
        prop_assert_eq!(confidence.to_bits(), number.to_bits());
    }
}

#[test]
fn an_output_is_an_output_unless_a_candidate_was_promoted() {
    for parsing in ["true", "false", "null"] {
        for status in ["pending", "in_progress", "completed", "failed"] {
            let is_promotion = (parsing, status) == ("false", "pending");
            let line = format!(
                r#"{{"type":"tool_call_update","session_id":"s","tool_call_id":"t","tool_name":"n","status":"{status}","raw_output":{{"a":1}},"error":null,"parsing":{parsing}}}"#
            );
            let event: AgentEvent = serde_json::from_str(&line).unwrap();
            let recorded = RecordedEvent::decode(&line).unwrap();
            assert_eq!(recorded.event(), Some(&event));
            let event = serde_json::to_value(&event).unwrap();
            let arguments = is_promotion.then(|| json!({"a": 1}));
            assert_eq!(event.get("raw_input"), arguments.as_ref(), "{line}");
            assert_eq!(event["raw_output"].is_null(), is_promotion, "{line}");
        }
    }
}

/// Valid JSON as nobody here would spell it.
fn odd_text() -> BoxedStrategy<String> {
    let spelled = [
        "1.50",
        "-0",
        "1E+2",
        "1e999",
        "123456789012345678901234567890",
        r#""\u00fc\/\ud83d\ude00""#,
        r#"{"a":1,"a":2}"#,
        "[ 1 ,\t{ } ]",
        "null",
    ];
    let spelled = proptest::sample::select(spelled.map(str::to_owned).to_vec());
    prop_oneof![spelled, any_json().prop_map(|value| value.to_string())].boxed()
}

fn verdict(confidence: f64) -> AgentEvent {
    AgentEvent::ScopeClassifierVerdict {
        session_id: "s".into(),
        iteration: 1,
        label: "in_scope".into(),
        original_label: "in_scope".into(),
        confidence,
        confidence_threshold: 0.65,
        evidence: "e".into(),
        skip_main_turn: false,
        classifier_kind: None,
        model: None,
        error: None,
    }
}

#[test]
fn a_number_json_cannot_hold_is_written_as_one_it_can() {
    for odd in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let written = serde_json::to_string(&verdict(odd)).unwrap();
        let RecordedEvent::Known(AgentEvent::ScopeClassifierVerdict { confidence, .. }) =
            RecordedEvent::decode(&written).unwrap()
        else {
            panic!("{written}");
        };
        assert!(confidence.is_finite(), "{written}");
    }
}

#[test]
fn an_optional_number_json_cannot_hold_is_written_as_one_it_can() {
    let event = AgentEvent::BudgetExhausted {
        session_id: "s".into(),
        max_iterations: 1,
        kind: None,
        cost_usd: Some(f64::NAN),
        wall_clock_ms: None,
    };
    let written = serde_json::to_value(&event).unwrap();
    assert!(written["cost_usd"].is_f64(), "{written}");
    assert!(serde_json::from_value::<AgentEvent>(written).is_ok());
}

#[test]
fn a_measurement_that_was_lost_reads_as_zero_and_is_reported() {
    let line = serde_json::to_string(&verdict(0.625)).unwrap();
    let line = line.replace("0.625", "null");
    let RecordedEvent::Adapted(adapted) = RecordedEvent::decode(&line).unwrap() else {
        panic!("{line}");
    };
    assert_eq!(adapted.event, verdict(0.0));
    assert_eq!(adapted.adaptations, [Adaptation::NullAsZero("confidence")]);
}

#[test]
fn nesting_without_end_is_no_reason_to_panic() {
    let samples = Samples::new();
    for event in &samples.catalogue.variants {
        let sample = samples.event(event);
        for (key, _) in &sample {
            check_any(&nested(&sample, key, 200));
        }
    }
    let plan: Entries = vec![
        ("type".into(), json!("plan")),
        ("session_id".into(), json!("s")),
    ];
    for depth in [126, 127, 128, 129, 10_000] {
        check_any(&nested(&plan, "plan", depth));
        let list = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        check_any(&text(&with(&plan, "plan", json!("DEEP"))).replace("\"DEEP\"", &list));
        check_any(&"[".repeat(depth));
        check_any(&"{\"a\":".repeat(depth));
    }
}

/// The object with a deeply nested value at one key.
fn nested(entries: &Entries, key: &str, depth: usize) -> String {
    let deep = format!("{}1{}", "[{\"a\":".repeat(depth), "}]".repeat(depth));
    text(&with(entries, key, json!("DEEP"))).replace("\"DEEP\"", &deep)
}

#[test]
fn odd_objects_are_no_reason_to_panic() {
    for text in [
        "{}",
        r#"{"type":null}"#,
        r#"{"type":{"type":"plan"}}"#,
        r#"{"type":"plan","type":"plan","session_id":"s","session_id":"t","plan":1,"plan":2}"#,
        r#"{"type":"turn_end","session_id":"s","iteration":0,"turn_info":1,"iteration_info":2}"#,
        r#"{"type":"transcript_compacted","session_id":"s","receipt":5}"#,
        r#"{"type":"transcript_compacted","session_id":"s","receipt":{"session_id":"t","type":"x"}}"#,
        r#"{"type":"worker_update","status":{}}"#,
        r#"{"type":"composition_child_call","session_id":"s","call":[{"annotations":1}]}"#,
        r#"{"type":"plan","session_id":"s","plan":1,"index":"x"}"#,
        r#"{"index":18446744073709551616,"emitted_at_ms":1e400,"type":"plan"}"#,
        r#"{"index":0,"index":1,"emitted_at_ms":1,"emitted_at_ms":2,"type":"plan","session_id":"s","plan":1}"#,
        "{\"type\":\"plan\",\"session_id\":\"\\ud800\",\"plan\":1}",
        "\u{feff}{\"type\":\"plan\",\"session_id\":\"s\",\"plan\":1}",
    ] {
        check_any(text);
    }
}
