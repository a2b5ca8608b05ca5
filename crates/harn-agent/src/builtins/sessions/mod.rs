//! Sessions, as programs see them.
//!
//! Every file answers the questions about one thing. What a session is changes through its
//! journal alone, so nothing here keeps anything.

mod clients;
mod compacting;
mod forks;
mod in_flight;
mod inbox;
mod lifecycle;
mod looking;
mod messages;
mod reanchor;
mod receipts;
mod scratchpad;
mod seeding;
mod speech;
#[cfg(test)]
mod tests;
mod undo;
mod workspace;

use std::sync::Arc;

use harn_llm::desk::Thrown;
use serde_json::{Map, Value};

use super::{Asked, plain};
use crate::runtime::Runtime;
use crate::session::Session;

/// Answers; `None` if it is no question about sessions.
pub(super) async fn answer(runtime: &Arc<Runtime>, asked: &Asked) -> Option<Result<Value, Thrown>> {
    let call = Call { runtime, asked };
    if asked.builtin == "cancel_in_flight_tool_call" {
        return Some(in_flight::cancel(call));
    }
    let question = asked.builtin.strip_prefix("agent_session_")?;
    Some(match question {
        "open" => lifecycle::open(call).await,
        "close" => lifecycle::close(call).await,
        "reset" => lifecycle::reset(call),
        "exists" => looking::exists(call),
        "length" => looking::length(call),
        "snapshot" => looking::snapshot(call),
        "ancestry" => looking::ancestry(call),
        "current_id" => Ok(looking::current_id(call)),
        "fork" => forks::fork(call).await,
        "fork_at" => forks::fork_at(call).await,
        "trim" => messages::trim(call),
        "inject" => messages::inject(call).await,
        "compact" => compacting::compact(call).await,
        "reanchor" => reanchor::reanchor(call).await,
        "seed_from_jsonl" => seeding::seed(call).await,
        "client_inject_prompt" => clients::inject_prompt(call).await,
        other => return answer_at_once(other, call),
    })
}

fn answer_at_once(question: &str, call: Call<'_>) -> Option<Result<Value, Thrown>> {
    Some(match question {
        "workspace_anchor" => workspace::anchor(call),
        "set_workspace_anchor" => workspace::set_anchor(call),
        "workspace_policy" => workspace::policy(call),
        "set_workspace_policy" => workspace::set_policy(call),
        "add_root" => workspace::add_root(call),
        "remove_root" => workspace::remove_root(call),
        "list_roots" => workspace::list_roots(call),
        "scratchpad" => scratchpad::get(call),
        "set_scratchpad" => scratchpad::set(call),
        "clear_scratchpad" => scratchpad::clear(call),
        "tool_format" => speech::tool_format(call),
        "claim_tool_format" => speech::claim_tool_format(call),
        "system_prompt" => speech::system_prompt(call),
        "rollback" => undo::rollback(call),
        "redo" => undo::redo(call),
        "post_event" => inbox::post(call),
        "drain_inbox" => inbox::drain(call),
        "attach" => clients::attach(call),
        "detach" => clients::detach(call),
        "heartbeat" => clients::heartbeat(call),
        "takeover" => clients::takeover(call),
        "live_clients" => clients::live(call),
        "route_permission" => clients::route_permission(call),
        "record_changed_path" => receipts::record_changed_path(call),
        "actor_chain" => receipts::actor_chain(call),
        _ => return None,
    })
}

/// A question about sessions.
#[derive(Clone, Copy)]
struct Call<'a> {
    runtime: &'a Arc<Runtime>,
    asked: &'a Asked,
}

impl<'a> Call<'a> {
    /// An error that says who complains.
    fn refuse<T>(self, complaint: impl std::fmt::Display) -> Result<T, Thrown> {
        plain(format!("{}: {complaint}", self.asked.builtin))
    }

