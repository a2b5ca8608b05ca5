//! A log in one SQLite file: what one gets without asking.
//!
//! ```text
//! schema         tables, and how older ones become today's
//! tables         what is done to them, inside of transactions
//! store          what the writer does: a group of changes is a transaction
//! reader         what readers do, on a connection of their own
//! intake         a file in which records are safe before they are in the tables
//! write_through  writes that are on the disk when they return
//! ahead          commits that do not wait for the tables
//! unshelved      what is committed and not in the tables yet, for those who read
//! pen            who may write: one process at a time
//! ```
//!
//! ```text
//! events       a1 a2 a3 b1 b2 a4 a5 c1 …      all records, in the order in which they came
//! event_runs   a: 1─3 from place 1, 4─5 from place 6; b: 1─2 from place 4; …
//! ```
//!
//! An index of all records would name the topic in every entry and grow at as many ends as there
//! are topics; it was a third of what a commit wrote. Records of a topic come in batches, so to
//! know where the batches are is enough.
//!
//! A group of changes is a transaction, and a transaction that is committed has been
//! synced (`synchronous=FULL`), so a barrier has nothing left to wait for. A run that takes one
//! barrier after the other does without the writer: see `ahead`. Several processes may have the
//! file open; they take turns.

mod ahead;
mod frame;
mod intake;
mod pen;
mod reader;
mod schema;
mod store;
mod tables;
mod unshelved;
mod write_through;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, OpenFlags};

use crate::delegate::delegate_to_local;
use crate::error::LogError;
use crate::file::RealDisk;
use crate::local::LocalEventLog;
use crate::log::{Batch, Result};
use crate::name::EventId;
use crate::owner::{OwnerFolder, Owners};
use crate::private::{create_private_file, create_private_root};

use ahead::Ahead;
use reader::SqliteReader;
use store::SqliteStore;

/// How long another process may keep the file to itself.
const BUSY_WAIT: std::time::Duration = std::time::Duration::from_secs(5);

/// A log in a SQLite file.
pub struct SqliteEventLog {
    local: Arc<LocalEventLog<SqliteStore>>,
    ahead: Arc<Ahead>,
    owners: Arc<Owners>,
}

delegate_to_local!(SqliteEventLog);

impl SqliteEventLog {
    /// Opens a log, which is made if it is not there.
    ///
    /// # Errors
    /// The file cannot be opened, is no log of ours, or is one of a later version.
    pub fn open(path: impl AsRef<Path>, queue_depth: usize) -> Result<Arc<Self>> {
        let path = path.as_ref();
        if let Some(folder) = path.parent() {
            create_private_root(folder)?;
        }
        // What SQLite keeps beside its file is as open as the file itself.
        create_private_file(path)?;
        let flags = writing_flags();
        let mut writer = connect(path, flags)?;
        schema::prepare(&mut writer, path)?;
        let reader = connect(path, flags)?;
        Self::start(path, writer, reader, Access::Write, queue_depth)
    }

    /// Opens a log that is there, and changes nothing in it.
    ///
    /// # Errors
    /// As for [`open`](Self::open), or the log has to be brought up to date first.
    pub fn open_read_only(path: impl AsRef<Path>, queue_depth: usize) -> Result<Arc<Self>> {
        let path = path.as_ref();
        let (writer, reader) = match connect_to_read(path, Beside::Files) {
            // Without the right to make files beside it, the file has to be enough,
            // which it is if it was closed in peace.
            Err(error) if !wal_of(path).exists() => {
                connect_to_read(path, Beside::Nothing).map_err(|_| error)?
            }
            connected => connected?,
        };
        Self::start(path, writer, reader, Access::Read, queue_depth)
    }

    /// See [`AnyEventLog::append_batches_then`](crate::AnyEventLog::append_batches_then).
    pub(crate) fn append_batches_then(
        &self,
        batches: Vec<Batch>,
        then: impl FnOnce(Vec<Batch>, Vec<Result<Vec<EventId>>>) + Send + 'static,
    ) -> std::result::Result<(), Vec<Batch>> {
        self.local.append_batches_then(batches, then)
    }

