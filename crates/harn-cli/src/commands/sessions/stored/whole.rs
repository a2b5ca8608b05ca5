//! One session with all that was said in it.

use std::collections::HashSet;

use harn_log::Topic;
use harn_vm::agent::session::{CallOutcome, Change, JournalRecord, SessionState};
use serde::de::IgnoredAny;

use super::{is_of_journal, known_topics_of, look_through, session_of};
use crate::commands::events::failure::Failure;
use crate::commands::events::log::OpenLog;
use crate::commands::sessions::tally::Tally;

/// A session in a log. What its journal says is taken in record by record; none of them is held.
#[derive(Default)]
pub(in crate::commands) struct Stored {
    pub(in crate::commands) id: String,
    /// What it is.
    pub(in crate::commands) state: SessionState,
    pub(in crate::commands) tally: Tally,
    /// What the calls that failed have said.
    pub(in crate::commands::sessions) failures: HashSet<String>,
    /// The index of the last record of its journal; `None` without one.
    pub(in crate::commands::sessions) last_record: Option<u64>,
    /// When the first and the last of its records were made.
    pub(in crate::commands::sessions) first_ms: i64,
    pub(in crate::commands::sessions) last_ms: i64,
    /// Whether some of its records cannot be read. Then all the rest may not be the whole truth.
    pub(in crate::commands::sessions) is_damaged: bool,
}

/// How much of a session is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum StoredUpTo {
    /// All of it, also of its events what says whether they are damaged.
    End,
    /// Its journal and nothing else.
    EndOfJournal,
    /// As it was after this record of its journal.
    Record(u64),
}

/// The session of exactly this id.
pub(in crate::commands) fn named(
    log: &OpenLog,
    id: &str,
    up_to: StoredUpTo,
) -> Result<Option<Stored>, Failure> {
    let mut reading = Reading::new(id, up_to);
    for topic in known_topics_of(log, id)? {
        if is_of_journal(&topic) || up_to != StoredUpTo::EndOfJournal {
            reading.read(log, &topic)?;
        }
    }
    reading.session()
}

/// A session that is being read.
struct Reading {
    session: Stored,
    up_to: StoredUpTo,
    /// Whether something of it was seen, be it damaged.
    is_there: bool,
    /// The index of the last record of its journal, whether it was wanted or not.
    journal_end: Option<u64>,
    /// When the last record that was wanted was made.
    wanted_ms: i64,
}

impl Reading {
    fn new(id: &str, up_to: StoredUpTo) -> Self {
        Self {
            session: Stored {
                id: id.to_owned(),
                ..Stored::default()
            },
            up_to,
            is_there: false,
            journal_end: None,
            wanted_ms: 0,
        }
    }

    fn read(&mut self, log: &OpenLog, topic: &Topic) -> Result<(), Failure> {
        let is_journal = is_of_journal(topic);
        let is_damaged = look_through(log, topic, |_, event| {
            if session_of(&event) != Some(&self.session.id) {
                return Ok(());
            }
            self.has_happened(event.occurred_at_ms);
            match is_journal {
                true => self.add_record(event.occurred_at_ms, &event.payload),
                // Of events it matters when they happened, and that they can be read.
                false => serde_json::from_slice::<IgnoredAny>(&event.payload).map(drop),
            }
        })?;
        self.is_there |= is_damaged;
        self.session.is_damaged |= is_damaged;
        Ok(())
    }

    fn has_happened(&mut self, at_ms: i64) {
        let session = &mut self.session;
        if !self.is_there {
            (session.first_ms, session.last_ms) = (at_ms, at_ms);
        }
        self.is_there = true;
        session.first_ms = session.first_ms.min(at_ms);
        session.last_ms = session.last_ms.max(at_ms);
    }

    /// Adds a record of its journal. Those of a later version are not understood.
    fn add_record(&mut self, at_ms: i64, payload: &[u8]) -> serde_json::Result<()> {
        let record = match JournalRecord::decode(payload) {
            Ok(record) => record,
            Err(error) if error.is_data() => return Ok(()),
            Err(error) => return Err(error),
        };
        self.journal_end = Some(record.index);
        if !matches!(self.up_to, StoredUpTo::Record(last) if record.index > last) {
            self.session.last_record = Some(record.index);
            self.wanted_ms = at_ms;
            self.session.add(record.change);
        }
        Ok(())
    }

    /// The session, if there is one.
    fn session(mut self) -> Result<Option<Stored>, Failure> {
        if let (StoredUpTo::Record(index), true) = (self.up_to, self.is_there) {
            let id = &self.session.id;
            match self.journal_end {
                None => {
                    let why = format!("session '{id}' has no journal");
                    return Err(Failure::Told(why));
                }
                Some(last) if index > last => {
                    let why = format!("the journal of session '{id}' ends with record {last}");
                    return Err(Failure::Told(why));
                }
                Some(_) => self.session.last_ms = self.wanted_ms,
            }
        }
        Ok(self.is_there.then_some(self.session))
    }
}

impl Stored {
    fn add(&mut self, change: Change) {
        self.tally.note(&change);
        match &change {
            Change::Opened => self.failures.clear(),
            Change::CallFinished { outcome, text, .. } => match outcome {
                CallOutcome::Ok => {}
                CallOutcome::Error | CallOutcome::Rejected => {
                    self.failures.insert(text.clone());
                }
            },
            _ => {}
        }
        self.state.apply(change);
    }
}
