//! Whatever happens in a session, a client is told legal things only.

use std::collections::{BTreeMap, BTreeSet};

use agent_client_protocol::v1::schema as acp;
use harn_vm::agent::events::catalogue::{Catalogue, Field};
use proptest::prelude::*;
use serde_json::json;

use super::super::extension::{UPDATE_KINDS, update_kind};
use super::*;

/// The kinds of updates that every client knows.
const PLAIN_KINDS: [&str; 8] = [
    "user_message_chunk",
    "agent_message_chunk",
    "agent_thought_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
    "session_info_update",
    "usage_update",
];

/// An event of every kind, made from the catalogue.
fn samples() -> Vec<Value> {
    let catalogue = Catalogue::builtin();
    let samples = catalogue.variants.iter().map(|variant| {
        let mut sample = json!({"type": variant.tag});
        for field in &variant.fields {
            sample[&field.name] = sample_of(&catalogue, field);
        }
        sample
    });
    samples.collect()
}

fn sample_of(catalogue: &Catalogue, field: &Field) -> Value {
    let type_name = field.type_name.trim_end_matches('?');
    let (type_name, is_list) = match type_name.strip_suffix("[]") {
        Some(item) => (item, true),
        None => (type_name, false),
    };
    let one = match type_name {
        "string" => json!("x"),
        "bool" => json!(true),
        "f64" => json!(0.5),
        "json" => json!({"some": 1}),
        "object" => json!({}),
        named => match catalogue.types.get(named) {
            None => json!(1),
            Some(known) if !known.values.is_empty() => {
                let word = &known.values[0].value;
                let is_tagged = known
                    .encoding
                    .as_ref()
                    .is_some_and(|how| how.contains("tagged"));
                if is_tagged {
                    json!({"kind": word})
                } else {
                    json!(word)
                }
            }
            Some(known) => {
                let fields = known.fields.iter();
                fields
                    .map(|field| (field.name.clone(), sample_of(catalogue, field)))
                    .collect()
            }
        },
    };
    match is_list {
        true => json!([one]),
        false => one,
    }
}

/// Checks that an update is one of the protocol, with nothing that a client would drop.
#[track_caller]
fn check_legal(update: &Value) {
    let kind = update["sessionUpdate"].as_str().unwrap();
    assert!(PLAIN_KINDS.contains(&kind), "{update}");
    let read: acp::SessionUpdate = serde_json::from_value(update.clone()).unwrap();
    let mut written = serde_json::to_value(read).unwrap();
    if kind == "tool_call" {
        // The library leaves out what goes without saying.
        for (key, usual) in [("kind", "other"), ("status", "pending")] {
            if update[key] == usual {
                written[key] = json!(usual);
            }
        }
    }
    assert_eq!(&written, update, "a client reads something else");
    assert!(update["_meta"]["harn"]["index"].is_u64());
}

#[test]
fn every_event_of_the_catalogue_is_told_and_legally() {
    let samples = samples();
    assert_eq!(samples.len(), 61);
    for sample in samples {
        // News of a call needs a call.
        let start = json!({
            "type": "tool_call", "tool_call_id": "x", "tool_name": "x", "kind": null,
            "status": "pending", "raw_input": {},
        });
        let mut mapping = mapping();
        if sample["type"] == "tool_call_update" {
            mapping.of(&seen(0, start), &plain());
        }
        let told = mapping.of(&seen(1, sample.clone()), &plain());
        let is_candidate = sample["parsing"] == true && sample["type"] == "tool_call";
        assert!(
            is_candidate || !told.is_empty(),
            "nothing is told of {sample}"
        );
        for one in told {
            match one {
                Outgoing::Update(update) => check_legal(&update),
                Outgoing::Extension { method, parameters } => {
                    assert_eq!(method, "_harn/agentEvent");
                    assert_eq!(parameters["sessionId"], "s");
                    assert!(parameters["kind"].is_string());
                    assert_eq!(parameters["_meta"]["harn"]["index"], 1);
                }
            }
        }
    }
}

#[test]
fn the_kinds_that_are_advertised_are_those_that_are_sent() {
    let sent: BTreeSet<_> = samples()
        .into_iter()
        .filter_map(|sample| update_kind(&event(sample)))
        .collect();
    assert_eq!(sent, BTreeSet::from(UPDATE_KINDS));
}

