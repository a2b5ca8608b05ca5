//! A file that remembers that it could not be synced.
//!
//! A system tells about a failed sync once, to whoever asked, and forgets what it should have
//! written. Another thread that syncs the same file is then told that all is well. So once a
//! sync has failed, none through this file succeeds any more: what was written has to be
//! written again, and for that the file is opened anew.
//!
//! Syncs of one file take turns. Otherwise one could be told that all is well after another has
//! been told otherwise, and before that one could say so. Nothing is lost by waiting: whoever
//! comes second wants more to be safe than the first, and a disk does one after the other.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::disk::DiskFile;

/// A file that remembers that it could not be synced.
pub(super) struct HonestFile {
    file: Arc<dyn DiskFile>,
    /// Whether a sync has failed. Held while syncing.
    has_failed: Mutex<bool>,
}

impl HonestFile {
    pub(super) fn of(file: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        Arc::new(Self {
            file,
            has_failed: Mutex::new(false),
        })
    }
}

impl DiskFile for HonestFile {
    fn sync(&self) -> io::Result<()> {
        let has_failed = self.has_failed.lock();
        let mut has_failed = has_failed.unwrap_or_else(PoisonError::into_inner);
        if *has_failed {
            return Err(io::Error::other("an earlier sync of this file failed"));
        }
        let synced = self.file.sync();
        *has_failed = synced.is_err();
        synced
    }

    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.file.write_at(bytes, offset)
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.file.truncate(len)
    }

    fn try_lock(&self) -> io::Result<bool> {
        self.file.try_lock()
    }

    fn lock_within(self: Arc<Self>, limit: Duration) -> io::Result<bool> {
        Arc::clone(&self.file).lock_within(limit)
    }

    fn unlock(&self) -> io::Result<()> {
        self.file.unlock()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{OnceLock, Weak};
    use std::thread::{self, JoinHandle};
    use std::time::Instant;

    use super::*;

    /// As long as a thread may take that nobody holds back.
    const A_WHILE: Duration = Duration::from_millis(100);

    /// A file whose first sync fails. Before that one hears of it, another thread syncs the same
    /// file, and the system knows nothing of a failure any more.
    #[derive(Default)]
    struct ForgetfulFile {
        honest: OnceLock<Weak<dyn DiskFile>>,
        second: Mutex<Option<JoinHandle<io::Result<()>>>>,
    }

    impl DiskFile for ForgetfulFile {
        fn sync(&self) -> io::Result<()> {
            let mut second = match self.second.try_lock() {
                Ok(second) if second.is_none() => second,
                _ => return Ok(()),
            };
            let honest = self.honest.get().and_then(Weak::upgrade).unwrap();
            let thread = second.insert(thread::spawn(move || honest.sync()));
            let started = Instant::now();
            // It ends while we are here only if it does not take its turn.
            while !thread.is_finished() && started.elapsed() < A_WHILE {
                thread::yield_now();
            }
            Err(io::Error::other("the disk is broken"))
        }

        fn len(&self) -> io::Result<u64> {
            Ok(0)
        }

        fn read_at(&self, _buffer: &mut [u8], _offset: u64) -> io::Result<usize> {
            Ok(0)
        }

        fn write_at(&self, bytes: &[u8], _offset: u64) -> io::Result<usize> {
            Ok(bytes.len())
        }

        fn truncate(&self, _len: u64) -> io::Result<()> {
            Ok(())
        }

        fn try_lock(&self) -> io::Result<bool> {
            Ok(true)
        }

        fn lock_within(self: Arc<Self>, _limit: Duration) -> io::Result<bool> {
            Ok(true)
        }

        fn unlock(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn nobody_is_told_synced_while_another_is_being_told_of_a_failure() {
        let forgetful = Arc::new(ForgetfulFile::default());
        let honest = HonestFile::of(Arc::clone(&forgetful) as Arc<dyn DiskFile>);
        assert!(forgetful.honest.set(Arc::downgrade(&honest)).is_ok());
        assert!(honest.sync().is_err());
        let second = forgetful.second.lock().unwrap().take().unwrap();
        assert!(second.join().unwrap().is_err());
        assert!(honest.sync().is_err(), "it never succeeds again");
    }
}
