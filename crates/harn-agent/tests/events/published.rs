//! Events that programs publish themselves, with `agent_emit_event`.

use harn_agent::llm::desk::Thrown;
use serde_json::{Value, json};

use crate::stage::{SESSION, Stage};

async fn publish(stage: &Stage, kind: &str, payload: Value) -> Result<Value, Thrown> {
    let arguments = vec![json!(SESSION), json!(kind), payload];
    stage.ask("agent_emit_event", arguments).await
}

/// Publishes an event and looks whether these keys arrive.
async fn check(stage: &Stage, kind: &str, tag: &str, payload: Value, told: Value) {
    publish(stage, kind, payload).await.unwrap();
    let event = stage.events().pop().unwrap();
    assert_eq!(
        (&event["type"], &event["session_id"]),
        (&json!(tag), &json!(SESSION))
    );
    for (key, value) in told.as_object().unwrap() {
        assert_eq!(event[key], *value, "{kind}.{key}");
    }
}

async fn stage_with_session(stage: &Stage) {
    stage.runtime.open_session(SESSION).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_program_that_is_a_loop_publishes_its_frame() {
    let stage = Stage::publishing(&[
        "iteration_start",
        "iteration_end",
        "loop_checkpoint",
        "budget_exhausted",
        "budget_circuit_breaker",
        "loop_control_decision",
        "loop_stuck_signal",
        "reserved_terminal_verify",
    ]);
    stage_with_session(&stage).await;
    let one = json!({"iteration": 1});
    check(
        &stage,
        "iteration_start",
        "iteration_start",
        one.clone(),
        one.clone(),
    )
    .await;
    check(&stage, "iteration_end", "iteration_end", one.clone(), one).await;
    let decision = json!({
        "iteration": 1, "action": "extend", "old_limit": 1, "new_limit": 2, "reason": "progress",
        "status": "running",
    });
    let kind = "loop_control_decision";
    check(&stage, kind, kind, decision.clone(), decision).await;
    let breaker = json!({"kind": "failures", "consecutive_count": 3, "paused_for_ms": 10});
    let kind = "budget_circuit_breaker";
    check(&stage, kind, kind, breaker.clone(), breaker).await;
    let signal = json!({"reason": "no progress"});
    check(
        &stage,
        "loop_stuck",
        "loop_stuck_signal",
        signal.clone(),
        json!({"payload": signal}),
    )
    .await;
    let exhausted = json!({"max_iterations": 1, "kind": "deadline"});
    let kind = "budget_exhausted";
    check(&stage, kind, kind, exhausted.clone(), exhausted).await;
    let verify = json!({"passed": true});
    let kind = "reserved_terminal_verify";
    check(
        &stage,
        kind,
        kind,
        verify.clone(),
        json!({"payload": verify}),
    )
    .await;
    let exit = json!({"iteration": 1, "kind": "loop_exit", "delivered": 0});
    check(
        &stage,
        "loop_checkpoint",
        "loop_checkpoint",
        exit.clone(),
        exit,
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_program_publishes_calls_and_searches() {
    let stage = Stage::publishing(&[
        "tool_call",
        "tool_call_update",
        "tool_call_audit",
        "tool_search_query",
        "tool_search_result",
    ]);
    stage_with_session(&stage).await;
    let call = json!({"tool_call_id": "t1", "tool_name": "look"});
    check(
        &stage,
        "tool_call",
        "tool_call",
        call.clone(),
        json!({"status": "pending"}),
    )
    .await;
    let kind = "tool_call_update";
    check(
        &stage,
        kind,
        kind,
        call.clone(),
        json!({"status": "in_progress"}),
    )
    .await;
    let mut done = call.clone();
    done["status"] = json!("completed");
    done["executor"] = json!("host");
    check(
        &stage,
        kind,
        kind,
        done,
        json!({"executor": {"kind": "host_bridge"}}),
    )
    .await;
    let mut audit = call;
    audit["audit"] = json!({"summary": "looked"});
    check(
        &stage,
        "tool_call_audit",
        "tool_call_audit",
        audit.clone(),
        audit,
    )
    .await;
    let query = json!({"tool_use_id": "q", "name": "n", "strategy": "host", "mode": "client"});
    check(
        &stage,
        "tool_search_query",
        "tool_search_query",
        query.clone(),
        query.clone(),
    )
    .await;
    let kind = "tool_search_result";
    check(&stage, kind, kind, query, json!({"promoted": []})).await;
}

#[tokio::test(start_paused = true)]
async fn a_program_publishes_verdicts() {
    let stage = Stage::publishing(&[
        "judge_decision",
        "step_judge_decision",
        "structural_validator_decision",
        "scope_classifier_verdict",
        "missing_tool_call_verdict",
    ]);
    stage_with_session(&stage).await;
    let verdicts = [
        (
            "judge_decision",
            json!({
                "iteration": 1, "verdict": "done", "reasoning": "r", "next_step": null,
                "judge_duration_ms": 3,
            }),
        ),
        (
            "step_judge_decision",
            json!({
                "iteration": 1, "verdict": "veto", "reasoning": "r", "critique": "c",
                "confidence": 0.5, "judge_duration_ms": 1, "vetoed": true, "on_veto": "retry",
                "input_tokens": 1, "output_tokens": 2, "cost_usd": 0.0, "provider": "p",
                "model": "m",
            }),
        ),
        (
            "structural_validator_decision",
            json!({
                "iteration": 1, "rule": "r", "diagnostic": "d", "recommended_action": "a",
                "vetoed": false, "on_failure": "warn", "attempts": 1, "max_attempts": 2,
            }),
        ),
        (
            "scope_classifier_verdict",
            json!({
                "iteration": 1, "label": "in", "original_label": "in", "confidence": 1.0,
                "confidence_threshold": 0.5, "evidence": "e", "skip_main_turn": false,
            }),
        ),
        (
            "missing_tool_call_verdict",
            json!({
                "iteration": 1, "action": "nudge", "original_action": "nudge",
                "tool_name": "look", "confidence": 1.0, "confidence_threshold": 0.5,
                "evidence": "e",
            }),
        ),
    ];
    for (kind, verdict) in verdicts {
        check(&stage, kind, kind, verdict.clone(), verdict).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_program_publishes_the_rest() {
    let stage = Stage::publishing(&[
        "progress_reported",
        "typed_checkpoint",
        "feedback_injected",
        "skill_narrow",
        "stance_transition",
        "agent_loop_stall_warning",
        "capability_gap",
        "tool_format_override",
        "agent_scratchpad_reorganization",
        "cache_hit",
        "cache_miss",
    ]);
    stage_with_session(&stage).await;
    let kind = "progress_reported";
    check(
        &stage,
        kind,
        kind,
        json!({"message": "half"}),
        json!({"message": "half", "replace": true}),
    )
    .await;
    let kind = "typed_checkpoint";
    check(
        &stage,
        kind,
        kind,
        json!({"n": 1}),
        json!({"checkpoint": {"n": 1}}),
    )
    .await;
    let (kind, tag) = ("missing_tool_call_nudge", "feedback_injected");
    check(
        &stage,
        kind,
        tag,
        json!({"tool": "look"}),
        json!({"kind": kind, "content": "look"}),
    )
    .await;
    let kind = "skill_narrow";
    check(
        &stage,
        kind,
        kind,
        json!({"reason": "r"}),
        json!({"removed_tools": []}),
    )
    .await;
    let (kind, tag) = ("stance_armed", "stance_transition");
    check(
        &stage,
        kind,
        tag,
        json!({"escape_tool": "e"}),
        json!({"phase": "armed"}),
    )
    .await;
    let kind = "agent_loop_stall_warning";
    check(
        &stage,
        kind,
        kind,
        json!({"n": 1}),
        json!({"warning": {"n": 1}}),
    )
    .await;
    let gap = json!({
        "level": "warning", "capability": "c", "provider": "p", "model": "m",
        "fallback_tool_format": "text", "message": "x",
    });
    check(&stage, "capability_gap", "capability_gap", gap.clone(), gap).await;
    let overridden = json!({
        "provider": "p", "model": "m", "requested_format": "text",
        "recommended_format": "native", "catalog_parity": "unknown",
    });
    let kind = "tool_format_override";
    check(&stage, kind, kind, overridden.clone(), overridden).await;
    let kind = "agent_scratchpad_reorganization";
    let pad = json!({"iteration": 1, "status": "done", "kept": 2});
    check(&stage, kind, kind, pad, json!({"details": {"kept": 2}})).await;
    let entry = json!({"key": "k", "backend": "memory", "namespace": "n"});
    for kind in ["cache_hit", "cache_miss"] {
        check(&stage, kind, kind, entry.clone(), entry.clone()).await;
    }
}

/// What a subsystem owns is not for programs to claim.
#[tokio::test(start_paused = true)]
async fn a_program_cannot_publish_everything() {
    let stage = Stage::publishing(&[]);
    stage_with_session(&stage).await;
    for kind in [
        "session_closed",
        "agent_message_chunk",
        "plan",
        "worker_update",
        "nonsense",
    ] {
        let refused = publish(&stage, kind, json!({})).await;
        let text = format!("__host_agent_emit_event: unsupported event type `{kind}`");
        assert_eq!(refused, Err(Thrown::Runtime(text)));
    }
    assert!(stage.events().is_empty());
}
