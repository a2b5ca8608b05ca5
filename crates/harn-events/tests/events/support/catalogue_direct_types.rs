//! The direct types of the host door, as the specification lists them.

use serde_json::{Value, json};

/// A direct type: the keys a caller must supply, and what is filled in.
pub(crate) struct Direct {
    pub(crate) tag: &'static str,
    pub(crate) required: Value,
    pub(crate) defaults: Value,
}

fn direct(tag: &'static str, required: Value, defaults: Value) -> Direct {
    Direct {
        tag,
        required,
        defaults,
    }
}

/// The table of the direct types.
pub(crate) fn direct_types() -> Vec<Direct> {
    let call = json!({"tool_call_id": "t1", "tool_name": "read"});
    vec![
        direct(
            "tool_call",
            call.clone(),
            json!({"status": "pending", "raw_input": null}),
        ),
        direct(
            "tool_call_update",
            call.clone(),
            json!({"status": "in_progress"}),
        ),
        direct("iteration_start", json!({"iteration": 1}), json!({})),
        direct(
            "iteration_end",
            json!({"iteration": 1}),
            json!({"iteration_info": null}),
        ),
        direct(
            "judge_decision",
            json!({"iteration": 1, "verdict": "done", "reasoning": "r", "judge_duration_ms": 5}),
            json!({}),
        ),
        direct(
            "step_judge_decision",
            json!({
                "iteration": 1, "verdict": "pass", "reasoning": "r", "critique": "c",
                "confidence": 0.5, "judge_duration_ms": 5, "vetoed": false, "on_veto": "retain",
                "input_tokens": 1, "output_tokens": 2, "cost_usd": 0.25, "provider": "p",
                "model": "m",
            }),
            json!({}),
        ),
        direct(
            "structural_validator_decision",
            json!({
                "iteration": 1, "rule": "r", "diagnostic": "d", "recommended_action": "a",
                "vetoed": true, "on_failure": "raise", "attempts": 0, "max_attempts": 2,
            }),
            json!({}),
        ),
        direct(
            "scope_classifier_verdict",
            json!({
                "iteration": 1, "label": "in_scope", "original_label": "in_scope",
                "confidence": 0.75, "confidence_threshold": 0.5, "evidence": "e",
                "skip_main_turn": false,
            }),
            json!({}),
        ),
        direct(
            "missing_tool_call_verdict",
            json!({
                "iteration": 1, "action": "ambiguous", "original_action": "ambiguous",
                "tool_name": "", "confidence": 0.75, "confidence_threshold": 0.5,
                "evidence": "e",
            }),
            json!({}),
        ),
        direct("budget_exhausted", json!({"max_iterations": 9}), json!({})),
        direct(
            "budget_circuit_breaker",
            json!({"kind": "k", "consecutive_count": 3, "paused_for_ms": 100}),
            json!({}),
        ),
        direct(
            "progress_reported",
            json!({}),
            json!({"entries": [], "replace": true, "metadata": {}}),
        ),
        direct(
            "tool_search_query",
            json!({"tool_use_id": "u", "name": "n", "strategy": "s", "mode": "m"}),
            json!({"query": null}),
        ),
        direct(
            "tool_search_result",
            json!({"tool_use_id": "u", "strategy": "s", "mode": "m"}),
            json!({"promoted": []}),
        ),
        direct(
            "skill_narrow",
            json!({"reason": "r"}),
            json!({"removed_tools": [], "remaining_tools": []}),
        ),
        direct(
            "loop_control_decision",
            json!({
                "iteration": 1, "action": "extend", "old_limit": 5, "new_limit": 9,
                "reason": "r", "status": "",
            }),
            json!({}),
        ),
        direct(
            "capability_gap",
            json!({
                "level": "warning", "capability": "c", "provider": "p", "model": "m",
                "fallback_tool_format": "f", "message": "t",
            }),
            json!({}),
        ),
        direct(
            "tool_format_override",
            json!({
                "provider": "p", "model": "m", "requested_format": "a",
                "recommended_format": "b", "catalog_parity": "unknown",
            }),
            json!({}),
        ),
        direct("tool_call_audit", call, json!({"audit": null})),
        direct(
            "loop_checkpoint",
            json!({"iteration": 1, "kind": "loop_exit", "delivered": 0}),
            json!({}),
        ),
    ]
}