/// Events in any order, also in orders that no loop would give them.
fn stories() -> impl Strategy<Value = Vec<Value>> {
    let id = prop_oneof![Just("a"), Just("b"), Just("c")];
    let status = prop_oneof![
        Just("pending"),
        Just("in_progress"),
        Just("completed"),
        Just("failed")
    ];
    let parsing = prop_oneof![4 => Just(None), 1 => Just(Some(true)), 1 => Just(Some(false))];
    let start = (id.clone(), status.clone(), parsing.clone()).prop_map(|(id, status, parsing)| {
        let mut start = json!({
            "type": "tool_call", "tool_call_id": id, "tool_name": "edit", "kind": "edit",
            "status": status, "raw_input": {"path": "f"},
        });
        if let Some(parsing) = parsing {
            start["parsing"] = json!(parsing);
        }
        start
    });
    let update = (id, status, parsing, 0..4_u8).prop_map(|(id, status, parsing, what)| {
        let mut update = json!({
            "type": "tool_call_update", "tool_call_id": id, "tool_name": "edit",
            "status": status, "raw_output": null, "error": null,
        });
        match what {
            0 => update["raw_input"] = json!({"path": "f", "old_text": "a", "new_text": "b"}),
            1 => update["raw_input_partial"] = json!("{\"pa"),
            2 => update["raw_output"] = json!({"text": "t"}),
            _ => update["error"] = json!("e"),
        }
        if let Some(parsing) = parsing {
            update["parsing"] = json!(parsing);
        }
        update
    });
    let other = proptest::sample::select(samples());
    let event = prop_oneof![3 => start, 5 => update, 2 => other];
    proptest::collection::vec(event, 0..60)
}

fn rank(status: &Value) -> Option<u8> {
    Some(match status.as_str()? {
        "pending" => 0,
        "in_progress" => 1,
        _ => 2,
    })
}

/// Follows the calls like a client; gives those that have ended and those that have not.
fn follow(updates: &[Value]) -> (BTreeSet<String>, BTreeMap<String, u8>) {
    let (mut ended, mut open) = (BTreeSet::new(), BTreeMap::new());
    for update in updates {
        let Some(id) = update["toolCallId"].as_str() else {
            continue;
        };
        let status = rank(&update["status"]);
        let before = match update["sessionUpdate"] == "tool_call" {
            true => {
                assert!(
                    !open.contains_key(id) && !ended.contains(id),
                    "{id} began twice"
                );
                open.insert(id.to_owned(), status.unwrap());
                status.unwrap()
            }
            false => *open
                .get(id)
                .unwrap_or_else(|| panic!("{id} is not open: {update}")),
        };
        let after = status.unwrap_or(before);
        assert!(after >= before, "{id} went back");
        open.insert(id.to_owned(), after);
        if after == 2 {
            open.remove(id);
            assert!(ended.insert(id.to_owned()), "{id} ended twice");
        }
    }
    (ended, open)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn any_story_is_told_legally(events in stories(), wants_all in any::<bool>()) {
        let profile = if wants_all { extended() } else { plain() };
        let mut mapping = mapping();
        let mut told = Vec::new();
        for (index, event) in (0..).zip(events) {
            told.extend(mapping.of(&seen(index, event), &profile));
        }
        told.extend(mapping.settle(false));
        let mut updates = Vec::new();
        let mut indexes = Vec::new();
        for one in told {
            match one {
                Outgoing::Update(update) => {
                    indexes.push(update["_meta"]["harn"]["index"].as_u64().unwrap());
                    let kind = update["sessionUpdate"].as_str().unwrap();
                    if !(wants_all && UPDATE_KINDS.contains(&kind)) {
                        check_legal(&update);
                    }
                    updates.push(update);
                }
                Outgoing::Extension { parameters, .. } => {
                    indexes.push(parameters["_meta"]["harn"]["index"].as_u64().unwrap());
                }
            }
        }
        prop_assert!(indexes.is_sorted(), "an index went back");
        let (_, open) = follow(&updates);
        prop_assert!(open.is_empty(), "calls without an end: {:?}", open);
    }
}
