//! What the model sees of the conversation, where the program wants it to see less.

use harn_events::AgentEvent;
use harn_llm::desk::Thrown;
use harn_llm::options::CallOptions;
use serde_json::{Value, json};

use super::Run;
use crate::callback::Functions;
use crate::session::Change;
use crate::transcript::projection::project;

/// A projection that the program asked for.
pub(super) struct Projection {
    pub(super) policy: Value,
    /// The functions of the policy.
    pub(super) functions: Functions,
}

/// Shows the model less of the conversation. The conversation itself stays as it is.
pub(super) async fn apply(run: &Run<'_>, call: &mut CallOptions) -> Result<(), Thrown> {
    let Some(projection) = &run.projection else {
        return Ok(());
    };
    let summary = run.session.read(|state| state.summary.clone());
    let mut seen = json!({
        "_type": "transcript",
        "messages": std::mem::take(&mut call.request.messages),
    });
    if let Some(summary) = summary {
        seen["summary"] = json!(summary);
    }
    let new_id = || run.runtime.new_id();
    let policy = &projection.policy;
    let mut projected = project(&seen, policy, &projection.functions, &new_id).await?;
    if let Value::Array(messages) = projected["messages"].take() {
        call.request.messages = messages.into();
    }
    let is_effective = !projected["event"].is_null();
    if is_effective {
        let event = projected["event"].take();
        run.session.record(Change::EventAdded {
            event: event.into(),
        });
        run.emit(told(run.id(), &projected)).await;
    }
    Ok(())
}

fn told(session_id: String, projected: &Value) -> AgentEvent {
    let text = |key: &str| projected[key].as_str().unwrap_or_default().to_owned();
    let count = |key: &str| {
        let count = projected[key].as_u64().unwrap_or(0);
        usize::try_from(count).unwrap_or(usize::MAX)
    };
    AgentEvent::TranscriptProjected {
        session_id,
        policy: text("policy"),
        reason: "model_call".to_owned(),
        prefix_hash: text("prefix_hash"),
        kept_count: count("kept_count"),
        dropped_count: count("dropped_count"),
        provider_safety_blocked: projected["provider_safety_blocked"] == true,
        redacted_count: count("redacted_count"),
        reclaimed_tokens: count("reclaimed_tokens"),
        roots_consulted: Vec::new(),
        redaction_pointers: Vec::new(),
    }
}
