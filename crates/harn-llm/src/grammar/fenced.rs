//! Calls as JSON objects in fenced blocks: the `json` format.
//!
//! ````text
//! ```tool
//! {"name": N, "args": {"body": "<<TAG"}}
//! <<TAG
//! verbatim
//! TAG
//! ```
//! ````

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::value::{Look, Reader, Root, Step, heredoc_opening};
use super::{Parsed, ParsedCall, Repair, ToolNames, prose, texts, think, value};

/// The line that opens a block.
pub(super) const OPEN: &str = "```tool";
/// The line that closes it.
const CLOSE: &str = "```";

/// Reads a whole answer. The sentinel as plain text outside every block is the done marker;
/// without a sentinel, the caller takes a turn without blocks for the end.
pub fn parse(text: &str, tools: &ToolNames, sentinel: Option<&str>) -> Parsed {
    let text = think::without_reasoning(text);
    let mut parsed = Parsed::default();
    let mut outside = String::new();
    let mut at = 0;
    while at < text.len() {
        let end = line_end(&text, at);
        let line = &text[at..end];
        if line.trim_end() != OPEN {
            outside.push_str(line);
            at = end;
            continue;
        }
        let (body_end, next) = match FenceSearch::new(end).advance(&text, true) {
            Some(close) => close,
            None => {
                parsed
                    .repairs
                    .push(Repair::new("missing closing fence", at));
                (text.len(), text.len())
            }
        };
        read_block(&text, end, body_end, tools, &mut parsed);
        at = next;
    }
    let seen = sentinel.filter(|sentinel| !sentinel.is_empty() && outside.contains(sentinel));
    if let Some(sentinel) = seen {
        parsed.done_marker = Some(sentinel.to_owned());
        let lines = outside.split('\n').filter(|line| line.trim() != sentinel);
        outside = lines.collect::<Vec<_>>().join("\n");
    }
    parsed.prose = prose::tidy(&outside);
    parsed
}

/// Looks for the line that closes a block, past verbatim bodies.
#[derive(Debug)]
pub(super) struct FenceSearch {
    line: usize,
    /// How far the end of the line was looked for.
    sought: usize,
    body_tag: Option<String>,
}

impl FenceSearch {
    /// A search from the first line of the block.
    pub(super) fn new(at: usize) -> Self {
        Self {
            line: at,
            sought: at,
            body_tag: None,
        }
    }

    /// Where the closing line begins and where the next one does. If there is none and the
    /// text ended, there will be none.
    pub(super) fn advance(&mut self, text: &str, ended: bool) -> Option<(usize, usize)> {
        loop {
            let end = match text[self.sought..].find('\n') {
                Some(found) => self.sought + found + 1,
                None if ended && self.line < text.len() => text.len(),
                None => {
                    self.sought = text.len();
                    return None;
                }
            };
            let line = text[self.line..end].trim_end();
            match &self.body_tag {
                Some(tag) if line == tag => self.body_tag = None,
                Some(_) => {}
                None if line == CLOSE => return Some((self.line, end)),
                None => {
                    if let Look::Yes { tag, .. } = heredoc_opening(&text[self.line..end], true) {
                        self.body_tag = Some(tag);
                    }
                }
            }
            self.line = end;
            self.sought = end;
        }
    }
}

/// Reads the objects of a block into the answer.
pub(super) fn read_block(
    text: &str,
    from: usize,
    to: usize,
    tools: &ToolNames,
    parsed: &mut Parsed,
) {
    let text = &text[..to];
    let mut at = from;
    loop {
        at = text.len()
            - text[at..]
                .trim_start()
                .trim_start_matches(',')
                .trim_start()
                .len();
        if at >= to {
            return;
        }
        let mut reader = Reader::new(Root::Value, at);
        match reader.advance(text, true) {
            Step::Done(value) => {
                parsed.repairs.append(&mut reader.take_repairs());
                let (bodies, next) = bodies(text, reader.at());
                at = next;
                match call(value, &bodies, tools) {
                    Ok((name, arguments)) => {
                        let id = format!("tc_{}", parsed.calls.len());
                        parsed.calls.push(ParsedCall {
                            id,
                            name,
                            arguments,
                        });
                    }
                    Err(error) => parsed.errors.push(error),
                }
            }
            Step::Failed(fault) | Step::Unclosed { fault, .. } => {
                parsed.errors.push(texts::bad_value("tool", &fault.message));
                at = next_object(text, fault.at);
            }
            Step::More => unreachable!("a reader that was told of the end does not wait"),
        }
    }
}

