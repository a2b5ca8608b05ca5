//! Reads items of an answer.
//!
//! An item is announced, grows by deltas and is repeated whole when it is done. The whole one
//! counts: what deltas did not bring is taken from it.
//!
//! Text that deltas brought cannot be taken back. So if the whole item contradicts them, a
//! text stays as it was shown, but a call does not: the call that was begun is left open for
//! good, which means that nobody makes it, and another begins with what the item says.

use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::StreamEvent;

/// An item of an answer while it arrives.
#[derive(Debug, Default)]
pub(super) struct Item {
    /// The call it is, if it is one.
    pub(super) call: Option<Call>,
    /// Which of its texts came in deltas.
    pub(super) had: Had,
    /// Which summary is being written.
    pub(super) summary_number: Option<u64>,
    pub(super) is_done: bool,
}

/// What came in deltas.
#[derive(Debug, Default)]
pub(super) struct Had {
    pub(super) text: bool,
    pub(super) refusal: bool,
    pub(super) thought: bool,
    pub(super) summary: bool,
}

/// A call while it arrives.
#[derive(Debug, Default)]
pub(super) struct Call {
    pub(super) index: usize,
    id: Option<String>,
    name: String,
    /// The arguments that deltas brought.
    sent: String,
    /// The whole arguments, said by an event before the item was done.
    pub(super) announced: Option<String>,
}

/// What is counted and remembered over all items of an answer.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// How many calls began.
    pub(super) calls_begun: usize,
    /// Whether a call is complete.
    pub(super) has_calls: bool,
    pub(super) has_refused: bool,
    /// The last search, for an output that does not say which search it belongs to.
    search: String,
}

impl Call {
    pub(super) fn begin(item: &Value, answer: &mut Answer, events: &mut Vec<StreamEvent>) -> Self {
        let call = Call {
            index: answer.calls_begun,
            id: text(item, "call_id")
                .or(text(item, "id"))
                .map(str::to_owned),
            name: text(item, "name").unwrap_or_default().to_owned(),
            ..Call::default()
        };
        answer.calls_begun += 1;
        events.push(StreamEvent::ToolCallStart {
            index: call.index,
            id: call.id.clone(),
            name: call.name.clone(),
        });
        call
    }

    pub(super) fn delta(&mut self, text: &str, events: &mut Vec<StreamEvent>) {
        if text.is_empty() {
            return;
        }
        self.sent.push_str(text);
        events.push(StreamEvent::ToolArgsDelta {
            index: self.index,
            text: text.to_owned(),
        });
    }

    /// Ends the call if its arguments begin with what was sent.
    pub(super) fn end(&mut self, whole: &str, events: &mut Vec<StreamEvent>) -> bool {
        let Some(rest) = whole.strip_prefix(self.sent.as_str()) else {
            return false;
        };
        self.delta(rest, events);
        events.push(StreamEvent::ToolCallEnd { index: self.index });
        true
    }
}

/// Whether `item` is a call for us, and where it has its arguments. Those of a custom tool are
/// any text.
pub(super) fn arguments_key(item: &Value) -> Option<&'static str> {
    match item["type"].as_str()? {
        "function_call" => Some("arguments"),
        "custom_tool_call" => Some("input"),
        _ => None,
    }
}

/// The item is done: `whole` is all of it.
pub(super) fn done(
    item: &mut Item,
    whole: &Value,
    answer: &mut Answer,
    events: &mut Vec<StreamEvent>,
) {
    if std::mem::replace(&mut item.is_done, true) {
        return;
    }
    let mut is_kept = true;
    match whole["type"].as_str() {
        Some("message") => message(item, whole, answer, events),
        Some("reasoning") => reasoning(item, whole, events),
        Some("function_call" | "custom_tool_call") => is_kept = call(item, whole, answer, events),
        Some("tool_search_call") => {
            answer.search = search_id(whole, &answer.search);
            events.push(StreamEvent::ToolSearch {
                id: answer.search.clone(),
                query: whole["arguments"].clone(),
                promoted: None,
            });
        }
        Some("tool_search_output") => {
            let mut names = Vec::new();
            promoted(&whole["tools"], &mut names);
            events.push(StreamEvent::ToolSearch {
                id: text(whole, "call_id").unwrap_or(&answer.search).to_owned(),
                query: Value::Null,
                promoted: Some(names),
            });
        }
        Some(kind) if kind.ends_with("_call") => events.push(StreamEvent::ServerToolUse {
            id: text(whole, "id").unwrap_or_default().to_owned(),
            name: kind.trim_end_matches("_call").to_owned(),
            input: whole.clone(),
        }),
        _ => events.push(StreamEvent::Raw {
            value: whole.clone(),
        }),
    }
    if is_kept && whole.is_object() {
        events.push(StreamEvent::Kept {
            block: whole.clone(),
        });
    }
}

