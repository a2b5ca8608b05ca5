//! A body that goes to a file.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use harn_machine::{NetFailure, NetFailureKind};
use reqwest::Response;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use tokio::io::AsyncWriteExt;

use super::exchange::{Limits, next};
use super::failure::failure;
use crate::files::Spot;

/// Where a body goes.
#[derive(Debug)]
pub(crate) enum Destination {
    /// Wherever this path leads; a link stays one.
    Path(PathBuf),
    /// A path without links that was checked. If there is a link by now, it is not followed.
    Checked(PathBuf),
}

/// Writes a body to a file as it arrives; gives how many octets there were. It is written beside
/// the file, as a part with that number, and takes its place in the end: if it breaks off, or
/// nobody wants it any more, whatever was there is still there.
pub(super) async fn save(
    response: &mut Response,
    destination: Destination,
    number: u64,
    limits: &Limits,
) -> Result<u64, NetFailure> {
    let unwritten = |error: io::Error| failure(NetFailureKind::File, error.to_string());
    // To open a pipe takes until somebody reads it.
    let opening = tokio::task::spawn_blocking(move || open(&destination, number));
    let opened = opening.await.map_err(|error| unwritten(error.into()))?;
    let (file, part) = opened.map_err(unwritten)?;
    let mut file = tokio::fs::File::from_std(file);
    let mut count = 0;
    while let Some(piece) = next(response, limits).await? {
        file.write_all(&piece).await.map_err(unwritten)?;
        count += piece.len() as u64;
    }
    file.flush().await.map_err(unwritten)?;
    if let Some(part) = part {
        part.take_place().map_err(unwritten)?;
    }
    Ok(count)
}

/// Opens what is written, and says of which file it is a part. What cannot be replaced, such as
/// a pipe, is written itself.
fn open(destination: &Destination, number: u64) -> io::Result<(File, Option<Part>)> {
    match destination {
        Destination::Path(path) => {
            let path = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
            let (folder, name) = (path.parent(), path.file_name());
            match (folder, name) {
                (Some(folder), Some(name)) if !path.exists() || path.is_file() => {
                    Part::begin(&open_folder(folder)?, name, number)
                }
                _ => {
                    let file = OpenOptions::new().write(true).truncate(true).open(path)?;
                    Ok((file, None))
                }
            }
        }
        Destination::Checked(path) => {
            let spot = Spot::of(path)?;
            match spot
                .facts()
                .map(|facts| FileType::from_raw_mode(facts.st_mode))
            {
                Ok(kind) if kind != FileType::RegularFile => {
                    Ok((spot.create(OFlags::TRUNC)?, None))
                }
                _ => Part::begin(&spot.folder, &spot.name, number),
            }
        }
    }
}

fn open_folder(folder: &Path) -> io::Result<OwnedFd> {
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
    Ok(rustix::fs::open(folder, flags, Mode::empty())?)
}

/// A file that is to take the place of another in its folder. If it does not get there, it is
/// removed.
struct Part {
    folder: OwnedFd,
    name: OsString,
    part: Option<OsString>,
}

impl Part {
    fn begin(folder: &OwnedFd, name: &OsStr, number: u64) -> io::Result<(File, Option<Self>)> {
        let mut part = OsString::from(".");
        part.push(name);
        part.push(format!(".{number}.part"));
        let spot = Spot {
            folder: folder.as_fd().try_clone_to_owned()?,
            name: part.clone(),
        };
        let file = spot.create(OFlags::TRUNC)?;
        let part = Self {
            folder: spot.folder,
            name: name.to_owned(),
            part: Some(part),
        };
        Ok((file, Some(part)))
    }

    fn take_place(mut self) -> io::Result<()> {
        if let Some(part) = &self.part {
            rustix::fs::renameat(&self.folder, part, &self.folder, &self.name)?;
            self.part = None;
        }
        Ok(())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if let Some(part) = &self.part {
            let _it_may_not_be_there = rustix::fs::unlinkat(&self.folder, part, AtFlags::empty());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::symlink;

    use super::*;

    /// Writes something the way a body is written.
    fn written(destination: &Destination) -> io::Result<()> {
        let (mut file, part) = open(destination, 1)?;
        file.write_all(b"new")?;
        part.map_or(Ok(()), Part::take_place)
    }

    #[test]
    fn what_was_checked_is_not_left_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(folder.path()).unwrap();
        for name in ["allowed", "forbidden"] {
            fs::create_dir(folder.join(name)).unwrap();
            fs::write(folder.join(name).join("file"), "old").unwrap();
        }
        let content = |path: &str| fs::read_to_string(folder.join(path)).unwrap();
        written(&Destination::Checked(folder.join("allowed/file"))).unwrap();
        assert_eq!(content("allowed/file"), "new");
        // Somebody puts links in the way after the check.
        symlink("../forbidden/file", folder.join("allowed/link")).unwrap();
        let refused = written(&Destination::Checked(folder.join("allowed/link")));
        refused.expect_err("it would be written elsewhere");
        symlink("forbidden", folder.join("folder")).unwrap();
        let refused = written(&Destination::Checked(folder.join("folder/file")));
        refused.expect_err("it would be written elsewhere");
        assert_eq!(content("forbidden/file"), "old");
    }

    #[test]
    fn a_plain_path_goes_where_its_links_lead() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        fs::write(folder.join("file"), "old").unwrap();
        symlink("file", folder.join("link")).unwrap();
        written(&Destination::Path(folder.join("link"))).unwrap();
        assert_eq!(fs::read_to_string(folder.join("file")).unwrap(), "new");
        assert!(folder.join("link").is_symlink());
        let unfinished = open(&Destination::Path(folder.join("other")), 7).unwrap();
        assert!(folder.join(".other.7.part").exists());
        drop(unfinished);
        assert_eq!(fs::read_dir(folder).unwrap().count(), 2);
    }
}