    /// An argument that must be a text.
    fn text(self, at: usize, name: &str) -> Result<&'a str, Thrown> {
        match self.asked.text(at) {
            Some(text) => Ok(text),
            None => self.refuse(format!("`{name}` must be a string")),
        }
    }

    /// An argument that may be a text.
    fn optional_text(self, at: usize, name: &str) -> Result<Option<&'a str>, Thrown> {
        match self.asked.argument(at) {
            Value::Null if self.asked.functions.at(&format!("/{at}")).is_none() => Ok(None),
            Value::String(text) => Ok(Some(text)),
            _ => self.refuse(format!("`{name}` must be a string or nil")),
        }
    }

    /// The name for a session that may be new; without one it gets a name of its own.
    fn name_or_new(self, at: usize, name: &str) -> Result<String, Thrown> {
        let given = self.optional_text(at, name)?.filter(|id| !id.is_empty());
        Ok(given.map_or_else(|| self.runtime.new_id(), str::to_owned))
    }

    /// An argument that must be a count.
    fn count(self, at: usize, name: &str) -> Result<usize, Thrown> {
        let Some(number) = self.asked.argument(at).as_i64() else {
            return self.refuse(format!("`{name}` must be an int"));
        };
        match usize::try_from(number) {
            Ok(count) => Ok(count),
            Err(_) => self.refuse(format!("`{name}` must be >= 0")),
        }
    }

    /// An argument that must be a dict.
    fn dict(self, at: usize, name: &str) -> Result<&'a Map<String, Value>, Thrown> {
        match self.asked.argument(at) {
            Value::Object(dict) => Ok(dict),
            _ => self.refuse(format!("`{name}` must be a dict")),
        }
    }

    /// Options, which may be left out.
    fn options(self, at: usize) -> Result<Map<String, Value>, Thrown> {
        match self.asked.argument(at) {
            Value::Null if self.asked.functions.at(&format!("/{at}")).is_none() => Ok(Map::new()),
            Value::Object(options) => Ok(options.clone()),
            _ => self.refuse("`opts` must be a dict or nil"),
        }
    }

    /// An option that may be a text.
    fn option_text(
        self,
        options: &'a Map<String, Value>,
        name: &str,
    ) -> Result<Option<&'a str>, Thrown> {
        match options.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => self.refuse(format!("`{name}` must be a string or nil")),
        }
    }

    /// The session of an id.
    fn session_of(self, id: &str) -> Result<Arc<Session>, Thrown> {
        match self.runtime.session(id) {
            Some(session) => Ok(session),
            None => self.refuse(format!("unknown session id '{id}'")),
        }
    }

    /// The session that an argument names. Looking at it is no use of it.
    fn seen(self, at: usize, name: &str) -> Result<Arc<Session>, Thrown> {
        self.session_of(self.text(at, name)?)
    }

    /// The session that an argument names, and that is used now.
    fn used(self, at: usize, name: &str) -> Result<Arc<Session>, Thrown> {
        let session = self.seen(at, name)?;
        self.runtime.sessions().touch(session.id());
        Ok(session)
    }

    /// A session that no loop is changing meanwhile.
    fn idle(self, at: usize, name: &str) -> Result<Arc<Session>, Thrown> {
        let session = self.seen(at, name)?;
        match self.is_running(session.id()) {
            true => self.refuse(format!("session '{}' has a running loop", session.id())),
            false => Ok(session),
        }
    }

    fn is_running(self, id: &str) -> bool {
        self.runtime.sessions().is_running(id)
    }

    /// The session that an argument names, or else the one whose loop asks.
    fn named_or_current(self, at: usize) -> Result<Option<Arc<Session>>, Thrown> {
        if let Some(id) = self.optional_text(at, "id")? {
            return self.session_of(id).map(Some);
        }
        let current = self.asked.session_id.as_deref();
        Ok(current.and_then(|id| self.runtime.sessions().get_also_unnamed(id)))
    }

    /// Opens a session, or uses the one there is.
    async fn open(self, id: &str) -> Result<Arc<Session>, Thrown> {
        let opened = self.runtime.open_session(id).await;
        opened.map_err(|error| error.told_by(&self.asked.builtin))
    }

    /// The time, as people write it.
    fn now(self) -> String {
        harn_llm::desk::timestamp(self.runtime.now_ms())
    }
}
