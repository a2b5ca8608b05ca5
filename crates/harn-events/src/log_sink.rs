//! Events in the event log.
//!
//! The log lives in a crate of its own that knows nothing of agents; this module
//! states the little it needs of one. [`AgentEventLog::append`] fixes the order
//! and returns, so the sink adds no queue: the order of appends is the order in
//! which the bus calls, and nothing is pending when a runtime stops.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use serde::Serialize;
use serde_json::Value;

use crate::clock::{Clock, SystemClock};
use crate::default_bus::current_policy;
use crate::event::AgentEvent;
use crate::lock::Recover;
use crate::projector::DurableAgentEventProjector;
use crate::raw::RawObject;
use crate::record::{OpaqueEvent, RecordedEvent};
use crate::redact::{Completeness, RedactionPolicy};
use crate::sink::{
    AgentEventSink, AgentEventSinkError, AgentEventSinkFlush, DurableHealth, EmissionFrame,
    ends_run,
};
use crate::stored_lists::StoredLists;
use crate::types::LogEvent;

/// Start of every topic that holds a session's events.
pub const AGENT_EVENTS_TOPIC_PREFIX: &str = "observability.agent_events.";

/// Header that holds the raw session id; topics of two ids may collide.
pub const SESSION_HEADER: &str = "session_id";

/// An error of a log, kept as the value it was.
pub type LogFailure = Box<dyn std::error::Error + Send + Sync>;

/// What the sink needs of an event log.
pub trait AgentEventLog: Send + Sync {
    /// Appends a record. When it returns, the record has its place in the topic
    /// and survives a crash of the process.
    fn append(&self, topic: &str, record: &EventRecord<'_>) -> Result<(), LogFailure>;

    /// The newest record of the topic whose `session_id` header is this id.
    fn latest_of(&self, topic: &str, session_id: &str) -> Result<Option<LogEvent>, LogFailure>;

    /// Asks for everything appended so far to be made durable, without waiting.
    fn sync_soon(&self);

    /// Resolves when everything appended so far would survive a power cut.
    fn barrier(&self) -> Pin<Box<dyn Future<Output = Result<(), LogFailure>> + Send + '_>>;
}

/// A record of an event, on its way into a log.
pub struct EventRecord<'a> {
    kind: &'a str,
    redaction: &'a RedactionPolicy,
    payload: EventPayload<'a>,
}

impl EventRecord<'_> {
    /// What kind of event it is.
    pub fn kind(&self) -> &str {
        self.kind
    }

    /// The session it belongs to: its one header.
    pub fn session_id(&self) -> &str {
        self.payload.session_id
    }

    /// When it happened, in milliseconds since the Unix epoch.
    pub fn occurred_at_ms(&self) -> i64 {
        self.payload.index_hint
    }

    /// The payload without its secrets, as JSON that `encode` makes of it and `json` looks at.
    ///
    /// Nearly no event holds a secret, and to look through a text is quick. So the event is
    /// encoded as it is first; only if there may be something in it that must not be stored is
    /// that thrown away, and the event is taken apart.
    ///
    /// # Errors
    /// Those of `encode`.
    pub fn redacted<T, E: From<serde_json::Error>>(
        &self,
        encode: impl Fn(&EventPayload<'_>) -> Result<T, E>,
        json: impl FnOnce(&T) -> &str,
    ) -> Result<T, E> {
        let encoded = encode(&self.payload)?;
        if !self.redaction.might_match(json(&encoded)) {
            return Ok(encoded);
        }
        let mut event = serde_json::to_value(self.payload.event)?;
        self.redaction.redact_value(&mut event, Completeness::Whole);
        encode(&EventPayload {
            event: Body::Redacted(&event),
            ..self.payload
        })
    }

    /// The record, without its secrets, for logs that take JSON values.
    ///
    /// # Errors
    /// The event is nothing that JSON can say.
    pub fn log_event(&self) -> serde_json::Result<LogEvent> {
        let payload = self.redacted(
            |payload| serde_json::to_string(payload),
            |encoded: &String| encoded,
        )?;
        let session_id = self.session_id().to_owned();
        Ok(LogEvent {
            kind: self.kind.to_owned(),
            payload: serde_json::from_str(&payload)?,
            headers: BTreeMap::from([(SESSION_HEADER.to_owned(), session_id)]),
            occurred_at_ms: self.occurred_at_ms(),
        })
    }
}

