//! The records and enums that events carry are what the catalogue says they are.

use std::fmt::Debug;

use crate::support::catalogue_defaults::written_default;
use crate::support::catalogue_samples::{Entries, Samples, text, value, with, without};
use harn_events::catalogue::{Field, Type};
use harn_events::{
    AgentEvent, PersistedAgentEvent, RecordedEvent, SideEffectLevel, ToolApprovalPolicy,
    ToolCallReceipt, WorkerEvent,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// What a test can do with a type it knows only by name.
struct RustType {
    /// Reads a value and writes it again, through its own form as well.
    rewrite: fn(&str) -> Result<Value, String>,
    /// Whether two texts are read as equal values.
    are_equal: fn(&str, &str) -> bool,
}

fn rewrite<T: Serialize + DeserializeOwned + PartialEq + Debug>(
    text: &str,
) -> Result<Value, String> {
    let read: T = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let written = serde_json::to_string(&read).expect("it is plain JSON");
    let again: T = serde_json::from_str(&written).expect("what was written can be read");
    assert_eq!(read, again, "{written}");
    Ok(serde_json::from_str(&written).expect("it is JSON"))
}

fn are_equal<T: DeserializeOwned + PartialEq>(one: &str, other: &str) -> bool {
    let read = |text| serde_json::from_str::<T>(text).expect("both can be read");
    read(one) == read(other)
}

macro_rules! rust_types {
    ($($name:ident),+ $(,)?) => {
        /// The Rust type of this name.
        fn rust_type(name: &str) -> Option<RustType> {
            match name {
                $( stringify!($name) => Some(RustType {
                    rewrite: rewrite::<harn_events::$name>,
                    are_equal: are_equal::<harn_events::$name>,
                }), )+
                _ => None,
            }
        }

        const RUST_TYPES: &[&str] = &[$(stringify!($name)),+];
    };
}

rust_types!(
    AgentEventLogPayload,
    CompactReport,
    CompositionChildCall,
    CompositionChildResult,
    CompositionFailureCategory,
    CompositionRunEnvelope,
    EffectKind,
    EffectRecord,
    EffectScope,
    FsWatchEvent,
    HandoffArtifact,
    HandoffBudgetRemainingRecord,
    HandoffDeadlineCheckbackRecord,
    HandoffEvidenceRefRecord,
    HandoffReceiptLinkRecord,
    HandoffRouteDecisionRecord,
    HandoffTargetRecord,
    LogEvent,
    MountMode,
    MountedRoot,
    MutationSessionRecord,
    PersistedAgentEvent,
    SideEffectLevel,
    SystemReminder,
    ToolAnnotations,
    ToolApprovalPolicy,
    ToolArgSchema,
    ToolCallErrorCategory,
    ToolCallReceipt,
    ToolCallStatus,
    ToolDependencyRangeParams,
    ToolExecutor,
    ToolKind,
    WorkerEvent,
    WorkspaceAnchor,
);

/// A full sample. The envelope shares its object with the event inside it.
fn sample_of(samples: &Samples, name: &str, named: &Type) -> Entries {
    let mut sample = samples.fields(&named.fields);
    if name == "PersistedAgentEvent" {
        sample.extend(samples.event(&samples.catalogue.variants[0]));
    }
    sample
}

fn for_each_type(check: impl Fn(&Samples, &str, &Type, RustType)) {
    let samples = Samples::new();
    for (name, named) in &samples.catalogue.types {
        let rust = rust_type(name).unwrap_or_else(|| panic!("no Rust type for `{name}`"));
        check(&samples, name, named, rust);
    }
}

fn for_each_record(check: impl Fn(&Samples, &str, &Type, &Entries, RustType)) {
    for_each_type(|samples, name, named, rust| {
        if !named.fields.is_empty() {
            let sample = sample_of(samples, name, named);
            check(samples, name, named, &sample, rust);
        }
    });
}

fn for_each_field(check: impl Fn(&Samples, &str, &Field, &Entries, &RustType)) {
    for_each_record(|samples, name, named, sample, rust| {
        for field in &named.fields {
            let place = format!("{name}.{}", field.name);
            check(samples, &place, field, sample, &rust);
        }
    });
}

#[test]
fn every_type_of_the_catalogue_exists_and_no_other_is_listed() {
    let samples = Samples::new();
    let names: Vec<&str> = samples.catalogue.types.keys().map(String::as_str).collect();
    assert_eq!(names, RUST_TYPES);
}

#[test]
fn a_type_has_keys_or_values_and_never_both() {
    for_each_type(|_, name, named, _| {
        assert_ne!(named.fields.is_empty(), named.values.is_empty(), "{name}");
    });
}

#[test]
fn every_record_is_read_and_written_back_the_same() {
    for_each_record(|_, name, _, sample, rust| {
        let rewritten = (rust.rewrite)(&text(sample));
        assert_eq!(rewritten, Ok(value(sample)), "{name}");
    });
}

#[test]
fn a_default_is_written_or_left_out_as_the_catalogue_says() {
    for_each_field(|samples, place, field, sample, rust| {
        if field.required {
            return;
        }
        let at_default = text(&with(sample, &field.name, field.default.clone()));
        let written = (rust.rewrite)(&at_default).expect(place);
        let expected = match field.skip_if {
            Some(_) => None,
            None => Some(written_default(&samples.catalogue, field)),
        };
        assert_eq!(written.get(&field.name), expected.as_ref(), "{place}");
    });
}

#[test]
fn an_absent_key_is_an_error_or_its_default_as_the_catalogue_says() {
    for_each_field(|_, place, field, sample, rust| {
        let absent = text(&without(sample, &field.name));
        if field.required {
            let error = (rust.rewrite)(&absent).expect_err(place);
            let expected = format!("missing field `{}`", field.name);
            assert!(error.contains(&expected), "{place}: {error}");
        } else {
            let at_default = text(&with(sample, &field.name, field.default.clone()));
            assert!((rust.are_equal)(&absent, &at_default), "{place}");
        }
    });
}

#[test]
fn a_nullable_field_takes_null_and_absence_for_the_same() {
    for_each_field(|_, place, field, sample, rust| {
        if field.type_name.ends_with('?') {
            let null = text(&with(sample, &field.name, Value::Null));
            let absent = text(&without(sample, &field.name));
            assert!((rust.are_equal)(&null, &absent), "{place}");
        }
    });
}

#[test]
fn numbers_take_their_full_range() {
    for_each_field(|_, place, field, sample, rust| {
        let (inside, outside) = match field.type_name.trim_end_matches('?') {
            "u64" => (vec![json!(0), json!(u64::MAX)], vec![json!(-1), json!(1.5)]),
            "u32" => (
                vec![json!(0), json!(u32::MAX)],
                vec![json!(-1), json!(1_u64 << 32)],
            ),
            "i64" => (
                vec![json!(i64::MIN), json!(i64::MAX)],
                vec![json!(u64::MAX)],
            ),
            "f64" => (vec![json!(f64::MIN), json!(f64::MAX)], vec![json!("1")]),
            _ => return,
        };
        for number in inside {
            let sample = with(sample, &field.name, number);
            assert_eq!(
                (rust.rewrite)(&text(&sample)),
                Ok(value(&sample)),
                "{place}"
            );
        }
        for number in outside {
            let sample = with(sample, &field.name, number.clone());
            assert!((rust.rewrite)(&text(&sample)).is_err(), "{place}: {number}");
        }
    });
}

#[test]
fn a_required_json_value_may_be_null() {
    for_each_field(|_, place, field, sample, rust| {
        if field.type_name == "json" {
            let sample = with(sample, &field.name, Value::Null);
            assert_eq!(
                (rust.rewrite)(&text(&sample)),
                Ok(value(&sample)),
                "{place}"
            );
        }
    });
}

#[test]
fn keys_nobody_knows_are_ignored_kept_or_refused_as_the_catalogue_says() {
    for_each_record(|_, name, _, sample, rust| {
        let later = with(sample, "zz_later", json!([1.5]));
        let rewritten = (rust.rewrite)(&text(&later));
        match name {
            "ToolApprovalPolicy" => assert_eq!(rewritten, Ok(value(&later))),
            "ToolCallReceipt" => {
                let error = rewritten.unwrap_err();
                assert!(error.contains("zz_later"), "{error}");
            }
            _ => assert_eq!(rewritten, Ok(value(sample)), "{name}"),
        }
    });
}

#[test]
fn an_approval_policy_inside_an_event_keeps_keys_of_later_revisions() {
    let policy = json!({
        "auto_approve": [], "auto_deny": [], "require_approval": [],
        "write_path_allowlist": [], "repeat_limit": 3, "rules": [{"tool": "*"}],
    });
    let call = json!({
        "type": "tool_call", "session_id": "s", "tool_call_id": "t", "tool_name": "edit",
        "kind": null, "status": "pending", "raw_input": {},
        "audit": {
            "session_id": "m", "parent_session_id": null, "run_id": null, "worker_id": null,
            "execution_kind": null, "mutation_scope": "read_only", "approval_policy": policy,
        },
    });
    let read: AgentEvent = serde_json::from_value(call.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), call);
}

