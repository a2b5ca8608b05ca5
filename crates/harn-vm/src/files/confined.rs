//! Files that were checked, opened in a way that no link can lead elsewhere.
//!
//! The paths here are without links. They are opened from the root of the disk part by part,
//! none of them through a link, so what is opened is what was checked.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use harn_agent::real_path::{Missing, open_below, open_folder};
use harn_machine::{Answer, FileRequest, FileStatus};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::replace::replace_in;

/// What a new file may be used for by whom, before the mask of the process.
const NEW_FILE: Mode = Mode::from_raw_mode(0o666);

/// Performs a request with the places that its paths lead to.
pub(super) fn perform(
    request: &FileRequest,
    read_max: u64,
    places: &[PathBuf],
) -> io::Result<Answer> {
    let (first, last) = (&*places[0], &*places[places.len() - 1]);
    match request {
        FileRequest::Read(_) => {
            super::content(Spot::of(first)?.open()?, read_max).map(Answer::Octets)
        }
        FileRequest::Write(_, content) => {
            let mut file = Spot::of(first)?.create(OFlags::TRUNC)?;
            file.write_all(content)?;
            Ok(Answer::Done)
        }
        FileRequest::Replace(_, content, before) => {
            let Spot { folder, name } = Spot::of(first)?;
            replace_in(&File::from(folder), &name, content, before).map(Answer::Truth)
        }
        FileRequest::Append(_, content) => {
            let mut file = Spot::of(first)?.create(OFlags::APPEND)?;
            file.write_all(content)?;
            Ok(Answer::Done)
        }
        FileRequest::Status(_) => match Spot::of(first).and_then(|spot| spot.facts()) {
            Ok(facts) => Ok(Answer::Status(Some(described(&facts)))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Answer::Status(None)),
            Err(error) => Err(error),
        },
        FileRequest::List(_) => list(first),
        FileRequest::MakeFolder(_) => {
            open_below(Path::new("/"), below_root(first), Missing::Create)?;
            Ok(Answer::Done)
        }
        FileRequest::Delete(_) => delete(&Spot::of(first)?).map(|()| Answer::Done),
        FileRequest::Copy(_, _) => copy(&Spot::of(first)?, &Spot::of(last)?),
        FileRequest::Move(_, _) => {
            let (from, to) = (Spot::of(first)?, Spot::of(last)?);
            rustix::fs::renameat(&from.folder, &from.name, &to.folder, &to.name)?;
            Ok(Answer::Done)
        }
        FileRequest::Canonical(_) => {
            Spot::of(first)?.facts()?;
            Ok(Answer::Text(Some(first.to_string_lossy().into_owned())))
        }
    }
}

fn below_root(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}

/// A name in a folder that is open.
pub(crate) struct Spot {
    pub(crate) folder: OwnedFd,
    pub(crate) name: OsString,
}

impl Spot {
    /// The last name of a path without links, in its folder.
    pub(crate) fn of(place: &Path) -> io::Result<Self> {
        let inside = below_root(place);
        let (folder, name) = match (inside.parent(), inside.file_name()) {
            (Some(folder), Some(name)) => (folder, name),
            // The root of the disk is in no folder.
            _ => (Path::new(""), OsStr::new(".")),
        };
        Ok(Self {
            folder: open_below(Path::new("/"), folder, Missing::Fail)?,
            name: name.to_owned(),
        })
    }

    fn open_with(&self, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.folder, &*self.name, flags, NEW_FILE)?;
        Ok(File::from(file))
    }

    fn open(&self) -> io::Result<File> {
        self.open_with(OFlags::RDONLY)
    }

    /// Opens a file to write it, unless it is a link; makes one if there is none.
    pub(crate) fn create(&self, how: OFlags) -> io::Result<File> {
        self.open_with(OFlags::WRONLY | OFlags::CREATE | how)
    }

    /// What is there, without following a link.
    pub(crate) fn facts(&self) -> io::Result<Stat> {
        facts(&self.folder, &self.name)
    }
}

fn facts(folder: impl AsFd, name: &OsStr) -> io::Result<Stat> {
    Ok(rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?)
}

fn described(facts: &Stat) -> FileStatus {
    let kind = FileType::from_raw_mode(facts.st_mode);
    let milliseconds = i64::try_from(facts.st_mtime_nsec / 1_000_000).unwrap_or(0);
    FileStatus {
        size: u64::try_from(facts.st_size).unwrap_or(0),
        is_file: kind == FileType::RegularFile,
        is_folder: kind == FileType::Directory,
        is_readonly: facts.st_mode & 0o222 == 0,
        modified: facts
            .st_mtime
            .saturating_mul(1000)
            .saturating_add(milliseconds),
    }
}

fn entries(folder: &OwnedFd) -> io::Result<Vec<(OsString, FileType)>> {
    use std::os::unix::ffi::OsStrExt;
    let mut entries = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        let kind = match entry.file_type() {
            // Some file systems do not say.
            FileType::Unknown => FileType::from_raw_mode(facts(folder, name)?.st_mode),
            kind => kind,
        };
        entries.push((name.to_owned(), kind));
    }
    Ok(entries)
}

fn list(place: &Path) -> io::Result<Answer> {
    let folder = open_below(Path::new("/"), below_root(place), Missing::Fail)?;
    let entries = entries(&folder)?.into_iter().map(|(name, kind)| {
        let kind = match kind {
            FileType::Directory => "folder",
            FileType::RegularFile => "file",
            FileType::Symlink => "link",
            _ => "other",
        };
        (name.to_string_lossy().into_owned(), kind.to_owned())
    });
    let mut entries: Vec<_> = entries.collect();
    entries.sort_unstable();
    Ok(Answer::Pairs(entries))
}

fn delete(spot: &Spot) -> io::Result<()> {
    let kind = FileType::from_raw_mode(spot.facts()?.st_mode);
    remove(&spot.folder, &spot.name, kind)
}

/// Removes something with all that is in it. Each level keeps a folder open, so a tree that is
/// too deep fails instead of filling the stack.
fn remove(folder: &OwnedFd, name: &OsStr, kind: FileType) -> io::Result<()> {
    if kind != FileType::Directory {
        return gone(rustix::fs::unlinkat(folder, name, AtFlags::empty()));
    }
    let inner = open_folder(folder, name)?;
    for (name, kind) in entries(&inner)? {
        remove(&inner, &name, kind)?;
    }
    gone(rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR))
}

/// Somebody else may have been faster.
fn gone(removed: rustix::io::Result<()>) -> io::Result<()> {
    match removed {
        Err(Errno::NOENT) => Ok(()),
        other => Ok(other?),
    }
}

fn copy(from: &Spot, to: &Spot) -> io::Result<Answer> {
    let source = from.open()?;
    if !source.metadata()?.is_file() {
        let reason = "the source path is neither a regular file nor a symlink to a regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    if let (Ok(one), Ok(other)) = (from.facts(), to.facts())
        && (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
    {
        return Err(super::same_file());
    }
    super::copy(source, to.create(OFlags::TRUNC)?)?;
    Ok(Answer::Done)
}
