//! The events of sessions in an event log.

use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Waker};

use harn_events::{
    AgentEventLog, AgentEventSink, DurableSinks, EventLogSink, EventRecord, LogFailure,
    RecordedEvent, RedactionPolicy, SESSION_HEADER, SessionLists, SystemClock, agent_events_topic,
    event_of_log_record,
};
use harn_log::{AnyEventLog, EventId, EventLog, LogError, LogEvent, Topic, block_on};

/// Records looked at together.
const CHUNK_RECORDS: u64 = 256;

/// Keeps the events of sessions in an event log.
///
/// Storing an event waits for the log, which has threads of its own; it may be called
/// from any thread, also from one that runs tasks.
pub struct LoggedSessions {
    log: Arc<AnyEventLog>,
}

impl LoggedSessions {
    /// Sessions in this log.
    pub fn new(log: Arc<AnyEventLog>) -> Self {
        Self { log }
    }

    /// A sink for one session.
    pub fn sink(&self, session_id: &str, redaction: &RedactionPolicy) -> Arc<EventLogSink> {
        let log = Arc::new(Self::new(Arc::clone(&self.log)));
        let (redaction, clock) = (redaction.clone(), Arc::new(SystemClock));
        EventLogSink::with_policy(log, session_id, redaction, clock)
    }

    /// Appends, and once more if an earlier failure has only to be looked at: the disk
    /// may have room again.
    async fn append_recovering(&self, topic: &Topic, record: LogEvent) -> Result<(), LogError> {
        match self.log.append(topic, record.clone()).await {
            Err(error) if error.is_poisoned() => {}
            other => return other.map(drop),
        }
        self.log.recover().await?;
        self.log.append(topic, record).await.map(drop)
    }

    /// The newest record of a session.
    pub(crate) async fn newest_of(
        &self,
        topic: &Topic,
        session_id: &str,
    ) -> Result<Option<LogEvent>, LogError> {
        let mut end = self.log.latest(topic).await?.unwrap_or(0);
        while end > 0 {
            let start = end.saturating_sub(CHUNK_RECORDS);
            let records = self
                .log
                .read_range(topic, Some(start), CHUNK_RECORDS as usize);
            let records = records.await?;
            let is_of_session = |record: &LogEvent| {
                let header = record.headers.get(SESSION_HEADER);
                header.map(String::as_str) == Some(session_id)
            };
            let mut newest_first = records.into_iter().rev();
            if let Some((_, found)) = newest_first.find(|(_, record)| is_of_session(record)) {
                return Ok(Some(found));
            }
            end = start;
        }
        Ok(None)
    }
}

impl AgentEventLog for LoggedSessions {
    fn append(&self, topic: &str, record: &EventRecord<'_>) -> Result<(), LogFailure> {
        let topic = Topic::new(topic)?;
        block_on(self.append_recovering(&topic, of_events(record.log_event()?)))?;
        Ok(())
    }

    fn latest_of(
        &self,
        topic: &str,
        session_id: &str,
    ) -> Result<Option<harn_events::LogEvent>, LogFailure> {
        let newest = block_on(self.newest_of(&Topic::new(topic)?, session_id))?;
        Ok(newest.map(to_events))
    }

    fn sync_soon(&self) {
        // The log begins to sync when it is first asked; nobody waits for the answer.
        let mut context = Context::from_waker(Waker::noop());
        let _asked = pin!(self.log.barrier()).poll(&mut context);
    }

    fn barrier(&self) -> Pin<Box<dyn Future<Output = Result<(), LogFailure>> + Send + '_>> {
        Box::pin(async { Ok(self.log.barrier().await?) })
    }
}

impl DurableSinks for LoggedSessions {
    fn open(
        &self,
        session_id: &str,
        redaction: &RedactionPolicy,
    ) -> io::Result<Arc<dyn AgentEventSink>> {
        Ok(self.sink(session_id, redaction))
    }
}

/// The stored events of a session, in order.
///
/// # Errors
/// The log cannot be read.
pub async fn session_events<L: EventLog>(
    log: &L,
    session_id: &str,
) -> Result<Vec<(EventId, RecordedEvent)>, LogError> {
    let topic = Topic::new(agent_events_topic(session_id))?;
    let mut events = Vec::new();
    let mut lists = SessionLists::default();
    let mut from = None;
    loop {
        let records = log.read_range(&topic, from, CHUNK_RECORDS as usize).await?;
        let Some((last, _)) = records.last() else {
            return Ok(events);
        };
        from = Some(*last);
        for (id, record) in records {
            let event = event_of_log_record(&to_events(record), session_id);
            events.extend(event.map(|mut event| {
                event.complete(&mut lists);
                (id, event)
            }));
        }
    }
}

/// The two crates below do not know each other, so each has a record of its own.
pub(crate) fn of_events(record: harn_events::LogEvent) -> LogEvent {
    LogEvent {
        kind: record.kind,
        payload: record.payload,
        headers: record.headers,
        occurred_at_ms: record.occurred_at_ms,
    }
}

pub(crate) fn to_events(record: LogEvent) -> harn_events::LogEvent {
    harn_events::LogEvent {
        kind: record.kind,
        payload: record.payload,
        headers: record.headers,
        occurred_at_ms: record.occurred_at_ms,
    }
}
