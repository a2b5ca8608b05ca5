//! Files that were checked, opened in a way that no link can lead elsewhere.
//!
//! The paths here are without links. They are opened from the root of the disk, none of their
//! parts through a link, so what is opened is what was checked.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use harn_agent::real_path::{Missing, open_below, open_folder};
use harn_machine::{Answer, FileRequest, FileStatus};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::asker::Asker;
use super::opening;
use crate::replace::replace_in;

/// What a new file may be used for by whom, before the mask of the process.
const NEW_FILE: Mode = Mode::from_raw_mode(0o666);

/// Why nothing comes of a request.
pub(super) enum Stopped {
    /// What was opened may not be used.
    Refused(String),
    /// The system says so.
    Failed(io::Error),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// Performs a request with the places that its paths lead to.
pub(super) fn perform(
    request: &FileRequest,
    read_max: u64,
    places: &[PathBuf],
    asker: &Asker,
) -> Result<Answer, Stopped> {
    let (first, last) = (&*places[0], &*places[places.len() - 1]);
    match request {
        FileRequest::Read(shown) => {
            let opened = Spot::of(first)?.open();
            if let Ok(file) = &opened {
                check_opened(asker, file, "read", shown)?;
            }
            Ok(Answer::Octets(opening::read(
                opened,
                read_max,
                shown,
                asker.waits(),
            )?))
        }
        FileRequest::Write(shown, content) => {
            let spot = Spot::of(first)?;
            check_written(asker, &spot, shown)?;
            let open = || spot.create(OFlags::TRUNC);
            opening::write(open, content, shown, asker.waits())?;
            Ok(Answer::Done)
        }
        FileRequest::Append(shown, content) => {
            let spot = Spot::of(first)?;
            check_written(asker, &spot, shown)?;
            let open = || spot.create(OFlags::APPEND);
            opening::write(open, content, shown, asker.waits())?;
            Ok(Answer::Done)
        }
        FileRequest::Copy(from, to) => {
            let (source, target) = (Spot::of(first)?, Spot::of(last)?);
            if let Ok(file) = source.open() {
                check_opened(asker, &file, "read", from)?;
            }
            check_written(asker, &target, to)?;
            let copied = copy(&source, &target);
            Ok(copied.map_err(|error| opening::without_other_end(error, from))?)
        }
        FileRequest::Replace(..)
        | FileRequest::Status(_)
        | FileRequest::List(_)
        | FileRequest::MakeFolder(_)
        | FileRequest::Delete(_)
        | FileRequest::Move(..)
        | FileRequest::Canonical(_) => Ok(perform_by_name(request, first, last)?),
    }
}

/// Whether a file that was opened may be used: it can be another one by another name.
fn check_opened(asker: &Asker, file: &File, verb: &str, shown: &Path) -> Result<(), Stopped> {
    let Err(reason) = asker.check_opened(&file.metadata()?) else {
        return Ok(());
    };
    let shown = shown.display();
    let reason = format!("attempted to {verb} '{shown}': {reason}");
    Err(Stopped::Refused(reason))
}

/// The same for a file that is about to be written, before that empties it.
fn check_written(asker: &Asker, spot: &Spot, shown: &Path) -> Result<(), Stopped> {
    match spot.open() {
        Ok(file) => check_opened(asker, &file, "write", shown),
        Err(_) => Ok(()),
    }
}

/// What does not open a file to use its content.
fn perform_by_name(request: &FileRequest, first: &Path, last: &Path) -> io::Result<Answer> {
    match request {
        FileRequest::Replace(_, content, before) => {
            let Spot { folder, name } = Spot::of(first)?;
            replace_in(&File::from(folder), &name, content, before).map(Answer::Truth)
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
        FileRequest::Move(_, _) => {
            let (from, to) = (Spot::of(first)?, Spot::of(last)?);
            rustix::fs::renameat(&from.folder, &from.name, &to.folder, &to.name)?;
            Ok(Answer::Done)
        }
        FileRequest::Canonical(_) => {
            Spot::of(first)?.facts()?;
            Ok(Answer::Text(Some(first.to_string_lossy().into_owned())))
        }
        FileRequest::Read(_)
        | FileRequest::Write(..)
        | FileRequest::Append(..)
        | FileRequest::Copy(..) => Err(io::ErrorKind::Unsupported.into()),
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
        let flags = flags | OFlags::NOFOLLOW | opening::CAREFULLY;
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
        return Err(super::no_file_to_copy());
    }
    if let (Ok(one), Ok(other)) = (from.facts(), to.facts())
        && (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
    {
        return Err(super::same_file());
    }
    super::copy(source, to.create(OFlags::TRUNC)?)?;
    Ok(Answer::Done)
}
