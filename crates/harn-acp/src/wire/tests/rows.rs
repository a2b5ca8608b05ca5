//! The table of events, row by row.

use serde_json::json;

use super::*;

#[test]
fn pieces_of_a_message_have_one_id_and_one_text_block() {
    let events = [
        json!({"type": "iteration_start", "iteration": 1}),
        json!({"type": "agent_thought_chunk", "content": "Hm."}),
        json!({"type": "agent_message_chunk", "content": "Hel"}),
        json!({"type": "agent_message_chunk", "content": "lo"}),
        json!({"type": "iteration_end", "iteration": 1, "iteration_info": {}}),
        json!({"type": "agent_message_chunk", "content": "Bye"}),
    ];
    let quiet = client(json!({"_meta": {"harn": {"agentEvents": false}}}));
    let told = updates(&tell(&quiet, &events));
    let chunk = |kind: &str, text: &str, id: &str, index: u64| {
        json!({
            "sessionUpdate": kind, "content": {"type": "text", "text": text},
            "messageId": id, "_meta": {"harn": {"index": index}},
        })
    };
    let expected = [
        chunk("agent_thought_chunk", "Hm.", "message-1", 1),
        chunk("agent_message_chunk", "Hel", "message-1", 2),
        chunk("agent_message_chunk", "lo", "message-1", 3),
        chunk("agent_message_chunk", "Bye", "message-5", 5),
    ];
    assert_eq!(told, expected);
}

fn user_message() -> Value {
    json!({
        "type": "user_message", "message_id": "m1",
        "content": [
            {"type": "text", "text": "Look at"},
            {"type": "resource_link", "name": "a", "uri": "file:///a"},
            {"type": "input_json", "value": 1},
        ],
    })
}

#[test]
fn a_message_of_the_user_is_a_chunk_per_block() {
    let chunk = |content: Value| {
        json!({
            "sessionUpdate": "user_message_chunk", "messageId": "m1", "content": content,
            "_meta": {"harn": {"index": 0}},
        })
    };
    check_update(
        &plain(),
        user_message(),
        json!([
            chunk(json!({"type": "text", "text": "Look at"})),
            chunk(json!({"type": "resource_link", "name": "a", "uri": "file:///a"})),
            chunk(json!({"type": "text", "text": "{\"type\":\"input_json\",\"value\":1}"})),
        ]),
    );
}

#[test]
fn a_message_is_not_echoed_to_who_sent_it_but_replayed() {
    let mut mapping = mapping();
    mapping.sent("m1");
    let mut message = seen(0, user_message());
    assert!(mapping.of(&message, &plain()).is_empty());
    message.is_replayed = true;
    assert_eq!(mapping.of(&message, &plain()).len(), 3);
}

#[test]
fn a_plan_of_ours_is_told_whole() {
    let plan = json!({
        "_type": "plan_artifact", "schema_version": "harn.plan.v1", "tool": "emit_plan",
        "title": "T", "summary": "", "steps": [
            {"id": "1", "content": "Look", "status": "completed", "priority": "high"},
            {"id": "2", "content": "Wait", "status": "blocked", "priority": null},
        ],
        "assumptions": [], "open_questions": [], "verification_commands": [], "approval": {},
    });
    check_update(
        &plain(),
        json!({"type": "plan", "plan": plan}),
        json!([{
            "sessionUpdate": "plan",
            "entries": [
                {"content": "Look", "priority": "high", "status": "completed"},
                {
                    "content": "[blocked] Wait", "priority": "medium", "status": "pending",
                    "_meta": {"harn": {"originalStatus": "blocked"}},
                },
            ],
            "_meta": {"harn": {"plan": plan, "index": 0}},
        }]),
    );
}

#[test]
fn entries_that_editors_do_not_understand_are_told_in_words() {
    let entries = json!([
        {"content": "a", "status": "someday", "priority": "urgent"},
        {"content": " "},
        {"status": "pending"},
        "b",
    ]);
    let told = tell(
        &plain(),
        &[json!({"type": "plan", "plan": {"entries": entries}})],
    );
    assert_eq!(
        updates(&told)[0]["entries"],
        json!([
            {
                "content": "[someday] a", "priority": "medium", "status": "pending",
                "_meta": {"harn": {"originalStatus": "someday", "originalPriority": "urgent"}},
            },
            {"content": "b", "priority": "medium", "status": "pending"},
        ])
    );
}

