//! A program that answers prompts.

use std::path::{Path, PathBuf};

use harn_check::modules::{Disk, Workspace};
use harn_machine::Entry;

/// Makes the conversation of a session shorter, or says that it cannot be.
const COMPACTING: &str = r#"pipeline compact(session_id) {
  agent_session_open(session_id)
  let before = agent_session_length(session_id)
  let after = agent_session_compact(session_id, {keep_last: 4})
  return after < before ? "" : "the conversation is too short to be shortened"
}
"#;

/// A program that answers prompts.
#[derive(Clone, Debug)]
pub struct AnsweringProgram {
    /// Where it is, or what it is called in messages.
    pub path: PathBuf,
    /// Its text, if it is not in a file.
    pub text: Option<&'static str>,
    /// The pipeline that answers.
    pub entry: Entry,
}

impl AnsweringProgram {
    /// The program that makes a session shorter.
    pub(super) fn compacting() -> Self {
        Self {
            path: "<compact>".into(),
            text: Some(COMPACTING),
            entry: Entry::Default,
        }
    }

    /// Where it is, or what it is called in messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The files it consists of, as they are now.
    pub fn workspace(&self) -> Workspace {
        let mut workspace = Workspace::new(Box::new(Disk));
        if let Some(text) = self.text {
            workspace.set_text(&self.path, text);
        }
        workspace
    }
}
