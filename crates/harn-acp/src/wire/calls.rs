//! Tool calls, from their start to their one end.
//!
//! ```text
//! pending ─► in_progress ─► completed | failed        never back, and one end for each start
//! ```
//!
//! What clients were told about the calls that are open is remembered, so that an update holds
//! only what is new to them. A call that is not open has no news: it has ended, or is a
//! candidate that nobody was told about.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use agent_client_protocol::v1::schema as acp;
use harn_vm::agent::Seen;
use harn_vm::agent::events::{
    AgentEvent, MutationSessionRecord, ToolCallErrorCategory, ToolCallStatus, ToolExecutor,
    ToolKind,
};
use serde_json::{Map, Value, json};

use super::content::{self, Ended};
use super::{Outgoing, Profile, stamped};

/// How often arguments that are arriving are sent at most.
const INPUT_INTERVAL_MS: i64 = 50;

/// The calls of a session, as far as clients know them.
#[derive(Default)]
pub(super) struct Calls {
    /// In the order of their starts.
    open: Vec<Open>,
    /// How often each id was used. A call may have the id of one that has ended, and clients know
    /// a call by its id for good. Only a digest of the id is kept.
    used: HashMap<u64, u32>,
    /// Whether somebody has stopped the run that is going on.
    pub(super) is_cancelled: bool,
}

/// A call without an end.
struct Open {
    /// The id in events.
    id: String,
    /// The id on the wire.
    wire_id: String,
    name: String,
    kind: Option<ToolKind>,
    status: ToolCallStatus,
    is_candidate: bool,
    /// The arguments that clients know.
    input: Value,
    /// When arguments were last sent.
    input_sent_ms: Option<i64>,
    /// Newer arguments that came too soon to be sent.
    held: Option<Value>,
    locations: Vec<acp::ToolCallLocation>,
    /// What it shows.
    content: Vec<Value>,
}

