//! Records of events for those who read a log as it is.
//!
//! A log has of the lists of a session what is new in each record, and what was before is found
//! in the records before. A reader of events in their order needs to look at none twice;
//! one that begins in the middle, or jumps, has what lies before looked through once.

use std::collections::HashMap;

use harn_events::{AGENT_EVENTS_TOPIC_PREFIX, SESSION_HEADER, SessionLists, has_partial_list};
use harn_log::{EventId, EventLog, LogError, LogEvent, LogEventBytes, Topic};
use serde_json::Value;

/// The kind of the records that have lists.
const WITH_LISTS: &str = "iteration_end";

/// Records looked at together.
const CHUNK_RECORDS: usize = 1024;

/// Makes the lists in records of events whole. Records of other topics stay as they are.
#[derive(Debug, Default)]
pub struct WholeLists {
    topics: HashMap<Topic, Known>,
}

/// What is known of a topic.
#[derive(Debug, Default)]
struct Known {
    /// The id of the last record that was looked at; all before it were, too.
    at: EventId,
    /// By session.
    lists: HashMap<String, SessionLists>,
}

impl WholeLists {
    /// Makes the lists of a record whole.
    ///
    /// # Errors
    /// The log cannot be read.
    pub async fn complete<L: EventLog>(
        &mut self,
        log: &L,
        topic: &Topic,
        (id, event): (EventId, &mut LogEvent),
    ) -> Result<(), LogError> {
        if !is_of_events(topic) {
            return Ok(());
        }
        let is_partial = event.kind == WITH_LISTS && SessionLists::are_partial_in(&event.payload);
        let known = self.known(log, topic, id, is_partial).await?;
        if let Some(known) = known
            && event.kind == WITH_LISTS
            && let Some(session_id) = event.headers.get(SESSION_HEADER)
        {
            known.complete(session_id, &mut event.payload);
        }
        Ok(())
    }

    /// The same for a record whose payload is a text.
    ///
    /// # Errors
    /// The log cannot be read, or the payload is no JSON.
    pub async fn complete_bytes<L: EventLog>(
        &mut self,
        log: &L,
        topic: &Topic,
        (id, event): (EventId, &mut LogEventBytes),
    ) -> Result<(), LogError> {
        if !is_of_events(topic) {
            return Ok(());
        }
        let is_partial = event.kind == WITH_LISTS && is_partial(&event.payload);
        let known = self.known(log, topic, id, is_partial).await?;
        if let Some(known) = known
            && event.kind == WITH_LISTS
            && let Some(session_id) = event.headers.get(SESSION_HEADER)
        {
            let mut payload = serde_json::from_slice(&event.payload)?;
            known.complete(session_id, &mut payload);
            if is_partial {
                event.payload = serde_json::to_vec(&payload)?;
            }
        }
        Ok(())
    }

    /// What is known of a topic when it was read up to a record; `None` where that is not known
    /// and need not be.
    async fn known<L: EventLog>(
        &mut self,
        log: &L,
        topic: &Topic,
        id: EventId,
        is_needed: bool,
    ) -> Result<Option<&mut Known>, LogError> {
        let known = self.topics.entry(topic.clone()).or_default();
        let is_next = known.at + 1 == id;
        if is_needed && !is_next {
            if known.at >= id {
                *known = Known::default();
            }
            known.read_up_to(log, topic, id).await?;
        }
        if !is_next && !is_needed {
            return Ok(None);
        }
        known.at = id;
        Ok(Some(known))
    }
}

impl Known {
    /// Looks through the records before one.
    async fn read_up_to<L: EventLog>(
        &mut self,
        log: &L,
        topic: &Topic,
        id: EventId,
    ) -> Result<(), LogError> {
        loop {
            let from = Some(self.at);
            let chunk = log.read_range_bytes(topic, from, CHUNK_RECORDS).await?;
            let Some((last, _)) = chunk.last() else {
                return Ok(());
            };
            self.at = *last;
            for (at, event) in chunk {
                if at >= id {
                    return Ok(());
                }
                let session_id = event.headers.get(SESSION_HEADER);
                if event.kind == WITH_LISTS
                    && let Some(session_id) = session_id
                {
                    let payload: Value = serde_json::from_slice(&event.payload)?;
                    self.lists_of(session_id).note(&payload);
                }
            }
        }
    }

    fn complete(&mut self, session_id: &str, payload: &mut Value) {
        self.lists_of(session_id).complete_value(payload);
    }

    fn lists_of(&mut self, session_id: &str) -> &mut SessionLists {
        if !self.lists.contains_key(session_id) {
            let lists = SessionLists::default();
            self.lists.insert(session_id.to_owned(), lists);
        }
        let lists = self.lists.get_mut(session_id);
        lists.expect("it was put there")
    }
}

/// The lists of a session as the records before one have them.
///
/// # Errors
/// The log cannot be read.
pub(crate) async fn lists_before<L: EventLog>(
    log: &L,
    topic: &Topic,
    session_id: &str,
    id: EventId,
) -> Result<SessionLists, LogError> {
    let mut known = Known::default();
    known.read_up_to(log, topic, id).await?;
    Ok(known.lists.remove(session_id).unwrap_or_default())
}

/// Whether a topic holds events of sessions.
fn is_of_events(topic: &Topic) -> bool {
    topic.as_str().starts_with(AGENT_EVENTS_TOPIC_PREFIX)
}

fn is_partial(payload: &[u8]) -> bool {
    std::str::from_utf8(payload).is_ok_and(has_partial_list)
}
