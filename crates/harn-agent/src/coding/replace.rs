//! Files that change whole or not at all.
//!
//! The new content goes into a file beside the old one, reaches the disk, and then takes the
//! name. Somebody who reads meanwhile sees the old content or the new one; a crash leaves one of
//! the two. A file with several names becomes two files by this, the other names keep the old
//! content.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::place::{Missing, Place, not_a_file};

/// How many names are tried for the file beside.
const NAMES_MAX: u32 = 1000;

/// What was there before.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Before {
    Nothing,
    /// A file of so many bytes.
    File(u64),
}

/// Gives a file new content, or makes it and the folders it is in.
pub(super) fn replace(place: &Place, content: &[u8]) -> io::Result<Before> {
    let (folder, name) = place.open_parent(Missing::Create)?;
    let old = old_file(&folder, &name)?;
    let (mut file, beside) = create_beside(&folder)?;
    let written = fill(&mut file, content, old.as_ref().map(|(mode, _)| *mode))
        .and_then(|()| Ok(rustix::fs::renameat(&folder, &beside, &folder, &name)?));
    if let Err(error) = written {
        let _it_may_be_gone = rustix::fs::unlinkat(&folder, &beside, AtFlags::empty());
        return Err(error);
    }
    Ok(old.map_or(Before::Nothing, |(_, bytes)| Before::File(bytes)))
}

/// Whether a file may be given new content, by somebody else; makes the folders it is in.
pub(super) fn may_replace(place: &Place) -> io::Result<Before> {
    let (folder, name) = place.open_parent(Missing::Create)?;
    let old = old_file(&folder, &name)?;
    Ok(old.map_or(Before::Nothing, |(_, bytes)| Before::File(bytes)))
}

/// The permissions and the size of the file that is there, if it may be changed.
fn old_file(folder: &OwnedFd, name: &OsStr) -> io::Result<Option<(Mode, u64)>> {
    let stat = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(None),
        other => other?,
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        FileType::Directory => return Err(io::ErrorKind::IsADirectory.into()),
        _ => return Err(not_a_file(name)),
    }
    // To take its name needs no right to the file, but its owner did not want it changed.
    let mode = Mode::from_raw_mode(stat.st_mode & 0o777);
    let may_write =
        rustix::fs::accessat(folder, name, rustix::fs::Access::WRITE_OK, AtFlags::empty());
    if !mode.intersects(Mode::WUSR | Mode::WGRP | Mode::WOTH) || may_write.is_err() {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "it is read-only",
        ));
    }
    Ok(Some((mode, u64::try_from(stat.st_size).unwrap_or(0))))
}

fn create_beside(folder: &OwnedFd) -> io::Result<(File, OsString)> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for number in 0..NAMES_MAX {
        let name = OsString::from(format!(".harn-write-{}-{number}", std::process::id()));
        match rustix::fs::openat(folder, &name, flags, Mode::from_raw_mode(0o666)) {
            Ok(file) => return Ok((File::from(file), name)),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn fill(file: &mut File, content: &[u8], mode: Option<Mode>) -> io::Result<()> {
    if let Some(mode) = mode {
        rustix::fs::fchmod(&*file, mode)?;
    }
    file.write_all(content)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::coding::scene::Scene;

    #[test]
    fn a_link_that_appears_after_the_check_is_not_written_through() {
        let scene = Scene::new();
        let outside = tempfile::tempdir().unwrap();
        let target = outside.path().join("file");
        fs::write(&target, "untouched").unwrap();
        let file = scene.workspace.place_to_write("file").unwrap();
        let below = scene.workspace.place_to_write("folder/file").unwrap();
        scene.link(&target, "file");
        scene.link(outside.path(), "folder");
        assert!(replace(&file, b"x").is_err());
        assert!(replace(&below, b"x").is_err());
        assert_eq!(fs::read_to_string(target).unwrap(), "untouched");
        assert_eq!(scene.names(), ["file", "folder"]);
    }

    #[test]
    fn files_left_by_a_crash_are_no_obstacle() {
        let scene = Scene::new();
        let left = format!(".harn-write-{}-0", std::process::id());
        scene.write(&left, "half");
        let place = scene.workspace.place_to_write("file").unwrap();
        assert_eq!(replace(&place, b"new").unwrap(), Before::Nothing);
        assert_eq!(scene.content("file"), "new");
        assert_eq!(scene.content(&left), "half");
        assert_eq!(replace(&place, b"newer").unwrap(), Before::File(3));
    }

    #[test]
    fn permissions_are_kept() {
        let scene = Scene::new();
        scene.write("script", "old");
        let path = scene.root().join("script");
        fs::set_permissions(&path, Permissions::from_mode(0o751)).unwrap();
        let place = scene.workspace.place_to_write("script").unwrap();
        replace(&place, b"new").unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o751);

        fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
        let error = replace(&place, b"newer").unwrap_err();
        assert_eq!(error.to_string(), "it is read-only");
        assert_eq!(scene.content("script"), "new");
        assert_eq!(scene.names(), ["script"]);
    }
}