impl Calls {
    /// What a start or an update of a call says.
    pub(super) fn of(&mut self, seen: &Seen, cwd: &Path, profile: &Profile) -> Vec<Outgoing> {
        match &seen.event {
            AgentEvent::ToolCall {
                tool_call_id: id,
                tool_name: name,
                kind,
                status,
                raw_input,
                parsing,
                audit,
                ..
            } => {
                let start = Start {
                    id,
                    name,
                    kind: *kind,
                    status: *status,
                    input: raw_input,
                    is_candidate: *parsing == Some(true),
                    audit: audit.as_ref(),
                };
                self.start(seen, cwd, profile, start).into_iter().collect()
            }
            AgentEvent::ToolCallUpdate { tool_call_id, .. } => {
                let at = self.position(tool_call_id);
                at.and_then(|at| self.update(seen, cwd, at))
                    .into_iter()
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// Shows something more with a call that is open.
    pub(super) fn show(&mut self, seen: &Seen, id: &str, block: Value) -> Option<Outgoing> {
        let at = self.position(id)?;
        let open = &mut self.open[at];
        open.content.push(block);
        let mut update = json!({
            "sessionUpdate": "tool_call_update", "toolCallId": open.wire_id,
            "content": open.content,
        });
        stamped(&mut update, seen, Map::new());
        Some(Outgoing::Update(update))
    }

    /// Ends what is open, because nobody works on it any more.
    pub(super) fn settle(&mut self, index: u64, is_replayed: bool) -> Vec<Outgoing> {
        let open = std::mem::take(&mut self.open);
        let ended = open.into_iter().map(|call| {
            let error = "the call was interrupted before it had a result";
            let fields = acp::ToolCallUpdateFields::new()
                .status(acp::ToolCallStatus::Failed)
                .content(vec![acp::ToolCallContent::from(error)]);
            let update = acp::ToolCallUpdate::new(call.wire_id, fields);
            let mut update = as_value(acp::SessionUpdate::ToolCallUpdate(update));
            let mut harn = Map::new();
            harn.insert("error".to_owned(), json!(error));
            harn.insert(
                "errorCategory".to_owned(),
                json!(ToolCallErrorCategory::AbandonedAtLoopExit),
            );
            super::stamp(&mut update, index, is_replayed, harn);
            Outgoing::Update(update)
        });
        ended.collect()
    }

    fn position(&self, id: &str) -> Option<usize> {
        self.open.iter().position(|open| open.id == id)
    }

    fn start(
        &mut self,
        seen: &Seen,
        cwd: &Path,
        profile: &Profile,
        start: Start<'_>,
    ) -> Option<Outgoing> {
        if start.is_candidate && !profile.takes_candidates() {
            return None;
        }
        if let Some(at) = self.position(start.id) {
            return self.start_again(seen, cwd, at, &start);
        }
        let locations = content::locations(cwd, start.kind, start.input);
        let open = Open {
            id: start.id.to_owned(),
            wire_id: self.wire_id(start.id),
            name: start.name.to_owned(),
            kind: start.kind,
            status: start.status,
            is_candidate: start.is_candidate,
            input: start.input.clone(),
            input_sent_ms: None,
            held: None,
            locations: locations.clone(),
            content: Vec::new(),
        };
        let call = acp::ToolCall::new(open.wire_id.clone(), title(start.name))
            .name((!start.name.is_empty()).then(|| start.name.to_owned()))
            .kind(wire_kind(start.kind))
            .status(wire_status(start.status))
            .locations(locations)
            .raw_input(start.input.clone());
        let mut update = as_value(acp::SessionUpdate::ToolCall(call));
        // The library leaves out what goes without saying; people who read the wire look for it.
        update["kind"] = json!(wire_kind(start.kind));
        update["status"] = json!(wire_status(start.status));
        let mut harn = Map::new();
        if start.is_candidate {
            harn.insert("parsing".to_owned(), json!(true));
        }
        if let Some(audit) = start.audit {
            harn.insert("audit".to_owned(), json!(audit));
        }
        stamped(&mut update, seen, harn);
        if !is_end(start.status) {
            self.open.push(open);
        }
        Some(Outgoing::Update(update))
    }

    /// A call that is open is announced once more, now with all of its arguments.
    fn start_again(
        &mut self,
        seen: &Seen,
        cwd: &Path,
        at: usize,
        start: &Start<'_>,
    ) -> Option<Outgoing> {
        let news = News {
            name: start.name,
            status: start.status,
            input: Some(start.input),
            ..News::default()
        };
        self.tell(seen, cwd, at, news)
    }

    fn update(&mut self, seen: &Seen, cwd: &Path, at: usize) -> Option<Outgoing> {
        let AgentEvent::ToolCallUpdate {
            tool_name,
            status,
            raw_output,
            error,
            duration_ms,
            execution_duration_ms,
            error_category,
            executor,
            parsing,
            raw_input,
            raw_input_partial,
            audit,
            ..
        } = &seen.event
        else {
            return None;
        };
        let mut harn = Map::new();
        let mut note = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                harn.insert(key.to_owned(), value);
            }
        };
        note("executor", executor.as_ref().map(wire_executor));
        note("durationMs", duration_ms.map(Value::from));
        note(
            "executionDurationMs",
            execution_duration_ms.map(Value::from),
        );
        note("error", error.clone().map(Value::from));
        note(
            "errorCategory",
            error_category.map(|one| json!(self.category(one))),
        );
        note("parsing", parsing.map(Value::from));
        note("audit", audit.as_ref().map(|audit| json!(audit)));
        // What was a candidate goes on under an id of its own.
        let is_promoted = self.open[at].is_candidate && *parsing == Some(false);
        let status = match (is_promoted, status) {
            (true, ToolCallStatus::Failed) => ToolCallStatus::Failed,
            (true, _) => ToolCallStatus::Completed,
            (false, status) => *status,
        };
        let news = News {
            name: tool_name,
            status,
            input: raw_input.as_ref(),
            partial_input: raw_input_partial.as_deref(),
            output: raw_output.as_ref(),
            error: error.as_deref(),
            is_snapshot: is_snapshot(&seen.event),
            harn,
        };
        self.tell(seen, cwd, at, news)
    }

    /// The class of a failure. A call that was open when somebody stopped the run was
    /// cancelled, whatever the loop calls it.
    fn category(&self, category: ToolCallErrorCategory) -> ToolCallErrorCategory {
        match category {
            ToolCallErrorCategory::AbandonedAtLoopExit if self.is_cancelled => {
                ToolCallErrorCategory::Cancelled
            }
            category => category,
        }
    }

    /// Tells what is new about an open call, if anything is.
    fn tell(&mut self, seen: &Seen, cwd: &Path, at: usize, news: News<'_>) -> Option<Outgoing> {
        let open = &mut self.open[at];
        let mut fields = acp::ToolCallUpdateFields::new();
        let mut harn = news.harn;
        if open.name.is_empty() && !news.name.is_empty() {
            news.name.clone_into(&mut open.name);
            fields = fields
                .name(news.name.to_owned())
                .title(news.name.to_owned());
        }
        let is_due = open.is_input_due(seen.emitted_at_ms);
        if news.is_snapshot && !is_due {
            open.held = news.input.cloned().or(open.held.take());
            return None;
        }
        let held = open.held.take().filter(|_| news.partial_input.is_none());
        let input = news.input.cloned().or(held);
        if let Some(input) = input.filter(|input| *input != open.input) {
            open.input = input.clone();
            open.input_sent_ms = Some(seen.emitted_at_ms);
            fields = fields.raw_input(input);
            let locations = content::locations(cwd, open.kind, &open.input);
            if locations != open.locations {
                open.locations.clone_from(&locations);
                fields = fields.locations(locations);
            }
        }
        if let Some(partial) = news.partial_input {
            open.input_sent_ms = Some(seen.emitted_at_ms);
            harn.insert("rawInputPartial".to_owned(), json!(partial));
        }
        if rank(news.status) > rank(open.status) {
            open.status = news.status;
            fields = fields.status(wire_status(news.status));
        }
        let has_ended = is_end(open.status);
        if has_ended {
            fields = fields.raw_output(news.output.map(content::raw_output));
        }
        let content = open.content_after(cwd, has_ended.then_some(seen), news.output, news.error);
        let is_news = fields != acp::ToolCallUpdateFields::new() || content.is_some();
        let update = acp::ToolCallUpdate::new(open.wire_id.clone(), fields);
        let mut update = as_value(acp::SessionUpdate::ToolCallUpdate(update));
        if let Some(content) = content {
            update["content"] = Value::Array(content);
        }
        if !is_news && harn.is_empty() {
            return None;
        }
        stamped(&mut update, seen, harn);
        if has_ended {
            self.open.remove(at);
        }
        Some(Outgoing::Update(update))
    }

    /// The id of a new call on the wire.
    fn wire_id(&mut self, id: &str) -> String {
        let digest = digest(id);
        let mut times = self.used.get(&digest).map_or(0, |times| *times);
        let wire_id = loop {
            times += 1;
            let wire_id = match times {
                1 => break id.to_owned(),
                times => format!("{id}-{times}"),
            };
            // A model may have given this very id to a call.
            if let Entry::Vacant(free) = self.used.entry(self::digest(&wire_id)) {
                free.insert(1);
                break wire_id;
            }
        };
        self.used.insert(digest, times);
        wire_id
    }

    /// The calls that are open, by their ids in events and on the wire.
    pub(super) fn open_ids(&self) -> impl Iterator<Item = (&str, &str)> {
        self.open.iter().map(|open| (&*open.id, &*open.wire_id))
    }
}

fn digest(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

impl Open {
    fn is_input_due(&self, now_ms: i64) -> bool {
        self.input_sent_ms
            .is_none_or(|sent_ms| now_ms.saturating_sub(sent_ms) >= INPUT_INTERVAL_MS)
    }

    /// What the call shows now, if that is not what it showed before. `end` is its end, if it
    /// has ended.
    fn content_after(
        &mut self,
        cwd: &Path,
        end: Option<&Seen>,
        output: Option<&Value>,
        error: Option<&str>,
    ) -> Option<Vec<Value>> {
        let mut content = match end {
            Some(end) => content::at_end(
                cwd,
                Ended {
                    kind: self.kind,
                    input: &self.input,
                    output,
                    error,
                    is_replayed: end.is_replayed,
                },
            ),
            None => content::shown(output),
        };
        if end.is_some() {
            // What was shown on the way, such as an artifact, stays.
            let before = self.content.iter().filter(|one| !content.contains(one));
            let before: Vec<Value> = before.cloned().collect();
            content.splice(0..0, before);
        }
        if content.is_empty() || content == self.content {
            return None;
        }
        self.content.clone_from(&content);
        Some(content)
    }
}

/// The start of a call.
struct Start<'a> {
    id: &'a str,
    name: &'a str,
    kind: Option<ToolKind>,
    status: ToolCallStatus,
    input: &'a Value,
    is_candidate: bool,
    audit: Option<&'a MutationSessionRecord>,
}

/// What is heard of a call.
struct News<'a> {
    name: &'a str,
    status: ToolCallStatus,
    input: Option<&'a Value>,
    partial_input: Option<&'a str>,
    output: Option<&'a Value>,
    error: Option<&'a str>,
    /// Whether it says nothing but how far the arguments have come.
    is_snapshot: bool,
    harn: Map<String, Value>,
}

