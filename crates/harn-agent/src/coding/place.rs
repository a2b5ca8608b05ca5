//! A place inside the workspace, and how to get there without following links.
//!
//! The path was resolved when the place was found, so none of its parts was a link then. It is
//! opened below its root, none of its parts through a link. Whoever replaces a part by a link in
//! the meantime makes the opening fail instead of leading it astray.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};

use crate::protected_paths::{ProtectedPaths, Protection};
use crate::real_path::open_below;

pub(super) use crate::real_path::{Missing, open_folder};

/// A file that is only read. Without waiting, because opening a pipe would wait for a writer.
const FILE: OFlags = OFlags::NOFOLLOW
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY);

/// A place inside the workspace. Nothing needs to be there.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// What the model wrote.
    pub(super) given: String,
    /// The root it is in.
    pub(super) root: PathBuf,
    /// The way from the root: names only.
    pub(super) inside: PathBuf,
    /// Whether a relative path leads here.
    pub(super) is_in_first_root: bool,
    /// Why care has to be taken with it.
    pub(super) protection: Option<Protection>,
    /// What must not be read under another name.
    pub(super) protected: Arc<ProtectedPaths>,
}

impl Place {
    /// How the model can call this place.
    pub(super) fn path(&self) -> PathBuf {
        match self.is_in_first_root {
            true => self.inside.clone(),
            false => self.root.join(&self.inside),
        }
    }

    /// The whole path, without links.
    pub(super) fn absolute(&self) -> PathBuf {
        self.root.join(&self.inside)
    }

    /// Why something below here is passed over by who looks around.
    pub(super) fn passed_over(&self, inside: &Path) -> Option<Protection> {
        let place = self.absolute().join(inside);
        self.protected.passed_over(&place, &self.root)
    }

    /// Whether something below here is the memory of Harn.
    pub(super) fn is_state(&self, inside: &Path) -> bool {
        self.passed_over(inside) == Some(Protection::State)
    }

    /// Opens the folder here.
    pub(super) fn open_folder(&self) -> io::Result<OwnedFd> {
        open_below(&self.root, &self.inside, Missing::Fail)
    }

    /// Opens the folder that this place is in and gives the name in it. The workspace itself
    /// has none.
    pub(super) fn open_parent(&self, missing: Missing) -> io::Result<(OwnedFd, OsString)> {
        let name = self.inside.file_name();
        let (Some(parent), Some(name)) = (self.inside.parent(), name) else {
            return Err(io::ErrorKind::IsADirectory.into());
        };
        let parent = open_below(&self.root, parent, missing)?;
        Ok((parent, name.to_owned()))
    }

    /// Opens the file here to read it.
    pub(super) fn open_file(&self) -> io::Result<File> {
        let (parent, name) = self.open_parent(Missing::Fail)?;
        let file = open_file(parent, &name)?;
        check_names(&file, &self.protected)?;
        Ok(file)
    }

    /// What is here; `None`: nothing.
    pub(super) fn kind(&self) -> io::Result<Option<FileType>> {
        if self.inside.as_os_str().is_empty() {
            return Ok(Some(FileType::Directory));
        }
        let found = self.open_parent(Missing::Fail).and_then(|(parent, name)| {
            Ok(rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?)
        });
        match found {
            Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.st_mode))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Fails if a file is one of the state of Harn under another name.
pub(super) fn check_names(file: &File, protected: &ProtectedPaths) -> io::Result<()> {
    match protected.is_state_by_another_name(&file.metadata()?) {
        true => Err(io::Error::other("it belongs to Harn under another name")),
        false => Ok(()),
    }
}

/// Opens a file in a folder to read it.
pub(super) fn open_file(folder: impl AsFd, name: &OsStr) -> io::Result<File> {
    let opened = rustix::fs::openat(folder, name, FILE, Mode::empty());
    let file = match opened {
        // Nothing can be read of a socket.
        Err(rustix::io::Errno::NXIO) => return Err(not_a_file(name)),
        opened => File::from(opened?),
    };
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    match kind.is_file() {
        true => Ok(file),
        false => Err(not_a_file(name)),
    }
}

/// What is said of a pipe, a socket or a device.
pub(super) fn not_a_file(name: &OsStr) -> io::Error {
    io::Error::other(format!("'{}' is not a file", name.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::coding::scene::Scene;

    #[test]
    fn a_link_that_appears_after_the_check_is_not_followed() {
        let scene = Scene::new();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("file"), "secret").unwrap();
        scene.write("folder/file", "mine");
        scene.write("file", "mine");
        let below = scene.workspace.place("folder/file").unwrap();
        let folder = scene.workspace.place("folder").unwrap();
        let file = scene.workspace.place("file").unwrap();
        assert!(below.open_file().is_ok() && folder.open_folder().is_ok());
        assert!(file.open_file().is_ok());

        fs::remove_dir_all(scene.root().join("folder")).unwrap();
        fs::remove_file(scene.root().join("file")).unwrap();
        scene.link(outside.path(), "folder");
        scene.link(outside.path().join("file"), "file");
        assert!(below.open_file().is_err());
        assert!(below.open_parent(Missing::Create).is_err());
        assert!(folder.open_folder().is_err());
        assert!(file.open_file().is_err());
        assert_eq!(file.kind().unwrap(), Some(FileType::Symlink));
    }

    #[test]
    fn only_regular_files_are_opened() {
        let scene = Scene::new();
        scene.write("folder/file", "");
        let socket = scene.root().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(socket).unwrap();
        for path in [".", "folder", "socket", "missing", "folder/file/below"] {
            let place = scene.workspace.place(path).unwrap();
            assert!(place.open_file().is_err(), "{path}");
        }
    }

    #[test]
    fn what_is_there_is_known() {
        let scene = Scene::new();
        scene.write("folder/file", "");
        let rows = [
            (".", Some(FileType::Directory)),
            ("folder", Some(FileType::Directory)),
            ("folder/file", Some(FileType::RegularFile)),
            ("folder/missing", None),
            ("missing/file", None),
        ];
        for (path, expected) in rows {
            let place = scene.workspace.place(path).unwrap();
            assert_eq!(place.kind().unwrap(), expected, "{path}");
        }
    }
}
