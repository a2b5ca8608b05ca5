//! What is committed and not in the tables yet, for those who read.
//!
//! Frames are moved into the tables a moment after they were committed, and after a crash when
//! somebody opens the log to write. Who reads sees them all the same, after what the tables have,
//! and waits for nobody.

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;

use crate::error::LogError;
use crate::file::OpenFile;
use crate::log::Result;
use crate::name::Topic;
use crate::record::Sealed;

use super::frame::Frame;
use super::intake::Intake;
use super::tables::{head_of, next_frame};
use super::{intake_of, sqlite_at};

/// How often one looks again because somebody has written meanwhile.
const LOOKS_MAX: usize = 16;

/// Finds what lies in the intake and not in the tables at this moment, for who may only read.
///
/// # Errors
/// One of the two is damaged or cannot be read.
pub(super) fn find(path: &Path, tables: &Connection) -> Result<Vec<Arc<Frame>>> {
    let next = || next_frame(tables).map_err(|error| sqlite_at(path, error));
    let mut known = next()?;
    for look in 1.. {
        let opened = Intake::open(&intake_of(path), OpenFile::Read, known);
        let newest = next()?;
        match opened {
            // Frames may have been written over while they were read: the tables have them.
            Err(LogError::Damaged(_)) if newest != known && look < LOOKS_MAX => known = newest,
            opened => {
                let frames = opened?.map_or_else(Vec::new, |(_, frames)| frames);
                return Ok(frames.into_iter().map(Arc::new).collect());
            }
        }
    }
    unreachable!("somebody gives up before");
}

/// The records of a topic that are in frames and not in the tables. All that is asked of the
/// tables has to be asked in one transaction, which begins when the frames are known: what is
/// moved meanwhile is in both, and not in none of them.
pub(super) fn records_of(
    frames: &[Arc<Frame>],
    topic: &Topic,
    tables: &Connection,
) -> rusqlite::Result<Vec<Sealed>> {
    let mut sections = frames
        .iter()
        .flat_map(|frame| frame.sections.iter().map(move |section| (frame, section)))
        .filter(|(_, section)| section.topic == *topic)
        .peekable();
    if sections.peek().is_none() {
        return Ok(Vec::new());
    }
    let (mut head, _) = head_of(tables, topic)?.unwrap_or_default();
    let mut records = Vec::new();
    for (frame, section) in sections {
        if section.first_id != head.id + 1 {
            continue; // The tables have it.
        }
        for draft in frame.drafts(section) {
            let sealed = draft.seal(head.id + 1, head.hash.as_deref());
            head.id = sealed.id;
            head.hash = Some(sealed.hash().to_owned());
            records.push(sealed);
        }
    }
    Ok(records)
}
