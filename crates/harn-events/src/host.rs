//! Events that programs and hosts publish themselves.
//!
//! There is one door, and it does not let everything through: a worker's life or
//! a handoff is reported by the subsystem that owns it, not by a script that says
//! so. Twenty types are decoded from the payload as they are, nineteen are
//! built from it by a rule of their own, the rest is refused.

use serde_json::{Map, Value, json};

use crate::MutationSessionRecord;
use crate::decode;
use crate::event::AgentEvent;
use crate::types::ToolExecutor;

/// Why a host's event was refused. The texts are part of the contract.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostPayloadError {
    /// The door is not open for this type.
    #[error("__host_agent_emit_event: unsupported event type `{0}`")]
    UnsupportedType(String),
    /// The payload does not make an event of this type.
    #[error("__host_agent_emit_event: invalid `{event_type}` payload: {message}")]
    InvalidPayload {
        /// Type that was asked for.
        event_type: String,
        /// What the decoder said.
        message: String,
    },
    /// A tool executor given by a name nobody knows.
    #[error("__host_agent_emit_event: invalid tool executor `{0}`")]
    InvalidExecutor(String),
}

/// A direct type and what its payload may leave out.
struct DirectType {
    tag: &'static str,
    /// Key and JSON of its default.
    defaults: &'static [(&'static str, Filler)],
}

/// A default that the door fills in.
#[derive(Clone, Copy)]
enum Filler {
    Null,
    True,
    EmptyArray,
    EmptyObject,
    Text(&'static str),
}

impl Filler {
    fn value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::True => Value::Bool(true),
            Self::EmptyArray => json!([]),
            Self::EmptyObject => json!({}),
            Self::Text(text) => text.into(),
        }
    }
}

const fn direct(tag: &'static str) -> DirectType {
    DirectType { tag, defaults: &[] }
}

const DIRECT: &[DirectType] = &[
    DirectType {
        tag: "tool_call",
        defaults: &[
            ("status", Filler::Text("pending")),
            ("raw_input", Filler::Null),
        ],
    },
    DirectType {
        tag: "tool_call_update",
        defaults: &[("status", Filler::Text("in_progress"))],
    },
    direct("iteration_start"),
    DirectType {
        tag: "iteration_end",
        defaults: &[("iteration_info", Filler::Null)],
    },
    direct("judge_decision"),
    direct("step_judge_decision"),
    direct("structural_validator_decision"),
    direct("scope_classifier_verdict"),
    direct("missing_tool_call_verdict"),
    direct("budget_exhausted"),
    direct("budget_circuit_breaker"),
    DirectType {
        tag: "progress_reported",
        defaults: &[
            ("entries", Filler::EmptyArray),
            ("replace", Filler::True),
            ("metadata", Filler::EmptyObject),
        ],
    },
    DirectType {
        tag: "tool_search_query",
        defaults: &[("query", Filler::Null)],
    },
    DirectType {
        tag: "tool_search_result",
        defaults: &[("promoted", Filler::EmptyArray)],
    },
    DirectType {
        tag: "skill_narrow",
        defaults: &[
            ("removed_tools", Filler::EmptyArray),
            ("remaining_tools", Filler::EmptyArray),
        ],
    },
    direct("loop_control_decision"),
    direct("capability_gap"),
    direct("tool_format_override"),
    DirectType {
        tag: "tool_call_audit",
        defaults: &[("audit", Filler::Null)],
    },
    direct("loop_checkpoint"),
];

impl AgentEvent {
    /// Turns what a host published into an event. `tool_call` and
    /// `tool_call_update` get the mutation session in force on the
    /// [process-default bus](crate::default_bus).
    ///
    /// # Errors
    /// A type the door is not open for, or a payload that does not fit its type.
    pub fn from_host_payload(
        session_id: &str,
        event_type: &str,
        payload: &Value,
    ) -> Result<Self, HostPayloadError> {
        let audit = crate::default_bus::default_bus().current_mutation_session();
        event_from_host(session_id, event_type, payload, audit)
    }
}

pub(crate) fn event_from_host(
    session_id: &str,
    event_type: &str,
    payload: &Value,
    audit: Option<MutationSessionRecord>,
) -> Result<AgentEvent, HostPayloadError> {
    if let Some(event) = special(session_id, event_type, payload) {
        return Ok(event);
    }
    let Some(direct) = DIRECT.iter().find(|direct| direct.tag == event_type) else {
        return Err(HostPayloadError::UnsupportedType(event_type.to_owned()));
    };
    let mut object = payload.as_object().cloned().unwrap_or_default();
    for (key, filler) in direct.defaults {
        object.entry(*key).or_insert_with(|| filler.value());
    }
    let takes_audit = matches!(event_type, "tool_call" | "tool_call_update");
    if takes_audit {
        object.remove("audit");
    }
    if event_type == "tool_call_update" {
        normalise_executor(&mut object)?;
    }
    object.insert("type".to_owned(), event_type.into());
    object.insert("session_id".to_owned(), session_id.into());
    let (mut event, _) =
        decode::read_object(object).map_err(|message| HostPayloadError::InvalidPayload {
            event_type: event_type.to_owned(),
            message,
        })?;
    if let AgentEvent::ToolCall { audit: slot, .. }
    | AgentEvent::ToolCallUpdate { audit: slot, .. } = &mut event
    {
        *slot = audit;
    }
    Ok(event)
}

