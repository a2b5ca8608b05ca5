//! Sessions in a log.

use std::collections::BTreeMap;

use harn_events::{AGENT_EVENTS_TOPIC_PREFIX, AgentEvent, SESSION_HEADER, event_of_log_record};
use harn_log::{EventId, EventLog, LogError, LogEvent, Topic};
use serde::Serialize;

use super::events::{EventOrder, Openings, Seen};
use super::journal::{check_journal, check_journal_after_cut};
use super::{Findings, Violation};
use crate::event_log::to_events;
use crate::session::{JOURNAL_TOPIC_PREFIX, JournalRecord, journal_topic};

/// Records read together.
const CHUNK_RECORDS: usize = 256;

/// What there is to say about a session in a topic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionFindings {
    /// The session. Topics are shared by ids that look alike.
    pub session_id: String,
    /// How many records of it the topic has.
    pub records: u64,
    /// What there is to say.
    #[serde(flatten)]
    pub findings: Findings,
}

/// Whether a topic holds events or the journal of sessions.
pub fn is_session_topic(topic: &Topic) -> bool {
    let name = topic.as_str();
    name.starts_with(AGENT_EVENTS_TOPIC_PREFIX) || name.starts_with(JOURNAL_TOPIC_PREFIX)
}

/// Checks every session of a topic. A topic that holds no sessions has nothing to be found.
///
/// # Errors
/// The log cannot be read.
pub async fn check_topic<L: EventLog>(
    log: &L,
    topic: &Topic,
) -> Result<Vec<SessionFindings>, LogError> {
    let name = topic.as_str();
    if name.starts_with(JOURNAL_TOPIC_PREFIX) {
        return check_journals(log, topic).await;
    }
    if name.starts_with(AGENT_EVENTS_TOPIC_PREFIX) {
        return check_event_topic(log, topic).await;
    }
    Ok(Vec::new())
}

async fn check_event_topic<L: EventLog>(
    log: &L,
    topic: &Topic,
) -> Result<Vec<SessionFindings>, LogError> {
    let mut sessions: BTreeMap<String, (u64, EventOrder)> = BTreeMap::new();
    let mut is_cut = None;
    let mut from = None;
    loop {
        let chunk = log.read_range(topic, from, CHUNK_RECORDS).await?;
        let Some((last, _)) = chunk.last() else {
            break;
        };
        from = Some(*last);
        for (id, record) in chunk {
            let is_cut = *is_cut.get_or_insert(id > FIRST_ID);
            let Some(session_id) = record.headers.get(SESSION_HEADER).cloned() else {
                continue;
            };
            if !sessions.contains_key(&session_id) {
                let mut order = EventOrder::new(openings(log, &session_id).await?);
                if is_cut {
                    order = order.after_cut();
                }
                sessions.insert(session_id.clone(), (0, order));
            }
            if let Some((count, order)) = sessions.get_mut(&session_id) {
                see(record, &session_id, *count, order);
                *count += 1;
            }
        }
    }
    let found = sessions
        .into_iter()
        .map(|(session_id, (records, order))| SessionFindings {
            session_id,
            records,
            findings: order.finish(),
        });
    Ok(found.collect())
}

/// The id of the first record of a topic from which nothing has been thrown away.
const FIRST_ID: EventId = 1;

fn see(record: LogEvent, session_id: &str, place: u64, order: &mut EventOrder) {
    // Records of earlier versions have no index; they have a place.
    let index = record.payload["index"].as_u64().unwrap_or(place);
    let at_ms = Some(record.occurred_at_ms);
    let event = event_of_log_record(&to_events(record), session_id);
    let event: Option<&AgentEvent> = event.as_ref().and_then(|event| event.event());
    order.see(Seen {
        index,
        at_ms,
        event,
    });
}

/// When a session was opened, by its journal.
async fn openings<L: EventLog>(log: &L, session_id: &str) -> Result<Openings, LogError> {
    let topic = Topic::new(journal_topic(session_id))?;
    let mut times = Vec::new();
    let mut from = None;
    loop {
        let chunk = log.read_range(&topic, from, CHUNK_RECORDS).await?;
        let Some((last, _)) = chunk.last() else {
            break;
        };
        from = Some(*last);
        let opened = chunk.iter().filter(|(_, record)| {
            let of = record.headers.get(SESSION_HEADER).map(String::as_str);
            of == Some(session_id) && matches!(&*record.kind, "opened" | "resumed")
        });
        times.extend(opened.map(|(_, record)| record.occurred_at_ms));
    }
    Ok(match times.len() {
        0 => Openings::Unknown,
        1 => Openings::Once,
        _ => Openings::AgainAt(times.split_off(1)),
    })
}

async fn check_journals<L: EventLog>(
    log: &L,
    topic: &Topic,
) -> Result<Vec<SessionFindings>, LogError> {
    let mut sessions: BTreeMap<String, Journal> = BTreeMap::new();
    let mut is_cut = None;
    let mut from = None;
    loop {
        let chunk = log.read_range(topic, from, CHUNK_RECORDS).await?;
        let Some((last, _)) = chunk.last() else {
            break;
        };
        from = Some(*last);
        for (id, record) in chunk {
            is_cut.get_or_insert(id > FIRST_ID);
            let Some(session_id) = record.headers.get(SESSION_HEADER) else {
                continue;
            };
            sessions.entry(session_id.clone()).or_default().take(record);
        }
    }
    let is_cut = is_cut.unwrap_or(false);
    let found = sessions
        .into_iter()
        .map(|(session_id, journal)| SessionFindings {
            session_id,
            records: journal.count,
            findings: journal.findings(is_cut),
        });
    Ok(found.collect())
}

#[derive(Default)]
struct Journal {
    count: u64,
    records: Vec<JournalRecord>,
    unread: Vec<Violation>,
}

impl Journal {
    fn take(&mut self, record: LogEvent) {
        let index = record.payload["index"].as_u64().unwrap_or(self.count);
        self.count += 1;
        match serde_json::from_value::<JournalRecord>(record.payload) {
            Ok(record) => self.records.push(record),
            Err(error) => self.unread.push(Violation {
                index,
                what: format!("it cannot be read: {error}"),
                why: "a journal consists of changes that this version knows".to_owned(),
            }),
        }
    }

    fn findings(self, is_cut: bool) -> Findings {
        if !self.unread.is_empty() {
            // What follows from records that are missing says nothing.
            return Findings {
                violations: self.unread,
                interruptions: Vec::new(),
            };
        }
        match is_cut {
            true => check_journal_after_cut(&self.records),
            false => check_journal(&self.records),
        }
    }
}
