//! A file that remembers that it could not be synced.
//!
//! A system tells about a failed sync once, to whoever asked, and forgets what it should have
//! written. Another thread that syncs the same file is then told that all is well. So once a
//! sync has failed, none through this file succeeds any more: what was written has to be
//! written again, and for that the file is opened anew.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::disk::DiskFile;

/// A file that remembers that it could not be synced.
pub(super) struct HonestFile {
    file: Arc<dyn DiskFile>,
    has_failed: AtomicBool,
}

impl HonestFile {
    pub(super) fn of(file: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        Arc::new(Self {
            file,
            has_failed: AtomicBool::new(false),
        })
    }
}

impl DiskFile for HonestFile {
    fn sync(&self) -> io::Result<()> {
        let synced = self.file.sync();
        if synced.is_err() {
            self.has_failed.store(true, Ordering::SeqCst);
        } else if self.has_failed.load(Ordering::SeqCst) {
            return Err(io::Error::other("an earlier sync of this file failed"));
        }
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
