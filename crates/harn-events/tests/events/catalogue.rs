//! The event enum is what the catalogue says it is.
//!
//! Nothing here names an event or a field: the catalogue is the list, so a
//! variant that drifts from it, or is added to one of the two only, is found.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::catalogue_defaults::written_default;
use crate::support::catalogue_samples::{Entries, Samples, text, value, with, without};
use harn_events::catalogue::{Event, Field, HostRight};
use harn_events::{
    Adaptation, AgentEvent, PersistedAgentEvent, RecordedEvent, StoredRecord, ToolCallStatus,
};
use serde_json::{Value, json};

const CATALOGUE: &str = include_str!("../../catalogue/events.json");

fn raw_catalogue() -> Value {
    serde_json::from_str(CATALOGUE).expect("the catalogue is JSON")
}

#[track_caller]
fn read(entries: &Entries) -> AgentEvent {
    let text = text(entries);
    match serde_json::from_str(&text) {
        Ok(event) => event,
        Err(error) => panic!("{error}\n{text}"),
    }
}

#[track_caller]
fn written(event: &AgentEvent) -> Value {
    serde_json::to_value(event).expect("events are plain JSON")
}

/// Calls `check` with every field of every event and a full sample of the event.
fn for_each_field(check: impl Fn(&Samples, &Event, &Field, &Entries)) {
    let samples = Samples::new();
    for event in &samples.catalogue.variants {
        let sample = samples.event(event);
        for field in &event.fields {
            check(&samples, event, field, &sample);
        }
    }
}

fn is_counter(field: &Field) -> bool {
    field.type_name.trim_end_matches('?') == "u64"
}

#[test]
fn the_catalogue_has_as_much_as_it_says() {
    let samples = Samples::new();
    let variants = &samples.catalogue.variants;
    let raw = raw_catalogue();
    let since = |version: &str| {
        let of_version = variants
            .iter()
            .filter(|one| one.since.to_string() == version);
        of_version.count()
    };
    let direct = variants
        .iter()
        .filter(|one| matches!(one.host, HostRight::Direct));
    let special = variants
        .iter()
        .filter(|one| matches!(one.host, HostRight::Special));
    let special_types: BTreeSet<&str> = special
        .flat_map(|one| one.host_types.iter().map(String::as_str))
        .collect();
    let counts = json!({
        "variants": variants.len(),
        "since_1": since("1"),
        "since_2": since("2"),
        "since_3": since("3"),
        "host_direct": direct.count(),
        "host_special_types": special_types.len(),
        "types": samples.catalogue.types.len(),
    });
    assert_eq!(counts, raw["counts"]);
    assert_eq!(
        raw["counts"],
        json!({
            "variants": 61, "since_1": 16, "since_2": 9, "since_3": 36,
            "host_direct": 20, "host_special_types": 19, "types": 35,
        })
    );
}

#[test]
fn the_host_lists_agree_with_the_events() {
    let samples = Samples::new();
    let raw = raw_catalogue();
    let listed = |key: &str| -> BTreeSet<String> {
        let names = raw["host"][key].as_array().expect("a list").iter();
        names
            .map(|name| name.as_str().expect("a name").to_owned())
            .collect()
    };
    let mut direct = BTreeSet::new();
    let mut special = BTreeSet::new();
    for event in &samples.catalogue.variants {
        match event.host {
            HostRight::No => assert!(event.host_types.is_empty(), "{}", event.tag),
            HostRight::Direct => {
                assert_eq!(event.host_types, [event.tag.as_str()]);
                direct.insert(event.tag.clone());
            }
            HostRight::Special => special.extend(event.host_types.iter().cloned()),
        }
    }
    assert_eq!(direct, listed("direct"));
    assert_eq!(special, listed("special"));
}

