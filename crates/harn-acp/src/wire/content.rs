//! What a tool call shows: the files it is about, and what came of it.

use std::path::{Component, Path, PathBuf};

use agent_client_protocol::v1::schema::{
    ContentBlock, Diff, Terminal, ToolCallContent, ToolCallLocation,
};
use harn_vm::agent::Shown;
use harn_vm::agent::events::ToolKind;
use serde_json::{Value, json};

/// Arguments that are paths: those of the coding tools, with the names that models give them.
const PATH_PARAMETERS: [&str; 5] = ["path", "file", "file_path", "filename", "paths"];

/// How the names of other arguments end that are paths.
const PATH_ENDINGS: [&str; 6] = ["_path", "_paths", "_file", "_files", "Path", "File"];

/// Arguments that say in which line of a file a call begins to work.
const LINE_PARAMETERS: [&str; 2] = ["line", "offset"];

/// Names that models have for the text an edit replaces, and for the text it puts there.
const OLD_TEXT: [&str; 3] = ["old_text", "old_string", "old_str"];
const NEW_TEXT: [&str; 3] = ["new_text", "new_string", "new_str"];

/// The files that the arguments of a call name, absolute.
///
/// The journal has the arguments of a call and not what its tool has declared about them, so
/// paths are known by the names of their arguments. What a tool fetches is elsewhere.
pub(super) fn locations(
    cwd: &Path,
    kind: Option<ToolKind>,
    input: &Value,
) -> Vec<ToolCallLocation> {
    let arguments = input.as_object().filter(|_| kind != Some(ToolKind::Fetch));
    let is_path = |name: &str| {
        let is_other = PATH_ENDINGS.iter().any(|ending| name.ends_with(ending));
        PATH_PARAMETERS.contains(&name) || is_other
    };
    let arguments = arguments.into_iter().flatten();
    let paths = arguments.filter(|(name, _)| is_path(name));
    let line = first(input, &LINE_PARAMETERS).and_then(Value::as_u64);
    let line = line.and_then(|line| u32::try_from(line).ok());
    let line = line.filter(|line| *line > 0);
    let paths = paths.flat_map(|(_, value)| texts(value));
    let paths = paths.filter(|path| !path.is_empty());
    let located = paths.map(|path| ToolCallLocation::new(absolute(cwd, path)).line(line));
    located.collect()
}

/// What a call that has ended shows: what its tool has chosen to show, or else what it said.
pub(super) fn at_end(cwd: &Path, call: Ended<'_>) -> Vec<Value> {
    let mut shown = shown(call.output);
    if call.is_replayed {
        // The terminal has gone with whoever had it; what it said is in the result.
        shown.retain(|one| one["type"] != "terminal");
    }
    if !shown.is_empty() {
        return shown;
    }
    let is_edit = call.kind == Some(ToolKind::Edit) && call.error.is_none();
    if let Some(edit) = is_edit.then(|| edit_of(cwd, call.input)).flatten() {
        return vec![edit];
    }
    let said = call.output.and_then(said);
    let said = said.or(call.error);
    said.map(|text| value(ToolCallContent::from(text)))
        .into_iter()
        .collect()
}

/// A call that has ended.
#[derive(Clone, Copy)]
pub(super) struct Ended<'a> {
    pub(super) kind: Option<ToolKind>,
    pub(super) input: &'a Value,
    pub(super) output: Option<&'a Value>,
    pub(super) error: Option<&'a str>,
    pub(super) is_replayed: bool,
}

/// What a tool has chosen to show.
pub(super) fn shown(output: Option<&Value>) -> Vec<Value> {
    let shown = output.and_then(|output| output[Shown::KEY].as_array());
    shown.into_iter().flatten().filter_map(one_shown).collect()
}

/// The result without what is shown of it.
pub(super) fn raw_output(output: &Value) -> Value {
    let mut output = output.clone();
    if let Some(fields) = output.as_object_mut() {
        fields.shift_remove(Shown::KEY);
    }
    output
}

fn one_shown(shown: &Value) -> Option<Value> {
    Some(match serde_json::from_value(shown.clone()).ok()? {
        Shown::Edit {
            path,
            old_text,
            new_text,
        } => value(ToolCallContent::Diff(
            Diff::new(path, new_text).old_text(old_text),
        )),
        Shown::Terminal { terminal_id } => {
            value(ToolCallContent::Terminal(Terminal::new(terminal_id)))
        }
        Shown::Block { block } => json!({"type": "content", "content": content_block(&block)}),
    })
}

/// A block of content as it came, if it is one that editors know; otherwise its JSON as text.
pub(super) fn content_block(block: &Value) -> Value {
    let is_known = serde_json::from_value::<ContentBlock>(block.clone()).is_ok();
    match (is_known, block) {
        (true, block) => block.clone(),
        (false, Value::String(text)) => text_block(text),
        (false, other) => text_block(&other.to_string()),
    }
}

pub(super) fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// The change that the arguments of an edit describe.
fn edit_of(cwd: &Path, input: &Value) -> Option<Value> {
    let path = first(input, &PATH_PARAMETERS)?.as_str()?;
    let old = first(input, &OLD_TEXT)?.as_str()?;
    let new = first(input, &NEW_TEXT)?.as_str()?;
    let diff = Diff::new(absolute(cwd, path), new).old_text(old.to_owned());
    Some(value(ToolCallContent::Diff(diff)))
}

fn said(output: &Value) -> Option<&str> {
    let text = output["text"].as_str().or(output.as_str())?;
    Some(text).filter(|text| !text.is_empty())
}

/// A path from the root on, without steps that lead nowhere. Editors know files by such paths.
fn absolute(cwd: &Path, path: &str) -> PathBuf {
    let mut absolute = PathBuf::new();
    for part in cwd.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                absolute.pop();
            }
            part => absolute.push(part),
        }
    }
    absolute
}

fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn first<'a>(input: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().find_map(|key| input.get(*key))
}

fn value(content: ToolCallContent) -> Value {
    serde_json::to_value(content).unwrap_or_default()
}
