//! Doing something again whenever a file changes.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use notify::{RecursiveMode, Watcher};

use super::Outcome;
use crate::output::Output;

/// Editors write a file in several steps; this is how long it is quiet after the last.
const QUIET: Duration = Duration::from_millis(50);

/// Calls `again` with what has changed, until the program is stopped.
///
/// # Errors
/// The answer cannot be written.
pub(super) fn watch(
    paths: &[PathBuf],
    output: &mut Output,
    mut again: impl FnMut(&[PathBuf], &mut Output) -> io::Result<()>,
) -> io::Result<Outcome> {
    let (sender, events) = channel();
    let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        // Nobody listens any more when the program ends.
        let _ = event.map(|event| sender.send(event.paths));
    });
    let mut watcher = match watcher {
        Ok(watcher) => watcher,
        Err(error) => return Ok(cannot_watch(&error, output)),
    };
    for path in paths {
        // A file that is replaced is another one, so its folder is watched.
        let folder = match path.is_dir() {
            true => path.as_path(),
            false => path.parent().unwrap_or(path),
        };
        let folder = match folder.as_os_str().is_empty() {
            true => Path::new("."),
            false => folder,
        };
        if let Err(error) = watcher.watch(folder, RecursiveMode::Recursive) {
            return Ok(cannot_watch(&error, output));
        }
    }
    output.note(format_args!("watching for changes, stop with Ctrl-C"));
    while let Some(changed) = next_changes(&events) {
        again(&changed, output)?;
    }
    Ok(Outcome::Done)
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
