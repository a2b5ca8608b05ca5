//! What the file backend asks of a disk.
//!
//! Everything goes through here, so that tests can put a disk underneath that fails,
//! forgets and reorders like a real one at its worst.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use crate::private::{create_private_root, private_options};

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
        create_private_root(path).map_err(|error| named(path, error))
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
        let mut options = private_options();
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
            lock: Mutex::default(),
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
    lock: Mutex<Lock>,
}

/// Who has to do with the lock of a file. The system gives it to the file, not to whoever asked.
#[derive(Default)]
struct Lock {
    /// Whether somebody was told that it is theirs.
    is_held: bool,
    /// How many wait to be told.
    waiting: usize,
}

impl RealFile {
    fn at<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| named(&self.path, error))
    }

    fn lock(&self) -> MutexGuard<'_, Lock> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a lock back that came too late, unless somebody else has use for it.
    fn decline_lock(&self) {
        let lock = self.lock();
        if !lock.is_held && lock.waiting == 0 {
            let _it_is_gone_when_the_file_is_closed = self.file.unlock();
        }
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
        let mut lock = self.lock();
        match self.file.try_lock() {
            Ok(()) => {
                lock.is_held = true;
                Ok(true)
            }
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(named(&self.path, error)),
        }
    }

    fn lock_within(self: Arc<Self>, limit: Duration) -> io::Result<bool> {
        // The system can wait for a lock, but not for a while. So somebody else
        // waits, and whoever comes too late gives the lock back.
        let (done, waited) = mpsc::sync_channel(0);
        let file = Arc::clone(&self);
        self.lock().waiting += 1;
        let spawned = thread::Builder::new()
            .name("harn-log-lock".to_owned())
            .spawn(move || {
                let locked = file.file.lock();
                let is_locked = locked.is_ok();
                if done.send(locked).is_err() && is_locked {
                    file.decline_lock();
                }
            });
        let answer = spawned.map(|_| waited.recv_timeout(limit));
        // Known before the thread hears that nobody waits for it any more.
        let mut lock = self.lock();
        lock.waiting -= 1;
        let is_locked = match answer? {
            Ok(locked) => self.at(locked.map(|()| true))?,
            Err(_) => false,
        };
        lock.is_held |= is_locked;
        Ok(is_locked)
    }

    fn unlock(&self) -> io::Result<()> {
        let mut lock = self.lock();
        lock.is_held = false;
        self.at(self.file.unlock())
    }
}

/// An error of the system that says which file it is about.
pub(crate) fn named(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Long enough for anything that happens at all.
    const LONG: Duration = Duration::from_secs(30);

    #[test]
    fn who_came_too_late_for_a_lock_does_not_take_it_from_who_came_later() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let open = || RealDisk.open(&path, OpenFile::Write).unwrap();
        let (one, two, three) = (open(), open(), open());
        for _ in 0..100 {
            // Whoever was late the last time may have it for a moment.
            assert!(Arc::clone(&one).lock_within(LONG).unwrap());
            assert!(!Arc::clone(&two).lock_within(Duration::ZERO).unwrap());
            thread::scope(|scope| {
                let waiting = scope.spawn(|| Arc::clone(&two).lock_within(LONG));
                one.unlock().unwrap();
                assert!(waiting.join().unwrap().unwrap());
            });
            for _ in 0..20 {
                thread::yield_now(); // Whoever was late may be at it just now.
                assert!(!three.try_lock().unwrap(), "two locks at a time");
            }
            two.unlock().unwrap();
        }
    }
    #[test]
    fn a_lock_that_comes_too_late_is_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let open = || RealDisk.open(&path, OpenFile::Write).unwrap();
        let (one, two, three) = (open(), open(), open());
        for _ in 0..20 {
            assert!(Arc::clone(&one).lock_within(LONG).unwrap());
            assert!(!Arc::clone(&two).lock_within(Duration::ZERO).unwrap());
            one.unlock().unwrap();
            assert!(Arc::clone(&three).lock_within(LONG).unwrap());
            three.unlock().unwrap();
        }
    }
}
