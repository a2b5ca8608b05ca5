//! What a session says to a client, from its journal.
//!
//! ```text
//! Seen ─► Mapping ─┬─► Update: an update of the protocol's own kinds ─► session/update
//!                  └─► Extension: everything else ─► _harn/agentEvent
//! ```
//!
//! Client libraries reject an update of a kind they do not know, so nothing but the protocol's
//! own kinds is sent as `session/update` unless a client has asked for more
//! ([`Profile`]). Our own fields are under `_meta.harn`, first of all `index`: the place in the
//! journal that the update was made from. A client that keeps the highest index it has seen
//! can go on from there.
//!
//! A mapping is a fold of the journal. It decides nothing and waits for nobody; live and replayed
//! records go through the same code, so a replay says what was said before.
//!
//! | file        | what it holds                                     |
//! |-------------|---------------------------------------------------|
//! | `profile`   | what a client wants                               |
//! | `calls`     | tool calls: one start, updates, one end           |
//! | `content`   | what calls show, and the files they are about     |
//! | `plan`      | entries of plans                                  |
//! | `extension` | kinds and bodies beyond the protocol              |
//! | `replay`    | what a session has said so far                    |
//!
//! Not here: modes, options, commands and titles, which are no events; whoever changes them
//! sends them.

mod calls;
mod content;
mod extension;
mod plan;
mod profile;
mod replay;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::path::PathBuf;

use agent_client_protocol::v1::schema as acp;
use harn_vm::agent::Seen;
use harn_vm::agent::events::AgentEvent;
use serde_json::{Map, Value, json};

pub(crate) use extension::UPDATE_KINDS;
pub(crate) use profile::Profile;
pub(crate) use replay::replay;

use calls::Calls;

/// The notification that carries what the protocol has no update for.
pub(crate) const AGENT_EVENT: &str = "_harn/agentEvent";

/// Fields that tool calls have under `_meta.harn`, for those who advertise them.
pub(crate) const TOOL_CALL_META: [&str; 8] = [
    "executor",
    "durationMs",
    "executionDurationMs",
    "error",
    "errorCategory",
    "parsing",
    "rawInputPartial",
    "audit",
];

/// How many messages a client may have sent that were not heard of yet.
const SENT_MAX: usize = 64;

/// Something to tell a client.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outgoing {
    /// The `update` of a `session/update`.
    Update(Value),
    /// A notification beyond the protocol.
    Extension {
        /// Its method.
        method: &'static str,
        /// Its parameters.
        parameters: Value,
    },
}

/// What the records of a session say to a client.
pub(crate) struct Mapping {
    /// Where relative paths start.
    cwd: PathBuf,
    calls: Calls,
    /// Where the message began that the agent is in the middle of.
    message: Option<u64>,
    /// The plan that clients see.
    plan: Vec<acp::PlanEntry>,
    /// Messages that this client has sent itself, oldest first.
    sent: VecDeque<String>,
    /// The newest index that was heard of.
    newest: u64,
}

impl Mapping {
    /// A mapping that has seen nothing, for a session that works in a folder.
    pub(crate) fn new(cwd: impl Into<PathBuf>) -> Self {
        Self {
            cwd: cwd.into(),
            calls: Calls::default(),
            message: None,
            plan: Vec::new(),
            sent: VecDeque::new(),
            newest: 0,
        }
    }

    /// This client has sent a message itself: it is not told of it when it happens.
    pub(crate) fn sent(&mut self, message_id: &str) {
        if self.sent.len() >= SENT_MAX {
            self.sent.pop_front();
        }
        self.sent.push_back(message_id.to_owned());
    }

    /// What a record says, in order. Has to be asked for every record, in order.
    pub(crate) fn of(&mut self, seen: &Seen, profile: &Profile) -> Vec<Outgoing> {
        self.newest = self.newest.max(seen.index);
        self.follow_message(&seen.event);
        let mut out = self.updates(seen, profile);
        out.extend(notice(seen, profile));
        if let Some(own) = own_words(seen, profile, !out.is_empty()) {
            out.push(own);
        }
        out
    }

    /// Ends what is open in a session that nobody works in: a process that was killed has not
    /// done it.
    pub(crate) fn settle(&mut self, is_replayed: bool) -> Vec<Outgoing> {
        self.message = None;
        self.calls.settle(self.newest, is_replayed)
    }

    /// The calls that are open, by their ids in events and on the wire.
    pub(crate) fn open_calls(&self) -> impl Iterator<Item = (&str, &str)> {
        self.calls.open_ids()
    }

