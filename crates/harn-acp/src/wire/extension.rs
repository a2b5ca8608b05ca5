//! What an event says in Harn's own words: a kind and a body with camelCase keys.
//!
//! The protocol has no place for most of what happens in a loop. It travels as the notification
//! `_harn/agentEvent`, or under `_meta.harn` of an update for clients that asked for updates.
//! The body follows from the fields of the event; only what the catalogue says otherwise is
//! written down here.

use harn_vm::agent::events::AgentEvent;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// What an event says in Harn's own words.
pub(super) struct Said {
    /// The kind of the notification.
    pub(super) kind: String,
    /// The fields.
    pub(super) body: Map<String, Value>,
}

/// The kind of the update that stands for an event, where the catalogue has one.
pub(super) fn update_kind(event: &AgentEvent) -> Option<&'static str> {
    Some(match event {
        AgentEvent::Artifact { .. } => "artifact",
        AgentEvent::FsWatch { .. } => "fs_watch",
        AgentEvent::Handoff { .. } => "handoff",
        AgentEvent::HitlRequested { .. } => "hitl_request",
        AgentEvent::HitlResolved { .. } => "hitl_resolved",
        AgentEvent::ProgressReported { .. }
        | AgentEvent::StagedWritesPending { .. }
        | AgentEvent::SafeTextPatchResult { .. } => "progress",
        AgentEvent::ReminderEmitted { .. } => "reminder_emitted",
        AgentEvent::SkillActivated { .. } => "skill_activated",
        AgentEvent::SkillDeactivated { .. } => "skill_deactivated",
        AgentEvent::SkillNarrow { .. } => "skill_narrow",
        AgentEvent::SkillScopeTools { .. } => "skill_scope_tools",
        AgentEvent::StanceTransition { .. } => "stance_transition",
        AgentEvent::ToolSearchQuery { .. } => "tool_search_query",
        AgentEvent::ToolSearchResult { .. } => "tool_search_result",
        AgentEvent::TranscriptCompacted { .. } => "transcript_compacted",
        AgentEvent::TranscriptProjected { .. } => "transcript_projected",
        AgentEvent::WorkerUpdate { .. } => "worker_update",
        _ => return None,
    })
}

/// The kinds of updates beyond the protocol, for those who advertise them.
pub(crate) const UPDATE_KINDS: [&str; 17] = [
    "artifact",
    "fs_watch",
    "handoff",
    "hitl_request",
    "hitl_resolved",
    "progress",
    "reminder_emitted",
    "skill_activated",
    "skill_deactivated",
    "skill_narrow",
    "skill_scope_tools",
    "stance_transition",
    "tool_search_query",
    "tool_search_result",
    "transcript_compacted",
    "transcript_projected",
    "worker_update",
];

/// What is under `_meta.harn` of the update that stands for an event.
pub(super) fn update_body(event: &AgentEvent) -> Map<String, Value> {
    let progress = |phase: &str, message: &str, event: &AgentEvent| {
        let mut body = fields(event);
        body.insert("kind".to_owned(), json!(event.tag()));
        body.insert("phase".to_owned(), json!(phase));
        body.insert("message".to_owned(), json!(message));
        body
    };
    match event {
        AgentEvent::ProgressReported { message, .. } => {
            let message = message.as_deref().unwrap_or_default();
            object(json!({"phase": "narration", "message": message}))
        }
        AgentEvent::StagedWritesPending { pending_count, .. } => {
            let mut body = progress("fs_staging", "staged writes pending", event);
            body.insert("progress".to_owned(), json!(pending_count));
            body
        }
        AgentEvent::SafeTextPatchResult { result, .. } => progress(
            "safe_text_patch",
            &format!("safe_text_patch: {result}"),
            event,
        ),
        event => own_body(event),
    }
}

/// What an event says as a notification. A field called `kind` has another name there: the
/// notification has a kind itself.
pub(super) fn said(event: &AgentEvent) -> Said {
    let mut body = own_body(event);
    let renamed = match event {
        AgentEvent::BudgetExhausted { .. } => Some("budgetKind"),
        AgentEvent::BudgetCircuitBreaker { .. } => Some("breakerKind"),
        AgentEvent::FeedbackInjected { .. } => Some("feedbackKind"),
        AgentEvent::LoopCheckpoint { .. } => Some("checkpointKind"),
        AgentEvent::Artifact { .. } => Some("artifactKind"),
        AgentEvent::HitlRequested { .. } | AgentEvent::HitlResolved { .. } => Some("hitlKind"),
        _ => None,
    };
    if let Some(renamed) = renamed
        && let Some(kind) = body.remove("kind")
    {
        body.insert(renamed.to_owned(), kind);
    }
    let kind = match event {
        AgentEvent::LoopStuckSignal { .. } => "loop_stuck",
        event => event.tag(),
    };
    let kind = kind.to_owned();
    Said { kind, body }
}

