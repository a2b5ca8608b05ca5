//! Which programs are meant.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::output::{Output, Untrusted};

/// Folders that hold programs of others, or none at all.
const SKIPPED: [&str; 3] = ["node_modules", "target", "vendor"];

/// How deep folders are searched. Links may make them endless.
const DEPTH_MAX: usize = 64;

/// The programs that paths stand for: files as they are, and every `.harn` file below a
/// folder, sorted. Hidden folders are left out. Says what cannot be read.
pub(super) fn find(paths: &[PathBuf], output: &mut Output) -> (Vec<PathBuf>, bool) {
    let mut files = Vec::new();
    let mut is_whole = true;
    for path in paths {
        let found = match path.is_dir() {
            true => below(path, &mut files, 0),
            false => fs::metadata(path).map(|_| files.push(path.clone())),
        };
        if let Err(error) = found {
            is_whole = false;
            let path = path.display().to_string();
            output.error(format_args!("{}: {error}", Untrusted(path)));
        }
    }
    (files, is_whole)
}

fn below(folder: &Path, files: &mut Vec<PathBuf>, depth: usize) -> io::Result<()> {
    let entries: io::Result<Vec<_>> = fs::read_dir(folder)?.collect();
    let mut paths: Vec<_> = entries?.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().and_then(|name| name.to_str());
        let is_skipped = name.is_some_and(|name| name.starts_with('.') || SKIPPED.contains(&name));
        if path.is_dir() && !is_skipped && depth < DEPTH_MAX {
            below(&path, files, depth + 1)?;
        } else if is_program(&path) {
            files.push(path);
        }
    }
    Ok(())
}

pub(super) fn is_program(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "harn")
        && path.is_file()
}
