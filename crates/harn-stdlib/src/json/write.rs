//! Values written as JSON.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use harn_machine::Value;

/// What is left to write.
enum Step<'a> {
    Value(&'a Value),
    Key(&'a str),
    Mark(char),
}

/// Writes a value as compact JSON.
pub(crate) fn write(value: &Value, out: &mut String) {
    write_with(value, Floats::Short, out);
}

/// The same so that floats are still floats when it is read again. What is no JSON is null.
pub(crate) fn write_keeping_floats(value: &Value, out: &mut String) {
    write_with(value, Floats::Kept, out);
}

/// How floats are written.
#[derive(Clone, Copy)]
enum Floats {
    /// As short as they can be: `2`.
    Short,
    /// So that they stay floats: `2.0`.
    Kept,
}

fn write_with(value: &Value, floats: Floats, out: &mut String) {
    let mut steps = vec![Step::Value(value)];
    while let Some(step) = steps.pop() {
        match step {
            Step::Mark(mark) => out.push(mark),
            Step::Key(key) => {
                write_text(key, out);
                out.push(':');
            }
            Step::Value(value) => write_one(value, floats, out, &mut steps),
        }
    }
}

/// Writes a value, or what it begins with, and what is to be written next.
fn write_one<'a>(value: &'a Value, floats: Floats, out: &mut String, steps: &mut Vec<Step<'a>>) {
    match (value, floats) {
        (Value::Float(number), Floats::Kept) if number.is_finite() => {
            write!(out, "{number:?}").expect("a string takes all that is written to it");
            return;
        }
        (Value::Float(_), Floats::Kept) => return out.push_str("null"),
        _ => {}
    }
    match value {
        Value::Bool(_) | Value::Int(_) => value.show_into(out),
        Value::Float(number) if number.is_finite() => {
            write!(out, "{number}").expect("a string takes all that is written to it");
        }
        Value::Float(_) => value.show_into(out),
        Value::Text(text) => write_text(text, out),
        Value::Range(_) => write_text(&value.show(), out),
        Value::List(items) => write_items(items, out, steps),
        Value::Set(set) => write_items(set.items(), out, steps),
        Value::Dict(dict) => write_fields(dict.iter(), out, steps),
        Value::Struct(value) => write_fields(value.fields(), out, steps),
        Value::Bytes(bytes) => {
            out.push_str("{\"$bytes_b64\":\"");
            STANDARD.encode_string(&**bytes, out);
            out.push_str("\"}");
        }
        _ => out.push_str("null"),
    }
}

fn write_items<'a>(items: &'a [Value], out: &mut String, steps: &mut Vec<Step<'a>>) {
    out.push('[');
    steps.push(Step::Mark(']'));
    for (at, item) in items.iter().enumerate().rev() {
        steps.push(Step::Value(item));
        if at > 0 {
            steps.push(Step::Mark(','));
        }
    }
}

fn write_fields<'a>(
    fields: impl Iterator<Item = (&'a harn_machine::value::Text, &'a Value)>,
    out: &mut String,
    steps: &mut Vec<Step<'a>>,
) {
    out.push('{');
    let from = steps.len();
    for (at, (key, value)) in fields.enumerate() {
        if at > 0 {
            steps.push(Step::Mark(','));
        }
        steps.push(Step::Key(key));
        steps.push(Step::Value(value));
    }
    steps.push(Step::Mark('}'));
    // What was pushed last is written first.
    steps[from..].reverse();
}

/// Writes a text as a JSON string.
pub(crate) fn write_text(text: &str, out: &mut String) {
    out.push('"');
    let mut start = 0;
    for (at, octet) in text.bytes().enumerate() {
        let escape = match octet {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..0x20 => "\\u00",
            _ => continue,
        };
        out.push_str(&text[start..at]);
        out.push_str(escape);
        if escape == "\\u00" {
            write!(out, "{octet:02x}").expect("a string takes all that is written to it");
        }
        start = at + 1;
    }
    out.push_str(&text[start..]);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use harn_machine::value::{Bytes, Sameness, Set};

    #[test]
    fn values_are_written_by_their_kinds() {
        let set = Set::new([1, 2, 1].map(Value::Int), Sameness::Structural);
        for (value, json) in [
            (Value::Nil, "null"),
            (Value::Float(1.0), "1"),
            (Value::Float(0.5), "0.5"),
            (Value::Float(1e20), "100000000000000000000"),
            (Value::Float(f64::NAN), "NaN"),
            (Value::Float(f64::NEG_INFINITY), "-inf"),
            (
                Value::text("a\"\\\n\r\t\u{1f}\u{7f}é/"),
                "\"a\\\"\\\\\\n\\r\\t\\u001f\u{7f}é/\"",
            ),
            (Value::Set(set), "[1,2]"),
            (Value::Duration(5), "null"),
            (Value::ok(Value::Int(1)), "null"),
            (Value::pair(Value::Nil, Value::Nil), "null"),
            (
                Value::Bytes(Bytes::from(b"hi!".to_vec())),
                r#"{"$bytes_b64":"aGkh"}"#,
            ),
            (
                Value::dict([
                    ("b", Value::list(vec![Value::Int(1), Value::Nil])),
                    ("a", "x".into()),
                ]),
                r#"{"a":"x","b":[1,null]}"#,
            ),
            (Value::dict([]), "{}"),
            (Value::list(Vec::new()), "[]"),
        ] {
            let mut out = String::new();
            write(&value, &mut out);
            assert_eq!(out, json);
        }
    }
}
