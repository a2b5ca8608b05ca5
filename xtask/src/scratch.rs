//! A folder that exists for as long as a value does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use crate::error::Error;

/// A fresh, empty folder, removed again on drop.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// `name` must be different for folders that exist at the same time; the
    /// process id keeps two runs of the chores apart.
    pub(crate) fn new(name: &str) -> Result<Self, Error> {
        let path = std::env::temp_dir().join(format!("harn-{}-{name}", process::id()));
        if path.exists() {
            fs::remove_dir_all(&path).map_err(Error::file(&path))?;
        }
        fs::create_dir_all(&path).map_err(Error::file(&path))?;
        Ok(Self { path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder left behind in the system's temporary place is litter, not
        // a failure of what ran inside it.
        drop(fs::remove_dir_all(&self.path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_empty_at_first_and_gone_at_last() {
        let scratch = Scratch::new("scratch-test").unwrap();
        let path = scratch.path().to_path_buf();
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
        fs::write(path.join("file"), "text").unwrap();
        drop(scratch);
        assert!(!path.exists());
    }
}
