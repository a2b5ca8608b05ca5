//! The files of the world.
//!
//! ```text
//!            ┌─ every file is allowed ─► plain:    paths, as the system follows them
//! request ───┤
//!            └─ some are ─► real paths ─► checked ─► confined: opened without links
//! ```
//!
//! Whoever asks inside the loop of an agent never has every file. Neither way waits for another
//! process to open a pipe.

mod asker;
mod confined;
mod opening;
mod plain;

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use harn_agent::real_path::{RealPath, resolve, resolve_entry};
use harn_machine::{Answer, FileRequest, FileStatus};

use crate::policy::{Access, Policy, Refusal};
use crate::world::failed;

pub(crate) use asker::{AgentTask, Asker};
#[cfg(feature = "net")]
pub(crate) use confined::Spot;

/// How large a file may be that is read at once. Without a bound, a device that never ends
/// would fill the memory.
pub(crate) const READ_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// Where the files of a program are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files {
    pub(crate) policy: Policy,
    /// Where relative paths start; `None`: where the process works.
    pub(crate) folder: Option<PathBuf>,
    /// How large a file may be that is read at once, if that is less than usual.
    pub(crate) read_bytes_max: Option<u64>,
    /// Who asks.
    pub(crate) asker: Asker,
}

impl Files {
    /// Performs a request, if the policy allows it.
    pub(crate) fn perform(&self, request: &FileRequest) -> Answer {
        if let FileRequest::Delete(path) = request
            && self.is_around_us(path)
        {
            let reason = "the program works in it";
            return failed(&io::Error::new(io::ErrorKind::ResourceBusy, reason));
        }
        let performed = match self.is_open() {
            true => self.perform_plainly(request),
            false => match self.admitted(request) {
                Ok(Some(places)) => match self.perform_confined(request, &places) {
                    Err(confined::Stopped::Refused(reason)) => return Answer::Refused(reason),
                    Err(confined::Stopped::Failed(error)) => Err(error),
                    Ok(answer) => Ok(answer),
                },
                Ok(None) => self.perform_plainly(request),
                Err(refused) => return refused,
            },
        };
        performed.unwrap_or_else(|error| failed(&error))
    }

    fn read_max(&self) -> u64 {
        let max = self.read_bytes_max.unwrap_or(READ_BYTES_MAX);
        max.min(READ_BYTES_MAX)
    }

    /// Performs a request for a file that Harn keeps for the program. Its place comes from no
    /// argument, so the folders of a loop's policy say nothing about it; whether the loop may
    /// change anything at all does.
    pub(crate) fn perform_own(&self, request: &FileRequest) -> Answer {
        if let (Some(access), path) = change(request)
            && let Err(refusal) = self.asker.check_level(access, path)
        {
            return Answer::Refused(refusal.to_string());
        }
        let own = Self {
            asker: Asker::default(),
            ..self.clone()
        };
        if let FileRequest::MakeFolder(path) = request
            && own.is_open()
        {
            let made = harn_agent::create_private_folder(&own.at(path));
            return made.map_or_else(|error| failed(&error), |()| Answer::Done);
        }
        let answer = own.perform(request);
        if let FileRequest::Replace(path, ..) | FileRequest::Append(path, _) = request {
            own.keep_private(path);
        }
        answer
    }

    /// Takes from others what they may do with a file that was just written.
    fn keep_private(&self, path: &Path) {
        let path = self.at(path);
        let Ok(facts) = fs::symlink_metadata(&path) else {
            return;
        };
        let mode = facts.permissions().mode();
        if facts.is_file() && mode & 0o077 != 0 {
            let own = fs::Permissions::from_mode(mode & 0o700);
            let _it_may_belong_to_another_user = fs::set_permissions(&path, own);
        }
    }

    fn perform_plainly(&self, request: &FileRequest) -> io::Result<Answer> {
        plain::perform(
            request,
            self.read_max(),
            |path| self.at(path),
            self.asker.waits(),
        )
    }

    fn perform_confined(
        &self,
        request: &FileRequest,
        places: &[PathBuf],
    ) -> Result<Answer, confined::Stopped> {
        confined::perform(request, self.read_max(), places, &self.asker)
    }

    /// Whether every file may be used.
    pub(crate) fn is_open(&self) -> bool {
        self.asker.is_open() && self.policy.is_open_to_files()
    }

    /// A path as the process finds it.
    pub(crate) fn at(&self, path: &Path) -> PathBuf {
        match &self.folder {
            Some(folder) => folder.join(path),
            None => path.to_owned(),
        }
    }

    /// Whether a path is the folder that the program works in, or one around it. To remove it
    /// is always a mistake, such as a name that turned out to be empty.
    fn is_around_us(&self, path: &Path) -> bool {
        // A link to it is no more than a link, and may go.
        let target = resolve_entry(&absolute(&self.at(path)));
        let here = fs::canonicalize(self.at(Path::new(".")));
        match (target, here) {
            (Some(target), Ok(here)) => here.starts_with(target.path),
            _ => false,
        }
    }

