//! What a handoff may not do.

use std::path::Path;

use harn_events::{SideEffectLevel, ToolAnnotations};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::policy::{CapabilityPolicy, DeclaredParameters};

fn making() -> Making<'static> {
    Making {
        now: "2026-01-01T00:00:00Z",
        new_id: &|| "new".to_owned(),
    }
}

#[test]
fn events_carry_every_field_that_the_format_names() {
    let handoff = Handoff::read(
        &json!({
            "source_persona": "coder",
            "target_persona_or_human": {"uri": "https://example.com"},
            "task": "t",
            "reason": "r",
            "evidence_refs": [{"path": "a"}, "no evidence"],
            "budget_remaining": {"tokens": 3},
            "policy_override": {"tools": ["look"]},
        }),
        &making(),
    );
    let event = serde_json::to_value(handoff.unwrap().to_event()).unwrap();
    assert_eq!(
        event,
        json!({
            "_type": "handoff_artifact",
            "kind": "handoff",
            "id": "handoff_new",
            "parent_run_id": null,
            "source_persona": "coder",
            "target_persona_or_human":
                {"kind": "persona", "id": null, "label": null, "uri": "https://example.com"},
            "task": "t",
            "reason": "r",
            "evidence_refs":
                [{"artifact_id": null, "kind": null, "label": null, "path": "a", "uri": null}],
            "files_or_entities_touched": [],
            "open_questions": [],
            "blocked_on": [],
            "requested_capabilities": [],
            "allowed_side_effects": [],
            "policy_override": {"tools": ["look"]},
            "budget_remaining": {"tokens": 3, "tool_calls": null, "dollars": null},
            "deadline_checkback": null,
            "confidence": null,
            "receipt_links": [],
            "route_decision": null,
            "created_at": "2026-01-01T00:00:00Z",
            "metadata": {},
        })
    );
}

#[test]
fn odd_optional_parts_are_left_out_of_the_event_and_nothing_else_is() {
    let handoff = Handoff::read(
        &json!({
            "source_persona": "coder",
            "target_persona_or_human": "Ada",
            "task": "t",
            "reason": "r",
            "budget_remaining": {"tokens": "many"},
            "effects": "some",
        }),
        &making(),
    );
    let event = handoff.unwrap().to_event();
    assert_eq!((&*event.task, &*event.kind), ("t", "handoff"));
    assert_eq!(event.budget_remaining, None);
}

const NAMES: [&str; 4] = ["look", "read", "write", "run"];
const ROOTS: [&str; 5] = ["/no/a", "/no/a/b", "/no/c", "/no/a/../c", "/no/ab"];

fn some(names: &'static [&'static str]) -> impl Strategy<Value = Vec<String>> {
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    prop::sample::subsequence(names, 0..=names.len()).prop_map(owned)
}

fn policy() -> impl Strategy<Value = Value> {
    let capabilities =
        prop::collection::btree_map(prop::sample::select(&NAMES[..]), some(&NAMES), 0..3);
    let level = prop::option::of(prop::sample::select(
        &[
            "none",
            "read_only",
            "workspace_write",
            "process_exec",
            "network",
        ][..],
    ));
    let limit = prop::option::of(0_u64..5);
    let patterns = prop::option::of(prop::sample::select(&["a*", "*b", "c"][..]));
    let harmless = some(&NAMES);
    let parts = (
        some(&NAMES),
        capabilities,
        some(&ROOTS),
        level,
        limit,
        patterns,
        harmless,
    );
    parts.prop_map(
        |(tools, capabilities, roots, level, limit, pattern, harmless)| {
            let constraints: Vec<Value> = pattern
                .map(|pattern| json!({"tool": "*", "arg_patterns": [pattern], "arg_key": "path"}))
                .into_iter()
                .collect();
            let annotations: serde_json::Map<String, Value> = harmless
                .into_iter()
                .map(|tool| (tool, json!({"side_effect_level": "none"})))
                .collect();
            json!({
                "tools": tools,
                "capabilities": capabilities,
                "workspace_roots": roots,
                "side_effect_level": level,
                "recursion_limit": limit,
                "tool_arg_constraints": constraints,
                "tool_annotations": annotations,
            })
        },
    )
}

/// A tool that says what it does.
fn dangerous(operation: &str) -> ToolAnnotations {
    ToolAnnotations {
        side_effect_level: SideEffectLevel::ProcessExec,
        capabilities: [("read".to_owned(), vec![operation.to_owned()])].into(),
        ..ToolAnnotations::default()
    }
}

proptest! {
    #[test]
    fn a_receiver_may_do_nothing_that_its_sender_may_not(sender in policy(), asked in policy()) {
        let sender = CapabilityPolicy::read("p", &sender).unwrap();
        let Ok(receiver) = narrowed(Some(&sender), &asked, Path::new("/no")) else {
            return Ok(());
        };
        for tool in NAMES.into_iter().chain(["other"]) {
            for path in ["a1", "xb", "c", "z"] {
                for operation in NAMES {
                    let own = dangerous(operation);
                    for own in [None, Some(&own)] {
                        let arguments = json!({"path": path});
                        let may = |policy: &CapabilityPolicy| {
                            let open = DeclaredParameters::default();
                            let place = &harn_shell::Nowhere;
                            policy.check_tool(tool, own, &open, &arguments, place).is_ok()
                        };
                        prop_assert!(!may(&receiver) || may(&sender), "{tool} {path}");
                    }
                }
            }
        }
        for builtin in ["read_file", "write_file", "exec", "http_get", "llm_call", "agent_loop"] {
            let may = |policy: &CapabilityPolicy| policy.check_builtin(builtin).is_ok();
            prop_assert!(!may(&receiver) || may(&sender), "{builtin}");
        }
        let limit = |policy: &CapabilityPolicy| policy.recursion_limit.unwrap_or(u64::MAX);
        prop_assert!(limit(&receiver) <= limit(&sender));
        if !sender.workspace_roots.is_empty() {
            prop_assert!(!receiver.workspace_roots.is_empty());
            let resolved = |root: &String| crate::real_path::resolve(Path::new(root)).unwrap().path;
            for root in &receiver.workspace_roots {
                let within = |outer: &String| resolved(root).starts_with(resolved(outer));
                prop_assert!(sender.workspace_roots.iter().any(within), "{root}");
            }
        }
    }
}

#[test]
fn a_receiver_may_do_less() {
    let sender = CapabilityPolicy::read("p", &json!({"tools": ["look", "write"]})).unwrap();
    let receiver = narrowed(Some(&sender), &json!({"tools": ["look"]}), Path::new("/"));
    assert_eq!(receiver.unwrap().tools, ["look"]);
    let beyond = narrowed(Some(&sender), &json!({"tools": ["run"]}), Path::new("/"));
    let said = beyond.unwrap_err().to_string();
    assert_eq!(said, "requested tools exceed host ceiling: run");
}
