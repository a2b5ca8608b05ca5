//! Notes that wait in the inbox of a session.

use harn_events::{InboxItem, InboxSource};
use harn_llm::desk::Thrown;
use harn_llm::options::value::display;
use serde_json::{Value, json};

use super::Call;

/// Under this key the payload of a note holds what a program said besides its text.
const POSTED: &str = "posted";

/// `agent_session_post_event(id, kind, content, source?)`. Content that is no text is kept as
/// it is, and a model reads how the language shows it.
pub(super) fn post(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.used(0, "id")?;
    let kind = call.text(1, "kind")?;
    let content = call.asked.argument(2);
    let source = call.optional_text(3, "source")?;
    let mut posted = json!({});
    if let Some(source) = source {
        posted["source"] = json!(source);
    }
    if !content.is_string() {
        posted["content"] = content.clone();
    }
    let is_plain = posted.as_object().is_none_or(serde_json::Map::is_empty);
    let payload = (!is_plain).then(|| json!({POSTED: posted}));
    let text = display(content);
    let (bus, loops) = (&call.runtime.bus, InboxSource::Loop);
    bus.push_inbox_item(session.id(), kind, &text, loops, payload, None);
    Ok(Value::Null)
}

/// `agent_session_drain_inbox(id)`.
pub(super) fn drain(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.seen(0, "id")?;
    let items = call.runtime.bus.drain_inbox(session.id());
    Ok(items.into_iter().map(shown).collect())
}

fn shown(item: InboxItem) -> Value {
    let source = match item.source {
        InboxSource::Loop => "loop",
        InboxSource::Outside => "outside",
    };
    let mut note = json!({
        "sequence": item.sequence,
        "session_id": item.session_id,
        "kind": item.kind,
        "content": item.content,
        "source": source,
        "ts_ms": item.ts_ms,
    });
    let mut payload = item.payload;
    let posted = payload.as_mut().and_then(|payload| payload.get_mut(POSTED));
    if let Some(posted) = posted.map(Value::take) {
        if let Some(source) = posted.get("source") {
            note["source"] = source.clone();
        }
        payload = posted.get("content").cloned();
    }
    if let Some(payload) = payload {
        note["payload"] = payload;
    }
    if let Some(delivery) = item.delivery {
        note["delivery"] = json!(delivery);
    }
    note
}
