//! What has been written and not synced.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::local::{Counters, SyncDisk};
use crate::log::Result;
use crate::name::{EventId, Topic};

use super::disk::DiskFile;
use super::mark::Synced;

/// The files of a log that have been written to since they were last synced. The
/// writer adds to it and the syncer empties it.
pub(super) struct Dirty {
    files: Mutex<Files>,
    /// Held while syncing. Whoever finds nothing to sync must not return before those
    /// are done who took it.
    syncing: Mutex<()>,
    counters: Arc<Counters>,
}

#[derive(Default)]
struct Files {
    unsynced: BTreeMap<Topic, Unsynced>,
    /// Files whose sync failed. The system may have forgotten what was written to
    /// them while still showing it to us, so it has to be written again.
    suspect: BTreeMap<Topic, Unsynced>,
}

/// A file that has been written to.
#[derive(Clone)]
pub(super) struct Unsynced {
    pub(super) file: Arc<dyn DiskFile>,
    /// Where to note that it is synced.
    pub(super) mark: Arc<dyn DiskFile>,
    /// The first id of the segment.
    pub(super) segment: EventId,
    /// Up to where it was written.
    pub(super) up_to: u64,
}

impl Unsynced {
    fn sync(&self) -> std::io::Result<()> {
        self.file.sync()?;
        let synced = Synced {
            segment: self.segment,
            up_to: self.up_to,
        };
        // Without the mark, more is looked at after a crash and nothing is lost.
        let _not_needed = synced.write(&*self.mark);
        Ok(())
    }
}

impl Dirty {
    pub(super) fn new(counters: Arc<Counters>) -> Self {
        Self {
            files: Mutex::default(),
            syncing: Mutex::default(),
            counters,
        }
    }

    /// Notes that a file was written to; returns how many there are.
    pub(super) fn add(&self, topic: &Topic, unsynced: Unsynced) -> usize {
        let mut files = self.lock();
        files.unsynced.insert(topic.clone(), unsynced);
        files.unsynced.len()
    }

    /// Files whose sync failed.
    pub(super) fn take_suspects(&self) -> BTreeMap<Topic, Unsynced> {
        std::mem::take(&mut self.lock().suspect)
    }

    /// Files that still have to be written again.
    pub(super) fn suspect(&self, suspects: BTreeMap<Topic, Unsynced>) {
        self.lock().suspect.extend(suspects);
    }

    fn lock(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SyncDisk for Dirty {
    fn sync(&self) -> Result<()> {
        let _one_at_a_time = self.syncing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut unsynced = std::mem::take(&mut self.lock().unsynced);
        let mut failed = None;
        unsynced.retain(|_, file| {
            let synced = match failed {
                None => file.sync(),
                Some(_) => return true,
            };
            failed = synced.err();
            failed.is_some()
        });
        let Some(error) = failed else {
            return self.counters.check_poison();
        };
        // Poisoned before anybody can find the files clean.
        let error = self.counters.poison(error.into());
        self.suspect(unsynced);
        Err(error)
    }
}
