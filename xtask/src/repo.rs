//! Where things are: the one place that knows the layout of the repository.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// The checkout we work on.
#[derive(Debug)]
pub(crate) struct Repo {
    root: PathBuf,
}

impl Repo {
    /// The repository this program was compiled in.
    pub(crate) fn find() -> Result<Self, Error> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = manifest.parent().ok_or_else(|| {
            Error::malformed(manifest.display(), "xtask must sit inside the repository")
        })?;
        Ok(Self {
            root: root.to_path_buf(),
        })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The absolute form of a path written relative to the root.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Where cargo builds, also when the user has moved it.
    pub(crate) fn target_dir(&self) -> PathBuf {
        match std::env::var_os("CARGO_TARGET_DIR") {
            Some(dir) => self.root.join(dir),
            None => self.root.join("target"),
        }
    }

    pub(crate) fn read(&self, relative: &str) -> Result<String, Error> {
        let path = self.path(relative);
        fs::read_to_string(&path).map_err(Error::file(&path))
    }

    /// Writes a file, making its folder if needed.
    pub(crate) fn write(&self, relative: &str, text: &str) -> Result<(), Error> {
        let path = self.path(relative);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Error::file(folder))?;
        }
        fs::write(&path, text).map_err(Error::file(&path))
    }
}
