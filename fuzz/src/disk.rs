//! A disk in memory that never fails, with whatever files one wants on it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use harn_log::{Disk, DiskFile, OpenFile};

type Content = Arc<Mutex<Vec<u8>>>;

/// A disk in memory. Clones are the same disk, and folders are there as soon as
/// something is in them.
#[derive(Clone, Default)]
pub struct MemoryDisk {
    files: Arc<Mutex<BTreeMap<PathBuf, Content>>>,
}

impl MemoryDisk {
    /// Puts a file on it.
    pub fn write(&self, path: impl AsRef<Path>, content: Vec<u8>) {
        let path = path.as_ref().to_owned();
        lock(&self.files).insert(path, Arc::new(Mutex::new(content)));
    }

    /// All of a file.
    pub fn read(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        let content = lock(&self.files).get(path.as_ref()).cloned();
        content.map(|content| lock(&content).clone())
    }
}

impl Disk for MemoryDisk {
    fn create_folder(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let files = lock(&self.files);
        let inside = files.keys().filter_map(|file| file.strip_prefix(path).ok());
        let firsts = inside.filter_map(|inside| inside.iter().next());
        let names: BTreeSet<_> = firsts.filter_map(|name| name.to_str()).collect();
        Ok(names.into_iter().map(str::to_owned).collect())
    }

    fn open(&self, path: &Path, how: OpenFile) -> io::Result<Arc<dyn DiskFile>> {
        let mut files = lock(&self.files);
        let known = files.get(path).cloned();
        let content = match (known, how) {
            (Some(_), OpenFile::New) => return Err(io::ErrorKind::AlreadyExists.into()),
            (Some(content), _) => content,
            (None, OpenFile::Read | OpenFile::Existing) => {
                return Err(io::ErrorKind::NotFound.into());
            }
            (None, OpenFile::Write | OpenFile::New) => {
                Arc::clone(files.entry(path.to_owned()).or_default())
            }
        };
        Ok(Arc::new(MemoryFile { content }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut files = lock(&self.files);
        let moved = files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        files.insert(to.to_owned(), moved);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let removed = lock(&self.files).remove(path);
        removed.map(drop).ok_or(io::ErrorKind::NotFound.into())
    }

    fn sync_folder(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }
}

struct MemoryFile {
    content: Content,
}

impl DiskFile for MemoryFile {
    fn len(&self) -> io::Result<u64> {
        Ok(lock(&self.content).len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let content = lock(&self.content);
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let rest = content.get(start..).unwrap_or_default();
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let mut content = lock(&self.content);
        let start = usize::try_from(offset).expect("nobody writes that far");
        let end = start + bytes.len();
        if content.len() < end {
            content.resize(end, 0);
        }
        content[start..end].copy_from_slice(bytes);
        Ok(bytes.len())
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).expect("nobody cuts that far");
        lock(&self.content).resize(len, 0);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