/// After something unreadable, the next line that may be an object. Lines before the fault
/// belong to what could not be read and must not be taken for calls.
fn next_object(text: &str, fault: usize) -> usize {
    let mut at = line_end(text, fault);
    while at < text.len() && !text[at..].trim_start_matches([' ', '\t']).starts_with('{') {
        at = line_end(text, at);
    }
    at
}

/// The verbatim bodies that follow an object.
fn bodies(text: &str, from: usize) -> (BTreeMap<String, String>, usize) {
    let mut found = BTreeMap::new();
    let mut at = from;
    loop {
        let begin = text.len() - text[at..].trim_start().len();
        let Look::Yes { tag, length } = heredoc_opening(&text[begin..], true) else {
            return (found, at);
        };
        let body = begin + length;
        let mut line = body;
        while line < text.len() && text[line..line_end(text, line)].trim_end() != tag {
            line = line_end(text, line);
        }
        if line >= text.len() {
            return (found, text.len());
        }
        let content = text[body..line].strip_suffix('\n').unwrap_or("");
        found.insert(
            tag,
            content.strip_suffix('\r').unwrap_or(content).to_owned(),
        );
        at = line_end(text, line);
    }
}

fn call(
    value: Value,
    bodies: &BTreeMap<String, String>,
    tools: &ToolNames,
) -> Result<(String, Value), String> {
    let Value::Object(mut object) = value else {
        let what = "expected an object with `name` and `args`";
        return Err(texts::bad_value("tool", what));
    };
    let name = ["name", "tool"]
        .iter()
        .find_map(|key| object.get(*key)?.as_str());
    let Some(name) = name.map(str::to_owned) else {
        return Err(texts::bad_value("tool", "the object has no `name`"));
    };
    if !tools.knows(&name) {
        return Err(texts::unknown_tool(&name, tools));
    }
    let arguments = ["args", "arguments", "parameters"]
        .iter()
        .find_map(|key| object.remove(*key));
    let mut arguments = match arguments {
        None => json!({}),
        Some(Value::String(text)) => {
            value::read(&text).map_or(Value::String(text), |(value, _)| value)
        }
        Some(arguments) => arguments,
    };
    if !arguments.is_object() {
        return Err(texts::no_object_in_json(&name));
    }
    match fill(&mut arguments, bodies) {
        Ok(()) => Ok((name, arguments)),
        Err(tag) => Err(texts::bad_value(
            &name,
            &format!("no body for `<<{tag}` follows the object"),
        )),
    }
}

/// Puts bodies where their tags stand. Values nest little: the reader has seen to it.
fn fill(value: &mut Value, bodies: &BTreeMap<String, String>) -> Result<(), String> {
    match value {
        Value::String(text) => {
            let Some(tag) = text.strip_prefix("<<") else {
                return Ok(());
            };
            let is_tag = tag
                .bytes()
                .all(|octet| octet.is_ascii_alphanumeric() || octet == b'_');
            if tag.is_empty() || !is_tag {
                return Ok(());
            }
            match bodies.get(tag) {
                Some(body) => *text = body.clone(),
                None => return Err(tag.to_owned()),
            }
            Ok(())
        }
        Value::Array(list) => list.iter_mut().try_for_each(|item| fill(item, bodies)),
        Value::Object(map) => map.values_mut().try_for_each(|item| fill(item, bodies)),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

/// The first byte of the next line.
fn line_end(text: &str, at: usize) -> usize {
    text[at..]
        .find('\n')
        .map_or(text.len(), |found| at + found + 1)
}