fn message(item: &mut Item, whole: &Value, answer: &mut Answer, events: &mut Vec<StreamEvent>) {
    for part in list(&whole["content"]) {
        match part["type"].as_str() {
            Some("output_text") => {
                let text = text(part, "text").filter(|_| !item.had.text);
                events.extend(text.map(|text| StreamEvent::TextDelta {
                    text: text.to_owned(),
                }));
            }
            Some("refusal") => {
                answer.has_refused = true;
                let text = text(part, "refusal").filter(|_| !item.had.refusal);
                events.extend(text.map(|text| StreamEvent::Refusal {
                    text: text.to_owned(),
                }));
            }
            _ => events.push(StreamEvent::Raw {
                value: part.clone(),
            }),
        }
    }
}

fn reasoning(item: &mut Item, whole: &Value, events: &mut Vec<StreamEvent>) {
    if !item.had.summary {
        let parts = list(&whole["summary"]).iter();
        let texts: Vec<&str> = parts.filter_map(|part| text(part, "text")).collect();
        let text = texts.join("\n\n");
        if !text.is_empty() {
            events.push(StreamEvent::ThoughtSummaryDelta { text });
        }
    }
    if !item.had.thought {
        let parts = list(&whole["content"]).iter();
        let text: String = parts.filter_map(|part| text(part, "text")).collect();
        if !text.is_empty() {
            events.push(StreamEvent::ThoughtDelta { text });
        }
    }
}

/// Whether the call is complete.
fn call(
    item: &mut Item,
    whole: &Value,
    answer: &mut Answer,
    events: &mut Vec<StreamEvent>,
) -> bool {
    let name = text(whole, "name");
    let (Some(arguments), Some(_)) = (whole_arguments(whole), name) else {
        events.push(StreamEvent::Raw {
            value: whole.clone(),
        });
        return false;
    };
    let mut call = match item.call.take() {
        Some(call) if Some(call.name.as_str()) == name => call,
        _ => Call::begin(whole, answer, events),
    };
    if !call.end(arguments, events) {
        let contradiction = json!({"type": "arguments_contradict", "sent": call.sent});
        events.push(StreamEvent::Raw {
            value: contradiction,
        });
        call = Call::begin(whole, answer, events);
        call.end(arguments, events);
    }
    answer.has_calls = true;
    true
}

/// The arguments of a call that is done, if they are complete. The output cap may have cut
/// them off; a server that does not say so leaves it to us to see.
fn whole_arguments(item: &Value) -> Option<&str> {
    let key = arguments_key(item)?;
    let text = item[key].as_str()?;
    let is_complete = match item["status"].as_str() {
        Some("completed") => true,
        Some("incomplete") => false,
        _ => {
            let is_json = || serde_json::from_str::<IgnoredAny>(text).is_ok();
            key != "arguments" || text.trim().is_empty() || is_json()
        }
    };
    is_complete.then_some(text)
}

fn search_id(item: &Value, fallback: &str) -> String {
    let id = text(item, "call_id").or(text(item, "id"));
    id.unwrap_or(fallback).to_owned()
}

/// The names of the tools that a search found, those in namespaces too.
fn promoted(tools: &Value, names: &mut Vec<String>) {
    for tool in list(tools) {
        match tool["type"].as_str() {
            Some("namespace") => {
                let members = list(&tool["tools"]).iter();
                names.extend(
                    members
                        .filter_map(|tool| text(tool, "name"))
                        .map(str::to_owned),
                );
            }
            _ => names.extend(text(tool, "name").map(str::to_owned)),
        }
    }
}

/// The text under `key`, if there is one and it is not empty.
pub(super) fn text<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.get(key)?.as_str().filter(|text| !text.is_empty())
}

/// The members of a list, and none of anything else.
pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
