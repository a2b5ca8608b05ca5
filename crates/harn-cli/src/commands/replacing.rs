//! Changing files of other people.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Puts a text in the place of a file, whole or not at all, even if the power fails.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<()> {
    // A link stays a link.
    let path = fs::canonicalize(path)?;
    let folder = path.parent().unwrap_or(&path);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = folder.join(format!(".{name}.{}.tmp", std::process::id()));
    let permissions = fs::metadata(&path)?.permissions();
    let written = write_synced(&beside, text)
        .and_then(|()| fs::set_permissions(&beside, permissions))
        .and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        // What could not be put in its place is of no use.
        let _ = fs::remove_file(&beside);
    }
    written
}

fn write_synced(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
