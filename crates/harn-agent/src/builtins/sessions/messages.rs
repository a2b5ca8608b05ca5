//! Messages that programs put in and take out.

use harn_llm::desk::Thrown;
use serde_json::{Value, json};

use super::Call;
use crate::run::user_message_event;
use crate::session::{Change, Session};

/// `agent_session_trim(id, keep_last)`.
pub(super) fn trim(call: Call<'_>) -> Result<Value, Thrown> {
    call.text(0, "id")?;
    let keep_last = call.count(1, "keep_last")?;
    let session = call.used(0, "id")?;
    session.record(Change::Trimmed { keep_last });
    Ok(json!(session.read(|state| state.messages.len())))
}

/// `agent_session_inject(id, message)`.
pub(super) async fn inject(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.seen(0, "id")?;
    let message = call.asked.argument(1);
    if message.is_null() && call.asked.functions.at("/1").is_none() {
        return call.refuse("`message` required");
    }
    if !message.is_object() {
        return call.refuse("message must be a dict");
    }
    if !message["role"].is_string() {
        return call
            .refuse("message must have a string `role` (user|assistant|tool_result|system)");
    }
    call.runtime.sessions().touch(session.id());
    put_in(&session, message.clone()).await;
    Ok(Value::Null)
}

/// Puts a message at the end, and says so if it has an identity.
pub(super) async fn put_in(session: &Session, message: Value) {
    let event = user_message_event(session.id(), &message);
    session.record(Change::Injected { message });
    if let Some(event) = event {
        session.emit_and_await(&event).await;
    }
}
