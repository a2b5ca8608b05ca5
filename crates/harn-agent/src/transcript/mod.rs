//! Conversations that programs hold in their hands.
//!
//! A transcript is plain JSON: messages, events about them, assets, a summary. The builtins
//! that read, grow and cut transcripts are functions from JSON to JSON; [`answer`] finds them
//! by name. What needs a model or a closure is elsewhere: `compaction` shortens transcripts,
//! [`projection`] chooses what a model sees of one.
//!
//! Events of messages are derived from the messages, so whoever changes messages rebuilds the
//! events. All other events say what has happened and are kept, see [`rebuild`].

mod assets;
mod growth;
mod lifecycle;
pub mod projection;
mod reading;
mod rendering;
mod session;
mod shape;
mod stats;

use harn_llm::desk::Thrown;
use harn_llm::transcript::NewId;
use serde_json::{Value, json};

pub use assets::{add_asset, asset};
pub use harn_llm::transcript::entering;
pub use session::{branched_at_event_index, forked, forked_at, injected, trimmed};
pub(crate) use shape::add_summary;
pub(crate) use shape::push_event;
pub use shape::{
    empty, events, is_message_event, is_transcript, messages, rebuild, summary, with_more_summary,
};
pub(crate) use stats::MessagesTokens;
pub use stats::messages_tokens;

/// Makes ids where a future may move between threads.
pub type NewSharedId<'a> = dyn Fn() -> String + Send + Sync + 'a;

/// What a builtin gives for these arguments; `None` if it is not one of these builtins. A
/// missing argument counts as nil.
pub fn answer(
    builtin: &str,
    arguments: &[Value],
    new_id: &mut NewId<'_>,
) -> Option<Result<Value, Thrown>> {
    let call = Call { builtin, arguments };
    Some(match builtin {
        "conversation" => Ok(json!([])),
        "transcript" => Ok(lifecycle::made(call, new_id)),
        "transcript_from_messages" => lifecycle::from_messages(call, new_id),
        "transcript_fork" => lifecycle::fork(call, new_id),
        "transcript_reset" => Ok(lifecycle::reset(call, new_id)),
        "transcript_archive" | "transcript_abandon" | "transcript_resume" => {
            lifecycle::move_on(call, new_id)
        }
        "transcript_messages" | "transcript_assets" | "transcript_events" => reading::list(call),
        "transcript_summary" => reading::summary_text(call),
        "transcript_id" => reading::id(call),
        "transcript_events_by_kind" => reading::events_by_kind(call),
        "transcript_stats" => Ok(stats::stats(call.argument(0))),
        "transcript_add_asset" => assets::add(call, new_id),
        "transcript_render_visible" => rendering::visible(call),
        "transcript_render_full" => rendering::full(call),
        "transcript_export" => rendering::export(call),
        "transcript_import" => rendering::import(call),
        "transcript_project" => projection::answer(call, new_id)?,
        "estimate_tokens" => Ok(stats::estimate(call.argument(0))),
        "microcompact" => Ok(reading::microcompacted(call)),
        "add_message" | "add_user" | "add_assistant" | "add_system" | "add_tool_result" => {
            growth::add(call, new_id)
        }
        _ => return None,
    })
}

/// One call of a builtin.
#[derive(Clone, Copy)]
struct Call<'a> {
    builtin: &'a str,
    arguments: &'a [Value],
}

impl<'a> Call<'a> {
    fn argument(self, index: usize) -> &'a Value {
        self.arguments.get(index).unwrap_or(&Value::Null)
    }

    /// The first argument, which must be a transcript.
    fn transcript(self) -> Result<&'a Value, Thrown> {
        let first = self.argument(0);
        if is_transcript(first) {
            return Ok(first);
        }
        Err(self.thrown("argument must be a transcript"))
    }

    /// An error that says which builtin complains.
    fn thrown(self, complaint: &str) -> Thrown {
        Thrown::Plain(format!("{}: {complaint}", self.builtin))
    }
}

#[cfg(test)]
mod tests;
