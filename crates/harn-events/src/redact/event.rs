//! Which parts of an event may hold a secret.

use std::borrow::Cow;

use serde_json::Value;

use super::{Completeness, RedactionPolicy};
use crate::event::AgentEvent;
use crate::{CompositionChildCall, CompositionChildResult, CompositionRunEnvelope, ToolCallStatus};

impl RedactionPolicy {
    /// The event as readers may see it: what people, models and tools said, without
    /// its secrets. Borrowed when there was nothing to hide.
    pub fn redact_event<'a>(&self, event: &'a AgentEvent) -> Cow<'a, AgentEvent> {
        if !self.suspects_event(event) {
            return Cow::Borrowed(event);
        }
        let mut redacted = event.clone();
        if self.redact_tool_data(&mut redacted) {
            Cow::Owned(redacted)
        } else {
            Cow::Borrowed(event)
        }
    }

    /// Looks without copying, because nearly every event is clean.
    fn suspects_event(&self, event: &AgentEvent) -> bool {
        match event {
            AgentEvent::AgentMessageChunk { content, .. }
            | AgentEvent::AgentThoughtChunk { content, .. } => self.might_match(content),
            AgentEvent::ToolCall {
                raw_input, parsing, ..
            } => *parsing == Some(true) || self.suspects(raw_input),
            // The beginning of a secret is not one that could be seen quickly.
            AgentEvent::ToolCallUpdate {
                status, parsing, ..
            } if is_snapshot(*status, *parsing) => true,
            AgentEvent::ToolCallUpdate {
                raw_input,
                raw_input_partial,
                raw_output,
                error,
                ..
            } => {
                let mut values = [raw_input, raw_output].into_iter().flatten();
                let mut texts = [raw_input_partial, error].into_iter().flatten();
                values.any(|value| self.suspects(value)) || texts.any(|text| self.might_match(text))
            }
            AgentEvent::ToolCallAudit { audit, .. } => self.suspects(audit),
            AgentEvent::McpNotification { params, .. } => self.suspects(params),
            AgentEvent::AgentLoopStallWarning { warning, .. } => self.suspects(warning),
            AgentEvent::IterationEnd { iteration_info, .. } => {
                self.suspects(iteration_info.facts())
            }
            AgentEvent::WorkerUpdate { metadata, .. } => self.suspects(metadata),
            AgentEvent::CacheHit { payload, .. } | AgentEvent::CacheMiss { payload, .. } => {
                self.suspects(payload)
            }
            AgentEvent::FeedbackInjected { content, .. } => self.might_match(content),
            AgentEvent::ToolSearchQuery { query, .. } => self.suspects(query),
            AgentEvent::HitlRequested { payload, .. } => self.suspects(payload),
            AgentEvent::CompositionChildCall { .. }
            | AgentEvent::CompositionChildResult { .. }
            | AgentEvent::CompositionStart { .. }
            | AgentEvent::CompositionFinish { .. }
            | AgentEvent::CompositionError { .. } => true,
            other => serde_json::to_vec(other).is_ok_and(|text| self.might_match(text)),
        }
    }

    fn suspects(&self, value: &Value) -> bool {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
            Value::String(text) => self.might_match(text),
            Value::Array(items) => items.iter().any(|item| self.suspects(item)),
            Value::Object(fields) => fields
                .iter()
                .any(|(name, field)| self.is_sensitive_name(name) || self.suspects(field)),
        }
    }

    fn redact_tool_data(&self, event: &mut AgentEvent) -> bool {
        match event {
            AgentEvent::ToolCall {
                raw_input, parsing, ..
            } => self.redact_value(raw_input, arriving(*parsing == Some(true))),
            AgentEvent::ToolCallUpdate {
                status,
                parsing,
                raw_input,
                raw_input_partial,
                raw_output,
                error,
                ..
            } => {
                let snapshot = arriving(is_snapshot(*status, *parsing));
                self.redact_optional(raw_input, snapshot)
                    | self.redact_optional_text(raw_input_partial, snapshot)
                    | self.redact_optional(raw_output, Completeness::Whole)
                    | self.redact_optional_text(error, Completeness::Whole)
            }
            AgentEvent::ToolCallAudit { audit, .. } => {
                self.redact_value(audit, Completeness::Whole)
            }
            AgentEvent::CompositionChildCall { call, .. } => {
                let CompositionChildCall { raw_input, .. } = call;
                self.redact_value(raw_input, Completeness::Whole)
            }
            AgentEvent::CompositionChildResult { result, .. } => {
                let CompositionChildResult {
                    raw_output,
                    error,
                    error_details,
                    retry_errors,
                    ..
                } = result;
                self.redact_optional(raw_output, Completeness::Whole)
                    | self.redact_optional(error_details, Completeness::Whole)
                    | self.redact_optional_text(error, Completeness::Whole)
                    | self.redact_texts(retry_errors)
            }
            AgentEvent::CompositionStart { run, .. }
            | AgentEvent::CompositionFinish { run, .. }
            | AgentEvent::CompositionError { run, .. } => {
                let CompositionRunEnvelope {
                    artifacts,
                    stdout,
                    stderr,
                    result,
                    error,
                    ..
                } = run;
                self.redact_optional_text(stdout, Completeness::Whole)
                    | self.redact_optional_text(stderr, Completeness::Whole)
                    | self.redact_optional(result, Completeness::Whole)
                    | self.redact_values(artifacts)
                    | self.redact_optional_text(error, Completeness::Whole)
            }
            AgentEvent::IterationEnd { iteration_info, .. } => {
                self.redact_value(iteration_info.facts_mut(), Completeness::Whole)
            }
            AgentEvent::WorkerUpdate { metadata, .. } => {
                self.redact_value(metadata, Completeness::Whole)
            }
            AgentEvent::CacheHit { payload, .. } | AgentEvent::CacheMiss { payload, .. } => {
                self.redact_value(payload, Completeness::Whole)
            }
            AgentEvent::FeedbackInjected { content, .. } => {
                self.redact_texts(std::slice::from_mut(content))
            }
            AgentEvent::ToolSearchQuery { query, .. } => {
                self.redact_value(query, Completeness::Whole)
            }
            AgentEvent::HitlRequested { payload, .. } => {
                self.redact_value(payload, Completeness::Whole)
            }
            AgentEvent::McpNotification { params, .. } => {
                self.redact_value(params, Completeness::Whole)
            }
            AgentEvent::AgentLoopStallWarning { warning, .. } => {
                self.redact_value(warning, Completeness::Whole)
            }
            AgentEvent::AgentMessageChunk { content, .. }
            | AgentEvent::AgentThoughtChunk { content, .. } => {
                self.redact_texts(std::slice::from_mut(content))
            }
            other => self.redact_whole(other),
        }
    }

    /// Redacts whatever an event holds, but not which session it is of. One that would be none
    /// without its secrets stays as it is, which a durable sink does not rely on.
    fn redact_whole(&self, event: &mut AgentEvent) -> bool {
        let session_id = event.session_id().to_owned();
        let Ok(mut value) = serde_json::to_value(&*event) else {
            return false;
        };
        if !self.redact_value(&mut value, Completeness::Whole) {
            return false;
        }
        value["session_id"] = Value::from(session_id);
        let Ok(redacted) = serde_json::from_value(value) else {
            return false;
        };
        *event = redacted;
        true
    }

    fn redact_values(&self, values: &mut [Value]) -> bool {
        values.iter_mut().fold(false, |changed, value| {
            self.redact_value(value, Completeness::Whole) | changed
        })
    }

    fn redact_texts(&self, texts: &mut [String]) -> bool {
        texts.iter_mut().fold(false, |changed, text| {
            let redacted = match self.redact_text(text, Completeness::Whole) {
                Cow::Borrowed(_) => return changed,
                Cow::Owned(redacted) => redacted,
            };
            *text = redacted;
            true
        })
    }

    fn redact_optional(&self, value: &mut Option<Value>, completeness: Completeness) -> bool {
        value
            .as_mut()
            .is_some_and(|value| self.redact_value(value, completeness))
    }

    fn redact_optional_text(&self, text: &mut Option<String>, completeness: Completeness) -> bool {
        let Some(written) = text else { return false };
        match self.redact_text(written, completeness) {
            Cow::Borrowed(_) => false,
            Cow::Owned(redacted) => {
                *text = Some(redacted);
                true
            }
        }
    }
}

