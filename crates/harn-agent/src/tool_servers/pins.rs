//! The definitions of tools that a person has approved, and what a server has made of them since.
//!
//! ```text
//! list ─► first use? ─ yes ─► all are approved: the operator named the server
//!            │ no
//!            ▼
//!         digest as approved? ─ yes ─► offered
//!            │ no: new or changed
//!            ▼
//!         withheld, until a person has seen the change
//! ```
//!
//! A server is used because somebody trusts what it lends. It can say something else tomorrow,
//! or in the middle of a session, and a model believes what descriptions say. So what was
//! approved is remembered, here for a program and by [`ToolPins`] for longer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harn_llm::sorted_json_pretty;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::{Listed, ToolServer};

/// What of a tool is approved. Everything that a model reads or that says what a call does.
const DEFINITION: [&str; 7] = [
    "name",
    "title",
    "description",
    "inputSchema",
    "outputSchema",
    "annotations",
    "icons",
];

/// The digests of tools by their names, as the server calls them.
pub type ToolDigests = BTreeMap<String, String>;

/// A server whose tools are remembered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PinnedServer {
    /// What it is called.
    pub name: String,
    /// What it is: the command with its arguments, or the origin with the path. Another server
    /// of the same name is not the one that was approved.
    pub identity: String,
}

/// Remembers beyond the program which definitions were approved.
pub trait ToolPins: Send + Sync {
    /// The tools of a server as they were approved; `None` if it was never used.
    ///
    /// # Errors
    /// Why nobody knows. Then nothing counts as approved.
    fn approved(&self, server: &PinnedServer) -> Result<Option<ToolDigests>, String>;

    /// These are the approved tools of a server from now on.
    ///
    /// # Errors
    /// Why they cannot be remembered.
    fn approve(&self, server: &PinnedServer, tools: &ToolDigests) -> Result<(), String>;
}

/// What is approved for a program.
#[derive(Default)]
pub(crate) struct ApprovedTools {
    pins: Option<Arc<dyn ToolPins>>,
    known: Mutex<BTreeMap<PinnedServer, Approved>>,
}

#[derive(Clone, Default)]
struct Approved {
    digests: ToolDigests,
    /// The definitions as far as they were seen, to say what has changed.
    definitions: BTreeMap<String, Value>,
    /// The catalogue that was held against them last.
    version: u64,
}

/// A tool that is not offered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Withheld {
    /// As the server calls it.
    pub(crate) tool: String,
    /// What is new: the parts of its definition, or `new` for a tool that was not there.
    pub(crate) changed: Vec<&'static str>,
    /// What was approved, where that is known.
    pub(crate) before: Option<Value>,
    /// What the server says now.
    pub(crate) now: Value,
}

/// What comes of a list.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Judged {
    pub(crate) offered: Vec<Value>,
    pub(crate) withheld: Vec<Withheld>,
    /// What an operator should know.
    pub(crate) warning: Option<String>,
}

/// What a tool is remembered by.
pub fn tool_digest(tool: &Value) -> String {
    let text = sorted_json_pretty(&Value::Object(definition(tool)));
    let digest = Sha256::digest(text.as_bytes());
    let digits = digest.iter().map(|byte| format!("{byte:02x}"));
    format!("sha256:{}", digits.collect::<String>())
}

fn definition(tool: &Value) -> Map<String, Value> {
    let parts = DEFINITION.into_iter().filter(|part| !tool[*part].is_null());
    parts
        .map(|part| (part.to_owned(), tool[part].clone()))
        .collect()
}

fn name(tool: &Value) -> &str {
    tool["name"].as_str().unwrap_or_default()
}

fn pinned(server: &dyn ToolServer) -> PinnedServer {
    PinnedServer {
        name: server.name().to_owned(),
        identity: server.identity(),
    }
}