    /// The paths of a request without links, if the policy allows them. `None`: it is a
    /// question that reveals nothing.
    fn admitted(&self, request: &FileRequest) -> Result<Option<Vec<PathBuf>>, Answer> {
        use Access::{Delete, Read, Write};
        let places = match request {
            // Where the program works; every relative path starts there.
            FileRequest::Canonical(path) if path.as_os_str() == "." => return Ok(None),
            FileRequest::Read(path)
            | FileRequest::Status(path)
            | FileRequest::List(path)
            | FileRequest::Canonical(path) => vec![self.place(path, Read, resolve)?],
            FileRequest::Write(path, _)
            | FileRequest::Replace(path, ..)
            | FileRequest::Append(path, _)
            | FileRequest::MakeFolder(path) => vec![self.place(path, Write, resolve)?],
            FileRequest::Delete(path) => vec![self.place(path, Delete, resolve_entry)?],
            FileRequest::Copy(from, to) => {
                vec![
                    self.place(from, Read, resolve)?,
                    self.place(to, Write, resolve)?,
                ]
            }
            FileRequest::Move(from, to) => {
                let away = self.place(from, Delete, resolve_entry)?;
                // Who moves a file could read it at its new place.
                self.place(from, Read, resolve_entry)?;
                vec![away, self.place(to, Write, resolve_entry)?]
            }
        };
        Ok(Some(places))
    }

    /// Whether something may be done with a file that somebody else opens.
    pub(crate) fn check(&self, access: Access, path: &Path) -> Result<(), Refusal> {
        let place = absolute(&self.at(path));
        let real = resolve(&place).map_or(place, |real| real.path);
        self.policy.check_path(access, &real, path)?;
        self.asker.check(access, &real, path)
    }

    /// Where a path leads, if the policy allows it; else what the program is told.
    pub(crate) fn place(
        &self,
        path: &Path,
        access: Access,
        resolve: fn(&Path) -> Option<RealPath>,
    ) -> Result<PathBuf, Answer> {
        let Some(real) = resolve(&absolute(&self.at(path))) else {
            return Err(failed(&io::Error::other("too many levels of links")));
        };
        let checked = self.policy.check_path(access, &real.path, path);
        let checked = checked.and_then(|()| self.asker.check(access, &real.path, path));
        match checked {
            Ok(()) => Ok(real.path),
            Err(refusal) => Err(Answer::Refused(refusal.to_string())),
        }
    }
}

fn absolute(path: &Path) -> PathBuf {
    // It fails only for a path that is empty, or a process that works nowhere.
    std::path::absolute(path).unwrap_or_else(|_| Path::new("/").join(path))
}

/// What a request changes, and where; `None`: nothing.
fn change(request: &FileRequest) -> (Option<Access>, &Path) {
    use FileRequest as Asked;
    match request {
        Asked::Read(path) | Asked::Status(path) | Asked::List(path) | Asked::Canonical(path) => {
            (None, path)
        }
        Asked::Write(path, _)
        | Asked::Replace(path, ..)
        | Asked::Append(path, _)
        | Asked::MakeFolder(path)
        | Asked::Copy(_, path) => (Some(Access::Write), path),
        Asked::Delete(path) | Asked::Move(path, _) => (Some(Access::Delete), path),
    }
}

fn too_large(max: u64) -> io::Error {
    let limit = max / (1024 * 1024);
    let reason = format!("it is larger than the {limit} MiB that can be read at once");
    io::Error::new(io::ErrorKind::FileTooLarge, reason)
}

/// All that is in a file, unless it is too much.
fn content(file: File, max: u64) -> io::Result<Vec<u8>> {
    let size = file.metadata()?.len();
    if size > max {
        return Err(too_large(max));
    }
    let mut octets = Vec::new();
    octets.try_reserve_exact(usize::try_from(size).unwrap_or(0))?;
    file.take(max + 1).read_to_end(&mut octets)?;
    match octets.len() as u64 > max {
        true => Err(too_large(max)),
        false => Ok(octets),
    }
}

/// Copies what is in a file, and who may do what with it.
fn copy(mut from: File, mut to: File) -> io::Result<()> {
    io::copy(&mut from, &mut to)?;
    let facts = from.metadata()?;
    // A device keeps its own.
    if to.metadata()?.is_file() {
        to.set_permissions(facts.permissions())?;
    }
    Ok(())
}

fn no_file_to_copy() -> io::Error {
    let reason = "the source path is neither a regular file nor a symlink to a regular file";
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}

/// To open a file for writing empties it, so nobody may copy it onto itself.
fn same_file() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "both are the same file")
}

pub(crate) fn described(facts: &fs::Metadata) -> FileStatus {
    let modified = facts.modified().ok();
    let modified = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified = modified.map(|since| since.as_millis()).unwrap_or_default();
    FileStatus {
        size: facts.len(),
        is_file: facts.is_file(),
        is_folder: facts.is_dir(),
        is_readonly: facts.permissions().readonly(),
        modified: i64::try_from(modified).unwrap_or(i64::MAX),
    }
}
