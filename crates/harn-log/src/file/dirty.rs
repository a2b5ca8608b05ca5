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

/// The last file of each topic; those before it are always synced.
type Files = BTreeMap<Topic, Unsynced>;

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
        // An older mark would do as well. But who knows what a write that fails leaves: without
        // any mark, what is torn later would be taken for damage.
        synced.write(&*self.mark)
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
        files.insert(topic.clone(), unsynced);
        files.len()
    }

    /// Forgets the files, because they will be looked at anew; returns whose they were.
    pub(super) fn forget(&self) -> Vec<Topic> {
        std::mem::take(&mut *self.lock()).into_keys().collect()
    }

    /// Syncs one file, if it needs to be.
    pub(super) fn sync_topic(&self, topic: &Topic) -> Result<()> {
        let _one_at_a_time = self.syncing.lock().unwrap_or_else(PoisonError::into_inner);
        self.counters.check_poison()?;
        let Some(file) = self.lock().remove(topic) else {
            return Ok(());
        };
        file.sync().map_err(|error| {
            self.lock().entry(topic.clone()).or_insert(file);
            self.counters.poison(error.into())
        })
    }

    fn lock(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SyncDisk for Dirty {
    fn sync(&self) -> Result<()> {
        let _one_at_a_time = self.syncing.lock().unwrap_or_else(PoisonError::into_inner);
        // A disk that has failed to sync may have forgotten what it should have written, and
        // succeed the next time. Only recovery writes it again; until then there must be no
        // mark that says it is safe.
        self.counters.check_poison()?;
        let mut unsynced = std::mem::take(&mut *self.lock());
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
        // Poisoned before anybody can find the files clean. Until somebody recovers the
        // log, nobody writes; what was written meanwhile is newer and stays.
        let error = self.counters.poison(error.into());
        let mut files = self.lock();
        for (topic, file) in unsynced {
            files.entry(topic).or_insert(file);
        }
        Err(error)
    }
}