impl ApprovedTools {
    pub(crate) fn new(pins: Option<Arc<dyn ToolPins>>) -> Self {
        Self {
            pins,
            known: Mutex::default(),
        }
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<PinnedServer, Approved>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was approved of a server; `None` if it is used for the first time.
    fn approved(&self, server: &PinnedServer) -> Result<Option<Approved>, String> {
        if let Some(known) = self.known().get(server) {
            return Ok(Some(known.clone()));
        }
        let pinned = self.pins.as_ref().map(|pins| pins.approved(server));
        let pinned = pinned.transpose()?.flatten();
        Ok(pinned.map(|digests| Approved {
            digests,
            ..Approved::default()
        }))
    }

    /// Holds what a server lists, for a version of its catalogue, against what was approved. What
    /// it lists when it is used first is approved with the server.
    pub(crate) fn judge(&self, server: &dyn ToolServer, version: u64, listed: &[Value]) -> Judged {
        let key = pinned(server);
        let mut warning = None;
        let approved = match self.approved(&key) {
            Ok(Some(approved)) => Some(approved),
            Ok(None) => None,
            Err(why) => {
                warning = Some(format!(
                    "the tools of mcp server '{}' are withheld, because nobody knows which were \
                     approved: {why}",
                    key.name
                ));
                Some(Approved::default())
            }
        };
        let Some(mut approved) = approved else {
            let digests = listed
                .iter()
                .map(|tool| (name(tool).to_owned(), tool_digest(tool)));
            let approved = Approved {
                digests: digests.collect(),
                ..Approved::default()
            };
            let warning = self.remember(&key, &approved.digests).err();
            self.note(key, approved, version, listed);
            return Judged {
                offered: listed.to_vec(),
                warning,
                ..Judged::default()
            };
        };
        let mut judged = Judged {
            warning,
            ..Judged::default()
        };
        for tool in listed {
            match approved.digests.get(name(tool)) {
                Some(digest) if *digest == tool_digest(tool) => judged.offered.push(tool.clone()),
                known => judged.withheld.push(Withheld {
                    tool: name(tool).to_owned(),
                    changed: changes(approved.definitions.get(name(tool)), known.is_some(), tool),
                    before: approved.definitions.get(name(tool)).cloned(),
                    now: Value::Object(definition(tool)),
                }),
            }
        }
        approved.version = version;
        self.note(key, approved, version, &judged.offered);
        judged
    }

    fn note(&self, key: PinnedServer, mut approved: Approved, version: u64, offered: &[Value]) {
        approved.version = version;
        for tool in offered {
            let seen = Value::Object(definition(tool));
            approved.definitions.insert(name(tool).to_owned(), seen);
        }
        self.known().insert(key, approved);
    }

    fn remember(&self, key: &PinnedServer, tools: &ToolDigests) -> Result<(), String> {
        let remembered = self.pins.as_ref().map(|pins| pins.approve(key, tools));
        remembered.transpose().map(|_| ()).map_err(|why| {
            format!(
                "the approved tools of mcp server '{}' are not remembered: {why}",
                key.name
            )
        })
    }

    /// A person has seen these tools as they are now and approves them.
    pub(crate) fn approve(
        &self,
        server: &dyn ToolServer,
        tools: &[Withheld],
    ) -> Result<(), String> {
        let key = pinned(server);
        let mut approved = self.approved(&key)?.unwrap_or_default();
        for one in tools {
            approved
                .digests
                .insert(one.tool.clone(), tool_digest(&one.now));
            approved
                .definitions
                .insert(one.tool.clone(), one.now.clone());
        }
        let remembered = self.remember(&key, &approved.digests);
        self.known().insert(key, approved);
        remembered
    }

    /// Whether a tool is still the approved one, right before it is called. The server may have
    /// said something else since its tools were listed, or was started again.
    pub(crate) async fn is_unchanged(&self, server: &dyn ToolServer, tool: &str) -> bool {
        let key = pinned(server);
        let Some(approved) = self.known().get(&key).cloned() else {
            return true; // Its tools come from the program and not from a list.
        };
        if !server.is_connected() && server.connect().await.is_err() {
            return true; // The call fails and says why.
        }
        let version = server.catalogue_version();
        if version != approved.version {
            let Ok(listed) = server.list(Listed::Tools).await else {
                return true; // So does the call.
            };
            let _withheld_when_the_loop_lists_them = self.judge(server, version, &listed);
            let now = listed.iter().find(|listed| name(listed) == tool);
            return now.is_none_or(|now| approved.digests.get(tool) == Some(&tool_digest(now)));
        }
        approved.digests.contains_key(tool)
    }
}

/// What of a definition is not as it was.
fn changes(before: Option<&Value>, was_there: bool, now: &Value) -> Vec<&'static str> {
    match (before, was_there) {
        (Some(before), _) => {
            let differs = |part: &&str| before[*part] != now[*part];
            DEFINITION.into_iter().filter(differs).collect()
        }
        (None, true) => vec!["definition"],
        (None, false) => vec!["new"],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_digest_covers_the_definition_and_not_the_order_of_its_keys() {
        let one = json!({"name": "a", "description": "b", "inputSchema": {"x": 1, "y": 2}});
        let same =
            json!({"inputSchema": {"y": 2, "x": 1}, "description": "b", "name": "a", "_meta": 1});
        assert_eq!(tool_digest(&one), tool_digest(&same));
        for part in [
            "title",
            "description",
            "inputSchema",
            "outputSchema",
            "annotations",
            "icons",
        ] {
            let mut other = one.clone();
            other[part] = json!({"z": 1});
            assert_ne!(tool_digest(&one), tool_digest(&other), "{part}");
        }
    }

    #[test]
    fn what_changed_is_named() {
        let before = json!({"name": "a", "description": "b"});
        let now = json!({"name": "a", "description": "c", "annotations": {}});
        assert_eq!(
            changes(Some(&before), true, &now),
            ["description", "annotations"]
        );
        assert_eq!(changes(None, true, &now), ["definition"]);
        assert_eq!(changes(None, false, &now), ["new"]);
    }
}
