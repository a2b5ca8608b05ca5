//! Where files come from.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest text that is read. Places in a text are counted in 32 bits.
pub(super) const TEXT_BYTES_MAX: u64 = u32::MAX as u64;

/// The files a program is made of. Editors, tests and the disk each have their own.
pub trait FileSource: Send {
    /// The text of a file.
    ///
    /// # Errors
    /// There is no such file, it cannot be read, or it is not UTF-8.
    fn read(&self, path: &Path) -> io::Result<Arc<str>>;

    /// Whether there is a file or a directory.
    fn exists(&self, path: &Path) -> bool;

    /// Whether there is a directory.
    fn is_dir(&self, path: &Path) -> bool;

    /// The one path of a file or directory that has many, because of dots and links.
    ///
    /// # Errors
    /// There is no such file, or it cannot be reached.
    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf>;
}

/// The files of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl FileSource for Disk {
    fn read(&self, path: &Path) -> io::Result<Arc<str>> {
        let metadata = fs::metadata(path)?;
        // A pipe would make us wait, and a device may never end.
        if !metadata.is_file() && !metadata.is_dir() {
            return Err(io::Error::other("not a regular file"));
        }
        if metadata.len() > TEXT_BYTES_MAX {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        fs::read_to_string(path).map(Arc::from)
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn is_dir(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }
}
