//! A disk that can only be read, so that looking at a log cannot change it.

use std::io;
use std::path::Path;
use std::sync::Arc;

use harn_log::{Disk, DiskFile, OpenFile, RealDisk};

/// A disk that can only be read.
pub(super) struct ReadOnlyDisk;

impl Disk for ReadOnlyDisk {
    /// Opening a log makes its folders. Those that are missing are as good as empty.
    fn create_folder(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        RealDisk.list(path)
    }

    fn open(&self, path: &Path, how: OpenFile) -> io::Result<Arc<dyn DiskFile>> {
        match how {
            OpenFile::Read => RealDisk.open(path, how),
            OpenFile::Existing | OpenFile::Write | OpenFile::New => Err(refused()),
        }
    }

    fn rename(&self, _from: &Path, _to: &Path) -> io::Result<()> {
        Err(refused())
    }

    fn remove(&self, _path: &Path) -> io::Result<()> {
        Err(refused())
    }

    fn sync_folder(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }
}

fn refused() -> io::Error {
    io::ErrorKind::ReadOnlyFilesystem.into()
}
