//! Journals, read again: the records of one session, or what it is after them.
//!
//! Records are taken in one after the other, so that of a long session no more is held than its
//! state.

use harn_events::SESSION_HEADER;
use harn_log::{EventLog, LogError, Topic};

use super::journal::{JournalRecord, journal_topic};
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

/// Looks at the records of a session's journal one after the other.
async fn for_each_record<L: EventLog>(
    log: &L,
    session_id: &str,
    mut look: impl FnMut(JournalRecord),
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
            if event.headers.get(SESSION_HEADER).map(String::as_str) != Some(session_id) {
                continue;
            }
            match JournalRecord::decode(&event.payload) {
                Ok(record) => look(record),
                // A record of a later version is no reason to lose the others.
                Err(error) if error.is_data() => {}
                Err(error) => return Err(error.into()),
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

/// A session as its journal has it; `None` without a journal. No record of it is held.
///
/// # Errors
/// The log cannot be read.
pub(crate) async fn logged_session<L: EventLog>(
    log: &L,
    session_id: &str,
) -> Result<Option<LoggedSession>, LogError> {
    let mut session: Option<LoggedSession> = None;
    for_each_record(log, session_id, |record| {
        let session = session.get_or_insert_with(|| LoggedSession {
            state: SessionState::default(),
            last_index: 0,
        });
        session.last_index = record.index;
        session.state.apply(record.change);
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
