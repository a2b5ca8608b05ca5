//! Values written as JSON.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use harn_machine::Value;
use harn_machine::value::{Dict, Text};

use super::scan::plain_length;

/// Writes a value as compact JSON.
pub(crate) fn write(value: &Value, out: &mut String) {
    let never = &mut |_: usize| Ok::<(), std::convert::Infallible>(());
    match write_within(value, out, never) {
        Ok(()) => {}
        Err(impossible) => match impossible {},
    }
}

/// The same, but asks before the text grows to twice its size, with how much it grows, and in
/// between with none. Parts of a value can be shared, so that written out they would fill any
/// memory and take for ever.
pub(super) fn write_within<E>(
    value: &Value,
    out: &mut String,
    may_grow: &mut impl FnMut(usize) -> Result<(), E>,
) -> Result<(), E> {
    let mut open = Vec::new();
    let (mut enough, mut asked) = (ASKED_MIN, ASKED_BYTES);
    begin(value, out, &mut open);
    while let Some(inner) = open.last_mut() {
        if out.len() > asked {
            asked = out.len() + ASKED_BYTES;
            let is_full = out.len() > enough;
            may_grow(if is_full { out.len() } else { 0 })?;
            if is_full {
                enough = out.len() * 2;
            }
        }
        let next = match inner {
            Open::Items(items, _) => items.next(),
            Open::Dict(entries, is_first) => entry(entries.next(), is_first, out),
            Open::Struct(fields, is_first) => entry(fields.next(), is_first, out),
        };
        let Some(next) = next else {
            out.push(if matches!(inner, Open::Items(..)) {
                ']'
            } else {
                '}'
            });
            open.pop();
            continue;
        };
        if let Open::Items(_, is_first) = inner
            && !std::mem::take(is_first)
        {
            out.push(',');
        }
        begin(next, out, &mut open);
    }
    Ok(())
}

/// After so many bytes the caller is asked whether to go on.
pub(super) const ASKED_BYTES: usize = 1 << 16;

/// How long a text may get until its growth is asked for.
const ASKED_MIN: usize = 1 << 20;

/// A list or dict whose end is not written, and whether nothing in it is.
enum Open<'a> {
    Items(std::slice::Iter<'a, Value>, bool),
    Dict(<&'a Dict as IntoIterator>::IntoIter, bool),
    Struct(std::vec::IntoIter<(&'a Text, &'a Value)>, bool),
}

/// Writes the key of an entry and gives its value.
fn entry<'a>(
    entry: Option<(&'a Text, &'a Value)>,
    is_first: &mut bool,
    out: &mut String,
) -> Option<&'a Value> {
    let (key, value) = entry?;
    if !std::mem::take(is_first) {
        out.push(',');
    }
    write_text(key, out);
    out.push(':');
    Some(value)
}

/// Writes a value, or what it begins with.
fn begin<'a>(value: &'a Value, out: &mut String, open: &mut Vec<Open<'a>>) {
    match value {
        Value::Text(text) => write_text(text, out),
        Value::Int(number) => out.push_str(itoa::Buffer::new().format(*number)),
        Value::Float(number) if number.is_finite() => write_float(*number, out),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::List(items) => {
            out.push('[');
            open.push(Open::Items(items.iter(), true));
        }
        Value::Dict(dict) => {
            out.push('{');
            open.push(Open::Dict(dict.iter(), true));
        }
        _ => begin_uncommon(value, out, open),
    }
}

fn begin_uncommon<'a>(value: &'a Value, out: &mut String, open: &mut Vec<Open<'a>>) {
    match value {
        Value::Float(_) => value.show_into(out),
        Value::Range(_) => write_text(&value.show(), out),
        Value::Set(set) => {
            out.push('[');
            open.push(Open::Items(set.items().iter(), true));
        }
        Value::Struct(value) => {
            let fields: Vec<_> = value.fields().collect();
            out.push('{');
            open.push(Open::Struct(fields.into_iter(), true));
        }
        Value::Bytes(bytes) => {
            out.push_str("{\"$bytes_b64\":\"");
            STANDARD.encode_string(&**bytes, out);
            out.push_str("\"}");
        }
        _ => out.push_str("null"),
    }
}

/// Writes as few digits as tell a number from every other, never with an exponent.
fn write_float(number: f64, out: &mut String) {
    let mut buffer = zmij::Buffer::new();
    let written = buffer.format_finite(number);
    if written.contains('e') {
        write!(out, "{number}").expect("a string takes all that is written to it");
    } else {
        out.push_str(written.strip_suffix(".0").unwrap_or(written));
    }
}

/// Writes a text as a JSON string.
pub(crate) fn write_text(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    loop {
        let (plain, after) = rest.split_at(plain_length(rest.as_bytes()));
        out.push_str(plain);
        let Some(octet) = after.bytes().next() else {
            break;
        };
        match octet {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            _ => write!(out, "\\u{octet:04x}").expect("a string takes all that is written to it"),
        }
        rest = &after[1..];
    }
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
