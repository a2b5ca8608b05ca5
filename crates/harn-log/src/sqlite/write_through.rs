//! Writes that are on the disk when they return.
//!
//! A write and a sync after it are two questions to the disk, and the first of them is a copy that
//! the system has to find again. Where it can write past its cache, one call is enough. It wants
//! whole blocks then, in memory that begins like one. Not every file system can do that; those
//! that cannot are written to and synced, which means the same.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::file::named;

/// What is written begins and ends with a block. No disk that we know wants larger ones.
pub(super) const BLOCK_BYTES: usize = 4096;

/// A file to which whole blocks are written.
pub(super) struct WriteThrough {
    path: PathBuf,
    file: File,
    way: Way,
    /// The blocks that are written, with room before them to let them begin where one can.
    room: Vec<u8>,
}

/// How a block gets to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// At once, past the cache of the system.
    Past,
    /// By a sync, after it was written.
    Synced,
}

impl WriteThrough {
    /// Opens a file that is there.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let past = open(path, Way::Past).map(|file| (file, Way::Past));
        let opened = past.or_else(|_| open(path, Way::Synced).map(|file| (file, Way::Synced)));
        let (file, way) = opened.map_err(|error| named(path, error))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            way,
            room: Vec::new(),
        })
    }

    /// Writes bytes where a block begins, and zeros after them up to its end. They would survive
    /// a power cut when this returns.
    pub(super) fn write(&mut self, bytes: &[u8], at: u64) -> io::Result<()> {
        assert!(
            at.is_multiple_of(BLOCK_BYTES as u64),
            "blocks begin at blocks"
        );
        let written = match self.write_blocks(bytes, at) {
            // It could be opened that way, but not be written to.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput && self.way == Way::Past => {
                self.way = Way::Synced;
                self.file = open(&self.path, self.way)?;
                self.write_blocks(bytes, at)
            }
            written => written,
        };
        written.map_err(|error| named(&self.path, error))
    }

    fn write_blocks(&mut self, bytes: &[u8], at: u64) -> io::Result<()> {
        let length = whole_blocks(bytes.len());
        if self.room.len() < length + BLOCK_BYTES {
            self.room = vec![0; length + BLOCK_BYTES];
        }
        let start = self.room.as_ptr().align_offset(BLOCK_BYTES);
        let blocks = &mut self.room[start..start + length];
        blocks[..bytes.len()].copy_from_slice(bytes);
        blocks[bytes.len()..].fill(0);
        self.file.write_all_at(blocks, at)?;
        match self.way {
            Way::Past => Ok(()),
            Way::Synced => self.file.sync_data(),
        }
    }
}

/// How many bytes the blocks have in which so many bytes lie.
pub(super) fn whole_blocks(bytes: usize) -> usize {
    bytes.next_multiple_of(BLOCK_BYTES)
}

fn open(path: &Path, way: Way) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true);
    if way == Way::Past {
        past_the_cache(&mut options)?;
    }
    options.open(path)
}

#[cfg(target_os = "linux")]
fn past_the_cache(options: &mut OpenOptions) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;

    use rustix::fs::OFlags;

    let flags = OFlags::DIRECT | OFlags::DSYNC;
    options.custom_flags(flags.bits().cast_signed());
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn past_the_cache(_options: &mut OpenOptions) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_write_whole_blocks() {
        let folder = tempfile::tempdir().unwrap();
        for way in [Way::Past, Way::Synced] {
            let path = folder.path().join(format!("{way:?}"));
            std::fs::write(&path, [7; 4 * BLOCK_BYTES]).unwrap();
            let mut file = WriteThrough::open(&path).unwrap();
            if way == Way::Synced {
                file.file = open(&path, way).unwrap();
                file.way = way;
            }
            file.write(&[1; BLOCK_BYTES + 1], BLOCK_BYTES as u64)
                .unwrap();
            file.write(b"2", 0).unwrap(); // With less room than there is.
            let mut expected = vec![b'2'];
            expected.resize(BLOCK_BYTES, 0);
            expected.resize(2 * BLOCK_BYTES + 1, 1);
            expected.resize(3 * BLOCK_BYTES, 0);
            expected.resize(4 * BLOCK_BYTES, 7);
            assert!(std::fs::read(&path).unwrap() == expected, "{way:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_cannot_be_written_past_the_cache_is_synced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, [7; BLOCK_BYTES]).unwrap();
        let mut file = WriteThrough::open(&path).unwrap();
        // Not every disk refuses when the file is opened. This one finds every letter invalid.
        file.file = open(Path::new("/proc/self/clear_refs"), Way::Synced).unwrap();
        file.way = Way::Past;
        file.write(b"x", 0).unwrap();
        assert_eq!(file.way, Way::Synced);
        assert_eq!(std::fs::read(&path).unwrap()[..2], *b"x\0");
    }

    #[test]
    fn an_error_says_which_file_it_is_about() {
        let folder = tempfile::tempdir().unwrap();
        let Err(error) = WriteThrough::open(&folder.path().join("missing")) else {
            panic!("it was opened");
        };
        assert!(error.to_string().contains("missing"), "{error}");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
