//! One scripted answer.
//!
//! Programs and fixture files write the same keys. What a program writes is read leniently,
//! as the language reads options: anything can be shown as text, and a count that is no int
//! counts as absent. What a file says is checked, because nobody sees a file's values change.

use serde_json::{Map, Value, json};

use crate::{Category, ToolCall};

use super::display::{display, is_truthy};

/// What the model says when this entry answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Entry {
    /// The conversations it is for; `None` means the next one.
    pub(super) pattern: Option<String>,
    /// Whether it answers only once although it has a pattern.
    pub(super) consume_match: bool,
    pub(super) text: String,
    /// With their final ids.
    pub(super) tool_calls: Vec<ToolCall>,
    pub(super) input_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
    pub(super) cache_read_tokens: Option<u64>,
    pub(super) cache_write_tokens: Option<u64>,
    pub(super) thinking: Option<String>,
    pub(super) thinking_summary: Option<String>,
    pub(super) stop_reason: Option<String>,
    pub(super) model: Option<String>,
    /// Instead of an answer.
    pub(super) failure: Option<Failure>,
    /// Only in files: who answers.
    pub(super) provider: Option<String>,
    /// Only in files: the blocks as they were recorded.
    pub(super) blocks: Option<Vec<Value>>,
}

/// How a call fails.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failure {
    pub(super) category: Category,
    pub(super) message: String,
    pub(super) retry_after_ms: Option<u64>,
}

impl Entry {
    /// Reads what a program gave to `llm_mock`. The error lacks the builtin's name.
    pub(super) fn from_program(value: &Value) -> Result<Self, String> {
        let fields = value.as_object().ok_or("expected a dict argument")?;
        let text = |key: &str| fields.get(key).map(display);
        let count = |key: &str| fields.get(key).and_then(count_of);
        Ok(Self {
            pattern: given(fields, "match").map(display),
            consume_match: fields.get("consume_match").is_some_and(is_truthy),
            text: text("text").unwrap_or_default(),
            tool_calls: calls_of_program(fields.get("tool_calls")),
            input_tokens: count("input_tokens"),
            output_tokens: count("output_tokens"),
            cache_read_tokens: count("cache_read_tokens"),
            cache_write_tokens: count("cache_write_tokens")
                .or_else(|| count("cache_creation_input_tokens")),
            thinking: text("thinking"),
            thinking_summary: text("thinking_summary"),
            stop_reason: text("stop_reason"),
            model: text("model"),
            failure: failure(fields)?,
            provider: None,
            blocks: None,
        })
    }

    /// Reads a line of a fixture file. The error lacks the place.
    pub(super) fn from_fixture(value: &Value) -> Result<Self, String> {
        let fields = value.as_object().ok_or("expected a JSON object")?;
        let text = |key: &str| checked_text(fields, key);
        let count = |key: &str| checked_count(fields, key);
        Ok(Self {
            pattern: text("match")?,
            consume_match: checked_truth(fields, "consume_match")?,
            text: text("text")?.unwrap_or_default(),
            tool_calls: calls_of_fixture(given(fields, "tool_calls"))?,
            input_tokens: count("input_tokens")?,
            output_tokens: count("output_tokens")?,
            cache_read_tokens: count("cache_read_tokens")?,
            cache_write_tokens: match count("cache_write_tokens")? {
                None => count("cache_creation_input_tokens")?,
                given => given,
            },
            thinking: text("thinking")?,
            thinking_summary: text("thinking_summary")?,
            stop_reason: text("stop_reason")?,
            model: text("model")?,
            failure: failure(fields)?,
            provider: text("provider")?,
            blocks: checked_blocks(fields)?,
        })
    }

    /// Whether it says itself what was read from or written to a cache.
    pub(super) fn reports_cache(&self) -> bool {
        self.cache_read_tokens.is_some() || self.cache_write_tokens.is_some()
    }
}

/// The value of a key; nil counts as absent.
fn given<'a>(fields: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    fields.get(key).filter(|value| !value.is_null())
}

