//! Sessions begin, start over and end.

use harn_events::CloseSession;
use harn_llm::desk::Thrown;
use serde_json::{Map, Value, json};

use super::{Call, workspace};
use crate::session::{Change, kept};

/// `agent_session_open(id?, opts?)`.
pub(super) async fn open(call: Call<'_>) -> Result<Value, Thrown> {
    let id = call.name_or_new(0, "id")?;
    let options = call.options(1)?;
    // Everything that can be refused is refused before there is a session.
    let anchor = match options.get("workspace_anchor") {
        None | Some(Value::Null) => None,
        Some(anchor) => Some(workspace::read_anchor(call, anchor)?),
    };
    let policy = match options.get("workspace_policy") {
        None | Some(Value::Null) => None,
        Some(policy @ Value::Object(_)) => Some(policy.clone()),
        Some(_) => return call.refuse("`workspace_policy` must be a dict"),
    };
    let parent = parent_in(call, &options, &id)?;
    let session = call.open(&id).await?;
    if let Some(anchor) = anchor {
        session.keep(kept::WORKSPACE_ANCHOR, json!(anchor));
    }
    if let Some(policy) = policy {
        session.keep(kept::WORKSPACE_POLICY, policy);
    }
    if let Some(actor) = options.get("actor").filter(|actor| !actor.is_null()) {
        session.keep(kept::ACTOR, actor.clone());
    }
    if let Some(parent) = parent {
        call.runtime.sessions().link(&parent, &id, None);
    }
    Ok(json!(id))
}

/// The parent that options name. It is used, so it does not go to make room for the child.
pub(super) fn parent_in(
    call: Call<'_>,
    options: &Map<String, Value>,
    child: &str,
) -> Result<Option<String>, Thrown> {
    let Some(parent) = call.option_text(options, "parent")? else {
        return Ok(None);
    };
    if parent == child {
        return call.refuse("a session cannot be its own parent");
    }
    let parent = call.session_of(parent)?;
    call.runtime.sessions().touch(parent.id());
    Ok(Some(parent.id().to_owned()))
}

/// `agent_session_reset(id)`.
pub(super) fn reset(call: Call<'_>) -> Result<Value, Thrown> {
    call.used(0, "id")?.record(Change::Reset);
    Ok(Value::Null)
}

/// `agent_session_close(id, status?)`. A loop would go on in a session that nobody sees, so a
/// session with a loop does not close.
pub(super) async fn close(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.idle(0, "id")?;
    let closing = closing(call, call.asked.argument(1))?;
    let id = session.id();
    call.runtime.sessions().remove(id);
    call.runtime.bus.close_session_and_await(id, closing).await;
    session.barrier().await;
    Ok(Value::Null)
}

fn closing(call: Call<'_>, status: &Value) -> Result<CloseSession, Thrown> {
    let fields = match status {
        Value::Null => return Ok(CloseSession::default()),
        Value::String(status) => {
            return Ok(CloseSession {
                metadata: json!(status),
                ..CloseSession::because(status)
            });
        }
        Value::Object(fields) => fields,
        _ => return call.refuse("`status` must be a string, a dict or nil"),
    };
    let given = CloseSession::default();
    let reason = call.option_text(fields, "reason")?;
    let status_word = call.option_text(fields, "status")?;
    let reason = reason.unwrap_or(&given.reason);
    let metadata = fields.get("metadata").unwrap_or(status);
    Ok(CloseSession {
        reason: reason.to_owned(),
        status: status_word.unwrap_or(reason).to_owned(),
        metadata: metadata.clone(),
    })
}