    /// A message of the agent ends where something else begins.
    fn follow_message(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::IterationStart { .. }
            | AgentEvent::IterationEnd { .. }
            | AgentEvent::UserMessage { .. } => self.message = None,
            AgentEvent::LoopCheckpoint { kind, .. } if kind == "loop_exit" => {
                self.message = None;
                self.calls.is_cancelled = false;
            }
            AgentEvent::ControlOutcome {
                method, outcome, ..
            } if method == "session/cancel" && outcome == "accepted" => {
                self.calls.is_cancelled = true;
            }
            _ => {}
        }
    }

    /// What a record says in the protocol's own words.
    fn updates(&mut self, seen: &Seen, profile: &Profile) -> Vec<Outgoing> {
        match &seen.event {
            AgentEvent::AgentMessageChunk { content, .. } => {
                self.chunk(seen, content, acp::SessionUpdate::AgentMessageChunk)
            }
            AgentEvent::AgentThoughtChunk { content, .. } => {
                self.chunk(seen, content, acp::SessionUpdate::AgentThoughtChunk)
            }
            AgentEvent::UserMessage {
                message_id,
                content,
                ..
            } => self.user_message(seen, message_id, content),
            AgentEvent::ToolCall { .. } | AgentEvent::ToolCallUpdate { .. } => {
                self.calls.of(seen, &self.cwd, profile)
            }
            AgentEvent::Plan { plan, .. } => {
                self.plan = plan::entries_of_plan(plan);
                let full = plan::is_ours(plan).then(|| ("plan".to_owned(), plan.clone()));
                vec![self.plan_update(seen, full.into_iter().collect())]
            }
            AgentEvent::ProgressReported {
                entries,
                replace,
                message,
                ..
            } => {
                let entries = plan::entries_of(entries);
                self.progress(seen, entries, *replace, message.as_deref())
            }
            AgentEvent::Artifact {
                provenance,
                fallback,
                ..
            } => {
                let call = ["tool_call_id", "toolCallId"].map(|key| provenance[key].as_str());
                let call = call.into_iter().flatten().next();
                let block = json!({"type": "content", "content": content::text_block(fallback)});
                let shown = call.and_then(|call| self.calls.show(seen, call, block));
                shown.into_iter().collect()
            }
            AgentEvent::TranscriptCompacted { .. } if profile.shows_compaction => compaction(seen),
            AgentEvent::IterationEnd { iteration_info, .. } => {
                usage(seen, iteration_info.facts()).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// A piece of what the agent says or thinks. All pieces of one message have one id, which
    /// follows from where the message begins in the journal.
    fn chunk(
        &mut self,
        seen: &Seen,
        text: &str,
        kind: fn(acp::ContentChunk) -> acp::SessionUpdate,
    ) -> Vec<Outgoing> {
        let begins = *self.message.get_or_insert(seen.index);
        let chunk = acp::ContentChunk::new(acp::ContentBlock::from(text));
        let chunk = chunk.message_id(acp::MessageId::new(format!("message-{begins}")));
        vec![update(kind(chunk), seen, Map::new())]
    }

    fn user_message(&self, seen: &Seen, message_id: &str, blocks: &[Value]) -> Vec<Outgoing> {
        let is_own = self.sent.iter().any(|sent| sent == message_id);
        if is_own && !seen.is_replayed {
            return Vec::new();
        }
        let chunks = blocks.iter().map(|block| {
            let mut update = json!({
                "sessionUpdate": "user_message_chunk",
                "content": content::content_block(block),
                "messageId": message_id,
            });
            stamped(&mut update, seen, Map::new());
            Outgoing::Update(update)
        });
        chunks.collect()
    }

    /// Progress with entries is a plan: the entries, or these after those there were.
    fn progress(
        &mut self,
        seen: &Seen,
        entries: Vec<acp::PlanEntry>,
        replace: bool,
        message: Option<&str>,
    ) -> Vec<Outgoing> {
        if entries.is_empty() {
            return Vec::new();
        }
        if replace {
            self.plan.clear();
        }
        self.plan.extend(entries);
        let message = message.map(|message| ("message".to_owned(), json!(message)));
        vec![self.plan_update(seen, message.into_iter().collect())]
    }

    fn plan_update(&self, seen: &Seen, harn: Map<String, Value>) -> Outgoing {
        let plan = acp::Plan::new(self.plan.clone());
        update(acp::SessionUpdate::Plan(plan), seen, harn)
    }
}

/// The shortening of a conversation, which is over when it is told.
fn compaction(seen: &Seen) -> Vec<Outgoing> {
    let id = acp::CompactionId::new(format!("compaction-{}", seen.index));
    let update_to = |status, harn| {
        let compaction = acp::CompactionUpdate::new(id.clone(), status);
        update(acp::SessionUpdate::CompactionUpdate(compaction), seen, harn)
    };
    let body = extension::update_body(&seen.event);
    vec![
        update_to(acp::CompactionStatus::InProgress, Map::new()),
        update_to(acp::CompactionStatus::Completed, body),
    ]
}

/// What a model call took out of the context, where the size of that is known.
fn usage(seen: &Seen, info: &Value) -> Option<Outgoing> {
    let size = info["context_window"].as_u64()?;
    let used = info["input_tokens"].as_u64()? + info["output_tokens"].as_u64()?;
    let cost = info["session_cost_usd"].as_f64();
    let usage = acp::UsageUpdate::new(used, size).cost(cost.map(|usd| acp::Cost::new(usd, "USD")));
    Some(update(
        acp::SessionUpdate::UsageUpdate(usage),
        seen,
        Map::new(),
    ))
}

/// What a person should know at once. It is no part of the history, so a replay has none.
fn notice(seen: &Seen, profile: &Profile) -> Option<Outgoing> {
    if !profile.shows_notices || seen.is_replayed {
        return None;
    }
    let (severity, title, description) = match &seen.event {
        AgentEvent::McpAuthRequired {
            server, resource, ..
        } => (
            acp::NoticeSeverity::Warning,
            format!("The tool server {server} wants somebody to sign in"),
            resource.clone(),
        ),
        AgentEvent::CapabilityGap {
            level,
            capability,
            message,
            ..
        } if level == "error" => (
            acp::NoticeSeverity::Error,
            format!("The model lacks {capability}"),
            message.clone(),
        ),
        AgentEvent::DaemonWatchdogTripped {
            attempts,
            elapsed_ms,
            ..
        } => (
            acp::NoticeSeverity::Error,
            "The agent has given up waiting".to_owned(),
            format!("Nothing came in {elapsed_ms} ms and {attempts} attempts."),
        ),
        _ => return None,
    };
    let notice = acp::Notice::new(severity, title).description(description);
    Some(update(acp::SessionUpdate::Notice(notice), seen, Map::new()))
}

/// What a record says in our own words, unless the protocol's own words say it all.
fn own_words(seen: &Seen, profile: &Profile, has_updates: bool) -> Option<Outgoing> {
    let is_said = match &seen.event {
        AgentEvent::AgentMessageChunk { .. }
        | AgentEvent::AgentThoughtChunk { .. }
        | AgentEvent::UserMessage { .. }
        | AgentEvent::ToolCall { .. }
        | AgentEvent::ToolCallUpdate { .. }
        | AgentEvent::Plan { .. } => true,
        AgentEvent::ProgressReported { .. } | AgentEvent::TranscriptCompacted { .. } => has_updates,
        _ => false,
    };
    if is_said {
        return None;
    }
    let kind = extension::update_kind(&seen.event).filter(|kind| profile.takes_update(kind));
    if let Some(kind) = kind.filter(|_| has_body_as_update(&seen.event)) {
        let mut update = json!({"sessionUpdate": kind});
        stamped(&mut update, seen, extension::update_body(&seen.event));
        return Some(Outgoing::Update(update));
    }
    let said = extension::said(&seen.event);
    if !profile.takes_event(&said.kind) {
        return None;
    }
    let mut parameters = json!({"sessionId": seen.event.session_id(), "kind": said.kind});
    if let Value::Object(fields) = &mut parameters {
        fields.extend(said.body);
    }
    stamped(&mut parameters, seen, Map::new());
    let method = AGENT_EVENT;
    Some(Outgoing::Extension { method, parameters })
}

/// Progress without a message has nothing that an update could show.
fn has_body_as_update(event: &AgentEvent) -> bool {
    match event {
        AgentEvent::ProgressReported { message, .. } => message.is_some(),
        _ => true,
    }
}

fn update(update: acp::SessionUpdate, seen: &Seen, harn: Map<String, Value>) -> Outgoing {
    let mut value = serde_json::to_value(update).unwrap_or_default();
    stamped(&mut value, seen, harn);
    Outgoing::Update(value)
}

/// Adds `_meta.harn` with our fields and the place in the journal.
fn stamped(value: &mut Value, seen: &Seen, harn: Map<String, Value>) {
    stamp(value, seen.index, seen.is_replayed, harn);
}

fn stamp(value: &mut Value, index: u64, is_replayed: bool, mut harn: Map<String, Value>) {
    harn.insert("index".to_owned(), json!(index));
    if is_replayed {
        harn.insert("replayed".to_owned(), json!(true));
    }
    // Not by `json!`, which copies.
    let meta = [("harn".to_owned(), Value::Object(harn))];
    value["_meta"] = Value::Object(meta.into_iter().collect());
}
