//! Calls and their results, wherever messages have them.
//!
//! Providers write calls as entries of `tool_calls` or as blocks of the content, and results as
//! messages of their own or as blocks. Ids may repeat in a conversation, so a result belongs to
//! the latest open call of its id.

use std::collections::BTreeSet;

use harn_llm::options::value::display;
use serde_json::Value;

use super::view::{Fate, View};

/// Where a call or a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Position of the message.
    pub(super) message: usize,
    part: Part,
}

/// Which part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// All of it.
    Whole,
    /// An entry of `tool_calls`.
    Listed(usize),
    /// A block of the content.
    Block(usize),
}

/// A call and its result.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pair {
    pub(super) call: Place,
    pub(super) result: Place,
    /// Which tool.
    pub(super) name: String,
    /// The call's id, perhaps empty.
    pub(super) id: String,
    /// The arguments; JSON in a text was read.
    pub(super) arguments: Value,
    /// What the tool said.
    pub(super) text: String,
    /// Whether it came to nothing.
    pub(super) failed: bool,
}

struct OpenCall {
    place: Place,
    name: String,
    id: String,
    arguments: Value,
}

struct FoundResult<'a> {
    place: Place,
    id: &'a str,
    name: &'a str,
    content: &'a Value,
    is_error: bool,
}

/// All calls that have a result.
pub(super) fn pairs(messages: &[Value]) -> Vec<Pair> {
    matched(messages).0
}

/// Calls without a result and results without a call.
pub(super) fn halves(messages: &[Value]) -> Vec<Place> {
    matched(messages).1
}

fn matched(messages: &[Value]) -> (Vec<Pair>, Vec<Place>) {
    let mut open: Vec<OpenCall> = Vec::new();
    let (mut pairs, mut halves) = (Vec::new(), Vec::new());
    for (index, message) in messages.iter().enumerate() {
        for result in results(index, message) {
            match position_of_call(&open, &result) {
                Some(position) => pairs.push(pair(open.remove(position), &result)),
                None => halves.push(result.place),
            }
        }
        open.extend(calls(index, message));
    }
    halves.extend(open.into_iter().map(|call| call.place));
    (pairs, halves)
}

fn position_of_call(open: &[OpenCall], result: &FoundResult<'_>) -> Option<usize> {
    match (result.id, result.name) {
        // Without ids, results come in the order of the calls.
        ("", "") => (!open.is_empty()).then_some(0),
        ("", name) => open.iter().position(|call| call.name == name),
        (id, _) => open.iter().rposition(|call| call.id == id),
    }
}

fn pair(call: OpenCall, result: &FoundResult<'_>) -> Pair {
    let text = text_of(result.content);
    Pair {
        call: call.place,
        result: result.place,
        name: call.name,
        id: call.id,
        arguments: call.arguments,
        failed: result.is_error || says_failure(&text),
        text,
    }
}

fn calls(index: usize, message: &Value) -> Vec<OpenCall> {
    let listed = message["tool_calls"].as_array().into_iter().flatten();
    let listed = listed.enumerate().map(|(entry, call)| {
        let function = match &call["function"] {
            Value::Null => call,
            function => function,
        };
        (Part::Listed(entry), call, function, &function["arguments"])
    });
    let blocks = message["content"].as_array().into_iter().flatten();
    let blocks = blocks.enumerate();
    let blocks = blocks.filter(|(_, block)| block["type"] == "tool_use");
    let blocks = blocks.map(|(entry, block)| (Part::Block(entry), block, block, &block["input"]));
    let found = listed.chain(blocks);
    let open = found.map(|(part, call, function, arguments)| OpenCall {
        place: Place {
            message: index,
            part,
        },
        name: text_at(function, "name").to_owned(),
        id: text_at(call, "id").to_owned(),
        arguments: match arguments.as_str().map(serde_json::from_str) {
            Some(Ok(read)) => read,
            _ => arguments.clone(),
        },
    });
    open.collect()
}

