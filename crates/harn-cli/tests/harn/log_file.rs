//! Logs for the tests, written record by record so that each mistake in them is
//! on purpose.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with logs, gone after the test.
pub(crate) struct Logs {
    folder: TempDir,
}

impl Logs {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        Self { folder }
    }

    /// One log called `name` with this text.
    pub(crate) fn with(name: &str, text: &str) -> Self {
        let logs = Self::new();
        logs.add(name, text);
        logs
    }

    pub(crate) fn add(&self, name: &str, text: &str) {
        fs::write(self.path_of(name), text).expect("the folder is ours");
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// As an argument.
    pub(crate) fn argument(&self, name: &str) -> String {
        self.path_of(name).to_str().expect("plain names").to_owned()
    }
}

/// One line of a log: the envelope around `event`, ended by a newline.
pub(crate) fn line(index: u64, session_id: &str, event: Value) -> String {
    let mut record = json!({
        "index": index, "emitted_at_ms": 1_700_000_000_000_u64 + index,
        "frame_depth": null, "execution_id": null, "session_id": session_id,
    });
    let keys = record.as_object_mut().expect("it is written as one above");
    keys.extend(event.as_object().expect("events are objects").clone());
    record.to_string() + "\n"
}

pub(crate) fn message(index: u64, session_id: &str) -> String {
    line(
        index,
        session_id,
        json!({"type": "agent_message_chunk", "content": "Hello."}),
    )
}

pub(crate) fn iteration_start(index: u64, session_id: &str, iteration: u64) -> String {
    line(
        index,
        session_id,
        json!({"type": "iteration_start", "iteration": iteration}),
    )
}

pub(crate) fn iteration_end(index: u64, session_id: &str, iteration: u64) -> String {
    let event = json!({"type": "iteration_end", "iteration": iteration, "iteration_info": {}});
    line(index, session_id, event)
}

/// A run that ends the way a run should: four records.
pub(crate) fn whole_run(session_id: &str) -> String {
    [
        iteration_start(0, session_id, 1),
        message(1, session_id),
        iteration_end(2, session_id, 1),
        message(3, session_id),
    ]
    .concat()
}