/// Whether an update shows arguments that are still arriving. A promotion carries the final ones.
fn is_snapshot(status: ToolCallStatus, parsing: Option<bool>) -> bool {
    status == ToolCallStatus::Pending && parsing != Some(false)
}

fn arriving(is_arriving: bool) -> Completeness {
    if is_arriving {
        Completeness::Partial
    } else {
        Completeness::Whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn update(raw_input: Value) -> AgentEvent {
        AgentEvent::from_host_payload(
            "s",
            "tool_call_update",
            &json!({"tool_call_id": "1", "tool_name": "http", "status": "completed",
                    "raw_input": raw_input, "raw_output": {"Set-Cookie": "sid=1"},
                    "error": "401 for Bearer abcd1234"}),
        )
        .unwrap()
    }

    #[test]
    fn inputs_outputs_and_errors_are_redacted() {
        let event = update(json!({"headers": {"Authorization": "Bearer abcd1234"}, "page": 1}));
        let seen = serde_json::to_value(RedactionPolicy::new().redact_event(&event)).unwrap();
        assert_eq!(
            seen["raw_input"],
            json!({"headers": {"Authorization": "[redacted]"}, "page": 1})
        );
        assert_eq!(seen["raw_output"], json!({"Set-Cookie": "[redacted]"}));
        assert_eq!(seen["error"], "401 for Bearer [redacted]");
    }

    #[test]
    fn an_event_without_secrets_is_not_copied() {
        let event = AgentEvent::ToolCall {
            session_id: "s".into(),
            tool_call_id: "1".into(),
            tool_name: "read".into(),
            kind: None,
            status: ToolCallStatus::Pending,
            raw_input: json!({"path": "src/lib.rs"}),
            parsing: None,
            audit: None,
        };
        assert!(matches!(
            RedactionPolicy::new().redact_event(&event),
            Cow::Borrowed(_)
        ));
    }
}
