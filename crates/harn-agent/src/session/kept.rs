//! The names under which parts of the runtime keep things in a session.

use serde_json::Value;

use super::change::Change;
use super::journal::Session;

/// Where the session works.
pub const WORKSPACE_ANCHOR: &str = "workspace_anchor";
/// What it may do there.
pub const WORKSPACE_POLICY: &str = "workspace_policy";
/// On whose behalf it acts.
pub const ACTOR: &str = "actor";
/// Who follows it.
pub const CLIENTS: &str = "clients";
/// The files it has changed.
pub const CHANGED_PATHS: &str = "changed_paths";
/// The pad, with its version.
pub const SCRATCHPAD: &str = "scratchpad";
/// How calls are written.
pub const TOOL_FORMAT: &str = "tool_format";
/// What the model is told about itself.
pub const SYSTEM_PROMPT: &str = "system_prompt";

/// What was allowed or refused for all calls to come.
pub const APPROVALS: &str = "approvals";

/// What whoever talks to the session has asked for: where it works, with which model.
pub const SETTINGS: &str = "settings";

/// Why the loop waits for somebody to resume it.
pub const SUSPENSION: &str = "suspension";

/// What is about the session and not about what was said in it.
pub(super) const SURVIVES_RESET: [&str; 6] = [
    WORKSPACE_ANCHOR,
    WORKSPACE_POLICY,
    ACTOR,
    CLIENTS,
    CHANGED_PATHS,
    SETTINGS,
];

/// What a fork begins with, besides what was said.
pub(crate) const INHERITED: [&str; 6] = [
    WORKSPACE_ANCHOR,
    WORKSPACE_POLICY,
    SCRATCHPAD,
    TOOL_FORMAT,
    SYSTEM_PROMPT,
    SETTINGS,
];

impl Session {
    /// What is kept under a name.
    pub fn kept(&self, name: &str) -> Option<Value> {
        self.read(|state| state.kept.get(name).cloned())
    }

    /// Keeps something under a name; null forgets it.
    pub fn keep(&self, name: &str, value: Value) {
        self.record(keeping(name, value));
    }

    /// Looks at what is kept under a name and keeps something else there, if `next` says so.
    pub(crate) fn keep_next<T>(
        &self,
        name: &str,
        next: impl FnOnce(Option<&Value>) -> (Option<Value>, T),
    ) -> T {
        self.decide(|state| {
            let (value, answer) = next(state.kept.get(name));
            (value.map(|value| keeping(name, value)), answer)
        })
    }
}

fn keeping(name: &str, value: Value) -> Change {
    let name = name.to_owned();
    Change::Kept { name, value }
}
