//! Files by their paths, as the system follows them.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use harn_machine::{Answer, FileRequest};

use crate::replace::replace;

pub(super) fn perform(
    request: &FileRequest,
    read_max: u64,
    at: impl Fn(&Path) -> PathBuf,
) -> io::Result<Answer> {
    Ok(match request {
        FileRequest::Read(path) => Answer::Octets(super::content(File::open(at(path))?, read_max)?),
        FileRequest::Write(path, content) => done(fs::write(at(path), content)?),
        FileRequest::Replace(path, content, before) => {
            Answer::Truth(replace(&at(path), content, before)?)
        }
        FileRequest::Append(path, content) => done(append(&at(path), content)?),
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

fn append(path: &Path, content: &[u8]) -> io::Result<()> {
    let file = File::options().create(true).append(true).open(path);
    file?.write_all(content)
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
    fs::copy(from, to).map(drop)
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
