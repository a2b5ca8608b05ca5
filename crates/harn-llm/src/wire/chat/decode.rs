//! Reads answers of this wire.
//!
//! ```text
//! chunk, chunk, … ─► finish_reason ─► usage ─► [DONE]
//! ```
//!
//! The answer is complete once it has a finish reason; servers exist that leave out `[DONE]`
//! and those that leave out usage. A whole answer is one chunk whose delta is called
//! `message`, so it takes the same way.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::calls::{Calls, Piece};
use super::failure;
use super::likeness::Likeness;
use super::plain::{self, Plain};
use super::reasoning::{self, Reasoning};
use crate::wire::{Decode, Frame, frames, truncated};
use crate::{Category, Error, Stop, StopReason, StreamEvent, Usage};

/// Keys of a delta that something here reads. Others are passed on as they came.
const DELTA_KEYS: [&str; 5] = ["role", "content", "refusal", "tool_calls", "function_call"];

/// Reads an answer.
#[derive(Debug, Default)]
pub(in crate::wire) struct Decoder {
    has_started: bool,
    likeness: Likeness,
    model: Option<String>,
    calls: Calls,
    reasoning: Reasoning,
    /// Whether there was text, a thought, a refusal or something like a call.
    has_content: bool,
    has_refused: bool,
    output_tokens: u64,
    stop: Option<Stop>,
    has_ended: bool,
}

impl Decode for Decoder {
    fn frame(&mut self, frame: Frame<'_>, events: &mut Vec<StreamEvent>) -> Result<(), Error> {
        let data = frame.data.trim();
        if data.is_empty() || self.has_ended {
            return Ok(());
        }
        if data == "[DONE]" {
            return self.close(events);
        }
        if let Some(text) = self.likeness.text(data) {
            self.text(text, events);
            return Ok(());
        }
        match plain::read(data) {
            Some(chunk) => self.plain(data, chunk, events),
            None => self.chunk(&frames::json(data)?, events)?,
        }
        Ok(())
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), Error> {
        // A call that began after the reason to end, in a stream that broke off. Only `[DONE]`
        // could have said that there is no more of it.
        let has_more = self.stop.as_ref().is_some_and(|stop| !is_cut(stop.reason));
        if has_more && !self.has_ended && self.calls.has_half() {
            return Err(truncated("the end of a tool call"));
        }
        self.close(events)
    }

    fn whole(&mut self, body: &Value, events: &mut Vec<StreamEvent>) -> Result<(), Error> {
        self.chunk(body, events)?;
        if !body["choices"].get(0).is_some_and(Value::is_object) {
            return Err(failure::no_answer("choices"));
        }
        if self.stop.is_none() {
            // The body came whole, so the answer did, even if nobody says why it ended.
            self.give_reason(StopReason::End, None, events);
        }
        self.close(events)
    }
}

impl Decoder {
    /// What [`Decoder::chunk`] does, for chunks without surprises.
    fn plain(&mut self, data: &str, chunk: Plain<'_>, events: &mut Vec<StreamEvent>) {
        self.start(chunk.id(), chunk.model(), chunk.has_choice, events);
        self.text(chunk.text(), events);
        if chunk.has_only_text() {
            self.likeness.remember(data, chunk.text());
        }
        if let (Some(word), None) = (chunk.finish_reason(), &self.stop) {
            self.give_reason(stop_reason(word), Some(word.to_owned()), events);
        }
        if let Some(counts) = chunk.usage {
            self.count(counts, events);
        }
    }

