//! What a host is told when a person is asked.

use harn_events::{Completeness, RedactionPolicy};
use serde_json::{Value, json};

use super::{Request, RequestKind};

/// The notification that tells a host of a request.
pub const NOTICE: &str = "harn.hitl.requested";

/// The notification that tells a host that nobody waits for a request any more: `{requestId}`.
pub const RESOLVED: &str = "harn.hitl.resolved";

/// The parameters of that notification: the request as it is kept, without secrets. What needs
/// approval comes in the form in which approvals of tool calls come as well.
pub fn notice(request: &Request, session_id: Option<&str>, redaction: &RedactionPolicy) -> Value {
    let mut payload = request.payload.clone();
    if request.kind.is_approval() {
        payload["approval_request"] = approval_request(request);
    }
    redaction.redact_value(&mut payload, Completeness::Whole);
    json!({
        "requestId": request.id(),
        "kind": request.kind.name(),
        "sessionId": session_id,
        "payload": payload,
    })
}

fn approval_request(request: &Request) -> Value {
    let metadata = &request.payload["metadata"];
    let list = |name: &str| match &metadata[name] {
        Value::Null => json!([]),
        list => list.clone(),
    };
    let args = match request.kind {
        RequestKind::DualControl => json!({"n": metadata["n"], "m": metadata["m"]}),
        _ => metadata["args"].clone(),
    };
    let mut approval = json!({
        "id": request.id(),
        "action": request.prompt(),
        "args": args,
        "principal": metadata["principal"],
        "requestedAt": request.payload["timestamp"],
        "approversRequired": request.quorum(),
        "evidenceRefs": list("evidence_refs"),
        "undoMetadata": metadata["undo_metadata"],
        "capabilitiesRequested": list("capabilities_requested"),
    });
    if let Some(deadline) = request.header(super::headers::DEADLINE) {
        approval["deadline"] = json!(deadline);
    }
    approval
}