impl Default for News<'_> {
    fn default() -> Self {
        Self {
            name: "",
            status: ToolCallStatus::Pending,
            input: None,
            partial_input: None,
            output: None,
            error: None,
            is_snapshot: false,
            harn: Map::new(),
        }
    }
}

/// Whether an update says nothing but how far the arguments have come.
fn is_snapshot(event: &AgentEvent) -> bool {
    matches!(
        event,
        AgentEvent::ToolCallUpdate {
            status: ToolCallStatus::Pending,
            raw_output: None,
            error: None,
            parsing: None,
            ..
        }
    )
}

fn rank(status: ToolCallStatus) -> u8 {
    match status {
        ToolCallStatus::Pending => 0,
        ToolCallStatus::InProgress => 1,
        ToolCallStatus::Completed | ToolCallStatus::Failed => 2,
    }
}

fn is_end(status: ToolCallStatus) -> bool {
    rank(status) == 2
}

fn title(name: &str) -> String {
    match name {
        "" => "tool".to_owned(),
        name => name.to_owned(),
    }
}

fn wire_status(status: ToolCallStatus) -> acp::ToolCallStatus {
    match status {
        ToolCallStatus::Pending => acp::ToolCallStatus::Pending,
        ToolCallStatus::InProgress => acp::ToolCallStatus::InProgress,
        ToolCallStatus::Completed => acp::ToolCallStatus::Completed,
        ToolCallStatus::Failed => acp::ToolCallStatus::Failed,
    }
}

