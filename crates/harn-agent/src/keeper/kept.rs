//! Sessions whose events a keeper takes.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use harn_events::{
    AgentEventLog, AgentEventSink, DurableSinks, EventLogSink, EventRecord, LogFailure,
    RedactionPolicy, SESSION_HEADER, SystemClock, agent_events_topic,
};
use harn_log::{Draft, Headers, LogError, Topic};

use super::Keeper;
use crate::storage::Nowhere;

/// The headers of all records of a session.
pub(crate) fn session_headers(session_id: &str) -> Headers {
    let header = (SESSION_HEADER.to_owned(), session_id.to_owned());
    Headers::new(BTreeMap::from([header]))
}

/// The events of one session, as a keeper takes them.
struct KeptEvents {
    keeper: Arc<Keeper>,
    topic: Topic,
    headers: Headers,
}

impl KeptEvents {
    fn of(keeper: &Arc<Keeper>, session_id: &str) -> io::Result<Arc<dyn AgentEventLog>> {
        let topic = Topic::new(agent_events_topic(session_id));
        Ok(Arc::new(Self {
            keeper: Arc::clone(keeper),
            topic: topic.map_err(io::Error::other)?,
            headers: session_headers(session_id),
        }))
    }
}

impl AgentEventLog for KeptEvents {
    fn append(
        &self,
        _topic_of_its_session: &str,
        record: &EventRecord<'_>,
    ) -> Result<(), LogFailure> {
        let (kind, at) = (record.kind(), record.occurred_at_ms());
        let draft: Result<Draft, LogError> = record.redacted(
            |payload| Draft::encode(&self.topic, kind.to_owned(), &self.headers, at, payload),
            Draft::payload_json,
        );
        self.keeper.put(draft?)
    }

    fn latest_of(
        &self,
        topic: &str,
        session_id: &str,
    ) -> Result<Option<harn_events::LogEvent>, LogFailure> {
        self.keeper.latest_of(topic, session_id)
    }

    fn sync_soon(&self) {
        self.keeper.sync_soon();
    }

    fn barrier(&self) -> Pin<Box<dyn Future<Output = Result<(), LogFailure>> + Send + '_>> {
        Box::pin(self.keeper.sync())
    }
}

/// The durable sinks of sessions that are kept.
pub struct KeptSessions {
    /// Keeps them.
    pub keeper: Arc<Keeper>,
    /// Keeps events where there is no log to be opened.
    pub otherwise: Option<Arc<dyn DurableSinks>>,
}

impl DurableSinks for KeptSessions {
    fn open(
        &self,
        session_id: &str,
        redaction: &RedactionPolicy,
    ) -> io::Result<Arc<dyn AgentEventSink>> {
        if self.keeper.log().is_none() {
            return match &self.otherwise {
                Some(otherwise) => otherwise.open(session_id, redaction),
                None => Ok(Arc::new(Nowhere)),
            };
        }
        let log = KeptEvents::of(&self.keeper, session_id)?;
        let (redaction, clock) = (redaction.clone(), Arc::new(SystemClock));
        Ok(EventLogSink::with_policy(log, session_id, redaction, clock))
    }

    fn open_new(
        &self,
        session_id: &str,
        redaction: &RedactionPolicy,
    ) -> io::Result<Arc<dyn AgentEventSink>> {
        if self.keeper.log().is_none() {
            return self.open(session_id, redaction);
        }
        let log = KeptEvents::of(&self.keeper, session_id)?;
        let (redaction, clock) = (redaction.clone(), Arc::new(SystemClock));
        Ok(EventLogSink::for_new_session(
            log, session_id, redaction, clock,
        ))
    }
}