#[test]
fn every_value_of_a_choice_is_read_and_written_back_the_same() {
    for_each_type(|samples, name, named, rust| {
        for choice in &named.values {
            let full = samples.choice(choice, named.encoding.as_deref());
            assert_eq!((rust.rewrite)(&full.to_string()), Ok(full), "{name}");
            for field in &choice.fields {
                let mut absent = samples.choice(choice, named.encoding.as_deref());
                absent.as_object_mut().unwrap().remove(&field.name);
                let rewritten = (rust.rewrite)(&absent.to_string());
                assert_eq!(rewritten.is_err(), field.required, "{name}");
                // Whatever is optional here is also left out when it is null.
                assert!(rewritten.is_err() || rewritten == Ok(absent), "{name}");
            }
        }
    });
}

#[test]
fn a_value_nobody_knows_becomes_what_the_catalogue_says() {
    for_each_type(|_, name, named, rust| {
        if named.values.is_empty() {
            return;
        }
        let is_string = named.encoding.as_deref() == Some("plain string");
        let unknown = match is_string {
            true => json!("zz_later"),
            false => json!({"kind": "zz_later"}),
        };
        let fallback = named.on_unknown.as_ref().filter(|word| {
            let is_its_value = |choice: &harn_events::catalogue::Choice| choice.value == **word;
            named.values.iter().any(is_its_value)
        });
        let read = (rust.rewrite)(&unknown.to_string());
        match fallback {
            Some(value) => assert_eq!(read, Ok(json!(value)), "{name}"),
            // The whole record is kept instead, so the value itself must not pass.
            None => assert!(read.is_err(), "{name}"),
        }
        for odd in ["1", "null", "[]", "true"] {
            assert!((rust.rewrite)(odd).is_err(), "{name} took {odd}");
        }
    });
}

