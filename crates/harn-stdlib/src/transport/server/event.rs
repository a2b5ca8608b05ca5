//! Events as they travel in a response.
//!
//! ```text
//! : a comment
//! id: 7
//! event: price
//! retry: 1000
//! data: first line
//! data: second line
//!
//! ```

use harn_machine::value::Dict;
use harn_machine::{Context, Failure, Registry, Value, argument, thrown};

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[("sse_event", sse_event)]);
}

/// `sse_event(data | fields, options?)`: the frame.
fn sse_event(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if arguments.is_empty() {
        return thrown("sse_event: requires event data or an event dict");
    }
    let event = Event::read(argument(arguments, 0), argument(arguments, 1))?;
    Ok(event.frame().into())
}

/// One event, or a comment.
#[derive(Debug, Default)]
pub(super) struct Event {
    comment: Option<String>,
    id: Option<String>,
    name: Option<String>,
    retry_ms: Option<i64>,
    data: Option<String>,
}

impl Event {
    /// A comment alone, which readers do not see as an event.
    pub(super) fn comment(comment: &str) -> Self {
        Self {
            comment: Some(comment.to_owned()),
            ..Self::default()
        }
    }

    /// What a program describes: the fields of a dict, or data. Options add what is missing.
    pub(super) fn read(event: &Value, options: &Value) -> Result<Self, Failure> {
        let mut fields = match options {
            Value::Dict(options) => options.clone(),
            _ => Dict::default(),
        };
        match event {
            Value::Dict(given) => {
                for (name, value) in given.iter().filter(|(_, value)| !value.is_nil()) {
                    fields.insert(name.clone(), value.clone());
                }
            }
            Value::Nil => {}
            data => {
                fields.insert("data".into(), data.clone());
            }
        }
        Self::of(&fields)
    }

    fn of(fields: &Dict) -> Result<Self, Failure> {
        let first = |names: &[&str]| {
            let mut found = names.iter().filter_map(|name| fields.get(name));
            found.find(|value| !value.is_nil())
        };
        let text = |names: &[&str]| first(names).map(|value| value.to_text().to_string());
        let retry_ms = match first(&["retry", "retry_ms"]) {
            None => None,
            Some(Value::Int(retry) | Value::Duration(retry)) if *retry >= 0 => Some(*retry),
            Some(_) => {
                return thrown("sse_event: retry/retry_ms must be a non-negative integer");
            }
        };
        Ok(Self {
            comment: text(&["comment"]),
            id: one_line("id", text(&["id"]))?,
            name: one_line("event", text(&["event", "name"]))?,
            retry_ms,
            data: text(&["data"]),
        })
    }

    /// The text that travels.
    pub(super) fn frame(&self) -> String {
        let mut out = String::new();
        let mut line = |name: &str, value: &str| {
            out.push_str(name);
            out.push_str(value);
            out.push('\n');
        };
        for comment in self.comment.iter().flat_map(|comment| lines(comment)) {
            line(": ", comment);
        }
        if let Some(id) = &self.id {
            line("id: ", id);
        }
        if let Some(name) = &self.name {
            line("event: ", name);
        }
        if let Some(retry) = self.retry_ms {
            line("retry: ", &retry.to_string());
        }
        match &self.data {
            Some(data) => lines(data).for_each(|data| line("data: ", data)),
            // Without data, readers would drop the rest.
            None if self.comment.is_none() && !out.is_empty() => out.push_str("data: \n"),
            None if out.is_empty() => out.push_str(":\n"),
            None => {}
        }
        out.push('\n');
        out
    }

    /// What the reader of a frame sees.
    pub(super) fn received(&self, frame: &str) -> Value {
        let raw = ("raw", frame.into());
        let has_fields = self.id.is_some() || self.name.is_some() || self.retry_ms.is_some();
        if self.data.is_none() && (self.comment.is_some() || !has_fields) {
            let comment = self.comment.as_deref().unwrap_or_default();
            return Value::dict([("type", "comment".into()), ("comment", comment.into()), raw]);
        }
        Value::dict([
            ("type", "event".into()),
            ("event", self.name.as_deref().unwrap_or("message").into()),
            ("data", self.data.as_deref().unwrap_or_default().into()),
            ("id", self.id.as_deref().into()),
            ("retry_ms", self.retry_ms.into()),
            raw,
        ])
    }
}

/// The lines of a text, whichever way they end. There is always one.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.split('\n');
    lines.flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

/// A field that must not break the frame.
fn one_line(name: &str, value: Option<String>) -> Result<Option<String>, Failure> {
    match value {
        Some(value) if value.contains(['\n', '\r']) => {
            thrown(format!("sse_event: {name} must not contain newlines"))
        }
        value => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(fields: &[(&str, Value)], expected: &str) {
        let event = Value::dict(fields.iter().cloned());
        let event = Event::read(&event, &Value::Nil).unwrap();
        assert_eq!(event.frame(), expected);
    }

    #[test]
    fn fields_come_in_a_fixed_order() {
        check(
            &[
                ("data", "a\nb\r\n".into()),
                ("event", "tick".into()),
                ("id", Value::Int(7)),
                ("retry", Value::Int(100)),
                ("comment", "one\ntwo".into()),
            ],
            ": one\n: two\nid: 7\nevent: tick\nretry: 100\ndata: a\ndata: b\ndata: \n\n",
        );
    }

    #[test]
    fn every_frame_says_something() {
        check(&[], ":\n\n");
        check(&[("id", "1".into())], "id: 1\ndata: \n\n");
        check(&[("comment", "hi".into())], ": hi\n\n");
        check(
            &[("comment", "hi".into()), ("id", "1".into())],
            ": hi\nid: 1\n\n",
        );
        check(&[("comment", "".into())], ": \n\n");
        check(&[("data", "".into())], "data: \n\n");
        check(
            &[("data", "a\rb\r\nc".into())],
            "data: a\ndata: b\ndata: c\n\n",
        );
    }

    #[test]
    fn no_field_breaks_the_frame() {
        for name in ["id", "event"] {
            let event = Value::dict([(name, "a\nb".into())]);
            assert!(Event::read(&event, &Value::Nil).is_err());
        }
    }
}
