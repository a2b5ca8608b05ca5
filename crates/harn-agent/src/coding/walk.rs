//! Walks through a folder and those below it, in order and without following links.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType};

use super::background::Cancelled;
use super::place::open_folder;

/// How deep a walk goes; each level keeps a folder open.
const DEPTH_MAX: usize = 100;

/// Something that a walk comes by.
pub(super) struct Entry<'a> {
    /// The way from where the walk began.
    pub(super) path: &'a Path,
    pub(super) kind: FileType,
    /// How many folders it is below the first; what is in that one has the depth 1.
    pub(super) depth: usize,
    /// The folder it is in.
    pub(super) folder: BorrowedFd<'a>,
}

/// Where a walk goes after an entry.
pub(super) enum Next {
    /// Into the folder, if it is one, and on.
    Enter,
    /// On, but not into the folder.
    Pass,
    /// Nowhere.
    Stop,
}

/// How a walk ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Walked {
    /// Folders that could not be opened, or were too deep.
    pub(super) unread_folders: usize,
}

impl Walked {
    /// What the model should know about a result that is not complete.
    pub(super) fn note(&self) -> Option<String> {
        match self.unread_folders {
            0 => None,
            1 => Some("\n[1 folder could not be read]".to_owned()),
            many => Some(format!("\n[{many} folders could not be read]")),
        }
    }
}

/// Visits everything below a folder: the entries of a folder in the order of their names, what
/// is in one directly after it.
pub(super) fn walk(
    folder: OwnedFd,
    cancelled: &Cancelled,
    visit: &mut dyn FnMut(&Entry<'_>) -> Next,
) -> io::Result<Walked> {
    let mut walk = Walk {
        cancelled,
        visit,
        path: PathBuf::new(),
        walked: Walked { unread_folders: 0 },
    };
    let _stopped = walk.folder(folder, 1)?;
    Ok(walk.walked)
}

struct Walk<'a> {
    cancelled: &'a Cancelled,
    visit: &'a mut dyn FnMut(&Entry<'_>) -> Next,
    path: PathBuf,
    walked: Walked,
}

enum Stopped {
    Yes,
    No,
}

impl Walk<'_> {
    fn folder(&mut self, folder: OwnedFd, depth: usize) -> io::Result<Stopped> {
        for (name, kind) in entries(&folder)? {
            if self.cancelled.is_set() {
                return Ok(Stopped::Yes);
            }
            self.path.push(&name);
            let stopped = self.entry(&folder, &name, kind, depth);
            self.path.pop();
            if let Stopped::Yes = stopped {
                return Ok(Stopped::Yes);
            }
        }
        Ok(Stopped::No)
    }

    fn entry(&mut self, folder: &OwnedFd, name: &OsStr, kind: FileType, depth: usize) -> Stopped {
        let next = (self.visit)(&Entry {
            path: &self.path,
            kind,
            depth,
            folder: folder.as_fd(),
        });
        match next {
            Next::Stop => return Stopped::Yes,
            Next::Pass => return Stopped::No,
            Next::Enter if kind != FileType::Directory => return Stopped::No,
            Next::Enter => {}
        }
        let inner = match depth < DEPTH_MAX {
            true => open_folder(folder, name).and_then(|inner| self.folder(inner, depth + 1)),
            false => Err(io::ErrorKind::Unsupported.into()),
        };
        inner.unwrap_or_else(|_| {
            self.walked.unread_folders += 1;
            Stopped::No
        })
    }
}

fn entries(folder: &OwnedFd) -> io::Result<Vec<(OsString, FileType)>> {
    let mut entries = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let kind = match entry.file_type() {
            // Some file systems do not say.
            FileType::Unknown => {
                match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                    Err(_) => continue,
                }
            }
            kind => kind,
        };
        entries.push((OsStr::from_bytes(name.to_bytes()).to_owned(), kind));
    }
    entries.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coding::scene::Scene;

    fn visited(scene: &Scene, next: impl Fn(&Entry<'_>) -> Next) -> (Vec<String>, Walked) {
        let folder = scene.workspace.place(".").unwrap().open_folder().unwrap();
        let mut paths = Vec::new();
        let walked = walk(folder, &Cancelled::default(), &mut |entry| {
            paths.push(entry.path.to_string_lossy().into_owned());
            next(entry)
        });
        (paths, walked.unwrap())
    }

    #[test]
    fn everything_is_visited_in_order() {
        let scene = Scene::new();
        for path in ["b/two", "b/one", "a", "c/d/e"] {
            scene.write(path, "");
        }
        scene.link("b", "link");
        let (paths, walked) = visited(&scene, |_| Next::Enter);
        assert_eq!(
            paths,
            ["a", "b", "b/one", "b/two", "c", "c/d", "c/d/e", "link"]
        );
        assert_eq!(walked.unread_folders, 0);
        let (paths, _) = visited(&scene, |entry| match entry.path.to_str() {
            Some("b") => Next::Pass,
            Some("c/d") => Next::Stop,
            _ => Next::Enter,
        });
        assert_eq!(paths, ["a", "b", "c", "c/d"]);
    }

    #[test]
    fn a_walk_stops_when_nobody_waits() {
        let scene = Scene::new();
        for name in ["a", "b", "c"] {
            scene.write(name, "");
        }
        let folder = scene.workspace.place(".").unwrap().open_folder().unwrap();
        let cancelled = Cancelled::default();
        let mut count = 0;
        walk(folder, &cancelled, &mut |_| {
            count += 1;
            cancelled.set();
            Next::Enter
        })
        .unwrap();
        assert_eq!(count, 1);
    }

    #[test]
    fn very_deep_folders_are_left_out() {
        let scene = Scene::new();
        let deep = vec!["d"; DEPTH_MAX + 20].join("/");
        scene.write(&format!("{deep}/file"), "");
        let (paths, walked) = visited(&scene, |_| Next::Enter);
        assert_eq!(paths.len(), DEPTH_MAX);
        assert_eq!(walked.unread_folders, 1);
    }
}
