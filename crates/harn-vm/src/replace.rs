//! Files that are replaced in one step.
//!
//! ```text
//! lock the folder ─► as expected? ─► write beside it ─► sync ─► rename ─► sync the folder
//! ```
//!
//! A rename happens or does not, so a reader and a crash find the old content or the new one.
//! The lock is that of the folder: it needs no file of its own, goes away with its process, and
//! keeps two processes that read, change and write the same file from undoing each other's work.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use harn_machine::Before;

/// Replaces a file if it holds what is expected; whether it does.
pub(crate) fn replace(path: &Path, content: &[u8], before: &Before) -> io::Result<bool> {
    let folder = File::open(folder_of(path))?;
    folder.lock()?;
    if !holds(path, before)? {
        return Ok(false);
    }
    let beside = beside(path);
    let written = write(&beside, content).and_then(|()| fs::rename(&beside, path));
    if let Err(error) = written {
        let _it_may_not_be_there = fs::remove_file(&beside);
        return Err(error);
    }
    folder.sync_all()?;
    Ok(true)
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn holds(path: &Path, before: &Before) -> io::Result<bool> {
    if *before == Before::Anything {
        return Ok(true);
    }
    let there = match fs::read(path) {
        Ok(octets) => Some(octets),
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
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.tmp"))
}

fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(content)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

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
