//! Sessions that begin where another one is.

use std::sync::Arc;

use harn_llm::desk::Thrown;
use serde_json::{Value, json};

use super::Call;
use crate::session::{CannotOpen, Change, Content, Session, kept};
use crate::transcript::branched_at_event_index;

/// `agent_session_fork(src, dst?)`.
pub(super) async fn fork(call: Call<'_>) -> Result<Value, Thrown> {
    call.text(0, "src")?;
    let target = call.name_or_new(1, "dst")?;
    let source = call.used(0, "src")?;
    let content = source.read(|state| state.content());
    branch(call, &source, &target, content, None).await?;
    Ok(json!(target))
}

/// `agent_session_fork_at(src, keep_first, dst?)`.
pub(super) async fn fork_at(call: Call<'_>) -> Result<Value, Thrown> {
    call.text(0, "src")?;
    let keep_first = call.count(1, "keep_first")?;
    let target = call.name_or_new(2, "dst")?;
    let source = call.used(0, "src")?;
    let mut new_id = || call.runtime.new_id();
    let (content, transcript) = source.read(|state| {
        let transcript = state.transcript(source.id(), &mut new_id);
        (state.content().first(keep_first), transcript)
    });
    let branched_at = branched_at_event_index(&transcript, keep_first);
    let branched_at = u64::try_from(branched_at).unwrap_or(u64::MAX);
    branch(call, &source, &target, content, Some(branched_at)).await?;
    Ok(json!(target))
}

/// Makes a session the child of another and gives it content. A session that has the name
/// already says from now on what the fork says; one that a loop works on cannot.
pub(super) async fn branch(
    call: Call<'_>,
    source: &Arc<Session>,
    target: &str,
    content: Content,
    branched_at: Option<u64>,
) -> Result<Arc<Session>, Thrown> {
    let failed = || call.refuse(format!("failed to fork session '{}'", source.id()));
    if target == source.id() || call.is_running(target) {
        return failed();
    }
    let session = match call.runtime.open_session(target).await {
        Ok(session) => session,
        Err(CannotOpen::AllActive(_)) => return failed(),
        Err(unclaimed) => return Err(unclaimed.told_by(&call.asked.builtin)),
    };
    session.record(Change::Forked {
        content: Box::new(content.child_of(source.id())),
    });
    for name in kept::INHERITED {
        let (there, here) = (source.kept(name), session.kept(name));
        if there != here {
            session.keep(name, there.unwrap_or_default());
        }
    }
    let mut sessions = call.runtime.sessions();
    sessions.link(source.id(), target, branched_at);
    Ok(session)
}
