//! Values as JSON, compact or indented.

use std::fmt::Write;

use harn_machine::Value;
use harn_machine::value::{Text, show_float};

/// What is left to write.
enum Step<'a> {
    Value(&'a Value, usize),
    Key(&'a Text),
    Separator(usize),
    Close(char, usize),
}

/// A value as JSON. Values nest deeply, so what is left to write is kept in a list.
pub(super) fn write(value: &Value, pretty: bool) -> String {
    let mut out = String::new();
    let mut steps = vec![Step::Value(value, 0)];
    while let Some(step) = steps.pop() {
        match step {
            Step::Value(value, depth) => one(value, depth, pretty, &mut out, &mut steps),
            Step::Key(key) => {
                quoted(key, &mut out);
                out.push_str(if pretty { ": " } else { ":" });
            }
            Step::Separator(depth) => {
                out.push(',');
                new_line(depth, pretty, &mut out);
            }
            Step::Close(bracket, depth) => {
                new_line(depth, pretty, &mut out);
                out.push(bracket);
            }
        }
    }
    out
}

fn new_line(depth: usize, pretty: bool, out: &mut String) {
    if pretty {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    }
}

fn one<'a>(
    value: &'a Value,
    depth: usize,
    pretty: bool,
    out: &mut String,
    steps: &mut Vec<Step<'a>>,
) {
    match value {
        Value::Bool(_) | Value::Int(_) => value.show_into(out),
        Value::Float(number) => float(*number, out),
        Value::Text(text) => quoted(text, out),
        Value::Range(_) => quoted(&value.show(), out),
        Value::List(items) => members(
            "[]",
            items.iter().map(|it| (None, it)),
            depth,
            pretty,
            out,
            steps,
        ),
        Value::Set(set) => members(
            "[]",
            set.iter().map(|it| (None, it)),
            depth,
            pretty,
            out,
            steps,
        ),
        Value::Dict(dict) => {
            let entries = dict.iter().map(|(key, value)| (Some(key), value));
            members("{}", entries, depth, pretty, out, steps);
        }
        Value::Struct(value) => {
            let fields = value.fields().map(|(key, value)| (Some(key), value));
            members("{}", fields, depth, pretty, out, steps);
        }
        _ => out.push_str("null"),
    }
}

/// Begins a list or an object; what is in it is written next.
fn members<'a>(
    brackets: &str,
    members: impl Iterator<Item = (Option<&'a Text>, &'a Value)>,
    depth: usize,
    pretty: bool,
    out: &mut String,
    steps: &mut Vec<Step<'a>>,
) {
    let members: Vec<_> = members.collect();
    if members.is_empty() {
        out.push_str(brackets);
        return;
    }
    out.push_str(&brackets[..1]);
    new_line(depth + 1, pretty, out);
    let close = if brackets == "[]" { ']' } else { '}' };
    steps.push(Step::Close(close, depth));
    for (at, (key, value)) in members.into_iter().enumerate().rev() {
        steps.push(Step::Value(value, depth + 1));
        steps.extend(key.map(Step::Key));
        if at > 0 {
            steps.push(Step::Separator(depth + 1));
        }
    }
}

/// The shortest decimal form, without `.0`.
fn float(number: f64, out: &mut String) {
    let start = out.len();
    show_float(number, out);
    if out[start..].ends_with(".0") {
        out.truncate(out.len() - 2);
    }
}

fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\x1f' => {
                let code = u32::from(character);
                write!(out, "\\u{code:04x}").expect("a string takes all that is written to it");
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}