fn results(index: usize, message: &Value) -> Vec<FoundResult<'_>> {
    let found = |part, value| {
        let id = [
            text_at(value, "tool_call_id"),
            text_at(value, "tool_use_id"),
        ];
        let name = [text_at(value, "tool_name"), text_at(value, "name")];
        let first = |texts: [&'_ str; 2]| if texts[0].is_empty() { 1 } else { 0 };
        FoundResult {
            place: Place {
                message: index,
                part,
            },
            id: id[first(id)],
            name: name[first(name)],
            content: &value["content"],
            is_error: value["is_error"] == true,
        }
    };
    if ["tool", "tool_result"].contains(&text_at(message, "role")) {
        return vec![found(Part::Whole, message)];
    }
    let blocks = message["content"].as_array().into_iter().flatten();
    let blocks = blocks.enumerate();
    let results = blocks.filter(|(_, block)| block["type"] == "tool_result");
    results
        .map(|(entry, block)| found(Part::Block(entry), block))
        .collect()
}

fn text_at<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn text_of(content: &Value) -> String {
    match content {
        Value::Null => String::new(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        other => display(other),
    }
}

/// Whether the text of a result says that the call failed, was denied or was not made.
fn says_failure(text: &str) -> bool {
    let starts = ["Error:", "ERROR:", "BLOCKED:"];
    let is_denied = || {
        let read: Option<Value> = serde_json::from_str(text).ok();
        read.is_some_and(|value| value["error"] == "permission_denied")
    };
    starts.iter().any(|start| text.starts_with(start)) || is_denied()
}

/// The messages without some pairs. `note` may leave a line where a call was.
pub(super) fn without(
    messages: &[Value],
    pairs: &[&Pair],
    note: impl Fn(&Pair) -> Option<String>,
) -> View {
    let places = pairs.iter().flat_map(|pair| [pair.call, pair.result]);
    let notes = |index: usize| {
        let called = pairs.iter().filter(|pair| pair.call.message == index);
        let notes: Vec<String> = called.filter_map(|pair| note(pair)).collect();
        notes.join("\n")
    };
    without_places(messages, &places.collect(), notes)
}

/// The messages without some calls and results, with a note about those of each message.
pub(super) fn without_places(
    messages: &[Value],
    places: &BTreeSet<Place>,
    note: impl Fn(usize) -> String,
) -> View {
    let fates = messages.iter().enumerate().map(|(index, message)| {
        let parts = places.iter().filter(|place| place.message == index);
        let parts: BTreeSet<Part> = parts.map(|place| place.part).collect();
        match parts.is_empty() {
            true => Fate::Kept,
            false => remaining(message, &parts, &note(index)),
        }
    });
    View::of(messages, fates.collect())
}

/// A message without some parts, with a note for them.
fn remaining(message: &Value, parts: &BTreeSet<Part>, note: &str) -> Fate {
    if parts.contains(&Part::Whole) {
        return Fate::Dropped;
    }
    let mut message = message.clone();
    if let Value::Array(calls) = message["tool_calls"].take() {
        let calls = keep(calls, |entry| !parts.contains(&Part::Listed(entry)));
        message["tool_calls"] = Value::Array(calls);
    }
    if let Value::Array(blocks) = &mut message["content"] {
        let blocks_left = keep(std::mem::take(blocks), |entry| {
            !parts.contains(&Part::Block(entry))
        });
        *blocks = blocks_left;
    }
    if let Value::Object(fields) = &mut message {
        let is_empty = |value: &Value| value.as_array().is_none_or(Vec::is_empty);
        if fields.get("tool_calls").is_some_and(is_empty) {
            fields.remove("tool_calls");
        }
    }
    add_note(&mut message, note);
    let says_nothing = match &message["content"] {
        Value::String(text) => text.trim().is_empty(),
        Value::Array(blocks) => blocks.is_empty(),
        content => content.is_null(),
    };
    match says_nothing && message.get("tool_calls").is_none() {
        true => Fate::Dropped,
        false => Fate::Redacted(message),
    }
}

fn keep(items: Vec<Value>, is_kept: impl Fn(usize) -> bool) -> Vec<Value> {
    let items = items.into_iter().enumerate();
    let kept = items.filter(|(index, _)| is_kept(*index));
    kept.map(|(_, item)| item).collect()
}

fn add_note(message: &mut Value, note: &str) {
    if note.is_empty() {
        return;
    }
    match &mut message["content"] {
        Value::Array(blocks) => blocks.push(serde_json::json!({"type": "text", "text": note})),
        Value::String(text) if !text.trim().is_empty() => {
            text.push('\n');
            text.push_str(note);
        }
        content => *content = Value::String(note.to_owned()),
    }
}
