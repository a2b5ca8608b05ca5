//! Reads answers of this wire.

use serde_json::{Map, Value, json};

use crate::wire::chat::failure;
use crate::wire::{Decode, Frame, frames, truncated};
use crate::{Category, Error, Stop, StopReason, StreamEvent, Usage};

/// Keys of a message that something here reads. Others are passed on as they came.
const MESSAGE_KEYS: [&str; 4] = ["role", "content", "thinking", "tool_calls"];

/// Reads an answer.
#[derive(Debug, Default)]
pub(in crate::wire) struct Decoder {
    has_started: bool,
    calls_begun: usize,
    /// What the model thought, to be kept.
    thinking: String,
    has_ended: bool,
}

impl Decode for Decoder {
    fn frame(&mut self, frame: Frame<'_>, events: &mut Vec<StreamEvent>) -> Result<(), Error> {
        let data = frame.data.trim();
        if data.is_empty() || self.has_ended {
            return Ok(());
        }
        self.line(&frames::json(data)?, events)
    }

    fn finish(&mut self, _: &mut Vec<StreamEvent>) -> Result<(), Error> {
        match self.has_ended {
            true => Ok(()),
            false => Err(truncated("done")),
        }
    }

    fn whole(&mut self, body: &Value, events: &mut Vec<StreamEvent>) -> Result<(), Error> {
        self.line(body, events)?;
        self.finish(events)
    }
}

impl Decoder {
    fn line(&mut self, line: &Value, events: &mut Vec<StreamEvent>) -> Result<(), Error> {
        if let Some(error) = line.get("error").filter(|error| !error.is_null()) {
            return Err(failed(error));
        }
        if !line.is_object() {
            events.push(raw(line));
            return Ok(());
        }
        if !std::mem::replace(&mut self.has_started, true) {
            let model = text(line, "model").map(str::to_owned);
            events.push(StreamEvent::Start { id: None, model });
        }
        match line.get("message") {
            Some(Value::Object(message)) => self.message(message, events),
            None | Some(Value::Null) => {}
            Some(other) => events.push(raw(other)),
        }
        if line["done"] == true {
            self.end(line, events);
        }
        Ok(())
    }

    fn message(&mut self, message: &Map<String, Value>, events: &mut Vec<StreamEvent>) {
        let piece = |key: &str| {
            let text = message.get(key).and_then(Value::as_str);
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        if let Some(text) = piece("thinking") {
            self.thinking.push_str(&text);
            events.push(StreamEvent::ThoughtDelta { text });
        }
        if let Some(text) = piece("content") {
            events.push(StreamEvent::TextDelta { text });
        }
        match message.get("tool_calls") {
            Some(Value::Array(calls)) => calls.iter().for_each(|call| self.call(call, events)),
            None | Some(Value::Null) => {}
            Some(other) => events.push(raw(other)),
        }
        for (key, value) in message {
            if !MESSAGE_KEYS.contains(&key.as_str()) && !value.is_null() {
                events.push(raw(&json!({ key: value })));
            }
        }
    }

    /// Calls come whole.
    fn call(&mut self, call: &Value, events: &mut Vec<StreamEvent>) {
        let function = &call["function"];
        let arguments = match &function["arguments"] {
            Value::Null => Some(String::new()),
            Value::String(text) => Some(text.clone()),
            object @ Value::Object(_) => Some(object.to_string()),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
        };
        let (Some(name), Some(arguments)) = (text(function, "name"), arguments) else {
            events.push(raw(call));
            return;
        };
        let index = self.calls_begun;
        self.calls_begun += 1;
        events.push(StreamEvent::ToolCallStart {
            index,
            id: text(call, "id").map(str::to_owned),
            name: name.to_owned(),
        });
        if !arguments.is_empty() {
            let text = arguments;
            events.push(StreamEvent::ToolArgsDelta { index, text });
        }
        events.push(StreamEvent::ToolCallEnd { index });
    }

    fn end(&mut self, line: &Value, events: &mut Vec<StreamEvent>) {
        if let Some(usage) = usage(line) {
            events.push(StreamEvent::Usage { usage });
        }
        let thinking = std::mem::take(&mut self.thinking);
        if !thinking.is_empty() {
            let block = json!({"thinking": thinking});
            events.push(StreamEvent::Kept { block });
        }
        let word = text(line, "done_reason");
        let reason = match word {
            // Old servers give no reason. The two in the middle answer an empty question.
            None | Some("stop" | "load" | "unload") if self.calls_begun == 0 => StopReason::End,
            None | Some("stop" | "load" | "unload") => StopReason::ToolUse,
            Some("length") => StopReason::Length,
            Some(_) => StopReason::Error,
        };
        let word = word.map(str::to_owned);
        self.has_ended = true;
        events.push(StreamEvent::End {
            stop: Stop { reason, word },
        });
    }
}

/// A failure in the middle of an answer. It mostly is only a text, and then it was the server
/// that failed: what is wrong with a question is said before the answer begins.
fn failed(error: &Value) -> Error {
    let mut failure = failure::read(error);
    if error.is_string() {
        failure.category = Category::ServerError;
    }
    failure
}

fn raw(value: &Value) -> StreamEvent {
    StreamEvent::Raw {
        value: value.clone(),
    }
}

fn text<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.get(key)?.as_str().filter(|text| !text.is_empty())
}

/// The counts among the keys of the last line.
fn usage(line: &Value) -> Option<Usage> {
    let count = |key: &str| line[key].as_u64();
    let (input, output) = (count("prompt_eval_count"), count("eval_count"));
    if input.is_none() && output.is_none() {
        return None;
    }
    let is_count = |key: &str| key.ends_with("_count") || key.ends_with("_duration");
    let fields = line.as_object()?.iter();
    let counts = fields.filter(|(key, _)| is_count(key));
    let counts: Map<String, Value> = counts.map(|(key, n)| (key.clone(), n.clone())).collect();
    Some(Usage {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        provider: Value::Object(counts),
        ..Usage::default()
    })
}

#[cfg(test)]
mod tests;
