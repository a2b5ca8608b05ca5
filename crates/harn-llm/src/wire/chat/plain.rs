//! The chunks that nearly all answers are made of: a beginning, pieces of text, a reason to
//! end, and what it took.
//!
//! They are read without building a tree, which makes them several times as fast. Whatever
//! has anything else in it that means something takes the long way.

use std::borrow::Cow;

use serde_json::Value;

use crate::wire::scan::Scanner;

/// A chunk that says nothing but this.
#[derive(Debug, Default)]
pub(super) struct Plain<'a> {
    id: Option<Cow<'a, str>>,
    model: Option<Cow<'a, str>>,
    /// Whether there is a piece of an answer, empty as it may be.
    pub(super) has_choice: bool,
    content: Option<Cow<'a, str>>,
    finish_reason: Option<Cow<'a, str>>,
    /// The counts, an object.
    pub(super) usage: Option<Value>,
}

impl<'a> Plain<'a> {
    pub(super) fn id(&self) -> Option<&str> {
        some_text(&self.id)
    }

    pub(super) fn model(&self) -> Option<&str> {
        some_text(&self.model)
    }

    pub(super) fn finish_reason(&self) -> Option<&str> {
        some_text(&self.finish_reason)
    }

    /// What is said, which may be nothing.
    pub(super) fn text(&self) -> &str {
        some_text(&self.content).unwrap_or_default()
    }

    /// Whether there is nothing besides text that means something once the answer has begun.
    pub(super) fn has_only_text(&self) -> bool {
        self.finish_reason.is_none() && self.usage.is_none()
    }

    fn chunk(&mut self, scanner: &mut Scanner<'a>) -> Option<()> {
        let mut has_choices = false;
        scanner.object(|scanner, key| match key {
            "id" => set(&mut self.id, scanner.text()?),
            "model" => set(&mut self.model, scanner.text()?),
            "object" => scanner
                .text()?
                .filter(|object| object == "error")
                .is_none()
                .then_some(()),
            "choices" if first(&mut has_choices) => scanner.list(|scanner| self.choice(scanner)),
            "usage" => set(&mut self.usage, counts(scanner)?),
            "error" | "x_groq" => scanner.null(),
            "choices" => None,
            _ => scanner.raw().map(drop),
        })
    }

    fn choice(&mut self, scanner: &mut Scanner<'a>) -> Option<()> {
        if !first(&mut self.has_choice) {
            return None;
        }
        let mut has_delta = false;
        scanner.object(|scanner, key| match key {
            "index" => (scanner.raw()? == "0").then_some(()),
            "delta" if first(&mut has_delta) => self.delta(scanner),
            "finish_reason" => set(&mut self.finish_reason, scanner.text()?),
            "message" | "error" | "usage" => scanner.null(),
            "delta" => None,
            _ => scanner.raw().map(drop),
        })
    }

    /// A key that is not here is one the long way reports.
    fn delta(&mut self, scanner: &mut Scanner<'a>) -> Option<()> {
        scanner.object(|scanner, key| match key {
            "role" => scanner.raw().map(drop),
            "content" => set(&mut self.content, scanner.text()?),
            _ => scanner.null(),
        })
    }
}

/// Reads a chunk, if it is one of those.
pub(super) fn read(data: &str) -> Option<Plain<'_>> {
    let mut plain = Plain::default();
    let mut scanner = Scanner::new(data);
    plain.chunk(&mut scanner)?;
    scanner.is_at_end().then_some(plain)
}

/// Whether this is seen for the first time.
fn first(is_seen: &mut bool) -> bool {
    !std::mem::replace(is_seen, true)
}

/// Of keys that are there twice, the last one counts; the long way knows which that is.
fn set<T>(place: &mut Option<T>, value: Option<T>) -> Option<()> {
    if place.is_some() {
        return None;
    }
    *place = value;
    Some(())
}

fn counts(scanner: &mut Scanner<'_>) -> Option<Option<Value>> {
    match scanner.value()? {
        Value::Null => Some(None),
        counts @ Value::Object(_) => Some(Some(counts)),
        _ => None,
    }
}

fn some_text<'a>(text: &'a Option<Cow<'_, str>>) -> Option<&'a str> {
    text.as_deref().filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_chunks_are_read_at_once() {
        let rows = [
            (r#"{"choices":[{"delta":{"content":"a"}}]}"#, "a"),
            (r#"{"choices":[{"delta":{"role":"x","content":null}}]}"#, ""),
            (
                r#"{"id":"1","object":"chat.completion.chunk","created":1.5,"model":"m",
                    "system_fingerprint":null,"usage":null,"choices":[{"index":0,"delta":
                    {"role":"assistant","content":"a\nb","tool_calls":null},
                    "logprobs":{"x":1},"finish_reason":null}]}"#,
                "a\nb",
            ),
        ];
        for (data, expected) in rows {
            let chunk = read(data).unwrap();
            assert_eq!(
                (chunk.text(), chunk.has_only_text()),
                (expected, true),
                "{data}"
            );
        }
        let end = read(r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#).unwrap();
        assert_eq!(end.finish_reason(), Some("stop"));
        assert!(!end.has_only_text());
        let usage = read(r#"{"id":"a","choices":[],"usage":{"b":1}}"#).unwrap();
        assert_eq!((usage.id(), usage.has_choice), (Some("a"), false));
        assert_eq!(usage.usage.unwrap()["b"], 1);
    }

    #[test]
    fn whatever_says_more_takes_the_long_way() {
        let rows = [
            r#"{"choices":[{"index":1,"delta":{"content":"a"}}]}"#,
            r#"{"choices":[{"delta":{"content":"a","odd":1}}]}"#,
            r#"{"choices":[{"delta":{"content":"a","reasoning":"b"}}]}"#,
            r#"{"choices":[{"delta":{"content":"a","tool_calls":[]}}]}"#,
            r#"{"choices":[{"delta":{"content":["a"]}}]}"#,
            r#"{"choices":[{"delta":{"content":"a"},"usage":{}}]}"#,
            r#"{"choices":[{"delta":{"content":"a"},"finish_reason":1}]}"#,
            r#"{"choices":[{"message":{"content":"a"}}]}"#,
            r#"{"choices":[{"delta":{"content":"a","content":"b"}}]}"#,
            r#"{"choices":[{"delta":{"content":"a"},"delta":null}]}"#,
            r#"{"choices":[{"delta":{"content":"a"}}],"choices":[]}"#,
            r#"{"choices":[{"delta":{"content":"a"}}]"#,
            r#"{"choices":[{"delta":{"content":"a"}}]}}"#,
            r#"{"choices":[{"delta":{"content":"a"}}],"usage":1}"#,
            r#"{"choices":[{"delta":{"content":"a"}}],"error":{}}"#,
            r#"{"choices":[{"delta":{"content":"a"}}],"object":"error"}"#,
            r#"{"choices":[{"delta":{"content":"a"}},{"delta":{"content":"b"}}]}"#,
            r#"{"choices":null}"#,
            r#"{"id":1}"#,
            r#"{"id":"a","id":"b"}"#,
            "5",
            "[DONE]",
        ];
        for data in rows {
            assert!(read(data).is_none(), "{data}");
        }
    }
}
