//! The folder of a daemon.
//!
//! `daemon.json` is the snapshot of its loop, `daemon.meta.json` everything else that is needed
//! to take it up again. Both are replaced as a whole, so a reader sees the old one or the new
//! one and never half of one.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use harn_llm::desk::Thrown;
use serde_json::Value;

use super::queue::Queue;
use crate::fence::refused;
use crate::real_path::read_text;
use crate::runtime::Runtime;

/// The folder of a daemon.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    /// As the program wrote it.
    pub(super) root: String,
    place: PathBuf,
}

impl Folder {
    pub(super) fn new(runtime: &Runtime, root: &str) -> Self {
        Self {
            root: root.to_owned(),
            place: runtime.folder.join(root),
        }
    }

    pub(super) fn at(place: &Path) -> Self {
        Self {
            root: place.display().to_string(),
            place: place.to_owned(),
        }
    }

    /// Makes it, if it may be made.
    pub(super) fn make(&self, runtime: &Runtime) -> Result<(), Thrown> {
        self.check(runtime)?;
        fs::create_dir_all(&self.place).map_err(|error| failed("mkdir", &error))
    }

    /// Whether its files may be written.
    pub(super) fn check(&self, runtime: &Runtime) -> Result<(), Thrown> {
        let fence = &runtime.fence;
        fence.read(&self.meta()).map_err(refused)?;
        fence.write(&self.meta()).map_err(refused)?;
        fence.write(&self.snapshot()).map_err(refused)
    }

    /// The same folder however it is spelled.
    pub(super) fn identity(&self) -> PathBuf {
        fs::canonicalize(&self.place).unwrap_or_else(|_| self.place.clone())
    }

    /// Keeps other processes away while the lock is held. A system that cannot lock folders
    /// gives `Some(None)`; `None` says that another process holds it.
    pub(super) fn lock(&self) -> Option<Option<File>> {
        let Ok(folder) = File::open(&self.place) else {
            return Some(None);
        };
        match folder.try_lock() {
            Ok(()) => Some(Some(folder)),
            Err(fs::TryLockError::WouldBlock) => None,
            Err(fs::TryLockError::Error(_)) => Some(None),
        }
    }

    /// The file of the snapshot, as the program would write it.
    pub(super) fn snapshot_path(&self) -> String {
        let root = Path::new(&self.root);
        root.join("daemon.json").display().to_string()
    }

    /// Whether it has ever saved itself.
    pub(super) fn has_snapshot(&self) -> bool {
        self.snapshot().exists()
    }

    fn snapshot(&self) -> PathBuf {
        self.place.join("daemon.json")
    }

    fn meta(&self) -> PathBuf {
        self.place.join("daemon.meta.json")
    }

    /// A new daemon does not begin with the state of an earlier one.
    pub(super) fn forget_snapshot(&self) {
        // There usually is none.
        let _ = fs::remove_file(self.snapshot());
    }

    pub(super) fn read_meta(&self) -> Result<Value, Thrown> {
        read(&self.meta())
    }

    /// The last snapshot; `None` if there is none that can be read.
    pub(super) fn read_snapshot(&self) -> Option<Value> {
        read(&self.snapshot()).ok()
    }

    /// How many events nobody has handled.
    pub(super) fn events_left(&self) -> usize {
        self.read_meta().map_or(0, |meta| Queue::read(&meta).len())
    }

    /// Replaces the file. It would survive a power cut when this returns.
    pub(super) fn write_meta(&self, meta: &Value) -> Result<(), Thrown> {
        let text = serde_json::to_string_pretty(meta).map_err(|error| failed("encode", &error))?;
        let place = self.meta();
        let temporary = self.place.join("daemon.meta.json.tmp");
        write_synced(&temporary, text.as_bytes()).map_err(|error| failed("write", &error))?;
        fs::rename(&temporary, &place).map_err(|error| failed("finalize", &error))?;
        // Where folders cannot be synced the system does it in its own time.
        let _ = File::open(&self.place).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

/// Options may hold what only the owner should read.
fn write_synced(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut options = File::options();
    options.create(true).truncate(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn read(path: &Path) -> Result<Value, Thrown> {
    let text = read_text(path).map_err(|error| failed("read", &error))?;
    serde_json::from_str(&text).map_err(|error| failed("parse", &error))
}

fn failed(what: &str, error: &dyn std::fmt::Display) -> Thrown {
    Thrown::Runtime(format!("daemon snapshot {what} error: {error}"))
}
