//! All sessions of a log in a few numbers, without all that was said in them.
//!
//! ```text
//! journal ─► every record: whose, when, whole? ─► those that count: a few fields ─► Tally
//! events  ─► the first and the last
//! ```
//!
//! A log of long sessions has hundreds of thousands of records, and a list has a line for each
//! session; so nothing is held of a record that has been counted, and events, which are most of a
//! log and say nothing that a journal does not, are not read but for their times.

use std::collections::BTreeMap;

use harn_log::{EventLog, LogEventBytes, Topic, block_on};
use harn_vm::agent::session::{Change, JournalRecord, SessionState};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::readable::{is_about_records, look_through};
use super::{id_in, is_of_journal, session_of, topics_of};
use crate::commands::events::failure::Failure;
use crate::commands::events::log::OpenLog;
use crate::commands::sessions::conversation::{self, Part};
use crate::commands::sessions::tally::{Counted, Tally};

/// A session in a few numbers.
#[derive(Debug, Default, PartialEq)]
pub(in crate::commands) struct Overview {
    pub(in crate::commands) id: String,
    pub(in crate::commands) tally: Tally,
    /// How many messages were ever said. `None` where something else than a new message has
    /// changed them, as undoing does: then only the whole session knows.
    pub(in crate::commands) messages: Option<u64>,
    /// What the person said first. As with the messages, only the whole session may know.
    pub(in crate::commands) first_words: Option<String>,
    /// The index of the last record of its journal; `None` without one.
    pub(in crate::commands::sessions) last_record: Option<u64>,
    /// When the first and the last of its records were made.
    pub(in crate::commands) first_ms: i64,
    pub(in crate::commands) last_ms: i64,
    /// Whether records of its journal, or the ends of its events, cannot be read. Then all the
    /// rest may not be the whole truth.
    pub(in crate::commands::sessions) is_damaged: bool,
    /// Records of which fields were decoded; of the others the kind was enough.
    decoded_records: u64,
}

/// All sessions, sorted by id, also those of which not all can be read.
pub(in crate::commands) fn overviews(log: &OpenLog) -> Result<Vec<Overview>, Failure> {
    let topics = log.topics()?;
    let topics = topics.iter().filter(|topic| id_in(topic).is_some());
    Reading::of(log, topics)
}

/// The ids of the sessions that start like that.
pub(super) fn ids_starting_with(log: &OpenLog, start: &str) -> Result<Vec<String>, Failure> {
    let [journal, _] = topics_of(start).or_else(|_| topics_of("_"))?;
    let start_of_topic = id_in(&journal).unwrap_or_default().to_owned();
    let topics = log.topics()?;
    let may_have = |topic: &&Topic| {
        id_in(topic).is_some_and(|id| start.is_empty() || id.starts_with(&start_of_topic))
    };
    let sessions = Reading::of(log, topics.iter().filter(may_have))?;
    let ids = sessions.into_iter().map(|session| session.id);
    Ok(ids.filter(|id| id.starts_with(start)).collect())
}

/// The sessions as far as they are known.
#[derive(Default)]
struct Reading<'a> {
    sessions: BTreeMap<String, Overview>,
    damaged: Vec<&'a Topic>,
}

impl<'a> Reading<'a> {
    fn of(
        log: &OpenLog,
        topics: impl Iterator<Item = &'a Topic>,
    ) -> Result<Vec<Overview>, Failure> {
        let mut reading = Self::default();
        let (journals, events): (Vec<&Topic>, Vec<&Topic>) =
            topics.partition(|topic| is_of_journal(topic));
        for topic in journals {
            reading.read_journal(log, topic)?;
        }
        for topic in events {
            reading.read_times(log, topic)?;
        }
        reading.mark_damaged()?;
        let sessions: Vec<Overview> = reading.sessions.into_values().collect();
        let decoded: u64 = sessions.iter().map(|one| one.decoded_records).sum();
        let count = sessions.len();
        tracing::debug!(target: "cli.sessions", count, decoded, "sessions were looked over");
        Ok(sessions)
    }

    fn session(&mut self, id: &str, at_ms: i64) -> &mut Overview {
        let session = self.sessions.entry(id.to_owned());
        session.or_insert_with(|| Overview::new(id, at_ms))
    }

    fn read_journal(&mut self, log: &OpenLog, topic: &'a Topic) -> Result<(), Failure> {
        let mut last_records: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        let is_damaged = look_through(log, topic, |_, event| {
            let Some(id) = session_of(&event) else {
                return Ok(());
            };
            let session = self.session(id, event.occurred_at_ms);
            session.has_happened(event.occurred_at_ms);
            session.add(&event)?;
            match last_records.get_mut(id) {
                Some(last) => *last = event.payload,
                None => {
                    last_records.insert(id.to_owned(), event.payload);
                }
            }
            Ok(())
        })?;
        for (id, payload) in last_records {
            self.session(&id, 0).last_record = index_of(&payload);
        }
        self.damaged.extend(is_damaged.then_some(topic));
        Ok(())
    }

