//! The records of a topic that can be read, where others cannot.

use harn_log::{EventId, EventLog, LogError, LogEventBytes, Topic, block_on};

use super::CHUNK_RECORDS;
use crate::commands::events::failure::Failure;
use crate::commands::events::log::OpenLog;

/// After so many ids in a row without a readable record, the rest of a topic is given up.
const SKIPPED_MAX: usize = 64;

/// Looks at the records of a topic one after the other, around what is damaged in it; says
/// whether something is. A record is also damaged where `look` says so.
///
/// # Errors
/// The log as a whole cannot be read.
pub(in crate::commands::sessions) fn look_through(
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
pub(super) fn is_about_records(error: &LogError) -> bool {
    match error {
        LogError::Damaged(_) | LogError::Serde(_) | LogError::Sqlite { .. } => true,
        LogError::Shared(error) | LogError::Poisoned(error) => is_about_records(error),
        _ => false,
    }
}
