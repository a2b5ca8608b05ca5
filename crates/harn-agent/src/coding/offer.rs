//! The tools in the hands of a program: entries of a registry, and the way back to the tools.
//!
//! ```text
//! coding_tools({roots}) ──► [{name: "read", runtime: "coding", roots: […]}, …]   a plain value
//! agent_loop({tools})   ──► the entry's roots ──► Workspace ──► the tool that runs
//! ```
//!
//! A registry is a value that programs copy, filter and store, so an entry says where its tool
//! may work instead of holding it. Whoever writes such an entry by hand gets the same tool: it
//! is the program that grants roots, never the model.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use harn_llm::desk::Thrown;
use harn_llm::options::value::kind;
use harn_options::CODING_TOOLS;
use serde_json::{Map, Value, json};

use super::{Workspace, tools};
use crate::command_gate::CommandGate;
use crate::fence::Fenced;
use crate::host::HostBridge;
use crate::known_options::refuse_unknown;
use crate::protected_paths::ProtectedPaths;
use crate::tool::Tool;

/// Under this key an entry says that the runtime has its body.
const MARK: &str = "runtime";

/// What the entries of these tools say there.
const CODING: &str = "coding";

/// The builtin, as its errors name it.
const BUILTIN: &str = "coding_tools";

/// `coding_tools({roots?, only?, terminals?})`: a registry of the tools. Relative roots start at `folder`,
/// which is the only root if none are named.
pub(crate) fn offer(options: &Value, folder: &Path) -> Result<Value, Thrown> {
    let nothing = Map::new();
    let options = match options {
        Value::Null => &nothing,
        Value::Object(options) => options,
        other => return refuse(format!("options must be a dict, got {}", kind(other))),
    };
    refuse_unknown(BUILTIN, &CODING_TOOLS, options)?;
    let terminals = match options.get("terminals").unwrap_or(&Value::Null) {
        Value::Null => None,
        Value::String(word) if matches!(&**word, "client" | "local") => Some(word.clone()),
        _ => return refuse("`terminals` must be \"client\" or \"local\""),
    };
    let roots = texts(options, "roots")?;
    let workspace = workspace(roots.as_deref(), folder)?;
    let roots: Vec<_> = workspace
        .roots()
        .iter()
        .map(|root| root.to_string_lossy())
        .collect();
    let roots = json!(roots);
    let entries = tools(workspace).into_iter().map(|tool| {
        let mut entry = tool.declaration().entry();
        entry[MARK] = json!(CODING);
        entry["roots"] = roots.clone();
        if let (Some(word), true) = (&terminals, entry["name"] == "run") {
            entry["terminals"] = json!(word);
        }
        entry
    });
    let entries = chosen(entries.collect(), texts(options, "only")?)?;
    Ok(json!({"_type": "tool_registry", "tools": entries}))
}

fn workspace(roots: Option<&[String]>, folder: &Path) -> Result<Workspace, Thrown> {
    let here = [".".to_owned()];
    let roots = roots.unwrap_or(&here);
    if roots.is_empty() {
        return refuse("`roots` must name at least one folder");
    }
    let mut resolved = Vec::new();
    for root in roots {
        match Workspace::new([folder.join(root)]) {
            Ok(one) => resolved.extend_from_slice(one.roots()),
            Err(error) => return refuse(format!("cannot work in \"{root}\": {error}")),
        }
    }
    Workspace::new(resolved).or_else(|error| refuse(error.to_string()))
}

/// The entries that were asked for, in their own order.
fn chosen(entries: Vec<Value>, only: Option<Vec<String>>) -> Result<Vec<Value>, Thrown> {
    let Some(only) = only else {
        return Ok(entries);
    };
    let names: Vec<_> = entries
        .iter()
        .filter_map(|entry| entry["name"].as_str())
        .collect();
    if let Some(stranger) = only.iter().find(|name| !names.contains(&&***name)) {
        let names = names.join(", ");
        return refuse(format!(
            "unknown tool \"{stranger}\". Expected one of: {names}"
        ));
    }
    let is_chosen = |entry: &Value| only.iter().any(|name| entry["name"] == **name);
    Ok(entries.into_iter().filter(is_chosen).collect())
}