    /// See [`AnyEventLog::append_batches_here`](crate::AnyEventLog::append_batches_here).
    pub(crate) fn append_batches_here(
        &self,
        batches: &[Batch],
    ) -> Option<Vec<Result<Vec<EventId>>>> {
        // Whoever follows a topic is served by the writer, from memory.
        if batches
            .iter()
            .any(|batch| self.local.is_followed(batch.topic()))
        {
            return None;
        }
        let committed = match self.ahead.commit(batches)? {
            Ok(committed) => committed,
            Err(error) => {
                let error = Arc::new(error);
                let shared = |_| Err(LogError::Shared(Arc::clone(&error)));
                return Some(batches.iter().map(shared).collect());
            }
        };
        let sections = &committed.frame.sections;
        self.local.note_committed(batches);
        if committed.is_news {
            self.local.tend();
        }
        Some(
            sections
                .iter()
                .map(|section| Ok(section.ids().collect()))
                .collect(),
        )
    }

    /// See [`AnyEventLog::recover`](crate::AnyEventLog::recover).
    pub(crate) async fn recover(&self) -> Result<()> {
        self.local.recover().await
    }

    /// See [`AnyEventLog::catch_up`](crate::AnyEventLog::catch_up).
    pub(crate) async fn catch_up(&self) -> Result<()> {
        self.local.catch_up().await
    }

    fn start(
        path: &Path,
        writer: Connection,
        reader: Connection,
        access: Access,
        queue_depth: usize,
    ) -> Result<Arc<Self>> {
        let ahead = Arc::new(Ahead::new(path, access));
        let left_behind = match access {
            Access::Read => unshelved::find(path, &reader)?,
            Access::Write => Vec::new(), // They are moved into the tables.
        };
        let reader = SqliteReader::new(path, reader, Arc::clone(&ahead), left_behind);
        let reader = Arc::new(reader);
        let mut store = SqliteStore::new(path, writer, access, reader, Arc::clone(&ahead));
        if access == Access::Write {
            store.adopt_leftovers()?;
        }
        let local = LocalEventLog::start(store, queue_depth)?;
        let folder = OwnerFolder::new(Arc::new(RealDisk), beside(path, "-owners"));
        Ok(Arc::new(Self {
            local,
            ahead,
            owners: Owners::in_folder(folder),
        }))
    }

    /// Who writes what.
    pub(crate) fn owners(&self) -> &Arc<Owners> {
        &self.owners
    }
}

/// How a file is opened that is written to.
fn writing_flags() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

/// What may be done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Write,
    Read,
}

/// What SQLite may have beside a file that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beside {
    /// Files by which it hears of those who write.
    Files,
    /// Nothing: nobody writes.
    Nothing,
}

/// Two connections that read.
fn connect_to_read(path: &Path, beside: Beside) -> Result<(Connection, Connection)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let uri = match beside {
        Beside::Files => path.to_owned(),
        Beside::Nothing => {
            let name = path.display().to_string();
            let name = name
                .replace('%', "%25")
                .replace('?', "%3f")
                .replace('#', "%23");
            PathBuf::from(format!("file:{name}?immutable=1"))
        }
    };
    let first = connect(&uri, flags)?;
    schema::check(&first, path)?;
    Ok((first, connect(&uri, flags)?))
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection> {
    let opened = Connection::open_with_flags(path, flags).and_then(|connection| {
        connection.busy_timeout(BUSY_WAIT)?;
        connection.set_prepared_statement_cache_capacity(32);
        // Reading one page tells whether this is a database at all.
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok(connection)
    });
    opened.map_err(|error| sqlite_at(path, error))
}

/// An error of SQLite that says which file it is about.
fn sqlite_at(path: &Path, error: rusqlite::Error) -> LogError {
    LogError::Sqlite {
        path: path.to_owned(),
        error,
    }
}

/// The file next to the database where SQLite keeps what is new.
fn wal_of(path: &Path) -> PathBuf {
    beside(path, "-wal")
}

/// The file next to the database that we touch after a commit, for other processes to
/// hear. SQLite writes its own files before a commit can be seen, which is too early.
fn bell_of(path: &Path) -> PathBuf {
    beside(path, "-bell")
}

/// The file next to the database in which records are safe before they are in the tables.
fn intake_of(path: &Path) -> PathBuf {
    beside(path, "-intake")
}

/// The folder in which a file lies.
fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|path| !path.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
