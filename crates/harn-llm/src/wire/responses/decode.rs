//! Reads answers of this wire.
//!
//! ```text
//! created ─► (item added ─► deltas ─► item done)* ─► completed | incomplete | failed
//! ```
//!
//! The last event repeats all items. What a server did not send before, it takes from there,
//! so a whole answer is the same as a last event.

use std::collections::BTreeMap;

use serde_json::Value;

use super::output::{self, Answer, Call, Item, list, text};
use crate::wire::chat::failure;
use crate::wire::{Decode, Frame, frames, truncated};
use crate::{Error, Stop, StopReason, StreamEvent, Usage};

/// Reads an answer.
#[derive(Debug, Default)]
pub(in crate::wire) struct Decoder {
    has_started: bool,
    items: Vec<Item>,
    by_number: BTreeMap<u64, usize>,
    by_id: BTreeMap<String, usize>,
    answer: Answer,
    has_ended: bool,
}

/// What an event brings of an item.
#[derive(Clone, Copy, Debug)]
enum Piece {
    Text,
    Refusal,
    Thought,
    Summary,
    Arguments,
    /// All of the arguments, under that key.
    AllArguments(&'static str),
    /// What deltas bring as well.
    Known,
}

impl Piece {
    fn of(kind: &str) -> Option<Self> {
        Some(match kind {
            "response.output_text.delta" => Piece::Text,
            "response.refusal.delta" => Piece::Refusal,
            "response.reasoning_text.delta" => Piece::Thought,
            "response.reasoning_summary_text.delta" => Piece::Summary,
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                Piece::Arguments
            }
            "response.function_call_arguments.done" => Piece::AllArguments("arguments"),
            "response.custom_tool_call_input.done" => Piece::AllArguments("input"),
            "response.content_part.added"
            | "response.content_part.done"
            | "response.output_text.done"
            | "response.refusal.done"
            | "response.reasoning_summary_part.added"
            | "response.reasoning_summary_part.done"
            | "response.reasoning_summary_text.done"
            | "response.reasoning_text.done" => Piece::Known,
            _ => return None,
        })
    }
}

impl Decode for Decoder {
    fn frame(&mut self, frame: Frame<'_>, events: &mut Vec<StreamEvent>) -> Result<(), Error> {
        let data = frame.data.trim();
        // Some servers end like Chat Completions do.
        if self.has_ended || data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let event = frames::json(data)?;
        match (text(&event, "type"), &event["error"]) {
            (Some(kind), _) => self.event(kind, &event, events),
            (None, Value::Null) => self.event(frame.event, &event, events),
            // Servers that copied this wire fail as they do on the others.
            (None, error) => Err(failure::read(error)),
        }
    }

    fn finish(&mut self, _: &mut Vec<StreamEvent>) -> Result<(), Error> {
        match self.has_ended {
            true => Ok(()),
            false => Err(truncated("response.completed")),
        }
    }

    fn whole(&mut self, body: &Value, events: &mut Vec<StreamEvent>) -> Result<(), Error> {
        if body["status"].is_null() && !body["error"].is_null() {
            return Err(failure::read(&body["error"]));
        }
        match body["status"].as_str() {
            Some("completed") => self.end("response.completed", body, events),
            Some("incomplete") => self.end("response.incomplete", body, events),
            Some("failed") => Err(failed(body)),
            Some(status) => Err(truncated(&format!("its status was more than {status}"))),
            None if body["output"].is_array() => self.end("response.completed", body, events),
            None => Err(failure::no_answer("output")),
        }
    }
}

impl Decoder {
    fn event(
        &mut self,
        kind: &str,
        event: &Value,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), Error> {
        let response = &event["response"];
        match kind {
            "error" => {
                let error = &event["error"];
                return Err(failure::read(if error.is_null() { event } else { error }));
            }
            "response.failed" => return Err(failed(response)),
            "response.completed" | "response.incomplete" => {
                return self.end(kind, response, events);
            }
            "response.created" | "response.in_progress" | "response.queued" => {
                self.start(response, events);
            }
            "response.output_item.added" => self.added(event, events),
            "response.output_item.done" => {
                let place = self.place(event, &event["item"]);
                output::done(
                    &mut self.items[place],
                    &event["item"],
                    &mut self.answer,
                    events,
                );
            }
            _ => match Piece::of(kind) {
                Some(Piece::Known) => {}
                Some(piece) => self.piece(piece, event, events),
                None => events.push(StreamEvent::Raw {
                    value: event.clone(),
                }),
            },
        }
        Ok(())
    }

    /// A piece of an item.
    fn piece(&mut self, piece: Piece, event: &Value, events: &mut Vec<StreamEvent>) {
        let place = self.place(event, &Value::Null);
        let item = &mut self.items[place];
        if let Piece::AllArguments(key) = piece {
            if let (Some(call), Some(whole)) = (&mut item.call, event[key].as_str()) {
                call.announced = Some(whole.to_owned());
            }
            return;
        }
        let Some(delta) = text(event, "delta").filter(|_| !item.is_done) else {
            return;
        };
        let text = delta.to_owned();
        match piece {
            Piece::Text => {
                item.had.text = true;
                events.push(StreamEvent::TextDelta { text });
            }
            Piece::Refusal => {
                item.had.refusal = true;
                self.answer.has_refused = true;
                events.push(StreamEvent::Refusal { text });
            }
            Piece::Thought => {
                item.had.thought = true;
                events.push(StreamEvent::ThoughtDelta { text });
            }
            Piece::Summary => {
                let text = item.summary(event["summary_index"].as_u64(), text);
                events.push(StreamEvent::ThoughtSummaryDelta { text });
            }
            Piece::Arguments => {
                // Without a call nobody knows the name; the finished item brings all of it.
                if let Some(call) = &mut item.call {
                    call.delta(delta, events);
                }
            }
            Piece::AllArguments(_) | Piece::Known => {}
        }
    }