    /// When the events of a topic happened. Where it has one session, its ends say so; sessions
    /// that share a topic are looked for in all of it.
    fn read_times(&mut self, log: &OpenLog, topic: &'a Topic) -> Result<(), Failure> {
        match ends_of(log, topic)? {
            Some(ends) if self.is_of_one(topic, &ends) => {
                for event in &ends {
                    self.note_time(event);
                }
                Ok(())
            }
            Some(ends) if ends.is_empty() => Ok(()),
            _ => {
                let is_damaged = look_through(log, topic, |_, event| {
                    self.note_time(&event);
                    serde_json::from_slice::<IgnoredAny>(&event.payload).map(drop)
                })?;
                self.damaged.extend(is_damaged.then_some(topic));
                Ok(())
            }
        }
    }

    /// Whether a topic has events of one session only. Sessions of an agent have a journal, so a
    /// third one between the ends is known from there.
    fn is_of_one(&self, topic: &Topic, ends: &[LogEventBytes]) -> bool {
        let mut owners = ends.iter().map(session_of);
        let Some(Some(first)) = owners.next() else {
            return false;
        };
        let is_whole =
            |event: &LogEventBytes| serde_json::from_slice::<IgnoredAny>(&event.payload).is_ok();
        let shares =
            |id: &String| id != first && topics_of(id).is_ok_and(|[_, events]| events == *topic);
        owners.all(|owner| owner == Some(first))
            && ends.iter().all(is_whole)
            && !self.sessions.keys().any(shares)
    }

    fn note_time(&mut self, event: &LogEventBytes) {
        if let Some(id) = session_of(event) {
            let session = self.session(id, event.occurred_at_ms);
            session.has_happened(event.occurred_at_ms);
        }
    }

    /// Marks the sessions whose topics are damaged. A topic of which nothing can be read stands
    /// for a session that is called as the topic is.
    fn mark_damaged(&mut self) -> Result<(), Failure> {
        for topic in std::mem::take(&mut self.damaged) {
            let mut is_known = false;
            for session in self.sessions.values_mut() {
                if topics_of(&session.id)?.contains(topic) {
                    session.is_damaged = true;
                    is_known = true;
                }
            }
            if let (false, Some(id)) = (is_known, id_in(topic)) {
                self.session(id, 0).is_damaged = true;
            }
        }
        Ok(())
    }
}

/// The first and the last record of a topic; `None` where one of them is damaged.
fn ends_of(log: &OpenLog, topic: &Topic) -> Result<Option<Vec<LogEventBytes>>, Failure> {
    let read = || {
        let first = block_on(log.log.read_range_bytes(topic, None, 1))?;
        let latest = block_on(log.log.latest(topic))?;
        let before = latest.and_then(|latest| latest.checked_sub(1));
        let last = block_on(log.log.read_range_bytes(topic, before, 1))?;
        let ends = first.into_iter().chain(last);
        Ok(ends.map(|(_, event)| event).collect())
    };
    match read() {
        Ok(ends) => Ok(Some(ends)),
        Err(error) if is_about_records(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn index_of(payload: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    struct Place {
        index: u64,
    }
    let place: Place = serde_json::from_slice(payload).ok()?;
    Some(place.index)
}

impl Overview {
    fn new(id: &str, at_ms: i64) -> Self {
        Self {
            id: id.to_owned(),
            messages: Some(0),
            first_ms: at_ms,
            last_ms: at_ms,
            ..Self::default()
        }
    }

    fn has_happened(&mut self, at_ms: i64) {
        self.first_ms = self.first_ms.min(at_ms);
        self.last_ms = self.last_ms.max(at_ms);
    }

    /// Counts a record of its journal.
    fn add(&mut self, event: &LogEventBytes) -> serde_json::Result<()> {
        serde_json::from_slice::<IgnoredAny>(&event.payload)?;
        match Counted::stored(&event.kind, &event.payload) {
            Ok(None) => {}
            Ok(Some(counted)) => {
                if matches!(counted, Counted::Opened) {
                    (self.messages, self.first_words) = (Some(0), None);
                }
                self.decoded_records += u64::from(counted.was_decoded());
                self.tally.add(counted);
            }
            // Those of a later version are not understood.
            Err(error) if error.is_data() => {}
            Err(error) => return Err(error),
        }
        match &*event.kind {
            "message_added" => {
                self.messages = self.messages.map(|messages| messages + 1);
                if self.first_words.is_none() {
                    self.first_words = self.words_of_person(event);
                }
            }
            "prepended" => {
                self.messages = self.messages.map(|messages| messages + 1);
                self.first_words = self.words_of_person(event).or(self.first_words.take());
            }
            "restored" | "forked" | "rolled_back" | "redone" | "reset" | "injected" | "trimmed"
            | "message_withdrawn" => self.messages = None,
            _ => {}
        }
        Ok(())
    }

    /// What a message says, if a person has said it.
    fn words_of_person(&mut self, event: &LogEventBytes) -> Option<String> {
        self.decoded_records += 1;
        let record = JournalRecord::decode(&event.payload).ok()?;
        let (Change::MessageAdded { message } | Change::Prepended { message }) = record.change
        else {
            return None;
        };
        let mut alone = SessionState::default();
        alone.apply(Change::MessageAdded { message });
        first_words(&alone)
    }
}

/// What the person said first.
pub(in crate::commands) fn first_words(state: &SessionState) -> Option<String> {
    let parts = conversation::of(state).into_iter();
    let mut said = parts.filter_map(|part| match part {
        Part::Said { role, text, .. } if role == "user" => Some(text),
        Part::Said { .. } | Part::Summary { .. } => None,
    });
    said.next()
}

#[cfg(test)]
mod tests;