/// An option that is a list of texts; a text alone is a list of one.
fn texts(options: &Map<String, Value>, key: &str) -> Result<Option<Vec<String>>, Thrown> {
    let items = match options.get(key) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(items)) => items.iter().map(Value::as_str).collect(),
        Some(item) => item.as_str().map(|text| vec![text]),
    };
    match items {
        Some(items) => Ok(Some(items.into_iter().map(str::to_owned).collect())),
        None => refuse(format!("`{key}` must be a list of strings")),
    }
}

fn refuse<T>(reason: impl AsRef<str>) -> Result<T, Thrown> {
    let reason = reason.as_ref();
    Err(Thrown::Plain(format!("{BUILTIN}: {reason}")))
}

/// Finds the tools that entries stand for. Entries with the same roots share a workspace.
pub(crate) struct Workshop<'a> {
    environment: &'a BTreeMap<String, String>,
    fence: &'a Fenced,
    host: Option<&'a dyn HostBridge>,
    protected: ProtectedPaths,
    gate: Option<CommandGate>,
    made: Vec<(Key, Vec<Arc<dyn Tool>>)>,
}

/// What tools are made for: the folders, and whether commands run in terminals of the host.
type Key = (Roots, bool);

/// The folders of a workspace.
type Roots = Vec<PathBuf>;

impl<'a> Workshop<'a> {
    /// Commands that are run find what is harmless of an environment.
    pub(crate) fn new(environment: &'a BTreeMap<String, String>, fence: &'a Fenced) -> Self {
        Self {
            environment,
            fence,
            host: None,
            protected: ProtectedPaths::default(),
            gate: None,
            made: Vec::new(),
        }
    }

    /// A command policy decides about what the tools run.
    pub(crate) fn gated(self, gate: Option<CommandGate>) -> Self {
        Self { gate, ..self }
    }

    /// The tools get what a host lends.
    pub(crate) fn lent_by(self, host: Option<&'a dyn HostBridge>) -> Self {
        Self { host, ..self }
    }

    /// The tools take care with what is protected.
    pub(crate) fn protecting(self, protected: ProtectedPaths) -> Self {
        Self { protected, ..self }
    }

    /// The tool that an entry stands for, or why there is none; `None` if the entry is not one
    /// of ours.
    pub(crate) fn tool(&mut self, entry: &Value) -> Option<Result<Arc<dyn Tool>, String>> {
        if entry[MARK] != CODING {
            return None;
        }
        let name = entry["name"].as_str().unwrap_or_default();
        let roots = entry["roots"].as_array().into_iter().flatten();
        let roots = roots.filter_map(Value::as_str).map(PathBuf::from).collect();
        let in_terminals = entry["terminals"] == "client";
        Some(self.find(name, (roots, in_terminals)))
    }