#[test]
fn an_unknown_status_or_executor_keeps_the_whole_record() {
    for (key, odd) in [
        ("status", json!("zz_later")),
        ("executor", json!({"kind": "zz_later"})),
        ("executor", json!({"kind": "mcp_server"})),
        ("executor", json!("harn_builtin")),
    ] {
        let mut update = json!({
            "type": "tool_call_update", "session_id": "s", "tool_call_id": "t",
            "tool_name": "edit", "status": "completed", "raw_output": 1, "error": null,
        });
        update[key] = odd;
        let recorded = RecordedEvent::decode(&update.to_string()).unwrap();
        assert!(matches!(recorded, RecordedEvent::Opaque(_)), "{update}");
    }
}

#[test]
fn the_side_effect_ladder_rises_in_the_order_of_the_catalogue() {
    let rising = SideEffectLevel::ALL.windows(2);
    assert!(rising.into_iter().all(|pair| pair[0] < pair[1]));
    let names: Vec<&str> = SideEffectLevel::ALL
        .iter()
        .map(|one| one.as_str())
        .collect();
    let samples = Samples::new();
    let listed: Vec<&str> = samples.catalogue.types["SideEffectLevel"]
        .values
        .iter()
        .map(|choice| choice.value.as_str())
        .collect();
    assert_eq!(names, listed);
}

#[test]
fn a_worker_event_leads_to_the_status_the_catalogue_names() {
    let samples = Samples::new();
    let values = &samples.catalogue.types["WorkerEvent"].values;
    assert_eq!(values.len(), WorkerEvent::ALL.len());
    for choice in values {
        let event = WorkerEvent::from_wire(&choice.value).unwrap();
        assert_eq!(event.as_str(), choice.value);
        let expected = match event.is_terminal() {
            true => format!("status {} (terminal)", event.as_status()),
            false => format!("status {}", event.as_status()),
        };
        assert_eq!(choice.doc, expected);
    }
}

#[test]
fn records_with_optional_keys_only_can_be_read_from_nothing() {
    let policy: ToolApprovalPolicy = serde_json::from_str("{}").unwrap();
    assert_eq!(policy, ToolApprovalPolicy::default());
    for_each_record(|samples, name, named, _, rust| {
        if named.fields.iter().any(|field| field.required) {
            return;
        }
        let written = named.fields.iter().filter(|field| field.skip_if.is_none());
        let expected: Value = written
            .map(|field| {
                (
                    field.name.clone(),
                    written_default(&samples.catalogue, field),
                )
            })
            .collect();
        assert_eq!((rust.rewrite)("{}"), Ok(expected), "{name}");
    });
}

#[test]
fn a_receipt_has_twenty_keys_and_writes_all_of_them() {
    let samples = Samples::new();
    let fields = &samples.catalogue.types["ToolCallReceipt"].fields;
    let mut sample = samples.fields(fields);
    for field in fields.iter().filter(|field| !field.required) {
        sample = without(&sample, &field.name);
    }
    let receipt: ToolCallReceipt = serde_json::from_str(&text(&sample)).unwrap();
    let written = serde_json::to_value(&receipt).unwrap();
    assert_eq!(written.as_object().unwrap().len(), 20);
}

#[test]
fn an_envelope_does_not_hide_an_error_of_its_event() {
    let line = r#"{"index":0,"emitted_at_ms":1,"type":"plan","session_id":"s"}"#;
    let error = serde_json::from_str::<PersistedAgentEvent>(line).unwrap_err();
    assert!(
        error.to_string().contains("missing field `plan`"),
        "{error}"
    );
}
