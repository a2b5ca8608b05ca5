//! Which sessions a log holds.
//!
//! A session has two topics: its journal, from which its state follows, and its events. Names
//! of topics are made of ids with some characters replaced, so two sessions may share one; a
//! record says in a header whose it is.

mod readable;

use std::collections::BTreeMap;

use harn_events::{AGENT_EVENTS_TOPIC_PREFIX, SESSION_HEADER, agent_events_topic};
use harn_log::{EventId, EventLog, LogEvent, Topic, block_on};
use harn_vm::agent::session::{
    Change, JOURNAL_TOPIC_PREFIX, JournalRecord, SessionState, journal_topic,
};

use serde::de::IgnoredAny;

use super::super::events::failure::Failure;
use super::super::events::log::OpenLog;
use crate::suggestion::closest;
use readable::Readable;

/// Records read together.
const CHUNK_RECORDS: usize = 512;

/// A session in a log.
pub(in crate::commands) struct Stored {
    pub(in crate::commands) id: String,
    /// The records of its journal, each with its time. Empty if there are events only.
    pub(in crate::commands) journal: Vec<(i64, JournalRecord)>,
    /// When the first and the last of its records were made.
    pub(in crate::commands) first_ms: i64,
    pub(in crate::commands) last_ms: i64,
    /// Whether some of its records cannot be read. Then all the rest may not be the whole truth.
    pub(in crate::commands) is_damaged: bool,
}

/// A record with its place.
pub(in crate::commands) struct Placed {
    pub(in crate::commands) topic: Topic,
    pub(in crate::commands) id: EventId,
    pub(in crate::commands) event: LogEvent,
}

/// All sessions, sorted by id, also those of which not all can be read.
pub(in crate::commands) fn all(log: &OpenLog) -> Result<Vec<Stored>, Failure> {
    let mut sessions: BTreeMap<String, Stored> = BTreeMap::new();
    let mut damaged = Vec::new();
    for topic in log.topics()? {
        if !is_of_sessions(&topic) {
            continue;
        }
        let readable = Readable::of(log, &topic)?;
        for record in readable.records {
            let Some(id) = record.session() else {
                continue;
            };
            let session = sessions.entry(id.to_owned());
            let at_ms = record.event.occurred_at_ms;
            let session = session.or_insert_with_key(|id| Stored::new(id, at_ms));
            session.add(record.event);
        }
        if readable.is_damaged {
            damaged.push(topic);
        }
    }
    mark_damaged(&mut sessions, &damaged)?;
    Ok(sessions.into_values().collect())
}

/// Marks the sessions whose topics are damaged. A topic of which nothing can be read stands for
/// a session that is called as the topic is.
fn mark_damaged(sessions: &mut BTreeMap<String, Stored>, damaged: &[Topic]) -> Result<(), Failure> {
    for topic in damaged {
        let mut is_known = false;
        for session in sessions.values_mut() {
            if topics_of(&session.id)?.contains(topic) {
                session.is_damaged = true;
                is_known = true;
            }
        }
        if let (false, Some(id)) = (is_known, id_in(topic)) {
            let session = sessions.entry(id.to_owned());
            let session = session.or_insert_with_key(|id| Stored::new(id, 0));
            session.is_damaged = true;
        }
    }
    Ok(())
}

/// The id in the name of a topic, where some of its characters may be replaced.
fn id_in(topic: &Topic) -> Option<&str> {
    let name = topic.as_str();
    let journal = name.strip_prefix(JOURNAL_TOPIC_PREFIX);
    journal.or_else(|| name.strip_prefix(AGENT_EVENTS_TOPIC_PREFIX))
}

/// One session. An id may be cut short where no other one starts like that.
pub(in crate::commands) fn one(log: &OpenLog, id: &str) -> Result<Stored, Failure> {
    if let Some(session) = named(log, id)? {
        return Ok(session);
    }
    let ids: Vec<String> = ids(log)?;
    let alike: Vec<&String> = ids.iter().filter(|known| known.starts_with(id)).collect();
    match (&alike[..], id.is_empty()) {
        ([only], false) => named(log, only)?.ok_or_else(|| unknown(id, &ids)),
        _ => Err(unknown(id, &ids)),
    }
}

/// The session of exactly this id.
pub(in crate::commands) fn named(log: &OpenLog, id: &str) -> Result<Option<Stored>, Failure> {
    let mut session = None;
    let mut is_damaged = false;
    for topic in known_topics_of(log, id)? {
        let is_journal = is_of_journal(&topic);
        // Of events it matters when they happened, and that they can be read.
        is_damaged |= readable::look_through(log, &topic, |_, event| {
            if event.headers.get(SESSION_HEADER).map(String::as_str) != Some(id) {
                return Ok(());
            }
            let at_ms = event.occurred_at_ms;
            let session = session.get_or_insert_with(|| Stored::new(id, at_ms));
            session.has_happened(at_ms);
            match is_journal {
                true => session.add_record(at_ms, &event.payload),
                false => serde_json::from_slice::<IgnoredAny>(&event.payload).map(drop),
            }
        })?;
    }
    if is_damaged {
        let session = session.get_or_insert_with(|| Stored::new(id, 0));
        session.is_damaged = true;
    }
    Ok(session)
}

/// The ids of all sessions.
pub(in crate::commands) fn ids(log: &OpenLog) -> Result<Vec<String>, Failure> {
    Ok(all(log)?.into_iter().map(|session| session.id).collect())
}

