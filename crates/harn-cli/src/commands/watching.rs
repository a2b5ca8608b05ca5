//! Doing something again whenever a file changes.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use notify::{RecursiveMode, Watcher};

use super::Outcome;
use crate::output::Output;

/// Editors write a file in several steps; this is how long it is quiet after the last.
const QUIET: Duration = Duration::from_millis(50);

/// Calls `again` once, and then with what has changed, until the program is stopped. It is
/// called for the first time when we are watching already, so that no change of `paths` is
/// missed. It says which files its answer depends on, and those are watched from then on.
///
/// # Errors
/// The answer cannot be written.
pub(super) fn watch(
    paths: &[PathBuf],
    output: &mut Output,
    mut again: impl FnMut(&[PathBuf], &mut Output) -> io::Result<BTreeSet<PathBuf>>,
) -> io::Result<Outcome> {
    let (sender, events) = channel();
    let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if let Ok(event) = event
            && is_change(&event)
        {
            // Nobody listens any more when the program ends.
            let _ = sender.send(event.paths);
        }
    });
    let folders = watcher.and_then(|watcher| Folders::new(watcher, paths));
    let mut folders = match folders {
        Ok(folders) => folders,
        Err(error) => return Ok(cannot_watch(&error, output)),
    };
    let mut changed = Vec::new();
    let mut is_first = true;
    loop {
        for file in again(&changed, output)? {
            if let Err(error) = folders.add_file(&file) {
                return Ok(cannot_watch(&error, output));
            }
        }
        if is_first {
            output.note(format_args!("watching for changes, stop with Ctrl-C"));
            is_first = false;
        }
        match next_changes(&events) {
            Some(next) => changed = next,
            None => return Ok(Outcome::Done),
        }
    }
}

/// The folders that are watched. A file that is replaced is another one, so we watch folders
/// and not files.
struct Folders<W> {
    watcher: W,
    /// Watched with everything below.
    whole: BTreeSet<PathBuf>,
    /// Watched alone.
    single: BTreeSet<PathBuf>,
}

impl<W: Watcher> Folders<W> {
    fn new(watcher: W, paths: &[PathBuf]) -> notify::Result<Self> {
        let mut folders = Self {
            watcher,
            whole: BTreeSet::new(),
            single: BTreeSet::new(),
        };
        for path in paths {
            let folder = match path.is_dir() {
                true => path.as_path(),
                false => path.parent().unwrap_or(path),
            };
            let folder = match folder.as_os_str().is_empty() {
                true => Path::new("."),
                false => folder,
            };
            let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
            folders.watcher.watch(&folder, RecursiveMode::Recursive)?;
            folders.whole.insert(folder);
        }
        Ok(folders)
    }

    /// Watches the folder of a file, if that is not watched already.
    fn add_file(&mut self, file: &Path) -> notify::Result<()> {
        // Modules of the standard library are in no folder.
        let Some(folder) = file.parent().filter(|folder| folder.is_dir()) else {
            return Ok(());
        };
        let is_known = folder.ancestors().any(|above| self.whole.contains(above));
        if !is_known && self.single.insert(folder.to_owned()) {
            self.watcher.watch(folder, RecursiveMode::NonRecursive)?;
        }
        Ok(())
    }
}

/// Reading a file is an event as well. We read files whenever they change, so taking that for
/// a change would never end.
fn is_change(event: &notify::Event) -> bool {
    !event.kind.is_access()
}

fn cannot_watch(error: &notify::Error, output: &mut Output) -> Outcome {
    output.error(format_args!("cannot watch for changes: {error}"));
    Outcome::Problems
}

/// What has changed, once it is quiet; `None` if nothing will change any more.
fn next_changes(events: &Receiver<Vec<PathBuf>>) -> Option<Vec<PathBuf>> {
    let is_ours = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        matches!(extension, Some("harn" | "toml"))
    };
    let mut changed = BTreeSet::new();
    while changed.is_empty() {
        changed.extend(events.recv().ok()?.into_iter().filter(is_ours));
    }
    loop {
        match events.recv_timeout(QUIET) {
            Ok(more) => changed.extend(more.into_iter().filter(is_ours)),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                return Some(changed.into_iter().collect());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use notify::EventKind;
    use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind, RemoveKind};

    #[test]
    fn reading_is_no_change() {
        let is_change = |kind| is_change(&notify::Event::new(kind));
        assert!(!is_change(EventKind::Access(AccessKind::Open(
            AccessMode::Any
        ))));
        assert!(!is_change(EventKind::Access(AccessKind::Read)));
        assert!(is_change(EventKind::Create(CreateKind::File)));
        assert!(is_change(EventKind::Modify(ModifyKind::Any)));
        assert!(is_change(EventKind::Remove(RemoveKind::File)));
    }

    #[test]
    fn only_programs_and_projects_matter() {
        let (sender, events) = channel();
        for path in ["notes.txt", "b.harn", "harn.toml", "b.harn", "a.harn.tmp"] {
            sender.send(vec![PathBuf::from(path)]).unwrap();
        }
        drop(sender);
        let expected = ["b.harn", "harn.toml"].map(PathBuf::from).to_vec();
        assert_eq!(next_changes(&events), Some(expected));
        assert_eq!(next_changes(&events), None);
    }
}
