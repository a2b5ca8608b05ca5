//! What the mock says: from an entry, or without one.

use std::time::Duration;

use serde_json::{Value, json};

use crate::reply::call_block;
use crate::{Category, Error, Reply, Request, Stop, StopReason, ToolCall, Usage};

use super::entry::{Entry, Failure, call_id};
use super::matching::{content_text, prompt_text};
use super::{Answer, PROVIDER};

/// Output tokens of an entry or a default text that does not say.
const TEXT_TOKENS: u64 = 30;
/// Output tokens of a default call.
const CALL_TOKENS: u64 = 20;
/// Output tokens of a completion.
const COMPLETION_TOKENS: u64 = 16;
/// How much of the prompt the default answer repeats.
const ECHO_CHARS_MAX: usize = 100;
/// How much of the conversation is shown when no fixture fits.
const SHOWN_CHARS_MAX: usize = 200;

/// What an entry says to a conversation whose text has so many bytes.
pub(super) fn scripted(entry: &Entry, asked_bytes: u64) -> Result<Answer, Error> {
    if let Some(failure) = &entry.failure {
        return Err(error(failure));
    }
    let reply = Reply {
        model: Some(entry.model.clone().unwrap_or_else(|| PROVIDER.to_owned())),
        text: entry.text.clone(),
        thinking: entry.thinking.clone(),
        thinking_summary: entry.thinking_summary.clone(),
        tool_calls: entry.tool_calls.clone(),
        blocks: match &entry.blocks {
            Some(blocks) => blocks.clone(),
            None => blocks(&entry.text, &entry.tool_calls),
        },
        usage: Usage {
            cache_read: entry.cache_read_tokens.unwrap_or_default(),
            cache_write: entry.cache_write_tokens.unwrap_or_default(),
            ..usage(
                entry.input_tokens.unwrap_or(asked_bytes),
                entry.output_tokens.unwrap_or(TEXT_TOKENS),
            )
        },
        stop: entry.stop_reason.as_deref().map(stop_of_word),
        ..Reply::default()
    };
    let provider = entry.provider.clone();
    Ok(Answer {
        reply,
        provider: provider.unwrap_or_else(|| PROVIDER.to_owned()),
    })
}

/// What is said without an entry: a call to the first tool if there is one, or else a few
/// words about the prompt.
pub(super) fn default(request: &Request, native_tools: Option<&[Value]>) -> Answer {
    let prompt = prompt_text(&request.messages);
    let tool = native_tools.and_then(<[Value]>::first);
    let (text, calls, output) = match tool {
        Some(tool) => (
            String::new(),
            vec![call_with_placeholders(tool)],
            CALL_TOKENS,
        ),
        None => (
            default_text(&prompt, request.system.as_deref()),
            Vec::new(),
            TEXT_TOKENS,
        ),
    };
    answer(Reply {
        model: Some(request.model.clone()),
        blocks: blocks(&text, &calls),
        text,
        tool_calls: calls,
        usage: usage(bytes(&prompt), output),
        ..Reply::default()
    })
}

/// What is put between two texts.
pub(super) fn completion(model: &str, prefix: &str, suffix: Option<&str>) -> Answer {
    let mut text = format!("Mock completion after {} chars", prefix.chars().count());
    if let Some(suffix) = suffix {
        text.push_str(&format!(" before {} chars", suffix.chars().count()));
    }
    answer(Reply {
        model: Some(model.to_owned()),
        blocks: blocks(&text, &[]),
        text,
        usage: usage(
            bytes(prefix) + bytes(suffix.unwrap_or_default()),
            COMPLETION_TOKENS,
        ),
        stop: Some(stop_of_word("stop")),
        ..Reply::default()
    })
}