fn own_body(event: &AgentEvent) -> Map<String, Value> {
    match event {
        AgentEvent::LoopStuckSignal { payload, .. }
        | AgentEvent::ReservedTerminalVerify { payload, .. }
        | AgentEvent::CacheHit { payload, .. }
        | AgentEvent::CacheMiss { payload, .. } => spread(payload),
        AgentEvent::AgentLoopStallWarning { warning, .. } => spread(warning),
        AgentEvent::CompositionStart { run, .. }
        | AgentEvent::CompositionFinish { run, .. }
        | AgentEvent::CompositionError { run, .. } => camel(run),
        AgentEvent::CompositionChildCall { call, .. } => camel(call),
        AgentEvent::CompositionChildResult { result, .. } => camel(result),
        AgentEvent::ReminderEmitted { .. } => object(json!({"reminder": fields(event)})),
        AgentEvent::Handoff {
            handoff,
            artifact_id,
            ..
        } => object(json!({
            "handoffId": handoff.id, "artifactId": artifact_id, "handoff": handoff,
        })),
        AgentEvent::WorkerUpdate {
            event: step, audit, ..
        } => {
            let mut body = fields(event);
            body.insert("terminal".to_owned(), json!(step.is_terminal()));
            if audit.is_none() {
                body.remove("audit");
            }
            body
        }
        event => {
            let mut body = fields(event);
            for (key, absent) in always_there(event) {
                body.entry(*key).or_insert_with(|| absent.clone());
            }
            body
        }
    }
}

/// Fields that the catalogue has in the body also where the event leaves them out.
fn always_there(event: &AgentEvent) -> &'static [(&'static str, Value)] {
    const NULL: Value = Value::Null;
    const FALSE: Value = Value::Bool(false);
    match event {
        AgentEvent::JudgeDecision { .. } => &[("trigger", NULL)],
        AgentEvent::StepJudgeDecision { .. } => {
            &[("skipped", FALSE), ("judgeError", FALSE), ("reason", NULL)]
        }
        AgentEvent::StructuralValidatorDecision { .. } => &[("skipped", FALSE), ("reason", NULL)],
        AgentEvent::ScopeClassifierVerdict { .. } => {
            &[("classifierKind", NULL), ("model", NULL), ("error", NULL)]
        }
        AgentEvent::MissingToolCallVerdict { .. } => &[
            ("language", NULL),
            ("classifierKind", NULL),
            ("model", NULL),
            ("error", NULL),
        ],
        AgentEvent::McpCatalogChanged { .. } => &[("server", NULL)],
        AgentEvent::McpAuthRequired { .. } => &[("scope", NULL)],
        _ => &[],
    }
}

/// The fields of an event, without its type and its session.
fn fields(event: &AgentEvent) -> Map<String, Value> {
    let mut fields = camel(event);
    fields.remove("type");
    fields.remove("sessionId");
    fields
}

/// The fields of something with keys in camelCase. What is below them stays as it is.
fn camel(value: &impl Serialize) -> Map<String, Value> {
    let Ok(Value::Object(fields)) = serde_json::to_value(value) else {
        return Map::new();
    };
    let fields = fields.into_iter();
    fields
        .map(|(key, value)| (camel_case(&key), value))
        .collect()
}

fn camel_case(key: &str) -> String {
    let mut parts = key.split('_');
    let mut camel = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut letters = part.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}

/// The keys of what a program has said. Where one of them would hide a key of ours, all of it
/// goes under `payload`.
fn spread(payload: &Value) -> Map<String, Value> {
    let Value::Object(fields) = payload else {
        return Map::new();
    };
    let is_ours = |key: &String| matches!(&**key, "kind" | "sessionId" | "_meta");
    match fields.keys().any(is_ours) {
        true => object(json!({"payload": payload})),
        false => fields.clone(),
    }
}

/// The fields of an object that was just written down.
fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
