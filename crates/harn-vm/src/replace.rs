//! Files that are replaced in one step.
//!
//! ```text
//! lock the folder ─► as expected? ─► write beside it ─► sync ─► rename
//! ```
//!
//! A rename happens or does not, so a reader and a crash find the old content or the new one.
//! What is renamed was synced, or a power cut could leave a file without content; that the
//! rename itself is not synced costs at most the last change, and halves the time of each.
//!
//! The lock is that of the folder: it needs no file of its own, goes away with its process, and
//! keeps two processes that read, change and write the same file from undoing each other's work.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use harn_machine::Before;
use rustix::fs::{AtFlags, Mode, OFlags};

/// What a new file may be used for by whom, before the mask of the process.
const NEW_FILE: Mode = Mode::from_raw_mode(0o666);

/// Replaces a file if it holds what is expected; whether it does.
pub(crate) fn replace(path: &Path, content: &[u8], before: &Before) -> io::Result<bool> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    replace_in(&File::open(folder)?, name, content, before)
}

/// The same with a file of an open folder. No link is followed.
pub(crate) fn replace_in(
    folder: &File,
    name: &OsStr,
    content: &[u8],
    before: &Before,
) -> io::Result<bool> {
    folder.lock()?;
    if !holds(folder, name, before)? {
        return Ok(false);
    }
    let beside = beside(name);
    let written = write(folder, &beside, content);
    let renamed = written.and_then(|()| Ok(rustix::fs::renameat(folder, &*beside, folder, name)?));
    if let Err(error) = renamed {
        let _it_may_not_be_there = rustix::fs::unlinkat(folder, &*beside, AtFlags::empty());
        return Err(error);
    }
    Ok(true)
}

fn open(folder: &File, name: &OsStr, flags: OFlags) -> io::Result<File> {
    // A pipe would be waited for.
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    Ok(rustix::fs::openat(folder, name, flags, NEW_FILE)?.into())
}

fn holds(folder: &File, name: &OsStr, before: &Before) -> io::Result<bool> {
    if *before == Before::Anything {
        return Ok(true);
    }
    let there = match open(folder, name, OFlags::RDONLY) {
        Ok(mut file) => {
            let mut octets = Vec::new();
            file.read_to_end(&mut octets)?;
            Some(octets)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    Ok(match before {
        Before::Anything => true,
        Before::Nothing => there.is_none(),
        Before::Octets(octets) => there.as_ref() == Some(octets),
    })
}

/// Where the new content is written first: in the same folder, because a rename cannot leave a
/// file system. Whoever holds the lock of the folder is alone there, and what a crash has left
/// is written over by the next one.
fn beside(name: &OsStr) -> OsString {
    let mut beside = OsString::from(".");
    beside.push(name);
    beside.push(".tmp");
    beside
}

fn write(folder: &File, name: &OsStr, content: &[u8]) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
    let mut file = open(folder, name, flags)?;
    file.write_all(content)?;
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn a_file_is_replaced_only_if_it_holds_what_is_expected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        let octets = |text: &str| Before::Octets(text.as_bytes().to_vec());
        for (content, before, is_done) in [
            ("0", octets("x"), false),
            ("1", Before::Nothing, true),
            ("2", Before::Nothing, false),
            ("2", octets("x"), false),
            ("2", octets("1"), true),
            ("3", Before::Anything, true),
        ] {
            let done = replace(&path, content.as_bytes(), &before).unwrap();
            assert_eq!(done, is_done, "{content} after {before:?}");
        }
        assert_eq!(fs::read(&path).unwrap(), b"3");
        assert_eq!(
            names(folder.path()),
            ["a.json"],
            "nothing is left beside it"
        );
    }

    #[test]
    fn a_file_that_cannot_be_replaced_stays_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("taken");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("inside"), "").unwrap();
        assert!(replace(&path, b"1", &Before::Anything).is_err());
        assert_eq!(names(folder.path()), ["taken"]);
        let missing = folder.path().join("no/folder");
        assert!(replace(&missing, b"1", &Before::Anything).is_err());
    }

    #[test]
    fn of_many_that_replace_what_they_read_none_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("count");
        fs::write(&path, "0").unwrap();
        let count = |path: &Path| {
            for _ in 0..20 {
                loop {
                    let read = fs::read(path).unwrap();
                    let number: u64 = String::from_utf8(read.clone()).unwrap().parse().unwrap();
                    let next = (number + 1).to_string();
                    if replace(path, next.as_bytes(), &Before::Octets(read)).unwrap() {
                        break;
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| count(&path));
            }
        });
        assert_eq!(fs::read(&path).unwrap(), b"80");
    }
}
