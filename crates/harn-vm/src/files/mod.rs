//! The files of the world.
//!
//! ```text
//!            ┌─ every file is allowed ─► plain:    paths, as the system follows them
//! request ───┤
//!            └─ some are ─► real paths ─► checked ─► confined: opened part by part, no links
//! ```

mod confined;
mod plain;

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use harn_agent::real_path::{RealPath, resolve, resolve_entry};
use harn_machine::{Answer, FileRequest, FileStatus};

use crate::policy::{Access, Policy};
use crate::world::failed;

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
        let performed = match self.policy.is_open_to_files() {
            true => plain::perform(request, self.read_max(), |path| self.at(path)),
            false => match self.admitted(request) {
                Ok(Some(places)) => confined::perform(request, self.read_max(), &places),
                Ok(None) => plain::perform(request, self.read_max(), |path| self.at(path)),
                Err(refused) => return refused,
            },
        };
        performed.unwrap_or_else(|error| failed(&error))
    }

    fn read_max(&self) -> u64 {
        let max = self.read_bytes_max.unwrap_or(READ_BYTES_MAX);
        max.min(READ_BYTES_MAX)
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
                // Who moves a file could read it at its new place.
                self.place(from, Read, resolve_entry)?;
                vec![
                    self.place(from, Delete, resolve_entry)?,
                    self.place(to, Write, resolve_entry)?,
                ]
            }
        };
        Ok(Some(places))
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
        match self.policy.check_path(access, &real.path, path) {
            Ok(()) => Ok(real.path),
            Err(refusal) => Err(Answer::Refused(refusal.to_string())),
        }
    }
}

fn absolute(path: &Path) -> PathBuf {
    // It fails only for a path that is empty, or a process that works nowhere.
    std::path::absolute(path).unwrap_or_else(|_| Path::new("/").join(path))
}

/// All that is in a file, unless it is too much.
fn content(file: File, max: u64) -> io::Result<Vec<u8>> {
    let too_large = || {
        let limit = max / (1024 * 1024);
        let reason = format!("it is larger than the {limit} MiB that can be read at once");
        io::Error::new(io::ErrorKind::FileTooLarge, reason)
    };
    let size = file.metadata()?.len();
    if size > max {
        return Err(too_large());
    }
    let mut octets = Vec::new();
    octets.try_reserve_exact(usize::try_from(size).unwrap_or(0))?;
    file.take(max + 1).read_to_end(&mut octets)?;
    match octets.len() as u64 > max {
        true => Err(too_large()),
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