/// The payload of a record: what an [`AgentEventLogPayload`](crate::AgentEventLogPayload) is read
/// from, with an event that need not be a JSON value.
#[derive(Clone, Copy, Serialize)]
pub struct EventPayload<'a> {
    // In the order of their names, in which logs keep them: nobody has to put them in order.
    event: Body<'a>,
    execution_id: Option<&'a str>,
    index: u64,
    index_hint: i64,
    session_id: &'a str,
}

#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
enum Body<'a> {
    Event(&'a AgentEvent),
    Opaque(&'a RawObject),
    Redacted(&'a Value),
}

/// The part of a topic that stands for a session id: everything but ASCII
/// letters, digits, `.`, `_` and `-` becomes `_`, one for one.
pub fn sanitize_topic_component(value: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    value
        .chars()
        .map(|c| if is_plain(c) { c } else { '_' })
        .collect()
}

/// The topic that holds a session's events.
pub fn agent_events_topic(session_id: &str) -> String {
    format!(
        "{AGENT_EVENTS_TOPIC_PREFIX}{}",
        sanitize_topic_component(session_id)
    )
}

/// The event in a log record, if the record belongs to this session. Topics are
/// shared by ids that look alike, so the header and the event both have to agree.
pub fn event_of_log_record(record: &LogEvent, session_id: &str) -> Option<RecordedEvent> {
    if record.headers.get(SESSION_HEADER).map(String::as_str) != Some(session_id) {
        return None;
    }
    let event = RecordedEvent::decode_value(record.payload.get("event")?).ok()?;
    (event.session_id() == Some(session_id)).then_some(event)
}

/// Appends the events of one session to an event log.
pub struct EventLogSink {
    log: Arc<dyn AgentEventLog>,
    session_id: String,
    topic: String,
    redaction: RedactionPolicy,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The next event's index; `None` until the log has been asked.
    next_index: Option<u64>,
    /// The index of the newest event that was taken by this sink.
    newest_index: Option<u64>,
    last_ms: i64,
    projector: DurableAgentEventProjector,
    lists: StoredLists,
    health: DurableHealth,
    is_failing: bool,
}

impl EventLogSink {
    /// A sink for this session. Its index goes on where the log ends.
    pub fn new(log: Arc<dyn AgentEventLog>, session_id: impl Into<String>) -> Arc<Self> {
        Self::with_policy(
            log,
            session_id,
            (*current_policy()).clone(),
            Arc::new(SystemClock),
        )
    }

    /// A sink with a policy and a clock of its own.
    pub fn with_policy(
        log: Arc<dyn AgentEventLog>,
        session_id: impl Into<String>,
        redaction: RedactionPolicy,
        clock: Arc<dyn Clock>,
    ) -> Arc<Self> {
        let session_id = session_id.into();
        let topic = agent_events_topic(&session_id);
        let state = Mutex::new(State {
            last_ms: i64::MIN,
            ..State::default()
        });
        Arc::new(Self {
            log,
            session_id,
            topic,
            redaction,
            clock,
            state,
        })
    }

    /// A sink for a session of which the log has nothing: its index begins at 0.
    pub fn for_new_session(
        log: Arc<dyn AgentEventLog>,
        session_id: impl Into<String>,
        redaction: RedactionPolicy,
        clock: Arc<dyn Clock>,
    ) -> Arc<Self> {
        let sink = Self::with_policy(log, session_id, redaction, clock);
        sink.state.recover().next_index = Some(0);
        sink
    }

    /// What the sink did so far.
    pub fn health(&self) -> DurableHealth {
        self.state.recover().health.clone()
    }

    fn store(&self, event: &AgentEvent, emitted_at_ms: i64) {
        let mut state = self.state.recover();
        if event.session_id() != self.session_id {
            state.health.accepted += 1;
            state
                .health
                .drop_event("an event of another session came to this sink");
            return;
        }
        if !state.projector.should_persist(event) {
            state.health.accepted += 1;
            state.health.skipped += 1;
            return;
        }
        let stored = state.lists.stored(event);
        let body = Body::Event(stored.as_ref().unwrap_or(event));
        let is_stored = self.append(&mut state, event.tag(), body, emitted_at_ms);
        state.lists.settle(event, is_stored);
        drop(state);
        if ends_run(event) {
            self.log.sync_soon();
        }
    }

    /// Appends while the state is locked, so that index and order agree. Says whether it did.
    fn append(&self, state: &mut State, tag: &str, event: Body<'_>, emitted_at_ms: i64) -> bool {
        state.health.accepted += 1;
        match self.try_append(state, tag, event, emitted_at_ms) {
            Ok(()) => {
                state.health.stored += 1;
                state.is_failing = false;
                true
            }
            Err(error) => {
                state.health.drop_event(&error);
                if !std::mem::replace(&mut state.is_failing, true) {
                    let session_id = &*self.session_id;
                    tracing::warn!(target: "agent.sink", session_id, %error, "an event could not be stored");
                }
                false
            }
        }
    }

    fn try_append(
        &self,
        state: &mut State,
        tag: &str,
        event: Body<'_>,
        emitted_at_ms: i64,
    ) -> Result<(), LogFailure> {
        let index = self.next_index(state)?;
        let occurred_at_ms = emitted_at_ms.max(state.last_ms);
        let record = EventRecord {
            kind: if tag.is_empty() { "agent_event" } else { tag },
            redaction: &self.redaction,
            payload: EventPayload {
                event,
                execution_id: None,
                index,
                index_hint: occurred_at_ms,
                session_id: &self.session_id,
            },
        };
        self.log.append(&self.topic, &record)?;
        state.next_index = Some(index.saturating_add(1));
        state.newest_index = Some(index);
        state.last_ms = occurred_at_ms;
        Ok(())
    }

    fn next_index(&self, state: &mut State) -> Result<u64, LogFailure> {
        if let Some(index) = state.next_index {
            return Ok(index);
        }
        let latest = self.log.latest_of(&self.topic, &self.session_id)?;
        state.last_ms = latest
            .as_ref()
            .map_or(i64::MIN, |record| record.occurred_at_ms);
        let index = latest.and_then(|record| record.payload.get("index")?.as_u64());
        let next = index.map_or(0, |index| index.saturating_add(1));
        state.next_index = Some(next);
        Ok(next)
    }
}

impl AgentEventSink for EventLogSink {
    fn handle_event(&self, event: &AgentEvent) {
        self.store(event, self.clock.now_ms());
    }

    fn handle_frame(&self, frame: &EmissionFrame<'_>) {
        self.store(frame.event, frame.emitted_at_ms);
    }

    fn handle_opaque(&self, event: &OpaqueEvent, emitted_at_ms: i64) {
        let mut state = self.state.recover();
        let redacted = event.raw().redacted(&self.redaction);
        let raw = redacted.as_ref().unwrap_or(event.raw());
        self.append(&mut state, event.tag(), Body::Opaque(raw), emitted_at_ms);
    }

    fn newest_index(&self) -> Option<u64> {
        self.state.recover().newest_index
    }

    fn durable_health(&self) -> Option<DurableHealth> {
        Some(self.health())
    }

    /// Takes a barrier, also when events were dropped before, and reports those.
    fn flush(&self) -> AgentEventSinkFlush<'_> {
        Box::pin(async move {
            let barrier = self.log.barrier().await;
            let health = self.health();
            health.flush_result("event_log")?;
            barrier.map_err(|error| {
                AgentEventSinkError::new("event_log", error.to_string(), health.dropped)
            })
        })
    }
}

#[cfg(test)]
mod tests;
