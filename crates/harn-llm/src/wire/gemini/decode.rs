//! Reads an answer.

use serde_json::{Map, Value, json};

use super::arguments::Arguments;
use super::failure;
use crate::wire::{Decode, Frame, frames, truncated};
use crate::{Error, Stop, StopReason, StreamEvent, Usage};

/// What the provider calls its own interpreter.
const CODE_TOOL: &str = "code_execution";

/// Reads an answer.
#[derive(Debug, Default)]
pub(in crate::wire) struct Decoder {
    has_started: bool,
    call_count: usize,
    has_whole_call: bool,
    /// A call whose arguments come in pieces.
    open: Option<OpenCall>,
    /// Text that may go on, to be kept as one part.
    text: Option<TextPart>,
    /// How many times the provider ran code of its own.
    code_count: usize,
    stop: Option<Stop>,
}

#[derive(Debug)]
struct OpenCall {
    index: usize,
    /// The part it began with; the arguments go back into it.
    part: Value,
    arguments: Arguments,
}

#[derive(Debug)]
struct TextPart {
    text: String,
    is_thought: bool,
}

impl Decode for Decoder {
    fn frame(&mut self, frame: Frame<'_>, events: &mut Vec<StreamEvent>) -> Result<(), Error> {
        let value = frames::json(frame.data)?;
        self.response(value, events)
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), Error> {
        let Some(mut stop) = self.stop.take() else {
            return Err(truncated("its `finishReason`"));
        };
        self.flush_text(events);
        if stop.reason == StopReason::End && self.has_whole_call {
            stop.reason = StopReason::ToolUse;
        }
        events.push(StreamEvent::End { stop });
        Ok(())
    }

    fn whole(&mut self, body: &Value, events: &mut Vec<StreamEvent>) -> Result<(), Error> {
        match body {
            // What the endpoint for streams gives if it is not asked for events.
            Value::Array(responses) => responses
                .iter()
                .try_for_each(|response| self.response(response.clone(), events))?,
            response => self.response(response.clone(), events)?,
        }
        self.finish(events)
    }
}

impl Decoder {
    fn response(&mut self, mut value: Value, events: &mut Vec<StreamEvent>) -> Result<(), Error> {
        if value["error"].is_object() {
            return Err(failure::read(&value["error"]));
        }
        let Some(fields) = value.as_object_mut() else {
            events.push(StreamEvent::Raw { value });
            return Ok(());
        };
        self.start(fields, events);
        if let Some(Value::Array(candidates)) = fields.remove("candidates") {
            for (index, candidate) in candidates.into_iter().enumerate() {
                match index {
                    0 => self.candidate(candidate, events)?,
                    // We ask for one answer only.
                    _ => events.push(StreamEvent::Raw { value: candidate }),
                }
            }
        }
        self.feedback(&fields.remove("promptFeedback").unwrap_or_default(), events);
        if let Some(counts @ Value::Object(_)) = fields.remove("usageMetadata") {
            events.push(StreamEvent::Usage {
                usage: read_usage(counts),
            });
        }
        let known = [
            "responseId",
            "modelVersion",
            "createTime",
            "sdkHttpResponse",
            "modelStatus",
        ];
        fields.retain(|name, _| !known.contains(&name.as_str()));
        if !fields.is_empty() {
            events.push(StreamEvent::Raw { value });
        }
        Ok(())
    }

    fn start(&mut self, fields: &Map<String, Value>, events: &mut Vec<StreamEvent>) {
        if std::mem::replace(&mut self.has_started, true) {
            return;
        }
        let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
        events.push(StreamEvent::Start {
            id: text("responseId"),
            model: text("modelVersion"),
        });
    }

