//! One skill, out of the dict that a program gives.

use std::fmt;
use std::sync::Arc;

use harn_llm::options::value::{display, truthy};
use serde_json::Value;

use super::provenance::Provenance;
use crate::callback::{Callback, Functions};

/// The layer of the skills that the host lends.
pub(super) const HOST: &str = "host";

/// A skill as a loop knows it.
#[derive(Clone, Default)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// Whose skill of that name it is, if there are several.
    pub namespace: Option<String>,
    /// What it is for.
    pub description: String,
    /// When to use it.
    pub when_to_use: String,
    /// The tools it works with; empty: all.
    pub allowed_tools: Vec<String>,
    /// Globs of files it is for.
    pub paths: Vec<String>,
    /// What it says; `None`: nothing, or whoever discovered it can read it.
    pub body: Option<String>,
    /// The layer that it was discovered in; `None`: a program made it.
    pub source: Option<String>,
    /// The MCP servers it needs.
    pub servers: Vec<String>,
    /// Only people may start it.
    pub is_gated: bool,
    /// It must be signed.
    pub require_signature: bool,
    /// By one of these; empty: by anybody who is trusted.
    pub trusted_signers: Vec<String>,
    /// Who signed it.
    pub provenance: Provenance,
    /// Called when it becomes active.
    pub on_activate: Option<Arc<dyn Callback>>,
    /// Called when it no longer is.
    pub on_deactivate: Option<Arc<dyn Callback>>,
}

impl Skill {
    /// Whether the host lends it.
    pub(crate) fn is_lent(&self) -> bool {
        self.source.as_deref() == Some(HOST)
    }

    /// Reads an entry of a registry. Its functions stand below `path`. `None` if it has no name.
    pub fn read(entry: &Value, path: &str, functions: &Functions) -> Option<Self> {
        let text = |key: &str| match &entry[key] {
            Value::Null => None,
            value => Some(display(value)).filter(|text| !text.is_empty()),
        };
        let list = |key: &str| match &entry[key] {
            Value::Array(items) => items.iter().map(display).collect(),
            _ => Vec::new(),
        };
        let function = |key: &str| functions.at(&format!("{path}/{key}")).cloned();
        let gates = ["disable_model_invocation", "disable-model-invocation"];
        Some(Self {
            name: text("name")?,
            namespace: text("namespace"),
            description: text("description")
                .or_else(|| text("short"))
                .unwrap_or_default(),
            when_to_use: text("when_to_use").unwrap_or_default(),
            allowed_tools: list("allowed_tools"),
            paths: list("paths"),
            body: text("body").or_else(|| text("prompt")),
            source: text("source"),
            servers: servers(entry),
            is_gated: gates.iter().any(|key| truthy(&entry[*key])),
            require_signature: truthy(&entry["require_signature"]),
            trusted_signers: list("trusted_signers"),
            provenance: Provenance::read(&entry["provenance"]),
            on_activate: function("on_activate"),
            on_deactivate: function("on_deactivate"),
        })
    }

    /// What names it and no other: `namespace/name`, or its name.
    pub fn id(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("{namespace}/{}", self.name),
            None => self.name.clone(),
        }
    }
}

/// The servers of `mcp` and `requires_mcp`, each once.
fn servers(entry: &Value) -> Vec<String> {
    let mut servers: Vec<String> = Vec::new();
    let lists = ["mcp", "requires_mcp"].map(|key| entry[key].as_array());
    for server in lists.into_iter().flatten().flatten() {
        let name = match server.get("name") {
            Some(name) => display(name),
            None => display(server),
        };
        if !servers.contains(&name) {
            servers.push(name);
        }
    }
    servers
}

impl fmt::Debug for Skill {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Skill")
            .field("id", &self.id())
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(entry: Value) -> Skill {
        Skill::read(&entry, "", &Functions::default()).unwrap()
    }

    #[test]
    fn what_is_not_said_is_empty() {
        let skill = read(json!({"name": "a"}));
        assert_eq!((&*skill.id(), &*skill.description), ("a", ""));
        assert!(skill.body.is_none() && !skill.is_gated && skill.servers.is_empty());
        assert!(Skill::read(&json!({"name": ""}), "", &Functions::default()).is_none());
        assert!(Skill::read(&json!(5), "", &Functions::default()).is_none());
    }

    #[test]
    fn an_entry_may_be_made_by_hand() {
        let skill = read(json!({
            "name": "a", "namespace": "team", "short": "Short", "prompt": "P", "body": "B",
            "disable-model-invocation": true, "mcp": [{"name": "x"}, "y"], "requires_mcp": ["x"],
            "allowed_tools": "not a list",
        }));
        assert_eq!((&*skill.id(), &*skill.description), ("team/a", "Short"));
        assert_eq!(skill.body.as_deref(), Some("B"));
        assert!(skill.is_gated && skill.allowed_tools.is_empty());
        assert_eq!(skill.servers, ["x", "y"]);
    }
}