    fn chunk(&mut self, chunk: &Value, events: &mut Vec<StreamEvent>) -> Result<(), Error> {
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            return Err(failure::read(error));
        }
        if chunk["object"] == "error" {
            return Err(failure::read(chunk));
        }
        if !chunk.is_object() {
            events.push(raw(chunk));
            return Ok(());
        }
        let has_choice = chunk["choices"].get(0).is_some();
        self.start(text(chunk, "id"), text(chunk, "model"), has_choice, events);
        let choices = chunk["choices"].as_array().map_or(&[][..], Vec::as_slice);
        for choice in choices {
            self.choice(choice, events)?;
        }
        // Each of the three is somebody's idea of where it belongs.
        let places = [
            &chunk["usage"],
            &chunk["x_groq"]["usage"],
            &choices.first().unwrap_or(&Value::Null)["usage"],
        ];
        if let Some(counts) = places.into_iter().find(|counts| counts.is_object()) {
            self.count(counts.clone(), events);
        }
        Ok(())
    }

    fn count(&mut self, counts: Value, events: &mut Vec<StreamEvent>) {
        let usage = usage(counts);
        self.output_tokens = usage.output;
        events.push(StreamEvent::Usage { usage });
    }

    /// Azure begins with a chunk about the question that says nothing of the answer.
    fn start(
        &mut self,
        id: Option<&str>,
        model: Option<&str>,
        has_choice: bool,
        events: &mut Vec<StreamEvent>,
    ) {
        let says_something = id.is_some() || model.is_some() || has_choice;
        if self.has_started || !says_something {
            return;
        }
        self.has_started = true;
        let (id, model) = (id.map(str::to_owned), model.map(str::to_owned));
        self.model.clone_from(&model);
        events.push(StreamEvent::Start { id, model });
    }

    fn choice(&mut self, choice: &Value, events: &mut Vec<StreamEvent>) -> Result<(), Error> {
        let is_first = choice["index"].as_u64().unwrap_or(0) == 0;
        if !choice.is_object() || !is_first {
            events.push(raw(choice));
            return Ok(());
        }
        if let Some(error) = choice.get("error").filter(|error| !error.is_null()) {
            return Err(failure::read(error));
        }
        match choice.get("delta").or_else(|| choice.get("message")) {
            Some(Value::Object(delta)) => self.delta(delta, events)?,
            None | Some(Value::Null) => {}
            Some(other) => events.push(raw(other)),
        }
        if let (Some(word), None) = (text(choice, "finish_reason"), &self.stop) {
            self.give_reason(stop_reason(word), Some(word.to_owned()), events);
        }
        Ok(())
    }

    fn delta(
        &mut self,
        delta: &Map<String, Value>,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), Error> {
        if let Some(thought) = self.reasoning.take(delta) {
            let text = thought.to_owned();
            self.say(StreamEvent::ThoughtDelta { text }, events);
        }
        if let Some(content) = delta.get("content") {
            self.content(content, events);
        }
        let refusal = delta.get("refusal").and_then(Value::as_str);
        if let Some(text) = refusal.filter(|text| !text.is_empty()) {
            self.has_refused = true;
            let text = text.to_owned();
            self.say(StreamEvent::Refusal { text }, events);
        }
        match delta.get("tool_calls") {
            Some(Value::Array(pieces)) => {
                for piece in pieces {
                    self.call(piece, events)?;
                }
            }
            None | Some(Value::Null) => {}
            Some(other) => events.push(raw(other)),
        }
        if let Some(function) = delta.get("function_call").filter(|value| value.is_object()) {
            self.call(&json!({"function": function}), events)?;
        }
        for (key, value) in delta {
            let is_known = DELTA_KEYS.contains(&key.as_str())
                || reasoning::TEXT_KEYS.contains(&key.as_str())
                || key == reasoning::DETAILS_KEY;
            if !is_known && !value.is_null() {
                events.push(raw(&json!({ key: value })));
            }
        }
        Ok(())
    }

    /// Content is text; Mistral sends lists of parts, thoughts among them.
    fn content(&mut self, content: &Value, events: &mut Vec<StreamEvent>) {
        match content {
            Value::Null => {}
            Value::String(text) => self.text(text, events),
            Value::Array(parts) => {
                for part in parts {
                    match (part["type"].as_str(), part) {
                        (Some("text"), _) => self.text(text(part, "text").unwrap_or(""), events),
                        (Some("thinking"), _) => self.thoughts(&part["thinking"], events),
                        _ => events.push(raw(part)),
                    }
                }
            }
            other => events.push(raw(other)),
        }
    }

    fn text(&mut self, text: &str, events: &mut Vec<StreamEvent>) {
        if !text.is_empty() {
            let text = text.to_owned();
            self.say(StreamEvent::TextDelta { text }, events);
        }
    }

    fn thoughts(&mut self, thinking: &Value, events: &mut Vec<StreamEvent>) {
        let parts = thinking.as_array().map_or(&[][..], Vec::as_slice);
        for thought in parts.iter().filter_map(|part| text(part, "text")) {
            let text = thought.to_owned();
            self.say(StreamEvent::ThoughtDelta { text }, events);
        }
    }

    fn say(&mut self, event: StreamEvent, events: &mut Vec<StreamEvent>) {
        self.has_content = true;
        events.push(event);
    }

    fn call(&mut self, entry: &Value, events: &mut Vec<StreamEvent>) -> Result<(), Error> {
        let Some(piece) = piece(entry) else {
            self.say(raw(entry), events);
            return Ok(());
        };
        let is_empty = piece.id.is_none() && piece.name.is_none() && piece.arguments.is_empty();
        if is_empty {
            return Ok(());
        }
        self.has_content = true;
        self.calls.push(&piece, events)
    }

    /// The answer has given its reason to end. Calls win over a plain end, and so does a
    /// refusal.
    fn give_reason(
        &mut self,
        reason: StopReason,
        word: Option<String>,
        events: &mut Vec<StreamEvent>,
    ) {
        self.end_parts(reason, events);
        let reason = match reason {
            StopReason::End if !self.calls.is_empty() => StopReason::ToolUse,
            StopReason::End if self.has_refused => StopReason::Refusal,
            other => other,
        };
        self.stop = Some(Stop { reason, word });
    }

    fn end_parts(&mut self, reason: StopReason, events: &mut Vec<StreamEvent>) {
        self.calls.end(is_cut(reason), events);
        if let Some(block) = self.reasoning.finish() {
            events.push(StreamEvent::Kept { block });
        }
    }

    fn close(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), Error> {
        if self.has_ended {
            return Ok(());
        }
        let Some(stop) = self.stop.clone() else {
            return Err(truncated("its finish_reason"));
        };
        if !self.has_content && self.output_tokens > 0 {
            return Err(self.empty());
        }
        // What came after the reason to end.
        self.end_parts(stop.reason, events);
        self.has_ended = true;
        events.push(StreamEvent::End { stop });
        Ok(())
    }

    fn empty(&self) -> Error {
        let model = self.model.as_deref().unwrap_or("unknown");
        let message = format!(
            "openai-compatible model {model} reported completion_tokens={} but delivered no \
             content, reasoning, or tool calls",
            self.output_tokens
        );
        Error::new(Category::TransientNetwork, message)
    }
}