fn progress(entries: Value, replace: bool, message: Value) -> Value {
    json!({
        "type": "progress_reported", "message": message, "entries": entries,
        "replace": replace, "metadata": {},
    })
}

#[test]
fn progress_with_entries_is_the_complete_plan() {
    let told = tell(
        &plain(),
        &[
            progress(json!([{"content": "a"}]), true, json!(null)),
            progress(json!([{"content": "b"}]), false, json!("half")),
            progress(json!([{"content": "c"}]), true, json!(null)),
        ],
    );
    let told = updates(&told);
    let contents = |at: usize| -> Vec<String> {
        let entries = told[at]["entries"].as_array().unwrap().iter();
        entries
            .map(|entry| entry["content"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(contents(0), ["a"]);
    assert_eq!(contents(1), ["a", "b"]);
    assert_eq!(contents(2), ["c"]);
    assert_eq!(told[1]["_meta"]["harn"]["message"], "half");
}

#[test]
fn progress_without_entries_is_an_event() {
    check_extension(
        &plain(),
        progress(json!([]), false, json!("half")),
        "progress_reported",
        json!({"message": "half", "entries": [], "replace": false, "metadata": {}}),
    );
    check_update(
        &extended(),
        progress(json!([]), false, json!("half")),
        json!([{
            "sessionUpdate": "progress",
            "_meta": {"harn": {"phase": "narration", "message": "half", "index": 0}},
        }]),
    );
}

fn artifact(provenance: Value) -> Value {
    json!({
        "type": "artifact", "artifact_id": "artifact_1", "kind": "table", "title": "T",
        "mime_type": "application/json", "spec": {}, "fallback": "| a |", "size_bytes": 2,
        "provenance": provenance, "metadata": {},
    })
}

#[test]
fn an_artifact_is_content_of_the_call_that_made_it_and_an_event() {
    let start = json!({
        "type": "tool_call", "tool_call_id": "a", "tool_name": "draw", "kind": null,
        "status": "in_progress", "raw_input": {},
    });
    let end = json!({
        "type": "tool_call_update", "tool_call_id": "a", "tool_name": "draw",
        "status": "completed", "raw_output": {"text": "drawn"}, "error": null,
    });
    let told = tell(
        &plain(),
        &[start, artifact(json!({"tool_call_id": "a"})), end],
    );
    let shown = json!({"type": "content", "content": {"type": "text", "text": "| a |"}});
    let [
        _,
        Outgoing::Update(update),
        Outgoing::Extension { parameters, .. },
        Outgoing::Update(end),
    ] = &told[..]
    else {
        panic!("{told:?}");
    };
    assert_eq!(
        *update,
        json!({
            "sessionUpdate": "tool_call_update", "toolCallId": "a", "content": [shown],
            "_meta": {"harn": {"index": 1}},
        })
    );
    assert_eq!(
        (&parameters["kind"], &parameters["artifactKind"]),
        (&json!("artifact"), &json!("table"))
    );
    let text = json!({"type": "content", "content": {"type": "text", "text": "drawn"}});
    assert_eq!(
        end["content"],
        json!([shown, text]),
        "content replaces what there was"
    );
}

#[test]
fn an_artifact_of_no_call_is_an_event_alone() {
    check_extension(
        &plain(),
        artifact(json!({})),
        "artifact",
        json!({
            "artifactId": "artifact_1", "artifactKind": "table", "title": "T",
            "mimeType": "application/json", "spec": {}, "fallback": "| a |", "sizeBytes": 2,
            "provenance": {}, "metadata": {},
        }),
    );
}

fn compacted() -> Value {
    json!({
        "type": "transcript_compacted", "mode": "auto", "reason": "threshold",
        "strategy": "llm", "archived_messages": 4, "estimated_tokens_before": 100,
        "estimated_tokens_after": 10, "snapshot_asset_id": null,
    })
}

fn compacted_body() -> Value {
    json!({
        "mode": "auto", "reason": "threshold", "strategy": "llm", "archivedMessages": 4,
        "estimatedTokensBefore": 100, "estimatedTokensAfter": 10, "snapshotAssetId": null,
    })
}

#[test]
fn a_compaction_is_shown_by_clients_that_can() {
    let mut completed = compacted_body();
    completed["index"] = json!(0);
    check_update(
        &client(json!({"session": {"compaction": {}}})),
        compacted(),
        json!([
            {
                "sessionUpdate": "compaction_update", "compactionId": "compaction-0",
                "status": "in_progress", "_meta": {"harn": {"index": 0}},
            },
            {
                "sessionUpdate": "compaction_update", "compactionId": "compaction-0",
                "status": "completed", "_meta": {"harn": completed},
            },
        ]),
    );
    check_extension(
        &plain(),
        compacted(),
        "transcript_compacted",
        compacted_body(),
    );
}

#[test]
fn events_beyond_the_protocol_have_their_kind_and_camel_case_fields() {
    let rows = [
        (
            json!({"type": "hitl_requested", "request_id": "r", "kind": "question", "payload": {"a_b": 1}}),
            "hitl_requested",
            json!({"requestId": "r", "hitlKind": "question", "payload": {"a_b": 1}}),
        ),
        (
            json!({"type": "hitl_resolved", "request_id": "r", "kind": "question", "outcome": "answered"}),
            "hitl_resolved",
            json!({"requestId": "r", "hitlKind": "question", "outcome": "answered"}),
        ),
        (
            json!({
                "type": "worker_update", "worker_id": "w", "worker_name": "n",
                "worker_task": "t", "worker_mode": "m", "event": "WorkerCompleted",
                "status": "completed", "metadata": {}, "audit": null,
            }),
            "worker_update",
            json!({
                "workerId": "w", "workerName": "n", "workerTask": "t", "workerMode": "m",
                "event": "WorkerCompleted", "status": "completed", "terminal": true,
                "metadata": {},
            }),
        ),
        (
            json!({"type": "skill_activated", "skill_name": "k", "iteration": 2, "reason": "r"}),
            "skill_activated",
            json!({"skillName": "k", "iteration": 2, "reason": "r"}),
        ),
        (
            json!({
                "type": "reminder_emitted", "reminder_id": "r", "tags": [], "body": "b",
                "role_hint": "system", "rendered_role": "user", "source": "hook", "ttl_turns": null,
            }),
            "reminder_emitted",
            json!({"reminder": {
                "reminderId": "r", "tags": [], "body": "b", "roleHint": "system",
                "renderedRole": "user", "source": "hook", "ttlTurns": null,
            }}),
        ),
        (
            json!({"type": "staged_writes_pending", "pending_count": 2, "total_bytes": 9}),
            "staged_writes_pending",
            json!({"pendingCount": 2, "totalBytes": 9}),
        ),
        (
            json!({"type": "budget_exhausted", "max_iterations": 3, "kind": "deadline"}),
            "budget_exhausted",
            json!({"maxIterations": 3, "budgetKind": "deadline"}),
        ),
        (
            json!({"type": "budget_circuit_breaker", "kind": "k", "consecutive_count": 1, "paused_for_ms": 2}),
            "budget_circuit_breaker",
            json!({"breakerKind": "k", "consecutiveCount": 1, "pausedForMs": 2}),
        ),
        (
            json!({"type": "feedback_injected", "kind": "k", "content": "c"}),
            "feedback_injected",
            json!({"feedbackKind": "k", "content": "c"}),
        ),
        (
            json!({"type": "loop_checkpoint", "iteration": 1, "kind": "loop_exit", "delivered": 0}),
            "loop_checkpoint",
            json!({"iteration": 1, "checkpointKind": "loop_exit", "delivered": 0}),
        ),
        (
            json!({"type": "loop_stuck_signal", "payload": {"why_not": 1}}),
            "loop_stuck",
            json!({"why_not": 1}),
        ),
        (
            json!({"type": "loop_stuck_signal", "payload": {"kind": "mine"}}),
            "loop_stuck",
            json!({"payload": {"kind": "mine"}}),
        ),
        (
            json!({"type": "reserved_terminal_verify", "payload": "text"}),
            "reserved_terminal_verify",
            json!({}),
        ),
        (
            json!({
                "type": "judge_decision", "iteration": 1, "verdict": "done", "reasoning": "r",
                "next_step": null, "judge_duration_ms": 5,
            }),
            "judge_decision",
            json!({
                "iteration": 1, "verdict": "done", "reasoning": "r", "nextStep": null,
                "judgeDurationMs": 5, "trigger": null,
            }),
        ),
        (
            json!({"type": "mcp_catalog_changed", "reason": "allowlist_updated"}),
            "mcp_catalog_changed",
            json!({"server": null, "reason": "allowlist_updated"}),
        ),
    ];
    for (fields, kind, body) in rows {
        check_extension(&plain(), fields, kind, body);
    }
}

#[test]
fn a_client_that_asked_gets_updates_instead_of_events() {
    let resolved = json!({
        "type": "hitl_resolved", "request_id": "r", "kind": "question", "outcome": "answered",
    });
    let as_update = json!([{
        "sessionUpdate": "hitl_resolved",
        "_meta": {"harn": {
            "requestId": "r", "kind": "question", "outcome": "answered", "index": 0,
        }},
    }]);
    check_update(&extended(), resolved.clone(), as_update.clone());
    let some = client(json!({"_meta": {"harn": {"sessionUpdateKinds": ["hitl_resolved"]}}}));
    check_update(&some, resolved, as_update);
    let skill = json!({"type": "skill_deactivated", "skill_name": "k", "iteration": 2});
    let body = json!({"skillName": "k", "iteration": 2});
    check_extension(&some, skill, "skill_deactivated", body);
    check_update(
        &extended(),
        json!({"type": "staged_writes_pending", "pending_count": 2, "total_bytes": 9}),
        json!([{
            "sessionUpdate": "progress",
            "_meta": {"harn": {
                "kind": "staged_writes_pending", "phase": "fs_staging",
                "message": "staged writes pending", "progress": 2, "pendingCount": 2,
                "totalBytes": 9, "index": 0,
            }},
        }]),
    );
}

#[test]
fn what_somebody_should_know_is_a_notice_too() {
    let gap = |level: &str| {
        json!({
            "type": "capability_gap", "level": level, "capability": "tools", "provider": "p",
            "model": "m", "fallback_tool_format": "text", "message": "No tools.",
        })
    };
    let auth = json!({"type": "mcp_auth_required", "server": "files", "resource": "https://f"});
    let watchdog = json!({"type": "daemon_watchdog_tripped", "attempts": 3, "elapsed_ms": 9});
    let profile = client(json!({"session": {"notices": {}}}));
    let severities = |fields: &Value| {
        let told = tell(&profile, std::slice::from_ref(fields));
        let is_event = |one: &Outgoing| matches!(one, Outgoing::Extension { .. });
        assert_eq!(told.iter().filter(|one| is_event(one)).count(), 1);
        let notices = told.iter().filter_map(|one| match one {
            Outgoing::Update(update) => Some(update.clone()),
            Outgoing::Extension { .. } => None,
        });
        let severities = notices.map(|notice| {
            assert_eq!(notice["sessionUpdate"], "notice");
            assert!(!notice["title"].as_str().unwrap().is_empty());
            notice["severity"].clone()
        });
        severities.collect::<Vec<_>>()
    };
    assert_eq!(severities(&auth), ["warning"]);
    assert_eq!(severities(&gap("error")), ["error"]);
    assert_eq!(severities(&gap("warning")), Vec::<Value>::new());
    assert_eq!(severities(&watchdog), ["error"]);
    assert_eq!(
        tell(&plain(), std::slice::from_ref(&auth)).len(),
        1,
        "only for those who show notices"
    );
    let mut replayed = seen(0, auth);
    replayed.is_replayed = true;
    let told = mapping().of(&replayed, &profile);
    assert_eq!(told.len(), 1, "a notice is no part of the history");
}

#[test]
fn usage_is_told_where_the_size_is_known() {
    let quiet = client(json!({"_meta": {"harn": {"agentEvents": false}}}));
    let end =
        |info: Value| json!({"type": "iteration_end", "iteration": 1, "iteration_info": info});
    let info = json!({"input_tokens": 90, "output_tokens": 10, "context_window": 1000});
    check_update(
        &quiet,
        end(info.clone()),
        json!([{
            "sessionUpdate": "usage_update", "used": 100, "size": 1000,
            "_meta": {"harn": {"index": 0}},
        }]),
    );
    let mut priced = info;
    priced["session_cost_usd"] = json!(0.25);
    let told = updates(&tell(&quiet, &[end(priced)]));
    assert_eq!(told[0]["cost"], json!({"amount": 0.25, "currency": "USD"}));
    check_update(
        &quiet,
        end(json!({"input_tokens": 90, "output_tokens": 10})),
        json!([]),
    );
}