/// An int as a count. A negative one counts nothing.
fn count_of(value: &Value) -> Option<u64> {
    let below_zero = value.as_i64().map(|int| int.max(0).unsigned_abs());
    value.as_u64().or(below_zero)
}

fn checked_text(fields: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match given(fields, key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("`{key}` must be a string")),
    }
}

fn checked_count(fields: &Map<String, Value>, key: &str) -> Result<Option<u64>, String> {
    let Some(value) = given(fields, key) else {
        return Ok(None);
    };
    let count = value.as_u64();
    count
        .map(Some)
        .ok_or_else(|| format!("`{key}` must be a non-negative integer"))
}

fn checked_truth(fields: &Map<String, Value>, key: &str) -> Result<bool, String> {
    match given(fields, key) {
        None => Ok(false),
        Some(Value::Bool(truth)) => Ok(*truth),
        Some(_) => Err(format!("`{key}` must be a boolean")),
    }
}

fn checked_blocks(fields: &Map<String, Value>) -> Result<Option<Vec<Value>>, String> {
    match given(fields, "blocks") {
        None => Ok(None),
        Some(Value::Array(blocks)) => Ok(Some(renumbered(blocks))),
        Some(_) => Err("blocks must be an array".to_owned()),
    }
}

/// Blocks with the ids that the calls of the answer get.
fn renumbered(blocks: &[Value]) -> Vec<Value> {
    let mut blocks = blocks.to_vec();
    let calls = blocks
        .iter_mut()
        .filter(|block| block["type"] == "tool_call");
    for (index, call) in calls.enumerate() {
        call["id"] = json!(call_id(index));
    }
    blocks
}

/// The id of a call by its place in the answer, from 0. Ids start anew in every answer.
pub(super) fn call_id(index: usize) -> String {
    format!("mock_call_{}", index + 1)
}

fn calls_of_program(value: Option<&Value>) -> Vec<ToolCall> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    let calls = items.filter_map(Value::as_object);
    calls
        .enumerate()
        .map(|(index, call)| {
            let name = call.get("name").map(display).unwrap_or_default();
            tool_call(index, name, call)
        })
        .collect()
}

fn calls_of_fixture(value: Option<&Value>) -> Result<Vec<ToolCall>, String> {
    let Some(value) = value else {
        return Ok(Vec::new());
    };
    let items = value.as_array().ok_or("tool_calls must be an array")?;
    let call = |(index, item): (usize, &Value)| {
        let call = item
            .as_object()
            .ok_or_else(|| format!("tool_calls[{index}] must be an object"))?;
        let name = call
            .get("name")
            .and_then(Value::as_str)
            .ok_or_else(|| format!("tool_calls[{index}] is missing string field `name`"))?;
        Ok(tool_call(index, name.to_owned(), call))
    };
    items.iter().enumerate().map(call).collect()
}