    fn candidate(
        &mut self,
        mut candidate: Value,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), Error> {
        let parts = candidate.pointer_mut("/content/parts").map(Value::take);
        if let Some(Value::Array(parts)) = parts {
            for part in parts {
                self.part(part, events)?;
            }
        }
        // What explains the answer and is not the answer.
        for name in [
            "groundingMetadata",
            "urlContextMetadata",
            "citationMetadata",
            "finishMessage",
        ] {
            if let Some(value) = candidate.get(name) {
                events.push(StreamEvent::Raw {
                    value: json!({name: value}),
                });
            }
        }
        if let Some(word) = candidate["finishReason"].as_str() {
            let known = stop_reason(word);
            if known.is_none() {
                events.push(StreamEvent::Raw {
                    value: json!({"finishReason": word}),
                });
            }
            self.stop = Some(Stop {
                reason: known.unwrap_or(StopReason::Error),
                word: Some(word.to_owned()),
            });
        }
        Ok(())
    }

    /// The provider would not even ask the model.
    fn feedback(&mut self, feedback: &Value, events: &mut Vec<StreamEvent>) {
        let Some(word) = feedback["blockReason"].as_str() else {
            return;
        };
        if let Some(text) = feedback["blockReasonMessage"].as_str() {
            events.push(StreamEvent::Refusal {
                text: text.to_owned(),
            });
        }
        self.stop = Some(Stop {
            reason: StopReason::ContentFilter,
            word: Some(word.to_owned()),
        });
    }

    fn part(&mut self, mut part: Value, events: &mut Vec<StreamEvent>) -> Result<(), Error> {
        if part["functionCall"].is_object() {
            return self.call(part, events);
        }
        if part["text"].is_string() {
            self.text(part, events);
            return Ok(());
        }
        self.sign(&part, events);
        self.flush_text(events);
        match &mut part {
            part if part["executableCode"].is_object() => {
                events.push(StreamEvent::ServerToolUse {
                    id: format!("code_{}", self.code_count),
                    name: CODE_TOOL.to_owned(),
                    input: part["executableCode"].clone(),
                });
            }
            part if part["codeExecutionResult"].is_object() => {
                events.push(StreamEvent::ServerToolResult {
                    id: format!("code_{}", self.code_count),
                    payload: part["codeExecutionResult"].clone(),
                });
                self.code_count += 1;
            }
            // Nothing but a signature; it says nothing else.
            part if part["thoughtSignature"].is_string()
                && part.as_object().map(Map::len) == Some(1) => {}
            part => events.push(StreamEvent::Raw {
                value: part.clone(),
            }),
        }
        if part.is_object() {
            events.push(StreamEvent::Kept { block: part });
        }
        Ok(())
    }

    fn text(&mut self, part: Value, events: &mut Vec<StreamEvent>) {
        let is_thought = part["thought"] == true;
        let text = part["text"].as_str().unwrap_or_default();
        if !text.is_empty() {
            let text = text.to_owned();
            events.push(match is_thought {
                true => StreamEvent::ThoughtDelta { text },
                false => StreamEvent::TextDelta { text },
            });
        }
        self.sign(&part, events);
        let names = part.as_object().into_iter().flat_map(Map::keys);
        let is_plain = names
            .into_iter()
            .all(|name| name == "text" || name == "thought");
        if !is_plain {
            self.flush_text(events);
            events.push(StreamEvent::Kept { block: part });
            return;
        }
        match &mut self.text {
            Some(open) if open.is_thought == is_thought => open.text.push_str(text),
            _ => {
                self.flush_text(events);
                let text = text.to_owned();
                self.text = (!text.is_empty()).then_some(TextPart { text, is_thought });
            }
        }
    }

    fn sign(&self, part: &Value, events: &mut Vec<StreamEvent>) {
        if let Some(signature) = part["thoughtSignature"].as_str() {
            events.push(StreamEvent::ThoughtSignature {
                signature: signature.to_owned(),
            });
        }
    }

    fn flush_text(&mut self, events: &mut Vec<StreamEvent>) {
        if let Some(TextPart { text, is_thought }) = self.text.take() {
            let block = match is_thought {
                true => json!({"text": text, "thought": true}),
                false => json!({"text": text}),
            };
            events.push(StreamEvent::Kept { block });
        }
    }