/// Each word of the last message.
pub(super) fn stream_words(request: &Request) -> Vec<String> {
    let text = request.messages.last().map(content_text);
    let text = text.unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

/// The failure of a conversation that no fixture fits.
pub(super) fn no_fixture(match_text: &str) -> Error {
    let mut shown: String = match_text.chars().take(SHOWN_CHARS_MAX).collect();
    if shown.len() < match_text.len() {
        shown.push_str("...");
    }
    let message = format!("No --llm-mock fixture matched prompt: {shown:?}");
    Error::new(Category::Generic, message)
}

/// The reason behind a word that a script or a provider gives for the end of an answer. The
/// word is kept.
pub fn stop_of_word(word: &str) -> Stop {
    let reason = match word {
        "end" | "end_turn" | "stop" | "done" | "completed" | "STOP" => StopReason::End,
        "tool_use" | "tool_calls" | "function_call" => StopReason::ToolUse,
        "length" | "max_tokens" | "max_output_tokens" | "MAX_TOKENS" => StopReason::Length,
        "stop_sequence" => StopReason::StopSequence,
        "refusal" => StopReason::Refusal,
        "content_filter" | "SAFETY" => StopReason::ContentFilter,
        "pause" | "pause_turn" => StopReason::Pause,
        "context_exceeded" | "model_context_window_exceeded" => StopReason::ContextExceeded,
        _ => StopReason::Error,
    };
    Stop {
        reason,
        word: Some(word.to_owned()),
    }
}

fn answer(reply: Reply) -> Answer {
    Answer {
        reply,
        provider: PROVIDER.to_owned(),
    }
}

fn error(failure: &Failure) -> Error {
    let mut message = failure.message.clone();
    if let Some(wait_ms) = failure.retry_after_ms {
        if !message.is_empty() && !message.ends_with('\n') {
            message.push('\n');
        }
        message.push_str(&format!("retry-after: {}\n", seconds(wait_ms)));
    }
    Error {
        retry_after: failure.retry_after_ms.map(Duration::from_millis),
        ..Error::new(failure.category, message)
    }
}

/// Milliseconds as seconds in the shortest decimal form.
fn seconds(ms: u64) -> String {
    let text = format!("{}.{:03}", ms / 1000, ms % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A block for the text, unless there is none, and one for each call.
fn blocks(text: &str, calls: &[ToolCall]) -> Vec<Value> {
    let text_block = json!({"type": "output_text", "text": text, "visibility": "public"});
    let text_block = (!text.is_empty()).then_some(text_block);
    let call_blocks = calls.iter().map(call_block);
    text_block.into_iter().chain(call_blocks).collect()
}

fn usage(input: u64, output: u64) -> Usage {
    Usage {
        input,
        output,
        ..Usage::default()
    }
}

fn bytes(text: &str) -> u64 {
    text.len() as u64
}

fn default_text(prompt: &str, system: Option<&str>) -> String {
    let text = if prompt.is_empty() {
        "Mock LLM response".to_owned()
    } else {
        let words = prompt.split_whitespace().count();
        let echo: String = prompt.chars().take(ECHO_CHARS_MAX).collect();
        format!("Mock response to {words}-word prompt: {echo}")
    };
    // A prompt that asks for this mark would be asked again and again without it.
    if system.is_some_and(|system| system.contains("<done>")) {
        return format!("<assistant_prose>{text}</assistant_prose>\n<done>##DONE##</done>");
    }
    text
}

/// A call to a tool, in any of the shapes in which tools are sent.
fn call_with_placeholders(tool: &Value) -> ToolCall {
    let function = tool.get("function").unwrap_or(tool);
    let name = function.get("name").and_then(Value::as_str);
    let schema = function
        .get("parameters")
        .or_else(|| function.get("input_schema"))
        .unwrap_or(&Value::Null);
    let required = schema["required"].as_array().into_iter().flatten();
    let arguments: Value = required
        .filter_map(Value::as_str)
        .map(|key| (key.to_owned(), placeholder(&schema["properties"][key])))
        .collect::<serde_json::Map<String, Value>>()
        .into();
    ToolCall {
        id: call_id(0),
        name: name.unwrap_or_default().to_owned(),
        raw_arguments: arguments.to_string(),
        arguments,
    }
}

fn placeholder(property: &Value) -> Value {
    match property["type"].as_str() {
        Some("integer") => json!(0),
        Some("number") => json!(0.0),
        Some("boolean") => json!(false),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!(""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_have_no_more_digits_than_they_need() {
        let rows = [
            (0, "0"),
            (1, "0.001"),
            (1500, "1.5"),
            (2000, "2"),
            (10_250, "10.25"),
        ];
        for (ms, expected) in rows {
            assert_eq!(seconds(ms), expected);
        }
    }

    #[test]
    fn the_wait_is_appended_to_the_message() {
        let rows = [
            ("", Some(1500), "retry-after: 1.5\n"),
            ("slow down", Some(2000), "slow down\nretry-after: 2\n"),
            ("slow down\n", Some(2000), "slow down\nretry-after: 2\n"),
            ("slow down", None, "slow down"),
        ];
        for (message, retry_after_ms, expected) in rows {
            let error = error(&Failure {
                category: Category::RateLimit,
                message: message.to_owned(),
                retry_after_ms,
            });
            assert_eq!(error.message, expected);
            assert_eq!(error.category, Category::RateLimit);
            assert_eq!(error.retry_after, retry_after_ms.map(Duration::from_millis));
        }
    }

    #[test]
    fn a_word_for_the_end_is_kept_beside_our_own() {
        let rows = [
            ("end_turn", StopReason::End),
            ("stop", StopReason::End),
            ("tool_calls", StopReason::ToolUse),
            ("max_tokens", StopReason::Length),
            ("something new", StopReason::Error),
        ];
        for (word, reason) in rows {
            let word_kept = Some(word.to_owned());
            let expected = Stop {
                reason,
                word: word_kept,
            };
            assert_eq!(stop_of_word(word), expected);
        }
    }

    #[test]
    fn a_conversation_without_a_fixture_is_shown_cut_and_quoted() {
        let long = "é".repeat(200);
        let rows = [
            ("hi\n\"user\"", "\"hi\\n\\\"user\\\"\"".to_owned()),
            (long.as_str(), format!("\"{long}\"")),
        ];
        for (text, quoted) in rows {
            let expected = format!("No --llm-mock fixture matched prompt: {quoted}");
            assert_eq!(no_fixture(text).message, expected);
        }
        let cut = no_fixture(&"x".repeat(201)).message;
        let expected = format!(
            "No --llm-mock fixture matched prompt: \"{}...\"",
            "x".repeat(200)
        );
        assert_eq!(cut, expected);
        assert_eq!(no_fixture("x").category, Category::Generic);
    }
}
