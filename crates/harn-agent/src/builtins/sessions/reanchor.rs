//! A session moves to another workspace.

use std::sync::Arc;

use harn_events::{AgentEvent, WorkspaceAnchor};
use harn_llm::desk::Thrown;
use harn_llm::options::value::truthy;
use harn_llm::transcript::runtime_event;
use harn_options::{AGENT_SESSION_REANCHOR, Unknown};
use serde_json::{Map, Value, json};

use super::{Call, compacting, forks, workspace};
use crate::session::{Change, Content, Session, kept};

/// A move, as it was asked for.
struct Move {
    from: Option<WorkspaceAnchor>,
    to: WorkspaceAnchor,
    carry_transcript: bool,
    compact: bool,
    reason: Option<String>,
}

/// `agent_session_reanchor(id, anchor, opts?)`.
pub(super) async fn reanchor(call: Call<'_>) -> Result<Value, Thrown> {
    call.text(0, "id")?;
    let options = call.options(2)?;
    let (carry_transcript, compact) = read_options(call, &options)?;
    let session = call.used(0, "id")?;
    let wanted = call.dict(1, "anchor")?.clone();
    let moving = Move {
        from: workspace::anchor_of(&session),
        to: workspace::read_anchor(call, &Value::Object(wanted))?,
        carry_transcript,
        compact,
        reason: call.option_text(&options, "reason")?.map(str::to_owned),
    };
    match carry_transcript {
        true => move_on(call, &session, &moving).await,
        false => start_afresh(call, &session, &moving).await,
    }
}

fn read_options(call: Call<'_>, options: &Map<String, Value>) -> Result<(bool, bool), Thrown> {
    let dict = &AGENT_SESSION_REANCHOR;
    let mut keys = options.keys();
    if let Some(unknown) = keys.find_map(|key| Unknown::find(dict, "", key, |_| false)) {
        return call.refuse(unknown.listed());
    }
    let given = |key: &str| options.get(key).filter(|value| !value.is_null());
    let carry_transcript = given("carry_transcript").is_none_or(truthy);
    let compact = given("compact").is_some_and(truthy);
    match compact && !carry_transcript {
        true => call.refuse("`compact: true` requires `carry_transcript: true`"),
        false => Ok((carry_transcript, compact)),
    }
}

/// The session moves, with all that was said. If it cannot be made shorter on the way, it
/// stays where it is and says why.
async fn move_on(call: Call<'_>, session: &Session, moving: &Move) -> Result<Value, Thrown> {
    let mut result = json!({
        "ok": true, "changed": false, "session_id": session.id(),
        "anchor": moving.from, "compacted": false, "error": null,
    });
    if !moving.changes_anything() {
        return Ok(result);
    }
    if moving.compact {
        match compacting::compact_as_usual(call, session).await {
            Ok(compacted) => result["compacted"] = json!(compacted),
            Err(thrown) => {
                result["ok"] = json!(false);
                result["error"] = json!(crate::registry::told(&thrown));
                return Ok(result);
            }
        }
    }
    let compacted = result["compacted"] == true;
    settle(call, session, moving, compacted).await;
    result["changed"] = json!(true);
    result["anchor"] = json!(moving.to);
    Ok(result)
}

/// A new session begins at the other place, with nothing said.
async fn start_afresh(
    call: Call<'_>,
    source: &Arc<Session>,
    moving: &Move,
) -> Result<Value, Thrown> {
    let id = call.runtime.new_id();
    let nothing = Content::default();
    let session = forks::branch(call, source, &id, nothing, Some(0)).await?;
    let changed = moving.changes_anything();
    match changed {
        true => settle(call, &session, moving, false).await,
        false => session.keep(kept::WORKSPACE_ANCHOR, json!(moving.to)),
    }
    Ok(json!({
        "ok": true, "changed": changed, "session_id": id,
        "anchor": moving.to, "compacted": false, "error": null,
    }))
}

/// Works at the new place from now on. What was permitted was permitted at the old one.
async fn settle(call: Call<'_>, session: &Session, moving: &Move, compacted: bool) {
    session.keep(kept::WORKSPACE_ANCHOR, json!(moving.to));
    session.record(Change::GrantsDropped);
    let previous = moving.from.as_ref().map(|anchor| json!(anchor));
    let metadata = json!({
        "previous": previous,
        "current": moving.to,
        "carry_transcript": moving.carry_transcript,
        "compacted": compacted,
        "reason": moving.reason,
    });
    let text = format!("Workspace anchor changed to {}", moving.to.primary);
    let mut new_id = || call.runtime.new_id();
    let event = runtime_event(
        "anchor_changed",
        "system",
        "internal",
        &text,
        Some(metadata),
        &mut new_id,
    );
    session.record(Change::EventAdded {
        event: event.into(),
    });
    let event = AgentEvent::AnchorChanged {
        session_id: session.id().to_owned(),
        previous,
        current: json!(moving.to),
        carry_transcript: moving.carry_transcript,
        compacted,
        reason: moving.reason.clone(),
    };
    session.emit_and_await(&event).await;
}

impl Move {
    /// Whether the new anchor is another one. When it was made makes no difference.
    fn changes_anything(&self) -> bool {
        let places = |anchor: &WorkspaceAnchor| {
            let roots = anchor.additional_roots.iter();
            let roots = roots.map(|root| (root.path.clone(), root.mount_mode));
            (anchor.primary.clone(), roots.collect::<Vec<_>>())
        };
        self.from.as_ref().map(places) != Some(places(&self.to))
    }
}
