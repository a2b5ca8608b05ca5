//! The few things a log does with files, as a port.
//!
//! Disks fill up and writes stop half-way; tests have to be able to say when.
//! [`FileSystem`] is the real thing.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Opens files for a log.
pub trait Storage: Send + Sync {
    /// Opens a file for appending, making it and its folders if need be, and
    /// claims it for this writer. Fails when another writer has it.
    fn open_append(&self, path: &Path) -> io::Result<Box<dyn SegmentFile>>;

    /// Makes a new file and claims it. Fails when it exists.
    fn create_new(&self, path: &Path) -> io::Result<Box<dyn SegmentFile>>;

    /// Opens a file for reading.
    fn open_read(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>>;

    /// Deletes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Names of the files in a folder.
    fn list(&self, directory: &Path) -> io::Result<Vec<String>>;
}

/// A file that is read from any position.
pub trait ReadSeek: Read + Seek + Send {}
impl<T: Read + Seek + Send> ReadSeek for T {}

/// The file a log writes to. Dropping it gives up the claim.
pub trait SegmentFile: Send {
    /// Bytes in the file.
    fn size_bytes(&mut self) -> io::Result<u64>;

    /// Hands all of `bytes` to the operating system, at the end of the file.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Cuts the file to this length.
    fn truncate(&mut self, len: u64) -> io::Result<()>;

    /// Returns when the file's content would survive a power cut.
    fn sync(&mut self) -> io::Result<()>;
}

/// Files as the operating system has them.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileSystem;

/// What sessions say is for the owner of the file alone.
fn private() -> OpenOptions {
    #[allow(unused_mut, reason = "only some systems have modes")]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn private_folders() -> fs::DirBuilder {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

impl Storage for FileSystem {
    fn open_append(&self, path: &Path) -> io::Result<Box<dyn SegmentFile>> {
        match OpenOptions::new().append(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if let Some(parent) = path.parent() {
                    private_folders().create(parent)?;
                }
                let file = private().append(true).create(true).open(path)?;
                sync_directory(path)?;
                claim(file, path)
            }
            file => claim(file?, path),
        }
    }

    fn create_new(&self, path: &Path) -> io::Result<Box<dyn SegmentFile>> {
        let file = private().append(true).create_new(true).open(path)?;
        sync_directory(path)?;
        claim(file, path)
    }

    fn open_read(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        Ok(Box::new(File::open(path)?))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        fs::read_dir(directory)?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect()
    }
}

/// A log has one writer; a second one would give the same index twice.
fn claim(file: File, path: &Path) -> io::Result<Box<dyn SegmentFile>> {
    match file.try_lock() {
        Ok(()) => Ok(Box::new(RealFile(file))),
        Err(TryLockError::WouldBlock) => Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            format!("{} is being written by somebody else", path.display()),
        )),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// A new name has to be as durable as what will be written under it.
fn sync_directory(file: &Path) -> io::Result<()> {
    let directory = file
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
}

struct RealFile(File);

impl Drop for RealFile {
    /// Closing the file would give up the claim too, but not while a child process
    /// that is just being started still has a copy of the handle.
    fn drop(&mut self) {
        // Nobody can do anything about a lock that cannot be given back.
        let _ = self.0.unlock();
    }
}

impl SegmentFile for RealFile {
    fn size_bytes(&mut self) -> io::Result<u64> {
        self.0.seek(SeekFrom::End(0))
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }
}
