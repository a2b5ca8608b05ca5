//! What a cycle of a worker remembers of the cycle before it.

use std::sync::Arc;

use harn_llm::desk::Thrown;
use serde_json::{Value, json};

use super::carry::TranscriptMode;
use super::child::{Child, Seen};
use super::job::Job;
use super::table::Slot;
use crate::callback::Functions;
use crate::compaction::{self, Mode, NoModel, Policy};
use crate::runtime::Runtime;
use crate::session::{CannotOpen, Change, Session};

/// How many messages a transcript keeps that is made shorter after each cycle.
const KEPT_MESSAGES: usize = 2;

/// The session of a cycle.
pub(crate) struct Opened {
    pub(crate) child: Child,
    /// The id of the transcript, where it is not that of the session.
    pub(crate) transcript_id: Option<String>,
}

/// Opens the session of a cycle, with what it is to remember.
///
/// # Errors
/// Somebody else writes the session.
pub(crate) async fn open(
    runtime: &Arc<Runtime>,
    slot: &Arc<Slot>,
    job: &Job,
) -> Result<Opened, CannotOpen> {
    if let Some(opened) = slot.adjust(|inner| inner.opened.take()) {
        return Ok(opened);
    }
    let (id, asking, before, mode) = slot.read(|inner| {
        let worker = &inner.worker;
        (
            worker.session_id.clone(),
            worker.parent_session_id.clone(),
            worker.transcript.clone(),
            worker.carry.transcript,
        )
    });
    let asking = asking.as_deref();
    // A fork or a new beginning of a child is another session. A stage keeps its own, which
    // has the name of its node.
    let is_new = matches!(mode, TranscriptMode::Fork | TranscriptMode::Reset);
    let id = match job {
        Job::SubAgent(_) if is_new => {
            let new = format!("sub_agent_session_{}", runtime.new_id());
            slot.adjust(|inner| inner.worker.session_id.clone_from(&new));
            runtime.workers.move_session(&id, &new);
            new
        }
        _ => id,
    };
    let is_there = runtime.session(&id).is_some();
    let mut child = Child::open_apart(runtime, asking, &id).await?;
    let mut transcript_id = None;
    match mode {
        TranscriptMode::Reset => child.session.record(Change::Reset),
        // A worker that never got so far has nothing to remember.
        _ if before.is_null() => {}
        TranscriptMode::Fork => {
            let transcript = forked(&before);
            child.session.record(Change::Restored { transcript });
            if let Job::Stage(_) = job {
                transcript_id = Some(format!("transcript_{}", runtime.new_id()));
            }
        }
        TranscriptMode::Inherit | TranscriptMode::Compact if is_there => {}
        TranscriptMode::Inherit | TranscriptMode::Compact => {
            let transcript = before;
            child.session.record(Change::Restored { transcript });
        }
    }
    child.seen = Seen::of(&child.session);
    Ok(Opened {
        child,
        transcript_id,
    })
}

/// Opens the session of the first cycle. A child begins as a fork of its parent; a stage with
/// what it was given.
///
/// # Errors
/// Somebody else writes the session.
pub(crate) async fn open_first(
    runtime: &Arc<Runtime>,
    asking: Option<&str>,
    id: &str,
    job: &Job,
) -> Result<Opened, CannotOpen> {
    let child = match job {
        Job::SubAgent(_) => Child::open(runtime, asking, id).await?,
        Job::Stage(stage) => {
            let mut child = Child::open_apart(runtime, asking, id).await?;
            if let Some(transcript) = stage.given_transcript() {
                child.session.record(Change::Restored { transcript });
                child.seen = Seen::of(&child.session);
            }
            child
        }
    };
    Ok(Opened {
        child,
        transcript_id: None,
    })
}

/// A transcript that says where it comes from.
fn forked(before: &Value) -> Value {
    let mut transcript = before.clone();
    let parent = before["id"].clone();
    match &mut transcript["metadata"] {
        Value::Object(metadata) => {
            metadata.insert("parent_transcript_id".to_owned(), parent);
        }
        other => *other = json!({"parent_transcript_id": parent}),
    }
    transcript
}

/// The transcript that the next cycle finds.
///
/// # Errors
/// It cannot be made shorter.
pub(crate) async fn transcript(
    runtime: &Arc<Runtime>,
    slot: &Slot,
    session: &Session,
    id: Option<&str>,
) -> Result<Value, Thrown> {
    let mode = slot.read(|inner| inner.worker.carry.transcript);
    if mode == TranscriptMode::Compact {
        compact(runtime, session).await?;
    }
    let mut new_id = || runtime.new_id();
    let mut transcript = session.transcript(&mut new_id);
    if let Some(id) = id {
        transcript["id"] = json!(id);
    }
    Ok(transcript)
}

async fn compact(runtime: &Runtime, session: &Session) -> Result<(), Thrown> {
    let options = json!({"keep_last": KEPT_MESSAGES, "compact_strategy": "truncate"});
    let policy = Policy::for_session(&options, &Functions::default())?;
    let messages = session.read(|state| state.messages.to_vec());
    let Some(done) = compaction::compact(&policy, &messages, &NoModel).await? else {
        return Ok(());
    };
    let (keep_first, split) = (done.keep_first, done.split);
    session.decide(|state| {
        let change = Change::Compacted {
            keep_first,
            split,
            replaced: state.standing_for(keep_first, split),
            message: json!({"role": "user", "content": done.summary}),
        };
        (Some(change), ())
    });
    let event = done.transcript_event(Mode::Worker, &mut || runtime.new_id());
    session.record(Change::EventAdded {
        event: event.into(),
    });
    let event = done.agent_event(session.id(), Mode::Worker, "worker", None);
    session.emit_and_await(&event).await;
    Ok(())
}
