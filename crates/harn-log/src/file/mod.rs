//! A log in files a person can read.
//!
//! ```text
//! layout      where things are
//! line        how a record looks
//! segment     reading lines
//! mark        what writers leave for each other
//! end         where a topic ends, and what is torn
//! topic       appending
//! compaction  taking old records away
//! dirty       what is not synced yet
//! ```
//!
//! Every topic is a sequence of files of lines, and `jq` reads them. Appending is
//! one write at the end of the last file, opening looks at the end only, and a
//! record is found by searching the files like a sorted list; there is no index that
//! could disagree with the records.

mod compacted;
mod compaction;
mod cursor;
mod dirty;
mod disk;
mod end;
mod honest;
mod keys;
mod layout;
mod line;
mod mark;
mod reader;
mod sabotage;
mod segment;
mod store;
mod topic;

use std::path::Path;
use std::sync::Arc;

use crate::delegate::delegate_to_local;
use crate::local::LocalEventLog;
use crate::log::Result;
use crate::owner::{OwnerFolder, Owners};

#[cfg(feature = "sabotage")]
pub use sabotage::Sabotage;

#[cfg(feature = "sqlite")]
pub(crate) use disk::named;
pub use disk::{Disk, DiskFile, OpenFile, RealDisk};
pub(crate) use disk::{read_full_at, write_all_at};
use store::FileStore;

/// A log in files.
pub struct FileEventLog {
    local: Arc<LocalEventLog<FileStore>>,
    owners: Arc<Owners>,
}

delegate_to_local!(FileEventLog);

/// How a log in files is kept.
#[derive(Clone, Debug)]
pub struct FileOptions {
    /// How many records a reader takes at once.
    pub queue_depth: usize,
    /// How large a file may become before the next one begins.
    pub segment_bytes_max: u64,
    /// What readers do about damage.
    pub on_damage: OnDamage,
    /// Which promise to break.
    #[cfg(feature = "sabotage")]
    pub sabotage: Option<Sabotage>,
}

impl Default for FileOptions {
    fn default() -> Self {
        Self {
            queue_depth: 128,
            segment_bytes_max: 8 * 1024 * 1024,
            on_damage: OnDamage::Refuse,
            #[cfg(feature = "sabotage")]
            sabotage: None,
        }
    }
}

/// What readers do about records that are not what was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDamage {
    /// They say where it is and stop.
    #[default]
    Refuse,
    /// They go on after it.
    Skip,
}

impl FileEventLog {
    /// Opens a log, which is made if it is not there.
    ///
    /// # Errors
    /// The folder cannot be made or written to.
    pub fn open(root: impl AsRef<Path>, queue_depth: usize) -> Result<Arc<Self>> {
        let options = FileOptions {
            queue_depth,
            ..FileOptions::default()
        };
        Self::open_with(root, options)
    }

    /// Opens a log with options of one's own.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn open_with(root: impl AsRef<Path>, options: FileOptions) -> Result<Arc<Self>> {
        Self::open_on(Arc::new(RealDisk), root, options)
    }

    /// Opens a log on a disk of one's own.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn open_on(
        disk: Arc<dyn Disk>,
        root: impl AsRef<Path>,
        options: FileOptions,
    ) -> Result<Arc<Self>> {
        let queue_depth = options.queue_depth;
        let folder = OwnerFolder::new(Arc::clone(&disk), root.as_ref().join("owners"));
        let store = FileStore::open(disk, root.as_ref(), options)?;
        let local = LocalEventLog::start(store, queue_depth)?;
        let owners = Owners::in_folder(folder);
        Ok(Arc::new(Self { local, owners }))
    }

    /// Who writes what.
    pub(crate) fn owners(&self) -> &Arc<Owners> {
        &self.owners
    }

    /// Takes up work again after a write has failed: looks at what is really stored
    /// and goes on from there. Until then the log refuses to append.
    ///
    /// # Errors
    /// What is stored cannot be read, or not be written to.
    pub async fn recover(&self) -> Result<()> {
        self.local.recover().await
    }
}
