//! What a log on this machine counts, and whether it still works.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::LogError;
use crate::log::{LogHealth, Repair, Result};

/// Repairs that are remembered.
const REPAIRS_MAX: usize = 1000;

/// What a log counts. Shared by its threads.
#[derive(Default)]
pub(crate) struct Counters {
    records: AtomicU64,
    bytes: AtomicU64,
    changes: AtomicU64,
    groups: AtomicU64,
    barriers: AtomicU64,
    syncs: AtomicU64,
    failures: AtomicU64,
    trouble: Mutex<Trouble>,
}

#[derive(Default)]
struct Trouble {
    first_error: Option<String>,
    /// Why nothing is appended until somebody recovers the log.
    poison: Option<Arc<LogError>>,
    repairs: Vec<Repair>,
}

impl Counters {
    pub(crate) fn note_group(&self, changes: usize) {
        self.groups.fetch_add(1, Ordering::Relaxed);
        self.changes.fetch_add(changes as u64, Ordering::Relaxed);
    }

    pub(crate) fn note_records(&self, records: usize, bytes: usize) {
        self.records.fetch_add(records as u64, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn note_sync(&self, barriers: usize) {
        self.syncs.fetch_add(1, Ordering::Relaxed);
        self.barriers.fetch_add(barriers as u64, Ordering::Relaxed);
    }

    /// Something failed and could be undone.
    pub(crate) fn note_failure(&self, error: &LogError) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        let mut trouble = self.trouble();
        trouble.first_error.get_or_insert_with(|| error.to_string());
    }

    /// Something failed and nobody knows what is stored now: until somebody has
    /// looked, nothing more is accepted.
    pub(crate) fn poison(&self, error: LogError) -> LogError {
        self.note_failure(&error);
        let error = Arc::new(error);
        self.trouble()
            .poison
            .get_or_insert_with(|| Arc::clone(&error));
        LogError::Shared(error)
    }

    /// Refuses while there is a failure nobody has looked at.
    pub(crate) fn check_poison(&self) -> Result<()> {
        match &self.trouble().poison {
            Some(cause) => Err(LogError::Poisoned(Arc::clone(cause))),
            None => Ok(()),
        }
    }

    pub(crate) fn cure(&self) {
        self.trouble().poison = None;
    }

    pub(crate) fn note_repair(&self, repair: Repair) {
        let mut trouble = self.trouble();
        if trouble.repairs.len() < REPAIRS_MAX {
            trouble.repairs.push(repair);
        }
    }

    pub(crate) fn health(&self) -> LogHealth {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let trouble = self.trouble();
        LogHealth {
            records_appended: count(&self.records),
            bytes_appended: count(&self.bytes),
            changes: count(&self.changes),
            groups: count(&self.groups),
            barriers: count(&self.barriers),
            syncs: count(&self.syncs),
            failures: count(&self.failures),
            first_error: trouble.first_error.clone(),
            refusing: trouble.poison.as_ref().map(ToString::to_string),
            repairs: trouble.repairs.clone(),
        }
    }

    fn trouble(&self) -> MutexGuard<'_, Trouble> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
