//! Which program answers.

use std::path::{Path, PathBuf};

use harn_check::modules::{Disk, Workspace};
use harn_vm::answering_pipeline;
use harn_vm::machine::Entry;

use crate::commands::run::is_fine;
use crate::output::{Output, Untrusted};

/// The agent that answers where no program is named.
const CODING: &str = include_str!("../../../agents/coding.harn");

/// What it is called in messages.
const CODING_NAME: &str = "<coding agent>";

/// Makes the conversation of a session shorter, or says that it cannot be.
const COMPACTING: &str = r#"pipeline compact(session_id) {
  agent_session_open(session_id)
  let before = agent_session_length(session_id)
  let after = agent_session_compact(session_id, {keep_last: 4})
  return after < before ? "" : "the conversation is too short to be shortened"
}
"#;

/// The program that answers.
#[derive(Clone, Debug)]
pub(super) struct Agent {
    path: PathBuf,
    /// Its text, if it is not in a file.
    text: Option<&'static str>,
    entry: Entry,
}

impl Agent {
    /// The program in a file, or else our own. What is wrong with it is told; `None` if it
    /// cannot answer.
    pub(super) fn find(file: Option<&Path>, output: &mut Output) -> Option<Self> {
        let mut agent = Self {
            path: file.map_or_else(|| CODING_NAME.into(), Path::to_owned),
            text: file.is_none().then_some(CODING),
            entry: Entry::Default,
        };
        let mut workspace = agent.workspace();
        if !is_fine(&mut workspace, &agent.path, output) {
            return None;
        }
        let parsed = workspace.parsed(&agent.path).ok()?;
        let Some(entry) = answering_pipeline(&parsed.parsed.module) else {
            let path = agent.path.display();
            output.error(format_args!(
                "{} has no pipeline that takes a `prompt`, such as\n\n  \
                 pipeline chat(prompt, session_id) {{\n    \
                 agent_loop(prompt, \"You are …\", {{session_id: session_id}})\n  }}",
                Untrusted(path)
            ));
            return None;
        };
        agent.entry = entry;
        Some(agent)
    }

    /// The program that makes a session shorter.
    pub(super) fn compacting() -> Self {
        Self {
            path: "<compact>".into(),
            text: Some(COMPACTING),
            entry: Entry::Default,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn entry(&self) -> Entry {
        self.entry.clone()
    }

    /// The files it consists of, as they are now.
    pub(super) fn workspace(&self) -> Workspace {
        let mut workspace = Workspace::new(Box::new(Disk));
        if let Some(text) = self.text {
            workspace.set_text(&self.path, text);
        }
        workspace
    }
}