#[test]
fn every_event_is_read_and_written_back_the_same() {
    let samples = Samples::new();
    for event in &samples.catalogue.variants {
        let sample = samples.event(event);
        let read = read(&sample);
        assert_eq!(read.tag(), event.tag);
        assert_eq!(json!(read.session_id()), value(&sample)["session_id"]);
        assert_eq!(written(&read), value(&sample), "{}", event.tag);
        let variant = format!("{read:?}");
        let name = variant.split(' ').next();
        assert_eq!(name, Some(event.rust_name.as_str()));
    }
}

#[test]
fn every_event_of_today_is_read_without_a_remark() {
    let samples = Samples::new();
    for event in &samples.catalogue.variants {
        let sample = samples.event(event);
        let recorded = RecordedEvent::decode(&text(&sample)).unwrap();
        assert_eq!(recorded, RecordedEvent::Known(read(&sample)));
        let mut backwards = sample.clone();
        backwards.reverse();
        let recorded = RecordedEvent::decode(&text(&backwards)).unwrap();
        assert_eq!(recorded, RecordedEvent::Known(read(&sample)));
    }
}

#[test]
fn a_default_is_written_or_left_out_as_the_catalogue_says() {
    for_each_field(|samples, event, field, sample| {
        if field.required {
            assert_eq!(
                field.skip_if, None,
                "a required key cannot be left out: {}.{}",
                event.tag, field.name
            );
            return;
        }
        let at_default = read(&with(sample, &field.name, field.default.clone()));
        let written = written(&at_default);
        let expected = match field.skip_if {
            Some(_) => None,
            None => Some(written_default(&samples.catalogue, field)),
        };
        assert_eq!(
            written.get(&field.name),
            expected.as_ref(),
            "{}.{} at its default",
            event.tag,
            field.name
        );
    });
}

#[test]
fn keys_are_left_out_at_their_default_and_at_no_other_value() {
    for_each_field(|_, event, field, _| {
        let expected = match field.skip_if.as_deref() {
            None => return,
            Some("null") => Value::Null,
            Some("false") => json!(false),
            Some("zero") => json!(0),
            Some("empty_string") => json!(""),
            Some("empty_array") => json!([]),
            Some(other) => panic!("nobody knows when `{other}` is"),
        };
        assert_eq!(field.default, expected, "{}.{}", event.tag, field.name);
    });
}

#[test]
fn an_absent_key_is_an_error_or_its_default_as_the_catalogue_says() {
    for_each_field(|_, event, field, sample| {
        let place = format!("{}.{}", event.tag, field.name);
        let absent = without(sample, &field.name);
        let default = match (&field.compat_default, field.required) {
            (Some(default), _) => default.clone(),
            (None, false) => field.default.clone(),
            (None, true) => {
                let error = serde_json::from_str::<AgentEvent>(&text(&absent))
                    .expect_err(&place)
                    .to_string();
                let expected = format!("missing field `{}`", field.name);
                assert!(error.contains(&expected), "{place}: {error}");
                return;
            }
        };
        assert_eq!(
            read(&absent),
            read(&with(sample, &field.name, default)),
            "{place}"
        );
    });
}

#[test]
fn a_missing_required_key_makes_the_record_opaque_and_loses_nothing() {
    for_each_field(|_, event, field, sample| {
        if !field.required || field.compat_default.is_some() {
            return;
        }
        let absent = text(&without(sample, &field.name));
        let recorded = RecordedEvent::decode(&absent).unwrap();
        let RecordedEvent::Opaque(opaque) = &recorded else {
            panic!("{}.{}: {recorded:?}", event.tag, field.name);
        };
        assert_eq!(opaque.tag(), event.tag);
        assert_eq!(opaque.session_id().is_some(), field.name != "session_id");
        assert_eq!(serde_json::to_string(&recorded).unwrap(), absent);
    });
}

#[test]
fn keys_nobody_knows_are_ignored() {
    let samples = Samples::new();
    for event in &samples.catalogue.variants {
        let sample = samples.event(event);
        let later = with(&sample, "zz_later", json!({"type": 1, "session_id": [2]}));
        assert_eq!(read(&later), read(&sample));
        let recorded = RecordedEvent::decode(&text(&later)).unwrap();
        assert_eq!(recorded.event(), Some(&read(&sample)), "{}", event.tag);
        assert_eq!(serde_json::to_string(&recorded).unwrap(), text(&later));
        let parsed = serde_json::from_str(&text(&later)).unwrap();
        assert_eq!(RecordedEvent::decode_value(&parsed).unwrap(), recorded);
    }
}