/// Hosts may name a tool's executor by a word.
fn normalise_executor(object: &mut Map<String, Value>) -> Result<(), HostPayloadError> {
    let Some(Value::String(word)) = object.get("executor") else {
        return Ok(());
    };
    let executor = match word.trim() {
        "" => {
            object.remove("executor");
            return Ok(());
        }
        "harn" | "harn_builtin" => ToolExecutor::HarnBuiltin,
        "host" | "host_bridge" => ToolExecutor::HostBridge,
        "provider" | "provider_native" => ToolExecutor::ProviderNative,
        other => return Err(HostPayloadError::InvalidExecutor(other.to_owned())),
    };
    let executor = serde_json::to_value(executor).expect("an executor is plain JSON");
    object.insert("executor".to_owned(), executor);
    Ok(())
}

/// Whether the payload is kept whole, whatever it is.
pub(crate) fn keeps_payload(event_type: &str) -> bool {
    matches!(
        event_type,
        "typed_checkpoint"
            | "loop_stuck"
            | "reserved_terminal_verify"
            | "agent_loop_stall_warning"
            | "cache_hit"
            | "cache_miss"
            | "agent_scratchpad_reorganization"
    )
}

/// The keys a special type takes from its payload; `None` for those that keep
/// the payload whole and for direct types.
pub(crate) fn special_keys(event_type: &str) -> Option<&'static [&'static str]> {
    Some(match event_type {
        "stance_armed"
        | "stance_write_access_granted"
        | "stance_write_access_denied"
        | "stance_disarmed" => &[
            "escape_tool",
            "allowed_tools",
            "justification",
            "consent",
            "reason",
        ],
        "completion_confirmation_nudge" => &["visible_text_prefix"],
        "fenced_call_attempt_nudge" => &["fence"],
        "missing_tool_call_nudge" => &["tool"],
        "no_progress_streak_nudge" => &["turns_since_progress"],
        "tool_parse_error_feedback" => &["error_summary"],
        "tool_call_blank_name_dropped" => &["dropped_count"],
        "llm_auto_continue" => &[
            "previous_max_tokens",
            "raised_max_tokens",
            "attempt",
            "max_continuations",
        ],
        "context_overflow_recovery" => &["attempt", "max_recoveries", "archived_messages"],
        _ => return None,
    })
}

fn special(session_id: &str, event_type: &str, payload: &Value) -> Option<AgentEvent> {
    let session_id = session_id.to_owned();
    let text = |key: &str| {
        payload
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let count = |key: &str| payload.get(key).and_then(Value::as_u64).unwrap_or(0);
    let whole = || payload.clone();
    let nudge = |content: String| AgentEvent::FeedbackInjected {
        session_id: session_id.clone(),
        kind: event_type.to_owned(),
        content,
    };
    Some(match event_type {
        "typed_checkpoint" => AgentEvent::TypedCheckpoint {
            session_id,
            checkpoint: whole(),
        },
        "loop_stuck" => AgentEvent::LoopStuckSignal {
            session_id,
            payload: whole(),
        },
        "reserved_terminal_verify" => AgentEvent::ReservedTerminalVerify {
            session_id,
            payload: whole(),
        },
        "agent_loop_stall_warning" => AgentEvent::AgentLoopStallWarning {
            session_id,
            warning: whole(),
        },
        "cache_hit" => AgentEvent::CacheHit {
            session_id,
            key: text("key"),
            backend: text("backend"),
            namespace: text("namespace"),
            payload: whole(),
        },
        "cache_miss" => AgentEvent::CacheMiss {
            session_id,
            key: text("key"),
            backend: text("backend"),
            namespace: text("namespace"),
            payload: whole(),
        },
        "agent_scratchpad_reorganization" => {
            let mut details = whole();
            if let Some(object) = details.as_object_mut() {
                object.remove("iteration");
                object.remove("status");
            }
            AgentEvent::AgentScratchpadReorganization {
                session_id,
                iteration: count("iteration") as usize,
                status: text("status"),
                details,
            }
        }
        "stance_armed"
        | "stance_write_access_granted"
        | "stance_write_access_denied"
        | "stance_disarmed" => {
            let tools = payload.get("allowed_tools").and_then(Value::as_array);
            let names = tools.into_iter().flatten().filter_map(Value::as_str);
            AgentEvent::StanceTransition {
                session_id,
                phase: event_type.trim_start_matches("stance_").to_owned(),
                escape_tool: text("escape_tool"),
                allowed_tools: names.map(str::to_owned).collect(),
                justification: text("justification"),
                consent: text("consent"),
                reason: text("reason"),
            }
        }
        "completion_confirmation_nudge" => nudge(text("visible_text_prefix")),
        "fenced_call_attempt_nudge" => nudge(text("fence")),
        "missing_tool_call_nudge" => nudge(text("tool")),
        "no_progress_streak_nudge" => nudge(count("turns_since_progress").to_string()),
        "tool_parse_error_feedback" => nudge(text("error_summary")),
        "tool_call_blank_name_dropped" => nudge(count("dropped_count").to_string()),
        "llm_auto_continue" => nudge(format!(
            "{}->{} (attempt {}/{})",
            count("previous_max_tokens"),
            count("raised_max_tokens"),
            count("attempt"),
            count("max_continuations"),
        )),
        "context_overflow_recovery" => nudge(format!(
            "attempt {}/{} archived {} messages",
            count("attempt"),
            count("max_recoveries"),
            count("archived_messages"),
        )),
        _ => return None,
    })
}
