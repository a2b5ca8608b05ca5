//! The chunks that nearly all answers are made of: a piece of text and nothing else.
//!
//! They are read without building a tree, which makes them several times as fast. Whatever
//! has anything else in it that means something takes the long way.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

/// The text of a chunk that says nothing else.
pub(super) fn text(data: &str) -> Option<Cow<'_, str>> {
    let chunk: Chunk<'_> = serde_json::from_str(data).ok()?;
    let [choice] = chunk.choices;
    let delta = choice.delta;
    let says_more = chunk.error.is_some()
        || chunk.usage.is_some()
        || chunk.x_groq.is_some()
        || chunk.object == Some("error")
        || choice.index.unwrap_or(0) != 0
        || choice.finish_reason.is_some()
        || choice.error.is_some()
        || choice.usage.is_some()
        || delta.refusal.is_some()
        || delta.tool_calls.is_some()
        || delta.function_call.is_some()
        || delta.reasoning_content.is_some()
        || delta.reasoning.is_some();
    (!says_more).then_some(delta.content)
}

/// Keys that are null as often as they are missing.
type Nothing = Option<IgnoredAny>;

#[derive(Deserialize)]
struct Chunk<'a> {
    object: Option<&'a str>,
    error: Nothing,
    usage: Nothing,
    x_groq: Nothing,
    #[serde(borrow)]
    choices: [Choice<'a>; 1],
}

#[derive(Deserialize)]
struct Choice<'a> {
    index: Option<u64>,
    #[serde(borrow)]
    delta: Delta<'a>,
    finish_reason: Nothing,
    error: Nothing,
    usage: Nothing,
}

/// A key that is not here is one the long way reports.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Delta<'a> {
    #[serde(rename = "role")]
    _role: Option<&'a str>,
    #[serde(borrow)]
    content: Cow<'a, str>,
    refusal: Nothing,
    tool_calls: Nothing,
    function_call: Nothing,
    reasoning_content: Nothing,
    reasoning: Nothing,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_of_text_and_nothing_else_is_read_at_once() {
        let rows = [
            (r#"{"choices":[{"delta":{"content":"a"}}]}"#, "a"),
            (
                r#"{"id":"1","object":"chat.completion.chunk","created":1.5,"model":"m",
                    "system_fingerprint":null,"usage":null,"choices":[{"index":0,"delta":
                    {"role":"assistant","content":"a\nb","tool_calls":null},
                    "logprobs":{"x":1},"finish_reason":null}]}"#,
                "a\nb",
            ),
        ];
        for (data, expected) in rows {
            assert_eq!(text(data).as_deref(), Some(expected), "{data}");
        }
    }

    #[test]
    fn whatever_says_more_takes_the_long_way() {
        let rows = [
            r#"{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}"#,
            r#"{"choices":[{"index":1,"delta":{"content":"a"}}]}"#,
            r#"{"choices":[{"delta":{"content":"a","odd":1}}]}"#,
            r#"{"choices":[{"delta":{"content":"a","reasoning":"b"}}]}"#,
            r#"{"choices":[{"delta":{"content":"a","tool_calls":[]}}]}"#,
            r#"{"choices":[{"delta":{"content":["a"]}}]}"#,
            r#"{"choices":[{"delta":{"content":null}}]}"#,
            r#"{"choices":[{"delta":{"content":"a"}}],"usage":{}}"#,
            r#"{"choices":[{"delta":{"content":"a"}}],"error":{}}"#,
            r#"{"choices":[{"delta":{"content":"a"}}],"object":"error"}"#,
            r#"{"choices":[{"delta":{"content":"a"}},{"delta":{"content":"b"}}]}"#,
            r#"{"choices":[]}"#,
            "[DONE]",
        ];
        for data in rows {
            assert_eq!(text(data), None, "{data}");
        }
    }
}