#[test]
fn a_counter_takes_all_64_bits() {
    for_each_field(|_, _, field, sample| {
        if !is_counter(field) {
            return;
        }
        for number in [0, 1, u64::from(u32::MAX) + 1, 1 << 53, u64::MAX] {
            let event = read(&with(sample, &field.name, json!(number)));
            let rewritten = written(&event);
            let expected =
                (number > 0 || field.skip_if.as_deref() != Some("zero")).then(|| json!(number));
            assert_eq!(rewritten.get(&field.name), expected.as_ref());
            assert_eq!(
                serde_json::from_value::<AgentEvent>(rewritten).unwrap(),
                event
            );
        }
    });
}

#[test]
fn a_counter_is_an_unsigned_integer_and_nothing_else() {
    for_each_field(|_, event, field, sample| {
        if !is_counter(field) {
            return;
        }
        for odd in ["-1", "1.5", "\"1\"", "18446744073709551616", "[]", "true"] {
            let sample = with(sample, &field.name, serde_json::from_str(odd).unwrap());
            let read = serde_json::from_str::<AgentEvent>(&text(&sample));
            assert!(read.is_err(), "{}.{} took {odd}", event.tag, field.name);
        }
    });
}

#[test]
fn a_signed_number_and_a_fraction_keep_their_extremes() {
    for_each_field(|_, _, field, sample| {
        let extremes = match field.type_name.trim_end_matches('?') {
            "i64" => vec![json!(i64::MIN), json!(i64::MAX)],
            "f64" => vec![json!(f64::MIN), json!(f64::MAX), json!(5e-324), json!(0.1)],
            _ => return,
        };
        for extreme in extremes {
            let sample = with(sample, &field.name, extreme);
            assert_eq!(written(&read(&sample)), value(&sample));
        }
    });
}

