//! Who may write: one process at a time.
//!
//! SQLite lets one process at a time change the tables. What lies in the intake has ids that the
//! tables do not know yet, so nobody else may give ids out until the tables have it. Whoever
//! writes holds the pen: for a moment to change the tables, and longer while something of its own
//! lies in the intake. Who waits for it knocks, and whoever is in no hurry hears that.
//!
//! The pen is a lock on `<name>-bell`, the file by which processes tell each other what is new.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::error::LogError;
use crate::file::{Disk, DiskFile, OpenFile, RealDisk, read_full_at, write_all_at};
use crate::log::Result;

use super::{BUSY_WAIT, bell_of};

/// Where in the file the knocks are counted.
const KNOCKS_AT: u64 = 8;

/// How long one waits before one looks again. The system could wait for the lock, but not for a
/// while only.
const PATIENCE: Duration = Duration::from_millis(1);

/// How often one looks before one knocks again. Whoever has just taken the pen may have been deaf
/// to the knock before.
const LOOKS_PER_KNOCK: u32 = 100;

/// The right to write.
pub(super) struct Pen {
    path: PathBuf,
    /// Made by the first who wants to write.
    bell: Option<Arc<dyn DiskFile>>,
    is_held: bool,
    /// Whether the disk knows no locks. SQLite has its own ways to guard the tables there, and
    /// nothing may lie in the intake.
    is_missing: bool,
    /// How often somebody had knocked when it was taken.
    knocks: u64,
}

impl Pen {
    pub(super) fn new(database: &Path) -> Self {
        Self {
            path: bell_of(database),
            bell: None,
            is_held: false,
            is_missing: false,
            knocks: 0,
        }
    }

    pub(super) fn is_held(&self) -> bool {
        self.is_held
    }

    /// Takes the pen, unless somebody else has it.
    pub(super) fn try_take(&mut self) -> io::Result<bool> {
        if !self.is_held {
            self.is_held = match self.bell()?.try_lock() {
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                    self.is_missing = true;
                    true
                }
                taken => taken?,
            };
            self.knocks = self.count_knocks()?;
        }
        Ok(self.is_held)
    }

    /// Whether there is no pen here.
    pub(super) fn is_missing(&self) -> bool {
        self.is_missing
    }

    /// Takes the pen, and waits for it if need be. Whether somebody else had it.
    ///
    /// # Errors
    /// Somebody else has it for too long.
    pub(super) fn take(&mut self) -> Result<bool> {
        if self.try_take()? {
            return Ok(false);
        }
        let until = Instant::now() + BUSY_WAIT;
        for look in 0.. {
            if look % LOOKS_PER_KNOCK == 0 {
                self.knock()?;
            }
            thread::park_timeout(PATIENCE);
            if self.try_take()? {
                return Ok(true);
            }
            if Instant::now() >= until {
                break;
            }
        }
        let path = self.path.display();
        let problem = format!("{path} has been locked by another process for {BUSY_WAIT:?}");
        Err(LogError::Io(io::Error::new(
            io::ErrorKind::TimedOut,
            problem,
        )))
    }

    /// Lets others have it.
    pub(super) fn put_down(&mut self) {
        if let Some(bell) = self.bell.as_ref().filter(|_| self.is_held) {
            // It is let go at the latest when the file is closed.
            let _others_wait_longer = bell.unlock();
            self.is_held = false;
        }
    }

    /// Whether somebody has knocked since it was taken.
    pub(super) fn is_wanted(&mut self) -> io::Result<bool> {
        Ok(self.count_knocks()? != self.knocks)
    }

    fn knock(&mut self) -> io::Result<()> {
        let knocks = self.count_knocks()?.wrapping_add(1);
        write_all_at(&**self.bell()?, &knocks.to_le_bytes(), KNOCKS_AT)
    }

    fn count_knocks(&mut self) -> io::Result<u64> {
        let mut knocks = [0; 8];
        read_full_at(&**self.bell()?, &mut knocks, KNOCKS_AT)?;
        Ok(u64::from_le_bytes(knocks))
    }

    /// The file by which processes tell each other what is new.
    pub(super) fn bell(&mut self) -> io::Result<&Arc<dyn DiskFile>> {
        match &mut self.bell {
            Some(bell) => Ok(bell),
            none => Ok(none.insert(RealDisk.open(&self.path, OpenFile::Write)?)),
        }
    }
}

/// Lets other processes hear that there is something new.
pub(super) fn ring(bell: &dyn DiskFile) -> io::Result<()> {
    write_all_at(bell, b"!", 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_pens() -> (tempfile::TempDir, [Pen; 2]) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.sqlite");
        let pens = [Pen::new(&path), Pen::new(&path)];
        (folder, pens)
    }

    #[test]
    fn there_is_one_pen() {
        let (_folder, [mut one, mut two]) = two_pens();
        assert!(one.try_take().unwrap());
        assert!(!two.try_take().unwrap());
        assert!(one.try_take().unwrap(), "who has it keeps it");
        one.put_down();
        assert!(two.try_take().unwrap());
        assert!(!one.try_take().unwrap());
    }

    #[test]
    fn who_holds_it_hears_who_waits() {
        let (_folder, [mut one, mut two]) = two_pens();
        assert!(one.try_take().unwrap());
        assert!(!one.is_wanted().unwrap());
        thread::scope(|scope| {
            let waiting = scope.spawn(move || two.take().unwrap());
            while !one.is_wanted().unwrap() {
                thread::yield_now();
            }
            one.put_down();
            assert!(waiting.join().unwrap(), "somebody else had it");
        });
        assert!(!one.take().unwrap(), "nobody else has it");
        assert!(!one.is_wanted().unwrap(), "what was heard is heard");
    }
}
