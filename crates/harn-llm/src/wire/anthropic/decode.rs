//! Reads an answer.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::block::{Block, Kind, Searches};
use super::failure;
use crate::wire::{Decode, Frame, frames, truncated};
use crate::{Error, Stop, StopReason, StreamEvent, Usage};

/// Reads an answer.
#[derive(Debug, Default)]
pub(in crate::wire) struct Decoder {
    /// The blocks that have begun and not ended, by the provider's number.
    open: BTreeMap<u64, Block>,
    /// A call whose block ended without whole arguments. What comes next decides whether it
    /// is one without arguments or one that the output cap cut off.
    undecided: Option<Block>,
    call_count: usize,
    searches: Searches,
    /// The provider's counts so far; later ones replace earlier ones.
    usage: Map<String, Value>,
    stop: Option<Stop>,
    has_ended: bool,
}

impl Decode for Decoder {
    fn frame(&mut self, frame: Frame<'_>, events: &mut Vec<StreamEvent>) -> Result<(), Error> {
        if self.has_ended {
            return Ok(());
        }
        let mut value = frames::json(frame.data)?;
        if !value.is_object() {
            events.push(StreamEvent::Raw { value });
            return Ok(());
        }
        let kind = value["type"].as_str().unwrap_or(frame.event).to_owned();
        match kind.as_str() {
            "ping" => {}
            "message_start" => self.start(&value["message"], events),
            "content_block_start" => self.open_block(&mut value, events),
            "content_block_delta" => self.delta(value, events),
            "content_block_stop" => self.close_block(&value, events),
            "message_delta" => self.message_delta(&mut value, events),
            "message_stop" => self.end(events),
            "error" => return Err(failure::read(&value)),
            _ if value["error"].is_object() => return Err(failure::read(&value)),
            _ => events.push(StreamEvent::Raw { value }),
        }
        Ok(())
    }

    fn finish(&mut self, _: &mut Vec<StreamEvent>) -> Result<(), Error> {
        if self.has_ended {
            return Ok(());
        }
        Err(truncated("its `message_stop`"))
    }

    fn whole(&mut self, body: &Value, events: &mut Vec<StreamEvent>) -> Result<(), Error> {
        if body["type"] == "error" || body["error"].is_object() {
            return Err(failure::read(body));
        }
        let Some(blocks) = body["content"].as_array() else {
            return Err(truncated("its `content`"));
        };
        self.start(body, events);
        for block in blocks {
            self.decide(true, events);
            let block = self.new_block(block.clone(), events);
            self.settle(block, events);
        }
        self.read_stop(body, events);
        self.end(events);
        Ok(())
    }
}

impl Decoder {
    fn start(&mut self, message: &Value, events: &mut Vec<StreamEvent>) {
        let text = |name: &str| message[name].as_str().map(str::to_owned);
        events.push(StreamEvent::Start {
            id: text("id"),
            model: text("model"),
        });
        self.count(message["usage"].clone(), events);
    }

    fn open_block(&mut self, value: &mut Value, events: &mut Vec<StreamEvent>) {
        self.decide(true, events);
        let block = self.new_block(value["content_block"].take(), events);
        let replaced = self.open.insert(number(value), block);
        if let Some(block) = replaced {
            self.abandon(block, events);
        }
    }

    fn new_block(&mut self, block: Value, events: &mut Vec<StreamEvent>) -> Block {
        let kind = Kind::of(&block, self.call_count);
        if matches!(kind, Kind::Call(_)) {
            self.call_count += 1;
        }
        Block::open(kind, block, events)
    }

    fn delta(&mut self, mut value: Value, events: &mut Vec<StreamEvent>) {
        let delta = value["delta"].take();
        let rest = match self.open.get_mut(&number(&value)) {
            Some(block) => block.delta(delta, events).err(),
            None => Some(delta),
        };
        if let Some(delta) = rest {
            value["delta"] = delta;
            events.push(StreamEvent::Raw { value });
        }
    }

    fn close_block(&mut self, value: &Value, events: &mut Vec<StreamEvent>) {
        if let Some(block) = self.open.remove(&number(value)) {
            self.settle(block, events);
        }
    }