fn raw(value: &Value) -> StreamEvent {
    StreamEvent::Raw {
        value: value.clone(),
    }
}

/// The text under `key`, if there is one and it is not empty.
fn text<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.get(key)?.as_str().filter(|text| !text.is_empty())
}

/// A piece of a call, if `entry` is of a function. Some servers send the arguments as an
/// object.
fn piece(entry: &Value) -> Option<Piece<'_>> {
    let function = match entry.get("function") {
        None | Some(Value::Null) if entry.is_object() && entry.get("custom").is_none() => {
            &Value::Null
        }
        Some(function) if function.is_object() => function,
        _ => return None,
    };
    let arguments = match function.get("arguments") {
        None | Some(Value::Null) => Cow::Borrowed(""),
        Some(Value::String(text)) => Cow::Borrowed(text.as_str()),
        Some(object @ Value::Object(_)) => Cow::Owned(object.to_string()),
        Some(_) => return None,
    };
    Some(Piece {
        number: entry["index"].as_u64(),
        id: text(entry, "id"),
        name: text(function, "name"),
        arguments,
    })
}

fn stop_reason(word: &str) -> StopReason {
    match word {
        "stop" | "eos" | "eos_token" | "end_turn" => StopReason::End,
        "tool_calls" | "function_call" | "tool_use" => StopReason::ToolUse,
        "length" | "max_tokens" | "model_length" => StopReason::Length,
        "stop_sequence" => StopReason::StopSequence,
        "content_filter" => StopReason::ContentFilter,
        _ => StopReason::Error,
    }
}

/// Whether the last call may have been cut off in the middle.
fn is_cut(reason: StopReason) -> bool {
    match reason {
        StopReason::End
        | StopReason::ToolUse
        | StopReason::StopSequence
        | StopReason::Refusal
        | StopReason::Pause => false,
        StopReason::Length
        | StopReason::ContentFilter
        | StopReason::ContextExceeded
        | StopReason::Error => true,
    }
}

fn usage(counts: Value) -> Usage {
    let count = |value: &Value| value.as_u64().unwrap_or(0);
    let prompt = &counts["prompt_tokens_details"];
    let cache_read = match prompt["cached_tokens"].as_u64() {
        Some(cached) => cached,
        None => count(&counts["prompt_cache_hit_tokens"]),
    };
    Usage {
        input: count(&counts["prompt_tokens"]),
        output: count(&counts["completion_tokens"]),
        cache_read,
        cache_write: count(&prompt["cache_write_tokens"]),
        reasoning: count(&counts["completion_tokens_details"]["reasoning_tokens"]),
        provider: counts,
    }
}

#[cfg(test)]
mod tests;
