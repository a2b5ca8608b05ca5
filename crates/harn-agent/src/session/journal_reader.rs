//! Journals, read again: the records of one session, or what it is after them.
//!
//! Records are taken in one after the other, so that of a long session no more is held than its
//! state.

use harn_events::SESSION_HEADER;
use harn_log::{EventLog, LogError, Topic};

use super::journal::{JournalRecord, journal_topic};
use super::proof::{JournalCheck, JournalKey};
use super::state::SessionState;

/// Records read together.
const CHUNK_RECORDS: usize = 256;

/// The records of a session's journal, in order.
///
/// # Errors
/// The log cannot be read.
pub async fn session_records<L: EventLog>(
    log: &L,
    session_id: &str,
) -> Result<Vec<JournalRecord>, LogError> {
    let mut records = Vec::new();
    for_each_record(log, session_id, |record| records.push(record)).await?;
    Ok(records)
}

/// Where somebody without the key has changed the journal of a session; see [`JournalCheck`].
///
/// # Errors
/// The log cannot be read.
pub async fn check_journal<L: EventLog>(
    log: &L,
    session_id: &str,
    key: JournalKey,
) -> Result<Option<u64>, LogError> {
    let mut check = JournalCheck::new(key, session_id);
    for_each_text(log, session_id, |text| {
        check.read(text);
        Ok(())
    })
    .await?;
    Ok(check.changed_at())
}

/// Looks at the records of a session's journal one after the other.
async fn for_each_record<L: EventLog>(
    log: &L,
    session_id: &str,
    mut look: impl FnMut(JournalRecord),
) -> Result<(), LogError> {
    for_each_text(log, session_id, |text| {
        decoded(text).map(|record| record.map_or((), &mut look))
    })
    .await
}

/// A record, unless it is one of a later version: that is no reason to lose the others.
fn decoded(text: &[u8]) -> Result<Option<JournalRecord>, LogError> {
    match JournalRecord::decode(text) {
        Ok(record) => Ok(Some(record)),
        Err(error) if error.is_data() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Looks at the texts of the records of a session's journal one after the other.
async fn for_each_text<L: EventLog>(
    log: &L,
    session_id: &str,
    mut look: impl FnMut(&[u8]) -> Result<(), LogError>,
) -> Result<(), LogError> {
    let topic = Topic::new(journal_topic(session_id))?;
    let mut from = None;
    loop {
        let chunk = log.read_range_bytes(&topic, from, CHUNK_RECORDS).await?;
        let Some((last, _)) = chunk.last() else {
            return Ok(());
        };
        from = Some(*last);
        for (_, event) in &chunk {
            if event.headers.get(SESSION_HEADER).map(String::as_str) == Some(session_id) {
                look(&event.payload)?;
            }
        }
    }
}

/// A session as its journal has it.
pub(crate) struct LoggedSession {
    /// What it is.
    pub(crate) state: SessionState,
    /// The index of the last record.
    pub(crate) last_index: u64,
}

/// A session as its journal has it; `None` without a journal. No record of it is held; the text
/// of each is shown to `look`.
///
/// # Errors
/// The log cannot be read.
pub(crate) async fn logged_session<L: EventLog>(
    log: &L,
    session_id: &str,
    mut look: impl FnMut(&[u8]),
) -> Result<Option<LoggedSession>, LogError> {
    let mut session: Option<LoggedSession> = None;
    for_each_text(log, session_id, |text| {
        look(text);
        let Some(record) = decoded(text)? else {
            return Ok(());
        };
        let session = session.get_or_insert_with(|| LoggedSession {
            state: SessionState::default(),
            last_index: 0,
        });
        session.last_index = record.index;
        session.state.apply(record.change);
        Ok(())
    })
    .await?;
    Ok(session)
}

/// The state of a session after its first `records`, or after all of them.
///
/// # Errors
/// The log cannot be read.
pub async fn load_session<L: EventLog>(
    log: &L,
    session_id: &str,
    records: Option<usize>,
) -> Result<SessionState, LogError> {
    let mut state = SessionState::default();
    let mut left = records.unwrap_or(usize::MAX);
    for_each_record(log, session_id, |record| {
        if left > 0 {
            left -= 1;
            state.apply(record.change);
        }
    })
    .await?;
    Ok(state)
}
