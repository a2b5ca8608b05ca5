//! The tools of a server, as models are told about them.
//!
//! Names and descriptions are text of a peer. Models know a tool as `SERVER__TOOL`, in letters
//! that every provider takes; what a server says its tool does to the world is kept as a hint
//! and lowers no requirement: whatever it says, a call counts as one over the network.

use std::collections::HashSet;

use harn_events::{SideEffectLevel, ToolKind};
use serde_json::{Value, json};

use super::skeleton;
use super::texts::{clean, clean_schema};
use crate::policy::read_annotations;
use crate::registry::{Backend, Entry};

/// How long the name of a tool may be, as its server calls it.
const NAME_BYTES_MAX: usize = 64;

/// How long it may be for a model.
const SHOWN_NAME_BYTES_MAX: usize = 128;

/// The entries of a server's tools. Each name is there once, and no two look alike; what cannot
/// be offered is told.
pub(crate) fn entries(server: &str, tools: &[Value], warn: &dyn Fn(&str)) -> Vec<Entry> {
    let mut names = HashSet::new();
    let mut entries = Vec::new();
    let mut hidden = 0;
    for tool in tools {
        let own = tool["name"].as_str().unwrap_or_default();
        let name = shown_name(server, own);
        if !is_name(own) || name.len() > SHOWN_NAME_BYTES_MAX {
            warn(&format!(
                "a tool of mcp server '{server}' has a name that no model takes and is left out"
            ));
        } else if !names.insert(skeleton(&name)) {
            warn(&format!(
                "mcp server '{server}' has another tool whose name looks like '{name}'; the first \
                 counts"
            ));
        } else {
            entries.push(entry(server, own, name, tool, &mut hidden));
        }
    }
    if hidden > 0 {
        warn(&format!(
            "{hidden} characters that nobody sees were taken out of what mcp server '{server}' \
             says of its tools"
        ));
    }
    entries
}

/// Whether a tool can be called that: letters, digits, `_`, `.` and `-`.
fn is_name(own: &str) -> bool {
    let is_taken = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=NAME_BYTES_MAX).contains(&own.len()) && own.bytes().all(is_taken)
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

fn entry(server: &str, own: &str, name: String, tool: &Value, hidden: &mut usize) -> Entry {
    let mut declared = json!({
        "name": name,
        "description": description(tool, hidden),
        "inputSchema": clean_schema(&tool["inputSchema"], hidden),
        "executor": "mcp_server",
        "mcp_server": server,
        "_mcp_tool": own,
        "namespace": format!("mcp:{server}"),
    });
    for key in ["outputSchema", "title", "annotations"] {
        if !tool[key].is_null() {
            declared[key] = clean_schema(&tool[key], hidden);
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

/// A description, or what stands for one.
fn description(tool: &Value, hidden: &mut usize) -> String {
    let text = tool["description"].as_str().or(tool["title"].as_str());
    clean(text.unwrap_or_default(), hidden)
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
            {"name": "Read"},
            {"name": "ns_read.all", "description": "All\u{1b}[31m of it\u{0}"},
            {"name": "ns.read-al1"},
            {"name": "ns/read"},
            {"name": "r\u{435}ad"},
            {"name": ""},
            {"name": "x".repeat(65)},
        ]));
        let names: Vec<&str> = entries.iter().map(|entry| &*entry.name).collect();
        assert_eq!(names, ["files__read", "files__ns_read_all"]);
        assert_eq!(entries[1].declared["_mcp_tool"], "ns_read.all");
        assert_eq!(entries[1].declared["description"], "All[31m of it");
        // Three that look like others, four that are no names, and what nobody sees.
        assert_eq!(told.len(), 8, "{told:?}");
        assert!(told[7].starts_with("2 characters"), "{told:?}");
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
