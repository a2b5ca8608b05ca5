//! Files that are only in memory.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::clean::clean;
use super::source::FileSource;

/// Files that are only in memory, for tests and for programs that have no disk. Directories
/// exist as far as something is in them. Clones are the same files.
#[derive(Clone, Debug, Default)]
pub struct MemoryFiles {
    files: Arc<Mutex<BTreeMap<PathBuf, Arc<str>>>>,
}

impl MemoryFiles {
    /// No files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes a file.
    pub fn write(&self, path: impl AsRef<Path>, text: &str) {
        self.lock().insert(clean(path.as_ref()), Arc::from(text));
    }

    /// Removes a file, if there is one.
    pub fn remove(&self, path: impl AsRef<Path>) {
        self.lock().remove(&clean(path.as_ref()));
    }

    /// A map of texts is whole after every step, so a panic elsewhere does not spoil it.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Arc<str>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FileSource for MemoryFiles {
    fn read(&self, path: &Path) -> io::Result<Arc<str>> {
        let path = clean(path);
        if let Some(text) = self.lock().get(&path) {
            return Ok(Arc::clone(text));
        }
        Err(io::Error::from(match self.is_dir(&path) {
            true => io::ErrorKind::IsADirectory,
            false => io::ErrorKind::NotFound,
        }))
    }

    fn exists(&self, path: &Path) -> bool {
        self.lock().contains_key(&clean(path)) || self.is_dir(path)
    }

    fn is_dir(&self, path: &Path) -> bool {
        let path = clean(path);
        // Paths are ordered by their parts, so whatever is in a directory comes right after it.
        let files = self.lock();
        let mut after = files.range::<PathBuf, _>(&path..).map(|(file, _)| file);
        after
            .find(|file| **file != path)
            .is_some_and(|file| file.starts_with(&path))
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        let path = clean(path);
        match self.exists(&path) {
            true => Ok(path),
            false => Err(io::Error::from(io::ErrorKind::NotFound)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_exist_as_far_as_something_is_in_them() {
        let files = MemoryFiles::new();
        files.write("/a/b/c.harn", "text");
        files.write("/a/bc", "");
        let path = |text: &'static str| Path::new(text);
        assert!(files.is_dir(path("/a/b")) && files.is_dir(path("/")));
        assert!(!files.is_dir(path("/a/bc")) && !files.exists(path("/a/c")));
        assert_eq!(&*files.read(path("/a/x/../b/./c.harn")).unwrap(), "text");
        let error = files.read(path("/a/b")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
        files.remove("/a/b/c.harn");
        assert!(!files.exists(path("/a/b")));
    }
}
