//! The host door of a bus: it publishes, and it keeps an account of what hosts
//! get wrong. A typo in a payload key is not worth ending a run for, but it must
//! not vanish either.

use std::sync::atomic::Ordering;

use serde_json::Value;

use super::EventBus;
use super::health::HostIssueKind;
use crate::decode;
use crate::event::AgentEvent;
use crate::host::{self, HostPayloadError};

/// Why a host's event was not published.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostEmitError {
    /// No session to publish to.
    #[error("__host_agent_emit_event: session_id must be a non-empty string")]
    EmptySessionId,
    /// No type to publish.
    #[error("__host_agent_emit_event: event_type must be a non-empty string")]
    EmptyEventType,
    /// The payload was refused.
    #[error(transparent)]
    Payload(#[from] HostPayloadError),
}

impl EventBus {
    /// Publishes an event of a program or host and awaits the session's closures.
    ///
    /// # Errors
    /// What [`AgentEvent::from_host_payload`] refuses, and blank arguments.
    pub async fn emit_host_event(
        &self,
        session_id: &str,
        event_type: &str,
        payload: &Value,
    ) -> Result<(), HostEmitError> {
        let event = self.host_event(session_id, event_type, payload)?;
        self.emit_and_await(&event).await;
        Ok(())
    }

    /// Turns what a host published into an event and counts what was wrong with it.
    ///
    /// # Errors
    /// As [`emit_host_event`](Self::emit_host_event).
    pub fn host_event(
        &self,
        session_id: &str,
        event_type: &str,
        payload: &Value,
    ) -> Result<AgentEvent, HostEmitError> {
        if session_id.is_empty() {
            return Err(HostEmitError::EmptySessionId);
        }
        if event_type.is_empty() {
            return Err(HostEmitError::EmptyEventType);
        }
        let audit = self.current_mutation_session();
        let event = host::event_from_host(session_id, event_type, payload, audit);
        let issue =
            |kind, detail: String| self.note_host_issue(session_id, event_type, kind, &detail);
        match &event {
            Err(error) => issue(HostIssueKind::Refused, error.to_string()),
            Ok(_) if payload.is_null() || host::keeps_payload(event_type) => {}
            Ok(_) => match payload.as_object() {
                None => issue(HostIssueKind::NotAnObject, payload.to_string()),
                Some(object) => {
                    let unknown = match host::special_keys(event_type) {
                        Some(known) => {
                            let is_unknown = |key: &&String| !known.contains(&key.as_str());
                            object.keys().filter(is_unknown).cloned().collect()
                        }
                        None => decode::unknown_keys(event_type, object),
                    };
                    if !unknown.is_empty() {
                        issue(HostIssueKind::UnknownKeys, unknown.join(", "));
                    }
                }
            },
        }
        Ok(event?)
    }

    /// Counts an event that had no session to go to.
    pub fn count_unattributed(&self, event_type: &str) {
        self.inner
            .counters
            .unattributed
            .fetch_add(1, Ordering::Relaxed);
        tracing::debug!(target: "agent.events", event_type, "an event belongs to no session");
    }
}
