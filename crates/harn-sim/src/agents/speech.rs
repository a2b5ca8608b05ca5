//! Answers in the languages of providers, as the pieces in which they arrive.

use serde_json::{Value, json};

use super::answer::Block;

/// How much of a text comes at once, in characters.
const PIECE_CHARS: usize = 24;

/// A language that providers speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Chat,
    Anthropic,
    Ollama,
}

impl Language {
    /// The language that is spoken at an address.
    pub(super) fn at(url: &str) -> Self {
        match url {
            url if url.contains("/messages") => Self::Anthropic,
            url if url.contains("/api/chat") => Self::Ollama,
            _ => Self::Chat,
        }
    }

    /// What kind of content it is.
    pub(super) fn content_type(self) -> &'static str {
        match self {
            Self::Chat | Self::Anthropic => "text/event-stream",
            Self::Ollama => "application/x-ndjson",
        }
    }

    /// An answer, frame by frame. The last ones say that it is whole.
    pub(super) fn frames(self, blocks: &[Block]) -> Vec<String> {
        match self {
            Self::Chat => chat(blocks),
            Self::Anthropic => anthropic(blocks),
            Self::Ollama => ollama(blocks),
        }
    }

    /// The frame that says that something went wrong.
    pub(super) fn failure(self) -> String {
        match self {
            Self::Chat => sse(&json!({"error": {"message": "it broke", "code": 500}})),
            Self::Anthropic => sse(&json!({
                "type": "error",
                "error": {"type": "overloaded_error", "message": "Overloaded"},
            })),
            Self::Ollama => line(&json!({"error": "it broke"})),
        }
    }
}

fn sse(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn line(value: &Value) -> String {
    format!("{value}\n")
}

fn pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let pieces = letters.chunks(PIECE_CHARS);
    pieces.map(|piece| piece.iter().collect()).collect()
}

fn chat(blocks: &[Block]) -> Vec<String> {
    let delta = |delta: Value| sse(&json!({"choices": [{"index": 0, "delta": delta}]}));
    let mut frames = Vec::new();
    let mut calls = 0;
    for block in blocks {
        match block {
            Block::Thought(text) => frames.push(delta(json!({"reasoning_content": text}))),
            Block::Text(text) => {
                let pieces = pieces(text).into_iter();
                frames.extend(pieces.map(|piece| delta(json!({"content": piece}))));
            }
            Block::Call {
                id,
                name,
                arguments,
                ..
            } => {
                let mut call = json!({
                    "index": calls,
                    "type": "function",
                    "function": {"name": name, "arguments": ""},
                });
                if let Some(id) = id {
                    call["id"] = json!(id);
                }
                frames.push(delta(json!({"tool_calls": [call]})));
                for piece in pieces(arguments) {
                    let grown = json!({"index": calls, "function": {"arguments": piece}});
                    frames.push(delta(json!({"tool_calls": [grown]})));
                }
                calls += 1;
            }
        }
    }
    let reason = if calls > 0 { "tool_calls" } else { "stop" };
    frames.push(sse(&json!({
        "choices": [{"index": 0, "delta": {}, "finish_reason": reason}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5},
    })));
    frames.push("data: [DONE]\n\n".to_owned());
    frames
}

fn anthropic(blocks: &[Block]) -> Vec<String> {
    let mut frames = vec![sse(&json!({
        "type": "message_start",
        "message": {"id": "m", "model": "claude", "usage": {"input_tokens": 10, "output_tokens": 1}},
    }))];
    let mut has_calls = false;
    for (index, block) in blocks.iter().enumerate() {
        let (start, deltas) = anthropic_block(block);
        has_calls |= matches!(block, Block::Call { .. });
        let start = json!({"type": "content_block_start", "index": index, "content_block": start});
        frames.push(sse(&start));
        for delta in deltas {
            let delta = json!({"type": "content_block_delta", "index": index, "delta": delta});
            frames.push(sse(&delta));
        }
        frames.push(sse(&json!({"type": "content_block_stop", "index": index})));
    }
    let reason = if has_calls { "tool_use" } else { "end_turn" };
    frames.push(sse(&json!({
        "type": "message_delta",
        "delta": {"stop_reason": reason},
        "usage": {"output_tokens": 5},
    })));
    frames.push(sse(&json!({"type": "message_stop"})));
    frames
}

fn anthropic_block(block: &Block) -> (Value, Vec<Value>) {
    match block {
        Block::Thought(text) => (
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            vec![
                json!({"type": "thinking_delta", "thinking": text}),
                json!({"type": "signature_delta", "signature": "signed"}),
            ],
        ),
        Block::Text(text) => {
            let pieces = pieces(text).into_iter();
            let deltas = pieces.map(|piece| json!({"type": "text_delta", "text": piece}));
            (json!({"type": "text", "text": ""}), deltas.collect())
        }
        Block::Call {
            number,
            name,
            arguments,
            ..
        } => {
            let pieces = pieces(arguments).into_iter();
            let deltas =
                pieces.map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
            let start = json!({"type": "tool_use", "id": format!("toolu_{number}"), "name": name, "input": {}});
            (start, deltas.collect())
        }
    }
}

fn ollama(blocks: &[Block]) -> Vec<String> {
    let say = |message: Value| line(&json!({"model": "m", "message": message, "done": false}));
    let mut frames = Vec::new();
    for block in blocks {
        match block {
            Block::Thought(text) => {
                frames.push(say(
                    json!({"role": "assistant", "content": "", "thinking": text}),
                ));
            }
            Block::Text(text) => {
                let pieces = pieces(text).into_iter();
                frames.extend(
                    pieces.map(|piece| say(json!({"role": "assistant", "content": piece}))),
                );
            }
            Block::Call {
                name, arguments, ..
            } => {
                let arguments: Value =
                    serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments));
                let call = json!({"function": {"name": name, "arguments": arguments}});
                let message = json!({"role": "assistant", "content": "", "tool_calls": [call]});
                frames.push(say(message));
            }
        }
    }
    frames.push(line(&json!({
        "model": "m",
        "message": {"role": "assistant", "content": ""},
        "done": true,
        "done_reason": "stop",
        "prompt_eval_count": 10,
        "eval_count": 5,
    })));
    frames
}
