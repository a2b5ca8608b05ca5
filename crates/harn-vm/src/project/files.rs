//! Digests of files. Folders of others may hold anything: pipes that never end, links in circles,
//! files without end.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use sha2::{Digest, Sha256};

/// How large a file may be that is looked at.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// How many files of one folder are looked at.
const FILES_MAX: usize = 10_000;

/// How deep folders may be.
const DEPTH_MAX: usize = 16;

/// The digest of a text.
pub(super) fn digest_of(text: &str) -> String {
    hex(Sha256::digest(text))
}

/// The text of a file; `None` if it is not there.
///
/// # Errors
/// It cannot be read, or is no file.
pub(super) fn text_of(path: &Path) -> io::Result<Option<String>> {
    let Some(mut file) = open(path)? else {
        return Ok(None);
    };
    let mut text = String::new();
    file.by_ref()
        .take(FILE_BYTES_MAX)
        .read_to_string(&mut text)?;
    Ok(Some(text))
}

/// The digest of a file; `None` if it is not there.
///
/// # Errors
/// It cannot be read, is no file, or is too large.
pub(super) fn digest_of_file(path: &Path) -> io::Result<Option<String>> {
    let Some(mut file) = open(path)? else {
        return Ok(None);
    };
    let mut hash = Sha256::new();
    let mut piece = vec![0; 64 * 1024];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(Some(hex(hash.finalize()))),
            length => hash.update(&piece[..length]),
        }
    }
}

/// The digest of all that is in a folder. Links to folders are not followed.
///
/// # Errors
/// Something in it cannot be read, or there is too much.
pub(super) fn digest_of_folder(folder: &Path) -> io::Result<String> {
    let mut lines = Vec::new();
    let mut waiting: Vec<(PathBuf, usize)> = vec![(folder.to_owned(), 0)];
    while let Some((here, depth)) = waiting.pop() {
        for entry in fs::read_dir(&here)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            if lines.len() >= FILES_MAX || depth >= DEPTH_MAX {
                return Err(too_much());
            }
            let shown = path.strip_prefix(folder).unwrap_or(&path).display();
            if kind.is_dir() {
                waiting.push((path, depth + 1));
            } else if kind.is_symlink() && path.is_dir() {
                let target = fs::read_link(&path)?;
                lines.push(format!("{shown} -> {}", target.display()));
            } else {
                let digest = digest_of_file(&path)?.unwrap_or_default();
                lines.push(format!("{shown} {digest}"));
            }
        }
    }
    lines.sort_unstable();
    Ok(digest_of(&lines.join("\n")))
}

/// A file, without waiting for what is no file.
fn open(path: &Path) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.read(true);
    options.custom_flags(i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default());
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let status = file.metadata()?;
    if !status.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    match status.len() > FILE_BYTES_MAX {
        true => Err(too_much()),
        false => Ok(Some(file)),
    }
}

fn too_much() -> io::Error {
    io::Error::other("it is too large to be looked at")
}

fn hex(digest: impl AsRef<[u8]>) -> String {
    let octets = digest.as_ref().iter();
    octets.map(|octet| format!("{octet:02x}")).collect()
}
