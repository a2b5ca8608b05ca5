//! Sessions that begin with what was said in another one.

use std::sync::Arc;

use harn_vm::agent::Keeper;
use harn_vm::agent::events::{AgentEvent, EventBus};
use harn_vm::agent::session::conversation::{self, Call, Part};
use harn_vm::agent::session::{Change, SessionState, kept};
use harn_vm::agent::transcript::branched_at_event_index;
use serde_json::{Value, json};

use super::{Opening, Session};
use crate::error::Refusal;
use crate::server::Server;

/// What a fork begins with.
pub(crate) struct Fork {
    /// The session it comes from.
    pub(crate) parent_id: String,
    /// What that session is now.
    pub(crate) parent: SessionState,
    /// How many of its messages are taken along; `None`: all.
    pub(crate) keep_first: Option<usize>,
}

impl Fork {
    /// Where in the transcript of the parent the fork begins.
    pub(crate) fn branched_at(&self) -> usize {
        let transcript = self
            .parent
            .transcript(&self.parent_id, &mut harn_vm::new_id);
        let all = self.parent.messages.len();
        branched_at_event_index(&transcript, self.keep_first.unwrap_or(all))
    }
}

impl Session {
    /// A session that begins with what was said in another one. Neither its turns nor those who
    /// follow it come along.
    ///
    /// # Errors
    /// It cannot be kept.
    pub(crate) async fn fork(
        server: &Arc<Server>,
        id: String,
        fork: &Fork,
        opening: Opening,
    ) -> Result<Arc<Self>, Refusal> {
        let session = Self::open(server, id, opening, Keeper::claim_new).await?;
        let journal = session.new_journal()?;
        let content = match fork.keep_first {
            Some(count) => fork.parent.content().first(count),
            None => fork.parent.content(),
        };
        journal.record(Change::Forked {
            content: Box::new(content.child_of(&fork.parent_id)),
        });
        journal.keep(kept::SETTINGS, session.settings().kept());
        journal.record(Change::Linked {
            parent_id: Some(fork.parent_id.clone()),
            branched_at_event_index: u64::try_from(fork.branched_at()).ok(),
        });
        journal.read(|state| tell_again(state, &session.id, &session.bus));
        session.sync().await?;
        Ok(session)
    }
}

/// Tells the conversation as events, so that a client that loads the fork sees what was said
/// before it.
fn tell_again(state: &SessionState, session_id: &str, bus: &EventBus) {
    for part in conversation::of(state) {
        match part {
            Part::Said { role, text, calls } => {
                said(&role, text, session_id, bus);
                for call in calls {
                    called(call, session_id, bus);
                }
            }
            // What it stands for was told.
            Part::Summary { .. } => {}
        }
    }
}

fn said(role: &str, text: String, session_id: &str, bus: &EventBus) {
    let session_id = session_id.to_owned();
    match role {
        _ if text.trim().is_empty() => {}
        "user" => bus.emit(&AgentEvent::UserMessage {
            session_id,
            message_id: harn_vm::new_id(),
            content: vec![json!({"type": "text", "text": text})],
        }),
        "assistant" => bus.emit(&AgentEvent::AgentMessageChunk {
            session_id,
            content: text,
        }),
        _ => {} // What the runtime told the model.
    }
}

fn called(call: Call, session_id: &str, bus: &EventBus) {
    let input: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
    let begun = json!({
        "type": "tool_call", "session_id": session_id, "tool_call_id": call.id,
        "tool_name": call.name, "kind": null, "status": "pending", "raw_input": input,
    });
    let status = if call.result.is_some() {
        "completed"
    } else {
        "failed"
    };
    let ended = json!({
        "type": "tool_call_update", "session_id": session_id, "tool_call_id": call.id,
        "tool_name": call.name, "status": status, "raw_output": call.result,
        "error": call.result.is_none().then_some("it has no result"),
    });
    for event in [begun, ended] {
        match serde_json::from_value(event) {
            Ok(event) => bus.emit(&event),
            Err(error) => tracing::debug!(target: "acp", %error, "a call cannot be told again"),
        }
    }
}
