//! Moves what is committed out of the write-ahead log, while the writer goes on.
//!
//! ```text
//! writer ── 1000 pages ──► mover: moves them, and again what came meanwhile
//!   ▲                        │
//!   └── only a few are left ─┘   the writer moves those and starts the log over
//! ```
//!
//! A commit is safe once it is in the write-ahead log, but the log would grow for ever. SQLite
//! would empty it inside a commit, while somebody waits for that, and it takes as long as
//! twenty commits. Another connection can do it at the same time as the writer writes, only
//! not to the very end: while the writer goes on there is always something left. That little
//! is left to the writer.

use std::path::Path;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;

use rusqlite::{Connection, OpenFlags};

use super::connect;
use crate::log::Result;

/// Pages in the write-ahead log from which it is moved.
const PAGES_MAX: usize = 1000;

/// Pages from which the writer waits for the mover: a disk may be slower to move than to write.
const PAGES_HARD_MAX: usize = 4 * PAGES_MAX;

/// Pages that the writer moves without being kept for long.
const PAGES_LEFT_MAX: i64 = 100;

/// How often the mover moves what came meanwhile. It ends even if the writer is faster.
const ROUNDS_MAX: usize = 5;

/// Moves what is committed out of the write-ahead log.
pub(super) struct Mover {
    shared: Arc<Shared>,
    /// Pages in the log after the last commit.
    pages: Arc<AtomicUsize>,
    /// As many as there were when it was last looked.
    pages_seen: usize,
    /// From how many on the log is moved next. Somebody who reads for long can keep it from
    /// getting any shorter; then it is tried again, but not with each commit.
    pages_due: usize,
    /// Started when there is something to move: most programs write little.
    thread: Option<Thread>,
}

struct Thread {
    rung: mpsc::SyncSender<()>,
    handle: JoinHandle<()>,
}

struct Shared {
    turn: AtomicU8,
    /// Held by whoever moves: SQLite would turn the second one away.
    moving: Mutex<()>,
}

/// Whose turn it is: nobody's.
const NOBODY: u8 = 0;
/// The mover's.
const MOVER: u8 = 1;
/// The writer's, which has little to do.
const WRITER: u8 = 2;

impl Mover {
    /// A mover of the log that this connection writes, instead of SQLite's own way.
    pub(super) fn new(writer: &mut Connection) -> rusqlite::Result<Self> {
        let pages = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&pages);
        writer.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, pages| {
            let pages = usize::try_from(pages).unwrap_or(0);
            counted.store(pages, Ordering::Relaxed);
            Ok(())
        }))?;
        Ok(Self {
            shared: Arc::new(Shared {
                turn: AtomicU8::new(NOBODY),
                moving: Mutex::new(()),
            }),
            pages,
            pages_seen: 0,
            pages_due: PAGES_MAX,
            thread: None,
        })
    }

    /// Looks after the log, when a commit has been told. `true`: it is the writer who has to
    /// move what is left.
    pub(super) fn look_after(&mut self, path: &Path) -> bool {
        let pages = self.pages.load(Ordering::Relaxed);
        let is_started_over = pages < self.pages_seen;
        if is_started_over {
            self.pages_due = PAGES_MAX;
        }
        self.pages_seen = pages;
        match self.shared.turn.load(Ordering::Acquire) {
            WRITER => {
                self.shared.turn.store(NOBODY, Ordering::Release);
                !is_started_over
            }
            NOBODY if pages >= self.pages_due => {
                self.pages_due = pages + PAGES_MAX;
                !self.ring(path)
            }
            MOVER if pages >= self.pages_due && pages >= PAGES_HARD_MAX => {
                self.pages_due = pages + PAGES_MAX;
                true
            }
            _ => false,
        }
    }

    /// Held by whoever moves the log.
    pub(super) fn moving(&self) -> MutexGuard<'_, ()> {
        self.shared.moving()
    }

    /// Wakes the thread; `false` if there is none.
    fn ring(&mut self, path: &Path) -> bool {
        self.shared.turn.store(MOVER, Ordering::Release);
        if self.thread.is_none() {
            self.thread = start(path, &self.shared).ok();
        }
        let rung = self.thread.as_ref().map(|thread| thread.rung.try_send(()));
        let is_rung = matches!(rung, Some(Ok(())));
        if !is_rung {
            self.shared.turn.store(NOBODY, Ordering::Release);
        }
        is_rung
    }
}

impl Drop for Mover {
    fn drop(&mut self) {
        if let Some(Thread { rung, handle }) = self.thread.take() {
            drop(rung);
            let _it_has_reported_its_panic = handle.join();
        }
    }
}

impl Shared {
    fn moving(&self) -> MutexGuard<'_, ()> {
        self.moving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves what there is, and what came meanwhile, until little or nothing comes. The writer
    /// may be in the middle of a commit even then, so the end is always left to it.
    fn move_most(&self, connection: &Connection) -> rusqlite::Result<()> {
        let _others_wait = self.moving();
        let mut moved = move_once(connection)?.moved;
        for _ in 0..ROUNDS_MAX {
            let round = move_once(connection)?;
            let came_meanwhile = round.pages - moved;
            if came_meanwhile <= PAGES_LEFT_MAX {
                break; // And in this round as few again.
            }
            moved = round.moved;
        }
        Ok(())
    }
}

fn start(path: &Path, shared: &Arc<Shared>) -> std::io::Result<Thread> {
    let (rung, rings) = mpsc::sync_channel(1);
    let (path, shared) = (path.to_owned(), Arc::clone(shared));
    let builder = std::thread::Builder::new().name("harn-log-move".to_owned());
    let handle = builder.spawn(move || {
        let mut connection = None;
        for () in rings {
            if connection.is_none() {
                connection = open(&path).ok();
            }
            let moved = connection.as_ref().map(|it| shared.move_most(it));
            // Where the mover cannot, the writer finds out why.
            let _the_writer_finds_out = moved.transpose();
            shared.turn.store(WRITER, Ordering::Release);
        }
    })?;
    Ok(Thread { rung, handle })
}

fn open(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = connect(path, flags)?;
    let synchronous = connection.execute_batch("PRAGMA synchronous=FULL");
    synchronous.map_err(|error| super::sqlite_at(path, error))?;
    Ok(connection)
}

/// How far moving came, in pages from the beginning of the log.
struct Round {
    /// How many there were when it began.
    pages: i64,
    /// How many of these have been moved, now or before.
    moved: i64,
}

/// Moves the pages there are that no reader needs where they are.
fn move_once(connection: &Connection) -> rusqlite::Result<Round> {
    let moved = connection.prepare_cached("PRAGMA wal_checkpoint(PASSIVE)");
    moved?.query_row([], |row| {
        Ok(Round {
            pages: row.get(1)?,
            moved: row.get(2)?,
        })
    })
}
