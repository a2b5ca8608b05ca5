//! Small programs to ask about.

use std::path::{Path, PathBuf};

use harn_check::modules::{MemoryFiles, Workspace};

/// Files in memory and the workspace that reads them.
pub(crate) fn workspace(files: &[(&str, &str)]) -> (Workspace, MemoryFiles) {
    let memory = MemoryFiles::new();
    for (path, text) in files {
        memory.write(path, text);
    }
    (Workspace::new(Box::new(memory.clone())), memory)
}

/// A path with slashes.
pub(crate) fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// A new directory of the disk, and its path. It lives as long as its guard.
pub(crate) fn scratch() -> (tempfile::TempDir, PathBuf) {
    let guard = tempfile::tempdir().expect("scratch folders can be made");
    let path = guard.path().canonicalize();
    (guard, path.expect("what was just made can be found"))
}

/// Writes files below a directory of the disk.
pub(crate) fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        let directory = path.parent().expect("a file is in a directory");
        std::fs::create_dir_all(directory).expect("scratch folders can be written to");
        std::fs::write(path, text).expect("scratch folders can be written to");
    }
}