#[test]
fn null_in_a_number_reads_as_zero_and_is_reported() {
    for_each_field(|_, event, field, sample| {
        if !matches!(field.type_name.as_str(), "u64" | "f64") {
            return;
        }
        let null = text(&with(sample, &field.name, Value::Null));
        let zero = read(&with(sample, &field.name, json!(0)));
        let recorded = RecordedEvent::decode(&null).unwrap();
        let RecordedEvent::Adapted(adapted) = &recorded else {
            panic!("{}.{}: {recorded:?}", event.tag, field.name);
        };
        assert_eq!(adapted.event, zero);
        let reported: Vec<&str> = adapted
            .adaptations
            .iter()
            .map(|adaptation| match adaptation {
                Adaptation::NullAsZero(name) => *name,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(reported, [field.name.as_str()]);
        assert_eq!(serde_json::to_string(&recorded).unwrap(), null);
        assert_eq!(serde_json::from_str::<AgentEvent>(&null).unwrap(), zero);
    });
}

#[test]
fn a_required_json_value_may_be_null_but_not_absent() {
    for_each_field(|_, _, field, sample| {
        if field.type_name == "json" && field.required {
            let null = with(sample, &field.name, Value::Null);
            assert_eq!(written(&read(&null)), value(&null));
            let recorded = RecordedEvent::decode(&text(&null)).unwrap();
            assert_eq!(recorded, RecordedEvent::Known(read(&null)));
        }
    });
}

#[test]
fn a_nullable_field_takes_null_and_absence_for_the_same() {
    for_each_field(|_, event, field, sample| {
        if field.type_name.ends_with('?') {
            let place = format!("{}.{}", event.tag, field.name);
            assert!(!field.required, "{place}");
            let null = read(&with(sample, &field.name, Value::Null));
            assert_eq!(null, read(&without(sample, &field.name)), "{place}");
        }
    });
}

#[test]
fn an_optional_json_value_that_is_null_is_left_out() {
    let event = AgentEvent::ToolCallUpdate {
        session_id: "s".into(),
        tool_call_id: "t".into(),
        tool_name: "read".into(),
        status: ToolCallStatus::Pending,
        raw_output: None,
        error: None,
        duration_ms: None,
        execution_duration_ms: None,
        error_category: None,
        executor: None,
        parsing: None,
        raw_input: Some(Value::Null),
        raw_input_partial: None,
        audit: None,
    };
    assert_eq!(written(&event).get("raw_input"), None);
}

#[test]
fn no_event_uses_a_name_of_the_envelope() {
    const RESERVED: [&str; 5] = [
        "index",
        "emitted_at_ms",
        "frame_depth",
        "execution_id",
        "type",
    ];
    for_each_field(|_, event, field, _| {
        assert!(!RESERVED.contains(&field.name.as_str()), "{}", event.tag);
    });
}

#[test]
fn every_event_has_one_tag_and_starts_with_its_session() {
    let samples = Samples::new();
    let mut names = BTreeMap::new();
    for event in &samples.catalogue.variants {
        assert_eq!(event.fields[0].name, "session_id");
        assert!(event.fields[0].required);
        assert_eq!(names.insert(&event.tag, &event.rust_name), None);
    }
}

#[test]
fn tags_of_later_versions_mean_nothing_yet_and_are_kept() {
    let samples = Samples::new();
    let catalogue = &samples.catalogue;
    assert_eq!(catalogue.reserved_tags.len(), 28);
    for tag in &catalogue.reserved_tags {
        assert!(catalogue.variants.iter().all(|event| event.tag != *tag));
        let line = format!(r#"{{"type":"{tag}","session_id":"s","zz":1.50}}"#);
        let recorded = RecordedEvent::decode(&line).unwrap();
        assert!(matches!(recorded, RecordedEvent::Opaque(_)), "{tag}");
        assert_eq!(recorded.tag(), tag);
        assert_eq!(recorded.session_id(), Some("s"));
        assert_eq!(serde_json::to_string(&recorded).unwrap(), line);
        assert!(serde_json::from_str::<AgentEvent>(&line).is_err());
    }
}

#[test]
fn an_event_begins_with_its_type_and_session() {
    let samples = Samples::new();
    for event in &samples.catalogue.variants {
        let read = read(&samples.event(event));
        let session = json!(read.session_id());
        let written = serde_json::to_string(&read).unwrap();
        let start = format!(r#"{{"type":"{}","session_id":{session},"#, event.tag);
        assert!(written.starts_with(&start), "{written}");
    }
}

#[test]
fn a_record_is_the_envelope_followed_by_the_event() {
    let samples = Samples::new();
    for event in &samples.catalogue.variants {
        let event = read(&samples.event(event));
        let bare = serde_json::to_string(&event).unwrap();
        for (depth, execution, start) in [
            (None, None, r#""frame_depth":null,"execution_id":null"#),
            (
                Some(3),
                Some("x-1"),
                r#""frame_depth":3,"execution_id":"x-1""#,
            ),
        ] {
            let record = PersistedAgentEvent {
                index: u64::MAX,
                emitted_at_ms: i64::MIN,
                frame_depth: depth,
                execution_id: execution.map(str::to_owned),
                event: event.clone(),
            };
            let line = serde_json::to_string(&record).unwrap();
            let expected = format!(
                r#"{{"index":18446744073709551615,"emitted_at_ms":-9223372036854775808,{start},{}"#,
                &bare[1..]
            );
            assert_eq!(line, expected);
            let read: PersistedAgentEvent = serde_json::from_str(&line).unwrap();
            assert_eq!(read, record);
            let stored = StoredRecord::decode(&line).unwrap();
            assert_eq!(stored.event, RecordedEvent::Known(event.clone()));
            assert_eq!(serde_json::to_string(&stored).unwrap(), line);
        }
    }
}