    fn start(&mut self, response: &Value, events: &mut Vec<StreamEvent>) {
        if std::mem::replace(&mut self.has_started, true) {
            return;
        }
        events.push(StreamEvent::Start {
            id: text(response, "id").map(str::to_owned),
            model: text(response, "model").map(str::to_owned),
        });
    }

    fn added(&mut self, event: &Value, events: &mut Vec<StreamEvent>) {
        let item = &event["item"];
        let place = self.place(event, item);
        let known = &mut self.items[place];
        let is_call = output::arguments_key(item).is_some() && text(item, "name").is_some();
        if is_call && known.call.is_none() && !known.is_done {
            known.call = Some(Call::begin(item, &mut self.answer, events));
        }
    }

    /// Where the item of `event` is. Servers that neither number nor name items send them
    /// one after the other.
    fn place(&mut self, event: &Value, item: &Value) -> usize {
        let number = event["output_index"].as_u64();
        let ids = [
            text(event, "item_id"),
            text(item, "id"),
            text(item, "call_id"),
        ];
        if let Some(place) = self.known(number, ids) {
            return place;
        }
        let is_anonymous = number.is_none() && ids == [None; 3];
        let last = self.items.len().checked_sub(1);
        match last.filter(|last| is_anonymous && !self.items[*last].is_done) {
            Some(last) => last,
            None => self.add(number, ids),
        }
    }

    /// By its number where there is one: some proxies give an item another id in each event.
    fn known(&self, number: Option<u64>, ids: [Option<&str>; 3]) -> Option<usize> {
        match number {
            Some(number) => self.by_number.get(&number).copied(),
            None => {
                let mut ids = ids.into_iter().flatten();
                ids.find_map(|id| self.by_id.get(id)).copied()
            }
        }
    }

    fn add(&mut self, number: Option<u64>, ids: [Option<&str>; 3]) -> usize {
        let place = self.items.len();
        self.items.push(Item::default());
        if let Some(number) = number {
            self.by_number.insert(number, place);
        }
        for id in ids.into_iter().flatten() {
            self.by_id.insert(id.to_owned(), place);
        }
        place
    }

    /// Where the item is that the last event lists at `number`. If the events before had no
    /// numbers, it is known by its id, or else it has kept its place.
    fn listed_place(&mut self, number: u64, item: &Value) -> usize {
        let ids = [None, text(item, "id"), text(item, "call_id")];
        let known = self.known(Some(number), ids);
        let known = known.or_else(|| {
            let by_id = self.known(None, ids);
            let kept = usize::try_from(number).ok();
            let kept = kept.filter(|kept| *kept < self.items.len());
            by_id.or(kept).filter(|_| self.by_number.is_empty())
        });
        known.unwrap_or_else(|| self.add(None, ids))
    }

    /// The last event. `response` repeats the whole answer.
    fn end(
        &mut self,
        kind: &str,
        response: &Value,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), Error> {
        self.start(response, events);
        for (number, item) in (0_u64..).zip(list(&response["output"])) {
            let place = self.listed_place(number, item);
            output::done(&mut self.items[place], item, &mut self.answer, events);
        }
        if kind == "response.completed" {
            self.end_announced(events);
        }
        if response["usage"].is_object() {
            events.push(StreamEvent::Usage {
                usage: usage(&response["usage"]),
            });
        }
        self.has_ended = true;
        let stop = self.stop(kind, response);
        events.push(StreamEvent::End { stop });
        Ok(())
    }

    /// Calls whose item never was done, but whose arguments were.
    fn end_announced(&mut self, events: &mut Vec<StreamEvent>) {
        for item in self.items.iter_mut().filter(|item| !item.is_done) {
            let Some(call) = &mut item.call else { continue };
            if let Some(whole) = call.announced.take() {
                self.answer.has_calls |= call.end(&whole, events);
            }
        }
    }

    fn stop(&self, kind: &str, response: &Value) -> Stop {
        if kind == "response.incomplete" {
            let word = text(&response["incomplete_details"], "reason");
            let reason = match word {
                Some("max_output_tokens") => StopReason::Length,
                Some("content_filter") => StopReason::ContentFilter,
                _ => StopReason::Error,
            };
            let word = Some(word.unwrap_or("incomplete").to_owned());
            return Stop { reason, word };
        }
        let reason = match &self.answer {
            answer if answer.has_calls => StopReason::ToolUse,
            answer if answer.has_refused => StopReason::Refusal,
            _ => StopReason::End,
        };
        let word = Some("completed".to_owned());
        Stop { reason, word }
    }
}

impl Item {
    /// A piece of the summary with that number. Summaries are paragraphs.
    fn summary(&mut self, number: Option<u64>, delta: String) -> String {
        let is_next = self.had.summary && self.summary_number != number;
        self.had.summary = true;
        self.summary_number = number;
        match is_next {
            true => format!("\n\n{delta}"),
            false => delta,
        }
    }
}

fn failed(response: &Value) -> Error {
    failure::read(match &response["error"] {
        Value::Null => response,
        error => error,
    })
}

fn usage(counts: &Value) -> Usage {
    let count = |value: &Value| value.as_u64().unwrap_or(0);
    let input = &counts["input_tokens_details"];
    Usage {
        input: count(&counts["input_tokens"]),
        output: count(&counts["output_tokens"]),
        cache_read: count(&input["cached_tokens"]),
        cache_write: count(&input["cache_write_tokens"]),
        reasoning: count(&counts["output_tokens_details"]["reasoning_tokens"]),
        provider: counts.clone(),
    }
}

#[cfg(test)]
mod tests;
