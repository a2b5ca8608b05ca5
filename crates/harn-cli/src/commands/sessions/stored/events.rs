//! The events of one session, a chunk at a time, so that any number of them can be shown.

use std::vec;

use harn_events::agent_events_topic;
use harn_log::{EventId, EventLog, LogEventBytes, Topic, block_on};

use super::{CHUNK_RECORDS, is_of_journal, known_topics_of, session_of};
use crate::commands::events::failure::Failure;
use crate::commands::events::log::OpenLog;

/// The events of a session in their order.
pub(in crate::commands::sessions) struct StoredEvents<'a> {
    log: &'a OpenLog,
    id: &'a str,
    /// `None`: it has none.
    topic: Option<Topic>,
    /// The id of the last record that was read.
    position: Option<EventId>,
    chunk: vec::IntoIter<(EventId, LogEventBytes)>,
}

/// An event as it is stored.
#[derive(Debug, PartialEq)]
pub(in crate::commands::sessions) struct StoredEvent {
    pub(in crate::commands::sessions) id: EventId,
    pub(in crate::commands::sessions) kind: String,
    pub(in crate::commands::sessions) at_ms: i64,
    /// The record, as JSON.
    pub(in crate::commands::sessions) payload: Vec<u8>,
}

impl<'a> StoredEvents<'a> {
    pub(in crate::commands::sessions) fn of(
        log: &'a OpenLog,
        id: &'a str,
    ) -> Result<Self, Failure> {
        let known = known_topics_of(log, id)?;
        debug_assert!(known.iter().any(is_of_journal) || known.len() < 2);
        let name = agent_events_topic(id);
        Ok(Self {
            log,
            id,
            topic: known.into_iter().find(|topic| topic.as_str() == name),
            position: None,
            chunk: Vec::new().into_iter(),
        })
    }

    /// When the last one happened, as far as that is known without reading the others.
    pub(in crate::commands::sessions) fn last_ms(&self) -> Result<Option<i64>, Failure> {
        let Some(topic) = &self.topic else {
            return Ok(None);
        };
        let latest = block_on(self.log.log.latest(topic))?;
        let before = latest.and_then(|latest| latest.checked_sub(1));
        // One that is damaged is met in its place.
        let last = block_on(self.log.log.read_range_bytes(topic, before, 1)).unwrap_or_default();
        Ok(last.last().map(|(_, event)| event.occurred_at_ms))
    }
}

impl Iterator for StoredEvents<'_> {
    type Item = Result<StoredEvent, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let topic = self.topic.as_ref()?;
        loop {
            for (id, event) in self.chunk.by_ref() {
                self.position = Some(id);
                if session_of(&event) == Some(self.id) {
                    return Some(Ok(StoredEvent {
                        id,
                        kind: event.kind,
                        at_ms: event.occurred_at_ms,
                        payload: event.payload,
                    }));
                }
            }
            let read = self
                .log
                .log
                .read_range_bytes(topic, self.position, CHUNK_RECORDS);
            match block_on(read) {
                Ok(chunk) if chunk.is_empty() => return None,
                Ok(chunk) => self.chunk = chunk.into_iter(),
                Err(error) => {
                    self.topic = None;
                    return Some(Err(error.into()));
                }
            }
        }
    }
}
