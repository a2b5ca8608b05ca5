//! The records of a topic that can be read, where others cannot.

use harn_log::{EventId, EventLog, LogError, LogEvent, LogEventBytes, Topic, block_on};

use super::{CHUNK_RECORDS, Placed};
use crate::commands::events::failure::Failure;
use crate::commands::events::log::OpenLog;

/// After so many ids in a row without a readable record, the rest of a topic is given up.
const SKIPPED_MAX: usize = 64;

/// What can be read.
#[derive(Default)]
pub(in crate::commands::sessions) struct Readable {
    pub(in crate::commands::sessions) records: Vec<Placed>,
    /// Whether there is more, which cannot.
    pub(in crate::commands::sessions) is_damaged: bool,
}

impl Readable {
    /// Reads a topic around what is damaged in it.
    ///
    /// # Errors
    /// The log as a whole cannot be read.
    pub(super) fn of(log: &OpenLog, topic: &Topic) -> Result<Self, Failure> {
        let mut records = Vec::new();
        let is_damaged = look_through(log, topic, |id, event| {
            let event = LogEvent {
                payload: serde_json::from_slice(&event.payload)?,
                kind: event.kind,
                headers: event.headers,
                occurred_at_ms: event.occurred_at_ms,
            };
            let topic = topic.clone();
            records.push(Placed { topic, id, event });
            Ok(())
        })?;
        Ok(Self {
            records,
            is_damaged,
        })
    }
}

/// Looks at the records of a topic one after the other, around what is damaged in it; says
/// whether something is. A record is also damaged where `look` says so.
///
/// # Errors
/// The log as a whole cannot be read.
pub(super) fn look_through(
    log: &OpenLog,
    topic: &Topic,
    mut look: impl FnMut(EventId, LogEventBytes) -> serde_json::Result<()>,
) -> Result<bool, Failure> {
    let mut is_damaged = false;
    let (mut from, mut size, mut skipped) = (0, CHUNK_RECORDS, 0);
    while skipped < SKIPPED_MAX {
        match block_on(log.log.read_range_bytes(topic, Some(from), size)) {
            Ok(chunk) => {
                let Some((last, _)) = chunk.last() else {
                    break;
                };
                (from, size, skipped) = (*last, (size * 2).min(CHUNK_RECORDS), 0);
                for (id, event) in chunk {
                    is_damaged |= look(id, event).is_err();
                }
            }
            Err(error) if !is_about_records(&error) => return Err(error.into()),
            Err(_) if size > 1 => size /= 2,
            Err(_) => {
                is_damaged = true;
                from += 1;
                skipped += 1;
            }
        }
    }
    Ok(is_damaged)
}

/// Whether an error is about what was to be read, and not about the way to it.
fn is_about_records(error: &LogError) -> bool {
    match error {
        LogError::Damaged(_) | LogError::Serde(_) | LogError::Sqlite { .. } => true,
        LogError::Shared(error) | LogError::Poisoned(error) => is_about_records(error),
        _ => false,
    }
}
