//! Slash commands: the skills of a session that people may start.
//!
//! A prompt that begins with `/name` is what the skill of that name says, with the rest of the
//! prompt put in. What is no command stays as it was written.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use harn_vm::RunOptions;
use harn_vm::agent::skills::{SkillLibrary, Substitution};
use serde_json::{Value, json};

use super::content::Prompt;

/// The commands of a session.
#[derive(Clone, Default)]
pub(super) struct Commands {
    library: Arc<SkillLibrary>,
    /// The ids of those that people may start.
    names: Vec<String>,
    /// What their bodies may mention.
    variables: BTreeMap<String, String>,
}

impl Commands {
    /// Looks for the skills that a program finds.
    pub(super) fn discover(options: &RunOptions, program: &Path) -> Self {
        let library = harn_vm::discover_skills(options, program);
        let cards = library.to_value();
        let cards = cards["skills"].as_array().into_iter().flatten();
        let invocable = cards.filter(|card| card["user_invocable"] == true);
        let names = invocable.filter_map(|card| card["name"].as_str());
        Self {
            names: names.map(str::to_owned).collect(),
            library,
            variables: harn_vm::skill_variables(options),
        }
    }

    /// As the client is told; nothing if there are none.
    pub(super) fn update(&self) -> Option<Value> {
        let commands: Vec<Value> = self
            .names
            .iter()
            .filter_map(|name| self.one(name))
            .collect();
        (!commands.is_empty()).then(
            || json!({"sessionUpdate": "available_commands_update", "availableCommands": commands}),
        )
    }

    fn one(&self, name: &str) -> Option<Value> {
        let skill = self.library.resolve(name).ok()?;
        Some(json!({
            "name": name,
            "description": skill.description,
            "input": {"hint": "what it is about"},
        }))
    }

    /// What the agent is to do when somebody writes this.
    pub(super) fn expand(&self, prompt: &Prompt, session_id: &str) -> String {
        let expanded = prompt.command().and_then(|(name, rest)| {
            let known = self.names.iter().any(|one| one == name);
            known.then(|| self.body(name, rest, session_id)).flatten()
        });
        expanded.unwrap_or_else(|| prompt.text.clone())
    }

    fn body(&self, name: &str, rest: &str, session_id: &str) -> Option<String> {
        let skill = self.library.resolve(name).ok()?;
        let found = self.library.get(&skill.id(), skill.source.as_deref())?;
        let body = found.body().ok()?;
        let arguments: Vec<String> = rest.split_whitespace().map(str::to_owned).collect();
        let substitution = Substitution {
            arguments: &arguments,
            folder: body.folder.as_deref(),
            session_id: Some(session_id),
        };
        let says_where = body.text.contains("$ARGUMENTS") || body.text.contains("$1");
        let mut text = substitution.apply(body.text.trim(), &mut |name| {
            self.variables.get(name).cloned()
        });
        // A skill that does not say where they go gets them at the end.
        if !says_where && !rest.is_empty() {
            text.push_str("\n\n");
            text.push_str(rest);
        }
        Some(text)
    }
}