    /// No more pieces of that block come.
    fn settle(&mut self, mut block: Block, events: &mut Vec<StreamEvent>) {
        block.settle_input(events);
        if block.is_undecided() {
            self.undecided = Some(block);
        } else {
            block.close(&mut self.searches, events);
        }
    }

    /// Whether the call in question was whole. If not, nobody hears of its end, so nobody
    /// makes it.
    fn decide(&mut self, is_whole: bool, events: &mut Vec<StreamEvent>) {
        if let Some(block) = self.undecided.take().filter(|_| is_whole) {
            block.close(&mut self.searches, events);
        }
    }

    /// That block was never closed: what was said is kept, a call is not made.
    fn abandon(&mut self, block: Block, events: &mut Vec<StreamEvent>) {
        if !matches!(block.kind, Kind::Call(_)) {
            block.close(&mut self.searches, events);
        }
    }

    fn message_delta(&mut self, value: &mut Value, events: &mut Vec<StreamEvent>) {
        let usage = value["usage"].take();
        self.read_stop(&value["delta"], events);
        self.count(usage, events);
    }

    fn read_stop(&mut self, from: &Value, events: &mut Vec<StreamEvent>) {
        let Some(word) = from["stop_reason"].as_str() else {
            return;
        };
        let reason = stop_reason(word);
        if reason == StopReason::Error {
            events.push(StreamEvent::Raw {
                value: from.clone(),
            });
        }
        if let Some(text) = from["stop_details"]["explanation"].as_str() {
            events.push(StreamEvent::Refusal {
                text: text.to_owned(),
            });
        }
        self.stop = Some(Stop {
            reason,
            word: Some(word.to_owned()),
        });
    }

    fn count(&mut self, usage: Value, events: &mut Vec<StreamEvent>) {
        let Value::Object(counts) = usage else {
            return;
        };
        for (name, count) in counts {
            if !count.is_null() || !self.usage.contains_key(&name) {
                self.usage.insert(name, count);
            }
        }
        events.push(StreamEvent::Usage {
            usage: read_usage(&self.usage),
        });
    }

    fn end(&mut self, events: &mut Vec<StreamEvent>) {
        let mut stop = self.stop.take().unwrap_or(Stop {
            reason: StopReason::End,
            word: None,
        });
        self.decide(is_by_choice(stop.reason), events);
        for (_, block) in std::mem::take(&mut self.open) {
            self.abandon(block, events);
        }
        if stop.reason == StopReason::ToolUse && self.call_count == 0 {
            // The only call was the answer itself.
            stop.reason = StopReason::End;
        }
        events.push(StreamEvent::End { stop });
        self.has_ended = true;
    }
}

fn number(value: &Value) -> u64 {
    value["index"].as_u64().unwrap_or_default()
}

fn stop_reason(word: &str) -> StopReason {
    match word {
        "end_turn" => StopReason::End,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" => StopReason::Length,
        "stop_sequence" => StopReason::StopSequence,
        "pause_turn" => StopReason::Pause,
        "refusal" => StopReason::Refusal,
        "model_context_window_exceeded" => StopReason::ContextExceeded,
        _ => StopReason::Error,
    }
}

/// Whether the model itself ended the answer, so that its last call is as it meant it.
fn is_by_choice(reason: StopReason) -> bool {
    match reason {
        StopReason::End | StopReason::ToolUse | StopReason::Pause => true,
        StopReason::Length
        | StopReason::StopSequence
        | StopReason::Refusal
        | StopReason::ContentFilter
        | StopReason::ContextExceeded
        | StopReason::Error => false,
    }
}

fn read_usage(counts: &Map<String, Value>) -> Usage {
    let count = |name: &str| counts.get(name).and_then(Value::as_u64).unwrap_or_default();
    let cache_read = count("cache_read_input_tokens");
    let cache_write = count("cache_creation_input_tokens");
    let details = counts.get("output_tokens_details");
    let reasoning = details.and_then(|details| details["thinking_tokens"].as_u64());
    Usage {
        input: count("input_tokens")
            .saturating_add(cache_read)
            .saturating_add(cache_write),
        output: count("output_tokens"),
        cache_read,
        cache_write,
        reasoning: reasoning.unwrap_or_default(),
        provider: Value::Object(counts.clone()),
    }
}
