//! Calls written as JSON, the way models were trained that know other protocols.

use serde_json::{Map, Value, json};

use super::value::{Reader, Root, Step};
use super::{ParsedCall, Repair, ToolNames, texts};

/// Calls that were meant, and why some of them cannot be made.
#[derive(Debug, Default)]
pub(super) struct JsonCalls {
    pub(super) calls: Vec<Result<ParsedCall, Unmade>>,
    pub(super) repairs: Vec<Repair>,
}

/// Why a call is not made.
#[derive(Debug)]
pub(super) enum Unmade {
    Unknown(String),
    NoObject(String),
}

impl Unmade {
    pub(super) fn error(&self, tools: &ToolNames) -> String {
        match self {
            Unmade::Unknown(name) => texts::unknown_tool(name, tools),
            Unmade::NoObject(name) => texts::no_object_in_json(name),
        }
    }
}

/// Reads a text that is nothing but an array of calls in the shape of OpenAI's, or one call
/// object with a name we know.
pub(super) fn in_bare_text(text: &str, from: usize, to: usize, tools: &ToolNames) -> JsonCalls {
    let (begin, end) = unfenced(text, from, to);
    let Some((values, repairs)) = read_all(text, begin, end) else {
        return JsonCalls::default();
    };
    let elements = match &values[..] {
        [Value::Array(elements)] => elements,
        [Value::Object(object)] if is_certain(object, tools) => &values,
        _ => return JsonCalls::default(),
    };
    let is_list = !elements.is_empty() && elements.iter().all(|element| parts(element).is_some());
    if !is_list {
        return JsonCalls::default();
    }
    collect(elements, repairs, begin, tools)
}

/// Reads the body of a block: call objects one after another, or an array of them.
pub(super) fn in_block(text: &str, from: usize, to: usize, tools: &ToolNames) -> JsonCalls {
    let (begin, end) = unfenced(text, from, to);
    let Some((values, repairs)) = read_all(text, begin, end) else {
        return JsonCalls::default();
    };
    let elements = match &values[..] {
        [Value::Array(elements)] => elements,
        _ => &values,
    };
    if elements.is_empty() || !elements.iter().all(|element| parts(element).is_some()) {
        return JsonCalls::default();
    }
    collect(elements, repairs, begin, tools)
}

/// The name and the arguments of one call object; `None` if it is something else.
fn parts(value: &Value) -> Option<(Option<&str>, &str, Value)> {
    let object = value.as_object()?;
    let id = object.get("id").and_then(Value::as_str);
    let inner = object
        .get("function")
        .and_then(Value::as_object)
        .unwrap_or(object);
    let name = ["name", "tool", "tool_name", "function"]
        .iter()
        .find_map(|key| inner.get(*key)?.as_str())?;
    let arguments = ["arguments", "parameters", "args", "input"]
        .iter()
        .find_map(|key| inner.get(*key))
        .cloned()
        .unwrap_or_else(|| json!({}));
    Some((id, name, arguments))
}

/// Outside a block an object is only a call if it can be nothing else.
fn is_certain(object: &Map<String, Value>, tools: &ToolNames) -> bool {
    let known = |key: &String| {
        matches!(
            key.as_str(),
            "id" | "type" | "name" | "arguments" | "parameters"
        )
    };
    let name = object.get("name").and_then(Value::as_str);
    let arguments = object.get("arguments").or_else(|| object.get("parameters"));
    object.keys().all(known)
        && name.is_some_and(|name| tools.knows(name))
        && arguments.is_some_and(Value::is_object)
}

fn collect(elements: &[Value], repairs: Vec<Repair>, at: usize, tools: &ToolNames) -> JsonCalls {
    let mut found = JsonCalls {
        calls: Vec::new(),
        repairs,
    };
    found.repairs.push(Repair::new("call written as JSON", at));
    for (index, element) in elements.iter().enumerate() {
        let Some((id, name, arguments)) = parts(element) else {
            continue;
        };
        // OpenAI's wire has the arguments as a text that is JSON in turn.
        let arguments = match &arguments {
            Value::String(text) => super::value::read(text).map_or(arguments, |(value, _)| value),
            _ => arguments,
        };
        found.calls.push(if !tools.knows(name) {
            Err(Unmade::Unknown(name.to_owned()))
        } else if !arguments.is_object() {
            Err(Unmade::NoObject(name.to_owned()))
        } else {
            Ok(ParsedCall {
                id: id.map_or_else(|| format!("tc_{index}"), str::to_owned),
                name: name.to_owned(),
                arguments,
            })
        });
    }
    found
}

/// All the values that a text consists of, if it consists of nothing else.
fn read_all(text: &str, begin: usize, end: usize) -> Option<(Vec<Value>, Vec<Repair>)> {
    let text = &text[..end];
    if !text[begin..].starts_with(['{', '[']) {
        return None;
    }
    let (mut values, mut repairs) = (Vec::new(), Vec::new());
    let mut at = begin;
    while at < end {
        let mut reader = Reader::new(Root::Value, at);
        let Step::Done(value) = reader.advance(text, true) else {
            return None;
        };
        values.push(value);
        repairs.append(&mut reader.take_repairs());
        let rest = text[reader.at()..]
            .trim_start()
            .trim_start_matches([',', ';'])
            .trim_start();
        at = text.len() - rest.len();
    }
    Some((values, repairs))
}

/// The text without blanks around it, and without a fence that encloses all of it.
fn unfenced(text: &str, from: usize, to: usize) -> (usize, usize) {
    let trim = |from: usize, to: usize| {
        let trimmed = text[from..to].trim_start();
        let from = to - trimmed.len();
        (from, from + trimmed.trim_end().len())
    };
    let (begin, end) = trim(from, to);
    let inside = text[begin..end].strip_prefix("```").and_then(|opened| {
        let line = opened.find('\n')?;
        opened.ends_with("```").then_some(begin + 3 + line)
    });
    match inside {
        Some(inside) if inside + 3 <= end => trim(inside, end - 3),
        _ => (begin, end),
    }
}
