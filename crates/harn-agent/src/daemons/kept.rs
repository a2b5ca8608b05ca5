//! The daemons of a runtime.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harn_llm::desk::Thrown;
use serde_json::Value;

use super::daemon::Daemon;
use super::files::Folder;
use super::runtime_error;

/// The daemons of a runtime, also those that have stopped: their handles go on telling of them.
#[derive(Default)]
pub(crate) struct Daemons {
    by_id: Mutex<BTreeMap<String, Arc<Daemon>>>,
    /// The folders in which one runs.
    held: Arc<Mutex<BTreeSet<PathBuf>>>,
}

/// A folder that belongs to a daemon until this is dropped.
pub(super) struct Hold {
    folder: PathBuf,
    held: Arc<Mutex<BTreeSet<PathBuf>>>,
    /// The system lets go of it when the process ends, however it ends.
    _lock: Option<File>,
}

impl Drop for Hold {
    fn drop(&mut self) {
        lock(&self.held).remove(&self.folder);
    }
}

impl Daemons {
    /// Takes a folder for a daemon; `None` if one runs there.
    pub(super) fn hold(&self, folder: &Folder) -> Option<Hold> {
        let identity = folder.identity();
        let mut held = lock(&self.held);
        if held.contains(&identity) {
            return None;
        }
        let lock = folder.lock()?;
        held.insert(identity.clone());
        Some(Hold {
            folder: identity,
            held: Arc::clone(&self.held),
            _lock: lock,
        })
    }

    pub(super) fn keep(&self, daemon: Arc<Daemon>) {
        lock(&self.by_id).insert(daemon.id().to_owned(), daemon);
    }

    /// The daemon with that id, running or not.
    pub(super) fn with_id(&self, id: &str) -> Option<Arc<Daemon>> {
        lock(&self.by_id).get(id).cloned()
    }

    /// The daemon that a handle or an id names.
    pub(super) fn named(&self, handle: &Value) -> Result<Arc<Daemon>, Thrown> {
        let id = match handle {
            Value::String(id) => id,
            Value::Object(handle) => match handle.get("id") {
                Some(Value::String(id)) => id,
                _ => return runtime_error("daemon handle dict is missing an id field"),
            },
            _ => return runtime_error("expected daemon handle or daemon id"),
        };
        match self.with_id(id) {
            Some(daemon) => Ok(daemon),
            None => runtime_error(format!("unknown daemon '{id}'")),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
