//! Makes the conversation of a session shorter because a program says so.

use harn_llm::desk::Thrown;
use serde_json::{Value, json};

use super::Call;
use crate::callback::Functions;
use crate::compaction::{self, Mode, NoModel, Policy};
use crate::session::{Change, Session};

/// `agent_session_compact(id, opts?)`.
pub(super) async fn compact(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.used(0, "id")?;
    call.options(1)?;
    let functions = call.asked.functions.below("/1");
    let policy = Policy::for_session(call.asked.argument(1), &functions)?;
    shorten(call, &session, &policy).await?;
    Ok(json!(session.read(|state| state.messages.len())))
}

/// The same with nothing said about how.
pub(super) async fn compact_as_usual(call: Call<'_>, session: &Session) -> Result<bool, Thrown> {
    let policy = Policy::for_session(&Value::Null, &Functions::default())?;
    shorten(call, session, &policy).await
}

/// Compacts; says whether there was anything to do. There is no model to ask: these options
/// have no place for one.
async fn shorten(call: Call<'_>, session: &Session, policy: &Policy) -> Result<bool, Thrown> {
    let (messages, open) = session.read(|state| (state.messages.to_vec(), state.open_turn()));
    // A loop that is busy with calls goes on with its turn as it is.
    let policy = Policy {
        keep_last: policy.keep_last.max(open),
        ..policy.clone()
    };
    let Some(done) = compaction::compact(&policy, &messages, &NoModel).await? else {
        return Ok(false);
    };
    let (keep_first, split) = (done.keep_first, done.split);
    session.decide(|state| {
        let replaced = state.standing_for(keep_first, split);
        let message = json!({"role": "user", "content": done.summary});
        let change = Change::Compacted {
            keep_first,
            split,
            replaced,
            message,
        };
        (Some(change), ())
    });
    let event = done.transcript_event(Mode::Manual, &mut || call.runtime.new_id());
    session.record(Change::EventAdded {
        event: event.into(),
    });
    let event = done.agent_event(session.id(), Mode::Manual, "manual", None);
    session.emit_and_await(&event).await;
    Ok(true)
}