fn tool_call(index: usize, name: String, call: &Map<String, Value>) -> ToolCall {
    let arguments = given(call, "arguments").or_else(|| given(call, "args"));
    let arguments = arguments.cloned().unwrap_or_else(|| json!({}));
    let raw_arguments = match &arguments {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    ToolCall {
        id: call_id(index),
        name,
        arguments,
        raw_arguments,
    }
}

fn failure(fields: &Map<String, Value>) -> Result<Option<Failure>, String> {
    let error = match given(fields, "error") {
        None => return Ok(None),
        Some(Value::Object(error)) => error,
        Some(_) => {
            return Err("error must be a dict {category, message, retry_after_ms?}".to_owned());
        }
    };
    let word = given(error, "category").map(display).unwrap_or_default();
    if word.is_empty() {
        return Err("error.category is required".to_owned());
    }
    let category =
        Category::from_word(&word).ok_or_else(|| format!("unknown error category `{word}`"))?;
    let retry_after_ms = match given(error, "retry_after_ms") {
        None => None,
        Some(value) => Some(
            value
                .as_u64()
                .ok_or("error.retry_after_ms must be a non-negative int")?,
        ),
    };
    Ok(Some(Failure {
        category,
        message: given(error, "message").map(display).unwrap_or_default(),
        retry_after_ms,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_a_program_that_is_none_says_why() {
        let rows = [
            (json!("hi"), "expected a dict argument"),
            (json!(null), "expected a dict argument"),
            (json!({"error": {}}), "error.category is required"),
            (
                json!({"error": {"category": null}}),
                "error.category is required",
            ),
            (
                json!({"error": {"category": "slow"}}),
                "unknown error category `slow`",
            ),
            (
                json!({"error": {"category": "timeout", "retry_after_ms": -1}}),
                "error.retry_after_ms must be a non-negative int",
            ),
            (
                json!({"error": {"category": "timeout", "retry_after_ms": 1.5}}),
                "error.retry_after_ms must be a non-negative int",
            ),
            (
                json!({"error": "timeout"}),
                "error must be a dict {category, message, retry_after_ms?}",
            ),
        ];
        for (entry, expected) in rows {
            assert_eq!(Entry::from_program(&entry).unwrap_err(), expected);
        }
    }

    #[test]
    fn a_program_may_leave_everything_out_or_nil_where_that_means_nothing() {
        let empty = Entry::from_program(&json!({})).unwrap();
        assert_eq!(empty, Entry::default());
        let nothing = json!({"match": null, "error": null, "input_tokens": null});
        assert_eq!(Entry::from_program(&nothing).unwrap(), Entry::default());
    }

    #[test]
    fn options_of_a_program_are_read_as_the_language_reads_them() {
        let entry = json!({
            "text": 7, "model": true, "input_tokens": 3.5, "output_tokens": -2,
            "tool_calls": "none", "match": 5, "consume_match": 1, "stop_reason": null,
        });
        let entry = Entry::from_program(&entry).unwrap();
        assert_eq!(entry.text, "7");
        assert_eq!(entry.model.as_deref(), Some("true"));
        assert_eq!(entry.input_tokens, None);
        assert_eq!(entry.output_tokens, Some(0));
        assert_eq!(entry.tool_calls, []);
        assert_eq!(entry.pattern.as_deref(), Some("5"));
        assert!(entry.consume_match);
        assert_eq!(entry.stop_reason.as_deref(), Some("nil"));
    }

    #[test]
    fn the_count_written_to_a_cache_has_two_names() {
        for key in ["cache_write_tokens", "cache_creation_input_tokens"] {
            let entry = json!({key: 12});
            let of_program = Entry::from_program(&entry).unwrap();
            assert_eq!(of_program.cache_write_tokens, Some(12));
            assert!(of_program.reports_cache());
            assert_eq!(Entry::from_fixture(&entry).unwrap(), of_program);
        }
    }

    #[test]
    fn calls_are_numbered_and_keep_their_arguments() {
        let calls = json!({"tool_calls": [
            {"id": "mine", "name": "a", "arguments": {"x": 1}},
            {"name": "b", "args": [2]},
            {"name": "c"},
            {"name": "d", "arguments": "{no json"},
        ]});
        for entry in [Entry::from_program(&calls), Entry::from_fixture(&calls)] {
            let calls = entry.unwrap().tool_calls;
            let seen: Vec<_> = calls
                .iter()
                .map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.clone()))
                .collect();
            let expected = [
                ("mock_call_1", "a", json!({"x": 1})),
                ("mock_call_2", "b", json!([2])),
                ("mock_call_3", "c", json!({})),
                ("mock_call_4", "d", json!("{no json")),
            ];
            assert_eq!(seen, expected);
            assert_eq!(calls[0].raw_arguments, "{\"x\":1}");
            assert_eq!(calls[3].raw_arguments, "{no json");
        }
    }

    #[test]
    fn calls_in_blocks_get_the_ids_of_the_calls() {
        let entry = json!({"blocks": [
            {"type": "tool_call", "id": "toolu_9", "name": "a"},
            {"type": "output_text", "text": "t"},
            {"type": "tool_call", "id": "toolu_8", "name": "b"},
        ]});
        let blocks = Entry::from_fixture(&entry).unwrap().blocks.unwrap();
        assert_eq!(blocks[0]["id"], "mock_call_1");
        assert_eq!(blocks[2]["id"], "mock_call_2");
    }
}
