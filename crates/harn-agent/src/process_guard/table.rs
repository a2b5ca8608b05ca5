//! What the watchdog has to end, in a file that it reads when it is needed.
//!
//! Each entry is a line of [`ENTRY_BYTES`] bytes, padded with spaces: `group 4711`, `rest 4711`,
//! `pipe 54352`, or `free`. The kernel keeps what was written whatever becomes of the writer,
//! and a line is replaced as a whole.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::process::Pid;

/// The longest is `pipe`, a space and a number of 64 bits.
const ENTRY_BYTES: usize = 32;

/// What an entry names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watched {
    /// What is about to be started, by the pipe that it will write to.
    Pipe(u64),
    /// A group whose leader was not reaped.
    Group(Pid),
    /// What is left of a group whose leader was reaped. Its number may be given to somebody
    /// else as soon as the last member has ended.
    Rest(Pid),
}

#[derive(Debug)]
pub(super) struct Table {
    file: File,
    /// Whether an entry is in use, by its place.
    used: Vec<bool>,
}

impl Table {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            file: unnamed_file()?,
            used: Vec::new(),
        })
    }

    /// The file, for the watchdog. It begins to read at the start of it.
    pub(super) fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Adds an entry and gives its place.
    pub(super) fn add(&mut self, watched: Watched) -> io::Result<usize> {
        let place = self.used.iter().position(|is_used| !is_used);
        let place = place.unwrap_or(self.used.len());
        self.change(place, watched)?;
        match self.used.get_mut(place) {
            Some(is_used) => *is_used = true,
            None => self.used.push(true),
        }
        Ok(place)
    }

    pub(super) fn change(&self, place: usize, watched: Watched) -> io::Result<()> {
        self.write(
            place,
            &match watched {
                Watched::Pipe(number) => format!("pipe {number}"),
                Watched::Group(leader) => format!("group {}", leader.as_raw_nonzero()),
                Watched::Rest(leader) => format!("rest {}", leader.as_raw_nonzero()),
            },
        )
    }

    pub(super) fn remove(&mut self, place: usize) -> io::Result<()> {
        // An entry that cannot be cleared is not used again, so that it stays what it is.
        self.write(place, "free")?;
        self.used[place] = false;
        Ok(())
    }

    fn write(&self, place: usize, text: &str) -> io::Result<()> {
        let line = format!("{text:<width$}\n", width = ENTRY_BYTES - 1);
        assert_eq!(line.len(), ENTRY_BYTES, "the longest entry fits");
        // Readers share our position in the file, so it must not move.
        self.file
            .write_all_at(line.as_bytes(), (place * ENTRY_BYTES) as u64)
    }
}

/// A file that no folder names.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
fn unnamed_file() -> io::Result<File> {
    let file = rustix::fs::memfd_create("harn-processes", rustix::fs::MemfdFlags::CLOEXEC)?;
    Ok(file.into())
}

/// A file that no folder names any more.
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
fn unnamed_file() -> io::Result<File> {
    let name = format!("harn-processes-{}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let mut options = File::options();
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let options = options.read(true).write(true);
    let file = match options.clone().create_new(true).open(&path) {
        // An earlier process of our number was killed while it was here.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            std::fs::remove_file(&path)?;
            options.create_new(true).open(&path)?
        }
        other => other?,
    };
    std::fs::remove_file(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_place_is_used_again_and_the_reader_begins_at_the_start() {
        let mut table = Table::new().unwrap();
        let leader = Pid::from_raw(4711).unwrap();
        let first = table.add(Watched::Pipe(u64::MAX)).unwrap();
        let second = table.add(Watched::Group(leader)).unwrap();
        table.change(second, Watched::Rest(leader)).unwrap();
        table.remove(first).unwrap();
        assert_eq!(table.add(Watched::Pipe(7)).unwrap(), first);
        let third = table.add(Watched::Group(leader)).unwrap();
        table.remove(third).unwrap();
        let mut text = String::new();
        table.file().unwrap().read_to_string(&mut text).unwrap();
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        assert_eq!(lines, ["pipe 7", "rest 4711", "free"]);
    }
}
