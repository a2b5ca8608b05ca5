//! Which sessions a log holds.
//!
//! A session has two topics: its journal, from which its state follows, and its events. Names
//! of topics are made of ids with some characters replaced, so two sessions may share one; a
//! record says in a header whose it is.
//!
//! ```text
//! overview   every session in a few numbers; of a journal it decodes what those need
//! whole      one session with all that was said
//! events     the events of one session, a chunk at a time
//! ```

mod events;
mod overview;
mod readable;
mod whole;

use harn_events::{AGENT_EVENTS_TOPIC_PREFIX, SESSION_HEADER, agent_events_topic};
use harn_log::{EventId, EventLog, LogEvent, LogEventBytes, Topic, block_on};
use harn_vm::agent::session::{JOURNAL_TOPIC_PREFIX, journal_topic};

use super::super::events::failure::Failure;
use super::super::events::log::OpenLog;
use crate::suggestion::closest;
pub(super) use events::{StoredEvent, StoredEvents};
pub(in crate::commands) use overview::{Overview, first_words, overviews};
pub(super) use readable::look_through;
pub(in crate::commands) use whole::{Stored, StoredUpTo, named};

/// Records read together.
const CHUNK_RECORDS: usize = 512;

/// A record with its place.
pub(in crate::commands) struct Placed {
    pub(in crate::commands) topic: Topic,
    pub(in crate::commands) id: EventId,
    pub(in crate::commands) event: LogEvent,
}

/// One session. An id may be cut short where no other one starts like that.
pub(in crate::commands) fn one(
    log: &OpenLog,
    id: &str,
    up_to: StoredUpTo,
) -> Result<Stored, Failure> {
    let whole_id = find(log, id)?;
    let session = named(log, &whole_id, up_to)?;
    // Another process may have removed it meanwhile.
    session.ok_or_else(|| unknown(id, &[]))
}

/// The whole id of a session, which may be cut short where no other one starts like that.
pub(in crate::commands) fn find(log: &OpenLog, id: &str) -> Result<String, Failure> {
    if is_there(log, id)? {
        return Ok(id.to_owned());
    }
    let mut alike = overview::ids_starting_with(log, id)?;
    match (alike.len(), id.is_empty(), alike.pop()) {
        (1, false, Some(only)) => Ok(only),
        _ => Err(unknown(id, &ids(log)?)),
    }
}

/// Whether there is something of the session of exactly this id, be it damaged.
fn is_there(log: &OpenLog, id: &str) -> Result<bool, Failure> {
    for topic in known_topics_of(log, id)? {
        let first = block_on(log.log.read_range_bytes(&topic, None, 1));
        let first = first.ok().and_then(|chunk| chunk.into_iter().next());
        if first.is_some_and(|(_, event)| session_of(&event) == Some(id)) {
            return Ok(true);
        }
        // Another session shares the topic, or its beginning is damaged.
        let mut is_there = false;
        let is_damaged = look_through(log, &topic, |_, event| {
            is_there |= session_of(&event) == Some(id);
            Ok(())
        })?;
        if is_there || is_damaged {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The ids of all sessions.
pub(in crate::commands) fn ids(log: &OpenLog) -> Result<Vec<String>, Failure> {
    overview::ids_starting_with(log, "")
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

/// The topics of a session that are there.
pub(super) fn known_topics_of(log: &OpenLog, id: &str) -> Result<Vec<Topic>, Failure> {
    let known = log.topics()?;
    let topics = topics_of(id)?.into_iter();
    Ok(topics.filter(|topic| known.contains(topic)).collect())
}

/// All records of a topic.
fn read(log: &OpenLog, topic: &Topic) -> Result<Vec<Placed>, Failure> {
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

/// Whose a record is.
pub(super) fn session_of(event: &LogEventBytes) -> Option<&str> {
    event.headers.get(SESSION_HEADER).map(String::as_str)
}

/// The id in the name of a topic, where some of its characters may be replaced.
fn id_in(topic: &Topic) -> Option<&str> {
    let name = topic.as_str();
    let journal = name.strip_prefix(JOURNAL_TOPIC_PREFIX);
    journal.or_else(|| name.strip_prefix(AGENT_EVENTS_TOPIC_PREFIX))
}

fn is_of_journal(topic: &Topic) -> bool {
    topic.as_str().starts_with(JOURNAL_TOPIC_PREFIX)
}

impl Placed {
    /// Whether it is of this session.
    fn is_of(&self, id: &str) -> bool {
        self.event.headers.get(SESSION_HEADER).map(String::as_str) == Some(id)
    }
}