    fn call(&mut self, mut part: Value, events: &mut Vec<StreamEvent>) -> Result<(), Error> {
        self.sign(&part, events);
        self.flush_text(events);
        let is_nameless = part["functionCall"]["name"]
            .as_str()
            .is_none_or(str::is_empty);
        let open = self.open.take();
        if is_nameless && open.is_none() {
            events.push(StreamEvent::Raw { value: part });
            return Ok(());
        }
        let call = &mut part["functionCall"];
        let whole = call["args"].take();
        let pieces = call["partialArgs"].take();
        let will_continue = call["willContinue"] == true;
        let mut open = match open.filter(|open| is_nameless || open.has_id(&call["id"])) {
            Some(mut open) => {
                open.arguments.merge(whole);
                open.take_signature(&mut part);
                open
            }
            // If another one was open, it is not complete and never will be.
            None => self.open_call(part, whole, events),
        };
        for piece in pieces.as_array().into_iter().flatten() {
            open.arguments.add(piece)?;
        }
        if will_continue {
            self.open = Some(open);
        } else {
            self.has_whole_call = true;
            open.close(events);
        }
        Ok(())
    }

    fn open_call(&mut self, part: Value, whole: Value, events: &mut Vec<StreamEvent>) -> OpenCall {
        let index = self.call_count;
        self.call_count += 1;
        let call = &part["functionCall"];
        events.push(StreamEvent::ToolCallStart {
            index,
            id: call["id"].as_str().map(str::to_owned),
            name: call["name"].as_str().unwrap_or_default().to_owned(),
        });
        OpenCall {
            index,
            part,
            arguments: Arguments::new(whole),
        }
    }
}

impl OpenCall {
    fn has_id(&self, id: &Value) -> bool {
        id.is_string() && self.part["functionCall"]["id"] == *id
    }

    fn take_signature(&mut self, part: &mut Value) {
        if let signature @ Value::String(_) = part["thoughtSignature"].take() {
            self.part["thoughtSignature"] = signature;
        }
    }

    fn close(mut self, events: &mut Vec<StreamEvent>) {
        let arguments = self.arguments.finish();
        events.push(StreamEvent::ToolArgsDelta {
            index: self.index,
            text: arguments.to_string(),
        });
        events.push(StreamEvent::ToolCallEnd { index: self.index });
        if let Some(call) = self.part["functionCall"].as_object_mut() {
            call.remove("partialArgs");
            call.remove("willContinue");
            call.insert("args".to_owned(), arguments);
        }
        events.push(StreamEvent::Kept { block: self.part });
    }
}

/// The reason behind the provider's word, if we know it.
fn stop_reason(word: &str) -> Option<StopReason> {
    match word {
        "STOP" => Some(StopReason::End),
        "MAX_TOKENS" => Some(StopReason::Length),
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "MODEL_ARMOR"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => Some(StopReason::ContentFilter),
        "MALFORMED_FUNCTION_CALL"
        | "UNEXPECTED_TOOL_CALL"
        | "TOO_MANY_TOOL_CALLS"
        | "MISSING_THOUGHT_SIGNATURE"
        | "MALFORMED_RESPONSE"
        | "NO_IMAGE"
        | "IMAGE_OTHER"
        | "OTHER"
        | "FINISH_REASON_UNSPECIFIED" => Some(StopReason::Error),
        _ => None,
    }
}

fn read_usage(counts: Value) -> Usage {
    let count = |name: &str| counts[name].as_u64().unwrap_or_default();
    let thoughts = count("thoughtsTokenCount");
    Usage {
        input: count("promptTokenCount").saturating_add(count("toolUsePromptTokenCount")),
        output: count("candidatesTokenCount").saturating_add(thoughts),
        cache_read: count("cachedContentTokenCount"),
        cache_write: 0,
        reasoning: thoughts,
        provider: counts,
    }
}
