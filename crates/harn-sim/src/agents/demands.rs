//! What providers demand of a conversation. They refuse the whole request otherwise, and the
//! session with it: the next one has the same messages.

use std::collections::BTreeSet;

use serde_json::Value;

use super::speech::Language;

/// What a provider would refuse a request for.
pub(super) fn complaints(language: Language, body: &Value) -> Vec<String> {
    let empty = Vec::new();
    let messages = body["messages"].as_array().unwrap_or(&empty);
    match language {
        Language::Chat => chat(messages),
        Language::Anthropic => anthropic(messages),
        Language::Ollama => ollama(messages),
    }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Every call is followed by its result before anything else is said, and ids are used once.
fn chat(messages: &[Value]) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut known: BTreeSet<&str> = BTreeSet::new();
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        let role = text(message, "role");
        if role == "tool" {
            let id = text(message, "tool_call_id");
            if !open.remove(id) {
                complaints.push(format!("message {at} is the result of no open call ({id})"));
            }
            continue;
        }
        if !open.is_empty() {
            complaints.push(format!("calls {open:?} have no result before message {at}"));
            open.clear();
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let id = text(call, "id");
            if id.is_empty() || !known.insert(id) {
                complaints.push(format!(
                    "call id '{id}' of message {at} is missing or used twice"
                ));
            }
            if !call["function"]["arguments"].is_string() {
                complaints.push(format!("arguments of '{id}' are no text"));
            }
            open.insert(id);
        }
    }
    if !open.is_empty() {
        complaints.push(format!("calls {open:?} have no result at the end"));
    }
    complaints
}

/// Sides take turns, nothing is empty, and the message after calls has their results first.
fn anthropic(messages: &[Value]) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut open: BTreeSet<&str> = BTreeSet::new();
    let mut known: BTreeSet<&str> = BTreeSet::new();
    let mut last_role = "assistant";
    for (at, message) in messages.iter().enumerate() {
        let role = text(message, "role");
        if role == last_role {
            complaints.push(format!("message {at} is by the {role} again"));
        }
        last_role = role;
        let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
        if blocks.is_empty() {
            complaints.push(format!("message {at} has no content"));
        }
        let mut other_seen = false;
        for block in blocks {
            match text(block, "type") {
                "tool_result" => {
                    let id = text(block, "tool_use_id");
                    if other_seen {
                        complaints.push(format!("result of {id} in message {at} is not first"));
                    }
                    if !open.remove(id) {
                        complaints.push(format!("message {at} has a result of no call ({id})"));
                    }
                }
                "text" if text(block, "text").trim().is_empty() => {
                    complaints.push(format!("message {at} has a text without words"));
                }
                _ => other_seen = true,
            }
        }
        if !open.is_empty() {
            complaints.push(format!("calls {open:?} have no result in message {at}"));
            open.clear();
        }
        for block in blocks.iter().filter(|block| block["type"] == "tool_use") {
            let id = text(block, "id");
            if id.is_empty() || !known.insert(id) {
                complaints.push(format!(
                    "call id '{id}' of message {at} is missing or used twice"
                ));
            }
            if !block["input"].is_object() {
                complaints.push(format!("input of '{id}' is no object"));
            }
            open.insert(id);
        }
    }
    if !open.is_empty() {
        complaints.push(format!("calls {open:?} have no result at the end"));
    }
    if last_role == "assistant" {
        complaints.push("the model speaks last".to_owned());
    }
    complaints
}

/// As many results follow as there were calls.
fn ollama(messages: &[Value]) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut open = 0_usize;
    for (at, message) in messages.iter().enumerate() {
        if text(message, "role") == "tool" {
            match open.checked_sub(1) {
                Some(rest) => open = rest,
                None => complaints.push(format!("message {at} is the result of no open call")),
            }
            continue;
        }
        if open > 0 {
            complaints.push(format!("{open} calls have no result before message {at}"));
        }
        open = message["tool_calls"].as_array().map_or(0, Vec::len);
    }
    if open > 0 {
        complaints.push(format!("{open} calls have no result at the end"));
    }
    complaints
}
