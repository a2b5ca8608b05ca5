//! The tools of a server, as models are told about them.
//!
//! Names and descriptions are text of a peer. Models know a tool as `SERVER__TOOL`, in letters
//! that every provider takes; what a server says its tool does to the world is kept as a hint
//! and lowers no requirement: whatever it says, a call counts as one over the network.

use std::collections::HashSet;

use harn_events::{SideEffectLevel, ToolKind};
use serde_json::{Value, json};

use crate::policy::read_annotations;
use crate::registry::{Backend, Entry};

/// How long the name of a tool may be for a model.
const NAME_BYTES_MAX: usize = 128;

/// How much of a description a model reads.
const DESCRIPTION_BYTES_MAX: usize = 16 * 1024;

/// The entries of a server's tools. Each name is there once; what cannot be offered is told.
pub(crate) fn entries(server: &str, tools: &[Value], warn: &dyn Fn(&str)) -> Vec<Entry> {
    let mut names = HashSet::new();
    let mut entries = Vec::new();
    for tool in tools {
        let own = tool["name"].as_str().unwrap_or_default();
        let name = shown_name(server, own);
        if own.is_empty() || name.len() > NAME_BYTES_MAX {
            warn(&format!(
                "a tool of mcp server '{server}' has a name that no model takes and is left out"
            ));
        } else if !names.insert(name.clone()) {
            warn(&format!(
                "mcp server '{server}' has more than one tool called '{name}'; the first counts"
            ));
        } else {
            entries.push(entry(server, own, name, tool));
        }
    }
    entries
}

/// What a tool is called for models.
pub(crate) fn shown_name(server: &str, tool: &str) -> String {
    let name = format!("{server}__{tool}");
    let is_taken = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    let letters = name
        .chars()
        .map(|letter| if is_taken(letter) { letter } else { '_' });
    letters.collect()
}

fn entry(server: &str, own: &str, name: String, tool: &Value) -> Entry {
    let mut declared = json!({
        "name": name,
        "description": description(tool),
        "inputSchema": tool["inputSchema"],
        "executor": "mcp_server",
        "mcp_server": server,
        "_mcp_tool": own,
        "namespace": format!("mcp:{server}"),
    });
    for key in ["outputSchema", "title", "annotations"] {
        if !tool[key].is_null() {
            declared[key] = tool[key].clone();
        }
    }
    let hints = match &tool["annotations"] {
        Value::Object(_) => tool["annotations"].clone(),
        _ => json!({}),
    };
    let mut annotations = read_annotations(&hints).unwrap_or_default();
    // These are for the program and its operator to say, not for the server.
    annotations.kind = ToolKind::Other;
    annotations.side_effect_level = SideEffectLevel::Network;
    annotations.capabilities.clear();
    annotations.arg_schema = Default::default();
    declared["annotations"] = json!(annotations);
    Entry {
        name,
        declared,
        backend: Backend::Mcp {
            server: server.to_owned(),
            tool: Some(own.to_owned()),
            handler: None,
        },
        annotations: Some(annotations),
    }
}

/// A description without letters that nobody can see, and of bounded length.
fn description(tool: &Value) -> String {
    let text = tool["description"].as_str().or(tool["title"].as_str());
    let text = text.unwrap_or_default();
    let is_shown = |letter: &char| !letter.is_control() || "\n\t".contains(*letter);
    let mut text: String = text.chars().filter(is_shown).collect();
    if text.len() > DESCRIPTION_BYTES_MAX {
        let end = text.floor_char_boundary(DESCRIPTION_BYTES_MAX);
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn offered(tools: Value) -> (Vec<Entry>, Vec<String>) {
        let told = Mutex::new(Vec::new());
        let warn = |text: &str| told.lock().unwrap().push(text.to_owned());
        let entries = entries("files", tools.as_array().unwrap(), &warn);
        (entries, told.into_inner().unwrap())
    }

    #[test]
    fn names_are_what_every_provider_takes_and_there_once() {
        let (entries, told) = offered(json!([
            {"name": "read", "inputSchema": {"type": "object"}},
            {"name": "read"},
            {"name": "ns/read.all", "description": "All\u{1b}[31m of it\u{0}"},
            {"name": "ns.read/all"},
            {"name": ""},
            {"name": "x".repeat(200)},
        ]));
        let names: Vec<&str> = entries.iter().map(|entry| &*entry.name).collect();
        assert_eq!(names, ["files__read", "files__ns_read_all"]);
        assert_eq!(entries[1].declared["_mcp_tool"], "ns/read.all");
        assert_eq!(entries[1].declared["description"], "All[31m of it");
        assert_eq!(told.len(), 4, "{told:?}");
    }

    #[test]
    fn hints_lower_no_requirement() {
        let (entries, _) = offered(json!([{
            "name": "wipe",
            "annotations": {
                "readOnlyHint": true, "kind": "read", "side_effect_level": "none",
                "capabilities": {"workspace": ["read_text"]},
            },
        }]));
        let annotations = entries[0].annotations.as_ref().unwrap();
        assert_eq!(annotations.kind, ToolKind::Other);
        assert_eq!(annotations.side_effect_level, SideEffectLevel::Network);
        assert_eq!(annotations.read_only_hint, Some(true));
        assert!(annotations.capabilities.is_empty());
    }
}