fn wire_kind(kind: Option<ToolKind>) -> acp::ToolKind {
    match kind {
        Some(ToolKind::Read) => acp::ToolKind::Read,
        Some(ToolKind::Edit) => acp::ToolKind::Edit,
        Some(ToolKind::Delete) => acp::ToolKind::Delete,
        Some(ToolKind::Move) => acp::ToolKind::Move,
        Some(ToolKind::Search) => acp::ToolKind::Search,
        Some(ToolKind::Execute) => acp::ToolKind::Execute,
        Some(ToolKind::Think) => acp::ToolKind::Think,
        Some(ToolKind::Fetch) => acp::ToolKind::Fetch,
        Some(ToolKind::Other) | None => acp::ToolKind::Other,
    }
}

/// Who runs a call: a word, or a server with its name.
fn wire_executor(executor: &ToolExecutor) -> Value {
    match executor {
        ToolExecutor::HarnBuiltin => json!("harn_builtin"),
        ToolExecutor::HostBridge => json!("host_bridge"),
        ToolExecutor::ProviderNative => json!("provider_native"),
        ToolExecutor::McpServer { server_name } => {
            json!({"kind": "mcp_server", "serverName": server_name})
        }
    }
}

fn as_value(update: acp::SessionUpdate) -> Value {
    serde_json::to_value(update).unwrap_or_default()
}
