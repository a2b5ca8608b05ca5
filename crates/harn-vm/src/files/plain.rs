//! Files by their paths, as the system follows them.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use harn_machine::{Answer, FileRequest};

use super::opening::{self, Waits};
use crate::replace::replace;

pub(super) fn perform(
    request: &FileRequest,
    read_max: u64,
    at: impl Fn(&Path) -> PathBuf,
    waits: Waits<'_>,
) -> io::Result<Answer> {
    Ok(match request {
        FileRequest::Read(path) => {
            let opened = carefully().read(true).open(at(path));
            Answer::Octets(opening::read(opened, read_max, path, waits)?)
        }
        FileRequest::Write(path, content) => {
            let place = at(path);
            let open = || {
                let mut options = carefully();
                options.write(true).create(true).truncate(true).open(&place)
            };
            done(opening::write(open, content, path, waits)?)
        }
        FileRequest::Replace(path, content, before) => {
            Answer::Truth(replace(&at(path), content, before)?)
        }
        FileRequest::Append(path, content) => {
            let place = at(path);
            let open = || carefully().create(true).append(true).open(&place);
            done(opening::write(open, content, path, waits)?)
        }
        FileRequest::Status(path) => match fs::metadata(at(path)) {
            Ok(facts) => Answer::Status(Some(super::described(&facts))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Answer::Status(None),
            Err(error) => return Err(error),
        },
        FileRequest::List(path) => list(&at(path))?,
        FileRequest::MakeFolder(path) => done(fs::create_dir_all(at(path))?),
        FileRequest::Delete(path) => done(delete(&at(path))?),
        FileRequest::Copy(from, to) => done(copy(&at(from), &at(to))?),
        FileRequest::Move(from, to) => done(fs::rename(at(from), at(to))?),
        FileRequest::Canonical(path) => {
            let path = fs::canonicalize(at(path))?;
            Answer::Text(Some(path.to_string_lossy().into_owned()))
        }
    })
}

fn done((): ()) -> Answer {
    Answer::Done
}

fn carefully() -> OpenOptions {
    let mut options = File::options();
    options.custom_flags(opening::CAREFULLY.bits().cast_signed());
    options
}

fn delete(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path)?.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if let (Ok(one), Ok(other)) = (fs::metadata(from), fs::metadata(to))
        && (one.dev(), one.ino()) == (other.dev(), other.ino())
    {
        return Err(super::same_file());
    }
    // The system would wait for a pipe.
    match fs::metadata(from) {
        Ok(facts) if !facts.is_file() && !facts.is_dir() => Err(super::no_file_to_copy()),
        _ => fs::copy(from, to).map(drop),
    }
}

/// The names of a folder's entries with what each is, sorted.
fn list(path: &Path) -> io::Result<Answer> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let kind = match entry.file_type()? {
            kind if kind.is_dir() => "folder",
            kind if kind.is_file() => "file",
            kind if kind.is_symlink() => "link",
            _ => "other",
        };
        let name = entry.file_name().to_string_lossy().into_owned();
        entries.push((name, kind.to_owned()));
    }
    entries.sort_unstable();
    Ok(Answer::Pairs(entries))
}
