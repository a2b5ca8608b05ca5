//! What was typed before, in a file: one JSON string per line, since entries can have several.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use crate::environment;

/// So many entries are remembered.
const ENTRIES_MAX: usize = 1000;

/// The file of the history. A history that cannot be read or written is not worth failing for.
pub(super) struct History {
    path: Option<PathBuf>,
}

impl History {
    pub(super) fn new() -> Self {
        let folder = environment::state_folder();
        Self {
            path: folder.map(|folder| folder.join("repl_history")),
        }
    }

    /// The entries, the oldest first. A file that has become too long is cut.
    pub(super) fn load(&self) -> Vec<String> {
        let Some(path) = &self.path else {
            return Vec::new();
        };
        let text = fs::read_to_string(path).unwrap_or_default();
        let entries = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let mut entries: Vec<String> = entries.collect();
        if entries.len() > 2 * ENTRIES_MAX {
            entries.drain(..entries.len() - ENTRIES_MAX);
            let lines = entries.iter().map(|entry| line(entry)).collect::<String>();
            let _not_worth_failing = fs::write(path, lines);
        }
        entries
    }

    /// Remembers an entry.
    pub(super) fn add(&self, entry: &str) {
        let Some(path) = &self.path else {
            return;
        };
        if let Some(folder) = path.parent() {
            let _not_worth_failing = fs::create_dir_all(folder);
        }
        let file = OpenOptions::new().create(true).append(true).open(path);
        let _not_worth_failing = file.and_then(|mut file| file.write_all(line(entry).as_bytes()));
    }
}

fn line(entry: &str) -> String {
    format!("{}\n", serde_json::Value::from(entry))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let history = History {
            path: Some(folder.path().join("new/history")),
        };
        assert!(history.load().is_empty());
        history.add("1 + 2");
        history.add("fn f() {\n  \"x\"\n}");
        assert_eq!(history.load(), ["1 + 2", "fn f() {\n  \"x\"\n}"]);
    }

    #[test]
    fn a_long_history_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history");
        let entries = (0..=2 * ENTRIES_MAX).map(|at| line(&at.to_string()));
        fs::write(&path, entries.collect::<String>()).unwrap();
        let history = History { path: Some(path) };
        let entries = history.load();
        assert_eq!(entries.len(), ENTRIES_MAX);
        assert_eq!(entries[0], (ENTRIES_MAX + 1).to_string());
        assert_eq!(history.load(), entries);
    }

    #[test]
    fn without_a_place_nothing_is_remembered() {
        let history = History { path: None };
        history.add("1");
        assert!(history.load().is_empty());
    }
}