/// What to say about a session that is not there.
pub(in crate::commands) fn unknown(id: &str, known: &[String]) -> Failure {
    let meant = closest(id, known.iter().map(String::as_str));
    let starting = known.iter().filter(|known| known.starts_with(id)).count();
    Failure::Told(match meant {
        _ if known.is_empty() => format!("no session '{id}'; the log has none"),
        _ if starting > 1 && !id.is_empty() => {
            format!("{starting} sessions start with '{id}'; `harn sessions list` lists all")
        }
        Some(meant) => format!("no session '{id}'; did you mean '{meant}'?"),
        None => format!("no session '{id}'; `harn sessions list` lists all"),
    })
}

/// The topics that may hold records of a session: its journal first.
pub(in crate::commands) fn topics_of(id: &str) -> Result<[Topic; 2], Failure> {
    let journal = Topic::new(journal_topic(id))?;
    Ok([journal, Topic::new(agent_events_topic(id))?])
}

/// All records of a session: its journal, then its events.
pub(in crate::commands) fn records_of(log: &OpenLog, id: &str) -> Result<Vec<Placed>, Failure> {
    let mut records = Vec::new();
    for topic in known_topics_of(log, id)? {
        records.extend(read(log, &topic)?);
    }
    records.retain(|record| record.is_of(id));
    Ok(records)
}

/// What can be read of a topic.
pub(super) fn readable(log: &OpenLog, topic: &Topic) -> Result<Readable, Failure> {
    Readable::of(log, topic)
}

/// The topics of a session that are there.
pub(super) fn known_topics_of(log: &OpenLog, id: &str) -> Result<Vec<Topic>, Failure> {
    let known = log.topics()?;
    let topics = topics_of(id)?.into_iter();
    Ok(topics.filter(|topic| known.contains(topic)).collect())
}

/// All records of a topic.
pub(in crate::commands) fn read(log: &OpenLog, topic: &Topic) -> Result<Vec<Placed>, Failure> {
    let mut records = Vec::new();
    let mut from = None;
    loop {
        let chunk = block_on(log.log.read_range(topic, from, CHUNK_RECORDS))?;
        let Some((last, _)) = chunk.last() else {
            return Ok(records);
        };
        from = Some(*last);
        records.extend(chunk.into_iter().map(|(id, event)| Placed {
            topic: topic.clone(),
            id,
            event,
        }));
    }
}

fn is_of_sessions(topic: &Topic) -> bool {
    let name = topic.as_str();
    name.starts_with(JOURNAL_TOPIC_PREFIX) || name.starts_with(AGENT_EVENTS_TOPIC_PREFIX)
}

impl Placed {
    /// Whether it is of this session.
    fn is_of(&self, id: &str) -> bool {
        self.session() == Some(id)
    }

    /// Whose it is.
    pub(super) fn session(&self) -> Option<&str> {
        self.event.headers.get(SESSION_HEADER).map(String::as_str)
    }

    /// Whether it is of a journal, and not an event.
    pub(in crate::commands) fn is_of_journal(&self) -> bool {
        is_of_journal(&self.topic)
    }
}

fn is_of_journal(topic: &Topic) -> bool {
    topic.as_str().starts_with(JOURNAL_TOPIC_PREFIX)
}

impl Stored {
    fn new(id: &str, at_ms: i64) -> Self {
        Self {
            id: id.to_owned(),
            journal: Vec::new(),
            first_ms: at_ms,
            last_ms: at_ms,
            is_damaged: false,
        }
    }

    /// Adds a record of its journal. Those of a later version are not understood.
    fn add_record(&mut self, at_ms: i64, payload: &[u8]) -> serde_json::Result<()> {
        match JournalRecord::decode(payload) {
            Ok(record) => self.journal.push((at_ms, record)),
            Err(error) if error.is_data() => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn has_happened(&mut self, at_ms: i64) {
        self.first_ms = self.first_ms.min(at_ms);
        self.last_ms = self.last_ms.max(at_ms);
    }

    fn add(&mut self, event: LogEvent) {
        let at_ms = event.occurred_at_ms;
        self.has_happened(at_ms);
        // Events are no records of a journal, and those of a later version are not understood.
        if let Ok(record) = serde_json::from_value(event.payload) {
            self.journal.push((at_ms, record));
        }
    }

    /// The session as it was after a record of its journal.
    pub(in crate::commands) fn up_to(mut self, index: u64) -> Result<Self, Failure> {
        let last = self.journal.last().map(|(_, record)| record.index);
        let Some(last) = last else {
            return Err(Failure::Told(format!(
                "session '{}' has no journal",
                self.id
            )));
        };
        if index > last {
            let id = &self.id;
            let why = format!("the journal of session '{id}' ends with record {last}");
            return Err(Failure::Told(why));
        }
        self.journal.retain(|(_, record)| record.index <= index);
        if let Some((at_ms, _)) = self.journal.last() {
            self.last_ms = *at_ms;
        }
        Ok(self)
    }

    /// What it is.
    pub(in crate::commands) fn state(&self) -> SessionState {
        let mut state = SessionState::default();
        self.changes()
            .for_each(|change| state.apply(change.clone()));
        state
    }

    /// What has changed since it was opened last.
    pub(in crate::commands) fn changes(&self) -> impl Iterator<Item = &Change> {
        let opened = |(_, record): &(i64, JournalRecord)| record.change == Change::Opened;
        let start = self.journal.iter().rposition(opened).unwrap_or(0);
        self.journal[start..]
            .iter()
            .map(|(_, record)| &record.change)
    }
}
