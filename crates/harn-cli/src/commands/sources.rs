//! Which programs are meant.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::output::{Output, Untrusted};

/// Folders that hold programs of others, or none at all.
const SKIPPED: [&str; 3] = ["node_modules", "target", "vendor"];

/// The programs that paths stand for: files as they are, and every `.harn` file below a
/// folder, sorted. Hidden folders are left out, and no program is named twice. Says what
/// cannot be read; the second result is whether there was nothing of the kind.
pub(super) fn find(paths: &[PathBuf], output: &mut Output) -> (Vec<PathBuf>, bool) {
    let mut search = Search::default();
    for path in paths {
        match path.is_dir() {
            true => search.below(path),
            false => match fs::metadata(path) {
                Ok(_) => search.add(path.clone()),
                Err(error) => search.failed(path, error),
            },
        }
    }
    for (path, error) in &search.failures {
        let path = path.display().to_string();
        output.error(format_args!("{}: {error}", Untrusted(path)));
    }
    (search.files, search.failures.is_empty())
}

#[derive(Default)]
struct Search {
    files: Vec<PathBuf>,
    /// The same files as they are really called.
    known: BTreeSet<PathBuf>,
    failures: Vec<(PathBuf, io::Error)>,
}

impl Search {
    fn add(&mut self, path: PathBuf) {
        let real = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        if self.known.insert(real) {
            self.files.push(path);
        }
    }

    fn failed(&mut self, path: &Path, error: io::Error) {
        self.failures.push((path.to_owned(), error));
    }

    fn below(&mut self, folder: &Path) {
        let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut paths: Vec<_> = match entries {
            Ok(entries) => entries.into_iter().map(|entry| entry.path()).collect(),
            Err(error) => return self.failed(folder, error),
        };
        paths.sort();
        for path in paths {
            if is_folder(&path) {
                self.below(&path);
            } else if is_program(&path) {
                self.add(path);
            }
        }
    }
}

/// Whether a folder is searched. A link to one is not: it may lead in circles.
fn is_folder(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let is_skipped = name.is_some_and(|name| name.starts_with('.') || SKIPPED.contains(&name));
    !is_skipped && fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

fn is_program(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "harn")
        && path.is_file()
}