    fn find(&mut self, name: &str, place: Key) -> Result<Arc<dyn Tool>, String> {
        let at = match self.made.iter().position(|(made, _)| *made == place) {
            Some(at) => at,
            None => {
                let workspace = Workspace::new(&place.0).map_err(|error| {
                    format!("agent_loop: tool '{name}' cannot work in its folders: {error}")
                })?;
                let variables = self.environment.iter();
                let variables = variables.map(|(name, value)| (name.into(), value.into()));
                let variables: Vec<(OsString, OsString)> = variables.collect();
                let workspace = workspace.with_environment(variables);
                let variable = |name: &str| self.environment.get(name).cloned();
                let workspace = workspace.protecting(self.protected.clone(), &variable);
                let mut workspace = workspace.behind(self.fence.clone());
                workspace.gate.clone_from(&self.gate);
                let workspace = match self.host {
                    Some(host) => workspace.lent_by(host).with_terminals(place.1),
                    None => workspace,
                };
                self.made.push((place, tools(workspace)));
                self.made.len() - 1
            }
        };
        let tool = self.made[at]
            .1
            .iter()
            .find(|tool| tool.declaration().name == name);
        tool.cloned().ok_or_else(|| {
            format!("agent_loop: tool '{name}' is none of the tools that {BUILTIN}() offers")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(options: Value) -> String {
        match offer(&options, Path::new("/")) {
            Err(Thrown::Plain(text)) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn entries_say_where_they_work_and_find_their_tools_again() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("inner")).unwrap();
        let registry = offer(&json!({"roots": ["inner"]}), &root).unwrap();
        assert_eq!(registry["_type"], "tool_registry");
        let entries = registry["tools"].as_array().unwrap();
        let names: Vec<_> = entries.iter().map(|entry| entry["name"].as_str()).collect();
        let all = ["read", "write", "edit", "list", "glob", "grep", "run"];
        assert_eq!(names, all.map(Some));
        let environment = BTreeMap::new();
        let open = Fenced::default();
        let mut workshop = Workshop::new(&environment, &open);
        for entry in entries {
            assert_eq!(entry["executor"], "harn");
            assert_eq!(entry["roots"], json!([root.join("inner")]));
            assert!(entry["annotations"]["kind"].is_string(), "{entry}");
            let tool = workshop.tool(entry).unwrap().ok().unwrap();
            assert_eq!(tool.declaration().name, entry["name"]);
        }
        assert_eq!(workshop.made.len(), 1);
    }

    #[test]
    fn without_options_the_folder_of_the_program_is_the_root() {
        let folder = tempfile::tempdir().unwrap();
        let registry = offer(&Value::Null, folder.path()).unwrap();
        let root = folder.path().canonicalize().unwrap();
        assert_eq!(registry["tools"][0]["roots"], json!([root]));
    }

    #[test]
    fn only_some_can_be_offered() {
        let options = json!({"only": ["grep", "read"]});
        let registry = offer(&options, Path::new("/")).unwrap();
        let entries = registry["tools"].as_array().unwrap();
        let names: Vec<_> = entries.iter().map(|entry| entry["name"].as_str()).collect();
        assert_eq!(names, [Some("read"), Some("grep")]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (options, expected) in [
            (json!(3), "coding_tools: options must be a dict, got int"),
            (
                json!({"root": "."}),
                "coding_tools: unknown option key 'root'; did you mean 'roots'?",
            ),
            (
                json!({"roots": [1]}),
                "coding_tools: `roots` must be a list of strings",
            ),
            (
                json!({"roots": []}),
                "coding_tools: `roots` must name at least one folder",
            ),
            (
                json!({"only": "bash"}),
                "coding_tools: unknown tool \"bash\". Expected one of: read, write, edit, list, \
                 glob, grep, run",
            ),
        ] {
            assert_eq!(refused(options), expected);
        }
        let missing = refused(json!({"roots": "not/there"}));
        assert!(
            missing.starts_with("coding_tools: cannot work in \"not/there\": "),
            "{missing}"
        );
    }

    #[test]
    fn entries_that_stand_for_nothing_say_why() {
        let environment = BTreeMap::new();
        let open = Fenced::default();
        let mut workshop = Workshop::new(&environment, &open);
        assert!(workshop.tool(&json!({"name": "read"})).is_none());
        let mut problem = |entry: Value| workshop.tool(&entry).unwrap().err().unwrap();
        let unknown = json!({"name": "fly", "runtime": "coding", "roots": ["/"]});
        assert_eq!(
            problem(unknown),
            "agent_loop: tool 'fly' is none of the tools that coding_tools() offers"
        );
        let gone = json!({"name": "read", "runtime": "coding", "roots": ["/not/there"]});
        let gone = problem(gone);
        assert!(
            gone.starts_with("agent_loop: tool 'read' cannot work in its folders: "),
            "{gone}"
        );
    }
}
