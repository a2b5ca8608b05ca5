//! What the file backend asks of a disk.
//!
//! Everything goes through here, so that tests can put a disk underneath that fails,
//! forgets and reorders like a real one at its worst.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

/// A disk.
pub trait Disk: Send + Sync + 'static {
    /// Makes a folder and those above it.
    fn create_folder(&self, path: &Path) -> io::Result<()>;

    /// The names in a folder, in any order; none if there is no such folder.
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;

    /// Opens a file.
    fn open(&self, path: &Path, how: OpenFile) -> io::Result<Arc<dyn DiskFile>>;

    /// Gives a file another name, in place of any that has it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes the names in a folder survive a power cut.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
}

/// How to open a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenFile {
    /// To read what is there.
    Read,
    /// To read and write what is there.
    Existing,
    /// To read and write, made if it is not there.
    Write,
    /// To write; it must not be there yet.
    New,
}

/// An open file.
#[expect(
    clippy::len_without_is_empty,
    reason = "nobody wants to know whether a file is empty"
)]
pub trait DiskFile: Send + Sync {
    /// How long it is.
    fn len(&self) -> io::Result<u64>;

    /// Reads at a place, perhaps less than there is room for; nothing at the end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes at a place, perhaps not all of it.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;

    /// Cuts it off.
    fn truncate(&self, len: u64) -> io::Result<()>;

    /// Makes what was written survive a power cut.
    fn sync(&self) -> io::Result<()>;

    /// Keeps other processes out, if none of them was first.
    fn try_lock(&self) -> io::Result<bool>;

    /// The same, waiting for a while for others to leave.
    fn lock_within(self: Arc<Self>, limit: Duration) -> io::Result<bool>;

    /// Lets others in.
    fn unlock(&self) -> io::Result<()>;
}

/// Writes all of it.
pub(crate) fn write_all_at(file: &dyn DiskFile, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write_at(bytes, at) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                bytes = &bytes[written..];
                at += written as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads until the buffer is full or the file ends.
pub(crate) fn read_full_at(
    file: &dyn DiskFile,
    buffer: &mut [u8],
    offset: u64,
) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Puts a small file in place of another, or leaves that one as it is.
pub(super) fn replace_file(disk: &dyn Disk, path: &Path, content: &[u8]) -> io::Result<()> {
    let fresh = path.with_extension("new");
    let file = disk.open(&fresh, OpenFile::Write)?;
    file.truncate(0)?;
    write_all_at(&*file, content, 0)?;
    file.sync()?;
    disk.rename(&fresh, path)?;
    disk.sync_folder(path.parent().unwrap_or(path))
}

/// All of a small file; `None` if it is not there.
pub(super) fn read_small(disk: &dyn Disk, path: &Path) -> io::Result<Option<Vec<u8>>> {
    const SMALL_BYTES_MAX: usize = 64 * 1024;
    let file = match disk.open(path, OpenFile::Read) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut content = vec![0; SMALL_BYTES_MAX];
    let length = read_full_at(&*file, &mut content, 0)?;
    content.truncate(length);
    Ok(Some(content))
}

/// The disk of this machine.
pub struct RealDisk;

impl Disk for RealDisk {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path).map_err(|error| named(path, error))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(named(path, error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            // A name that is not Unicode is not one of ours.
            names.extend(entry?.file_name().into_string().ok());
        }
        Ok(names)
    }

    fn open(&self, path: &Path, how: OpenFile) -> io::Result<Arc<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.read(true);
        match how {
            OpenFile::Read => {}
            OpenFile::Existing => drop(options.write(true)),
            OpenFile::Write => drop(options.write(true).create(true)),
            OpenFile::New => drop(options.write(true).create_new(true)),
        }
        let file = options.open(path).map_err(|error| named(path, error))?;
        Ok(Arc::new(RealFile {
            file,
            path: path.to_owned(),
        }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to).map_err(|error| named(to, error))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path).map_err(|error| named(path, error))
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        let synced = File::open(path).and_then(|folder| folder.sync_all());
        synced.map_err(|error| named(path, error))
    }
}

struct RealFile {
    file: File,
    path: PathBuf,
}

impl RealFile {
    fn at<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| named(&self.path, error))
    }
}

impl DiskFile for RealFile {
    fn len(&self) -> io::Result<u64> {
        self.at(self.file.metadata().map(|metadata| metadata.len()))
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.at(self.file.read_at(buffer, offset))
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.at(self.file.write_at(bytes, offset))
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.at(self.file.set_len(len))
    }

    fn sync(&self) -> io::Result<()> {
        self.at(self.file.sync_data())
    }

    fn try_lock(&self) -> io::Result<bool> {
        match self.file.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(named(&self.path, error)),
        }
    }

    fn lock_within(self: Arc<Self>, limit: Duration) -> io::Result<bool> {
        // The system can wait for a lock, but not for a while. So somebody else
        // waits, and whoever comes too late gives the lock back.
        let (done, waited) = mpsc::sync_channel(0);
        let file = Arc::clone(&self);
        thread::Builder::new()
            .name("harn-log-lock".to_owned())
            .spawn(move || {
                let locked = file.file.lock();
                let is_locked = locked.is_ok();
                if done.send(locked).is_err() && is_locked {
                    let _nothing_to_be_done = file.file.unlock();
                }
            })?;
        match waited.recv_timeout(limit) {
            Ok(locked) => self.at(locked.map(|()| true)),
            Err(_) => Ok(false),
        }
    }

    fn unlock(&self) -> io::Result<()> {
        self.at(self.file.unlock())
    }
}

/// An error of the system that says which file it is about.
pub(crate) fn named(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
