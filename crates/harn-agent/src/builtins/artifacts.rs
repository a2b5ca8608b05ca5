//! Artifacts and handoffs, and the events that tell of them.

use std::fmt::Display;
use std::sync::Arc;

use harn_events::AgentEvent;
use harn_llm::desk::Thrown;
use harn_llm::transcript::runtime_event;
use serde_json::{Value, json};

use super::Asked;
use crate::artifacts::{self, LiveArtifact, Making};
use crate::handoff::{self, BeyondSender, Handoff, narrowed};
use crate::moment::rfc3339;
use crate::runtime::Runtime;
use crate::session::Change;

/// Answers; `None` if it is no question about artifacts.
pub(super) async fn answer(runtime: &Arc<Runtime>, asked: &Asked) -> Option<Result<Value, Thrown>> {
    let builtin = &*asked.builtin;
    if !(builtin.contains("artifact") || builtin.contains("handoff")) {
        return None;
    }
    let now = now(runtime, asked);
    let new_id = || runtime.new_id();
    let making = Making {
        now: &now,
        new_id: &new_id,
    };
    if builtin == "artifact_emit" {
        return Some(emit(runtime, asked, &making).await);
    }
    let made = artifacts::answer(builtin, &asked.arguments, &making)
        .or_else(|| handoff::answer(builtin, asked.argument(0), &making))?;
    Some(match (builtin, made) {
        ("handoff", Ok(mut handoff)) => match settle(runtime, asked, &mut handoff) {
            Ok(()) => Ok(handoff),
            Err(_) => Err(handoff::invalid(builtin)),
        },
        ("artifact", Ok(artifact)) if artifact["kind"] == "handoff" => {
            hand_over(runtime, asked, artifact, &making).await
        }
        (_, made) => made,
    })
}

/// The time by the clock of the program, or else by that of the runtime.
fn now(runtime: &Runtime, asked: &Asked) -> String {
    rfc3339(asked.now_ms.unwrap_or_else(|| runtime.now_ms()))
}

/// Settles what the receiver of a handoff may do, if the handoff says anything about it.
fn settle(runtime: &Runtime, asked: &Asked, handoff: &mut Value) -> Result<(), BeyondSender> {
    let sender = runtime.ambient_in(asked.session_id.as_deref()).policy;
    if let (Some(policy), Some(sender)) = (handoff.get_mut("policy_override"), sender) {
        *policy = json!(narrowed(Some(&sender), policy, &runtime.folder)?);
    }
    Ok(())
}

/// Work goes to somebody else: the session says so, if there is one.
async fn hand_over(
    runtime: &Runtime,
    asked: &Asked,
    mut artifact: Value,
    making: &Making<'_>,
) -> Result<Value, Thrown> {
    let is_settled = settle(runtime, asked, &mut artifact["data"]).is_ok();
    let handoff = Handoff::read(&artifact["data"], making).filter(|_| is_settled);
    let handoff = handoff.ok_or_else(handoff::invalid_data)?;
    let Some(session_id) = &asked.session_id else {
        runtime.bus.count_unattributed("handoff");
        return Ok(artifact);
    };
    let event = AgentEvent::Handoff {
        session_id: session_id.clone(),
        artifact_id: artifact["id"].as_str().unwrap_or_default().to_owned(),
        handoff: Box::new(handoff.to_event()),
    };
    runtime.bus.emit_and_await(&event).await;
    Ok(artifact)
}

/// `artifact_emit(kind, spec, options?)`: shows something while the session goes on.
async fn emit(runtime: &Runtime, asked: &Asked, making: &Making<'_>) -> Result<Value, Thrown> {
    let fault = |problem: &dyn Display| Thrown::Runtime(format!("artifact_emit: {problem}"));
    let options = asked.argument(2);
    let live = LiveArtifact::read(asked.argument(0), asked.argument(1), options, making);
    let live = live.map_err(|error| fault(&error))?;
    let named = options["session_id"].as_str().filter(|id| !id.is_empty());
    let Some(session_id) = named.or(asked.session_id.as_deref()) else {
        return Err(fault(&"no active agent session"));
    };
    let shown = live.to_json();
    if let Some(session) = runtime.session(session_id) {
        let mut new_id = || runtime.new_id();
        let (text, metadata) = (&live.fallback, Some(shown.clone()));
        let event = runtime_event(
            "artifact",
            "assistant",
            "public",
            text,
            metadata,
            &mut new_id,
        );
        session.record(Change::EventAdded {
            event: event.into(),
        });
    }
    let event = AgentEvent::Artifact {
        session_id: session_id.to_owned(),
        artifact_id: live.artifact_id,
        kind: live.kind.to_owned(),
        title: live.title,
        mime_type: live.mime_type.to_owned(),
        spec: live.spec,
        fallback: live.fallback,
        size_bytes: live.size_bytes,
        provenance: Value::Object(live.provenance),
        metadata: Value::Object(live.metadata),
    };
    runtime.bus.emit_and_await(&event).await;
    Ok(shown)
}
