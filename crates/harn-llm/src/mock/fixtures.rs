//! Scripted answers in a file: JSON Lines, one answer per line.
//!
//! A line has the keys of `llm_mock` and, so that it can also be the record of a live call,
//! `provider` and `blocks`:
//!
//! ```text
//! {"text": "hello", "output_tokens": 5}
//! {"match": "*weather*", "tool_calls": [{"name": "get_weather", "args": {"city": "Oslo"}}]}
//! {"error": {"category": "rate_limit", "retry_after_ms": 1500}}
//! ```
//!
//! What [`line()`] writes has no pattern, so a recording is replayed in the order of its calls.

use serde_json::{Map, Value, json};

use crate::{Error, Reply, StopReason, ToolCall};

use super::entry::Entry;

/// The entries of a file. Blank lines are no entries.
pub(super) fn read(file: &str, text: &str) -> Result<Vec<Entry>, String> {
    let numbered = (1..).zip(text.lines());
    let lines = numbered.filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            let value: Value = serde_json::from_str(line)
                .map_err(|error| format!("invalid JSON in {file} line {number}: {error}"))?;
            Entry::from_fixture(&value).map_err(|reason| {
                format!("invalid --llm-mock fixture in {file} line {number}: {reason}")
            })
        })
        .collect()
}

/// Checks a file without replaying it.
///
/// # Errors
/// Which line is wrong and why.
pub fn check(file: &str, text: &str) -> Result<(), String> {
    read(file, text).map(|_| ())
}

/// The line that replays a call of `provider` that came out like this, with its line break.
pub fn line(provider: &str, outcome: Result<&Reply, &Error>) -> String {
    let fields = match outcome {
        Ok(reply) => of_reply(provider, reply),
        Err(error) => json!({"provider": provider, "error": of_error(error)}),
    };
    format!("{fields}\n")
}

fn of_reply(provider: &str, reply: &Reply) -> Value {
    // The counts of the cache are there also when they are zero: without them a replay would
    // make up some of its own.
    let mut fields = Map::from_iter([
        ("provider".to_owned(), json!(provider)),
        ("text".to_owned(), json!(reply.text)),
        ("input_tokens".to_owned(), json!(reply.usage.input)),
        ("output_tokens".to_owned(), json!(reply.usage.output)),
        (
            "cache_read_tokens".to_owned(),
            json!(reply.usage.cache_read),
        ),
        (
            "cache_write_tokens".to_owned(),
            json!(reply.usage.cache_write),
        ),
        ("blocks".to_owned(), json!(reply.blocks)),
    ]);
    if !reply.tool_calls.is_empty() {
        let calls: Vec<Value> = reply.tool_calls.iter().map(of_call).collect();
        fields.insert("tool_calls".to_owned(), json!(calls));
    }
    let optional = [
        ("model", reply.model.as_deref()),
        ("thinking", reply.thinking.as_deref()),
        ("thinking_summary", reply.thinking_summary.as_deref()),
        ("stop_reason", stop_word(reply)),
    ];
    for (key, text) in optional {
        if let Some(text) = text {
            fields.insert(key.to_owned(), json!(text));
        }
    }
    Value::Object(fields)
}

fn of_call(call: &ToolCall) -> Value {
    json!({"name": call.name, "arguments": call.arguments})
}

fn of_error(error: &Error) -> Value {
    let mut fields = json!({"category": error.category.word(), "message": error.message});
    let told = error.message.contains("retry-after: ");
    if let Some(wait) = error.retry_after.filter(|_| !told) {
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        fields["retry_after_ms"] = json!(wait_ms);
    }
    fields
}

/// The provider's word for the end of the answer, or ours where it has none.
fn stop_word(reply: &Reply) -> Option<&str> {
    let stop = reply.stop.as_ref()?;
    let ours = match stop.reason {
        StopReason::End => "end",
        StopReason::ToolUse => "tool_use",
        StopReason::Length => "length",
        StopReason::StopSequence => "stop_sequence",
        StopReason::Refusal => "refusal",
        StopReason::ContentFilter => "content_filter",
        StopReason::Pause => "pause",
        StopReason::ContextExceeded => "context_exceeded",
        StopReason::Error => "error",
    };
    Some(stop.word.as_deref().unwrap_or(ours))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::Mock;
    use super::*;
    use crate::{Category, Request};

    #[test]
    fn a_bad_line_is_named_with_its_file_and_number() {
        let place = "invalid --llm-mock fixture in f.jsonl line 3";
        let rows = [
            ("[1]", format!("{place}: expected a JSON object")),
            ("{\"text\": 1}", format!("{place}: `text` must be a string")),
            (
                "{\"model\": 1}",
                format!("{place}: `model` must be a string"),
            ),
            (
                "{\"match\": []}",
                format!("{place}: `match` must be a string"),
            ),
            (
                "{\"tool_calls\": {}}",
                format!("{place}: tool_calls must be an array"),
            ),
            (
                "{\"tool_calls\": [{\"name\": \"a\"}, {\"name\": 2}]}",
                format!("{place}: tool_calls[1] is missing string field `name`"),
            ),
            (
                "{\"tool_calls\": [7]}",
                format!("{place}: tool_calls[0] must be an object"),
            ),
            (
                "{\"input_tokens\": \"many\"}",
                format!("{place}: `input_tokens` must be a non-negative integer"),
            ),
            (
                "{\"blocks\": 1}",
                format!("{place}: blocks must be an array"),
            ),
            (
                "{\"consume_match\": 1}",
                format!("{place}: `consume_match` must be a boolean"),
            ),
            (
                "{\"error\": {\"category\": \"odd\"}}",
                format!("{place}: unknown error category `odd`"),
            ),
        ];
        for (line, expected) in rows {
            let text = format!("{{\"text\": \"ok\"}}\n\n{line}\n");
            assert_eq!(check("f.jsonl", &text).unwrap_err(), expected);
        }
    }

    #[test]
    fn a_line_that_is_no_json_is_named_with_its_file_and_number() {
        let error = check("f.jsonl", "\n{\"text\": \n").unwrap_err();
        assert!(
            error.starts_with("invalid JSON in f.jsonl line 2: "),
            "{error}"
        );
    }

    #[test]
    fn blank_lines_are_ignored() {
        assert_eq!(read("f", "\n  \n{}\r\n\n").unwrap(), [Entry::default()]);
        assert_eq!(read("f", "").unwrap(), []);
    }

    #[track_caller]
    fn replayed(line: &str) -> Result<super::super::Answer, Error> {
        let mut mock = Mock::default();
        mock.load_fixtures("f", line).unwrap();
        let request = Request {
            cache: true,
            ..Request::default()
        };
        mock.answer(&request, None)
    }

    #[test]
    fn a_recorded_answer_comes_back_as_it_was() {
        let mut mock = Mock::default();
        let entry = json!({
            "text": "hm", "thinking": "t", "thinking_summary": "s", "stop_reason": "end_turn",
            "model": "m", "input_tokens": 4, "output_tokens": 0, "cache_read_tokens": 3,
            "tool_calls": [{"name": "a", "arguments": {"x": [1]}}],
        });
        mock.add(&entry).unwrap();
        let said = mock.answer(&Request::default(), None).unwrap();
        let line = line("anthropic", Ok(&said.reply));
        assert!(line.ends_with("}\n") && line.matches('\n').count() == 1);
        let again = replayed(&line).unwrap();
        assert_eq!(again.reply, said.reply);
        assert_eq!(again.provider, "anthropic");
    }

    #[test]
    fn a_recorded_answer_without_cache_counts_gets_none_on_replay() {
        let reply = Reply {
            text: "hi".to_owned(),
            ..Reply::default()
        };
        let again = replayed(&line("p", Ok(&reply))).unwrap();
        assert_eq!(again.reply.usage.cache_write, 0);
    }

    #[test]
    fn a_recorded_failure_fails_the_same_way() {
        let rows = [
            ("slow", Some(1500), "slow\nretry-after: 1.5\n"),
            ("slow (retry-after: 2)", Some(2000), "slow (retry-after: 2)"),
            ("slow", None, "slow"),
        ];
        for (message, wait_ms, expected) in rows {
            let error = Error {
                retry_after: wait_ms.map(Duration::from_millis),
                ..Error::new(Category::RateLimit, message)
            };
            let again = replayed(&line("p", Err(&error))).unwrap_err();
            assert_eq!(again.category, Category::RateLimit);
            assert_eq!(again.message, expected);
        }
    }
}
