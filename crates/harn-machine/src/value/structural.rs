//! The text that tells values apart more strictly than equality does.

use std::fmt::Write;

use super::Value;

/// What is left to write.
enum Step<'a> {
    Value(&'a Value),
    Str(&'static str),
    Key(&'a str),
}

/// The structural key of a value: two values have the same one if they are equal and of the
/// same kinds all the way down. Numbers of different kinds differ.
pub fn structural_key(value: &Value) -> String {
    let mut out = String::new();
    let mut steps = vec![Step::Value(value)];
    while let Some(step) = steps.pop() {
        match step {
            Step::Str(text) => out.push_str(text),
            Step::Key(key) => {
                push(&mut out, format_args!("{}:{key}=", key.len()));
            }
            Step::Value(value) => key_of(value, &mut out, &mut steps),
        }
    }
    out
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text)
        .expect("a string takes all that is written to it");
}

fn key_of<'a>(value: &'a Value, out: &mut String, steps: &mut Vec<Step<'a>>) {
    match value {
        Value::Nil | Value::Absent => out.push('N'),
        Value::Bool(value) => out.push(if *value { 'T' } else { 'F' }),
        Value::Int(value) => push(out, format_args!("i{value};")),
        Value::Float(value) => push(out, format_args!("f{};", value.to_bits())),
        Value::Duration(value) => push(out, format_args!("d{value};")),
        Value::Text(text) => push(out, format_args!("s{}:{text}", text.len())),
        Value::Bytes(bytes) => {
            out.push('b');
            bytes
                .iter()
                .for_each(|octet| push(out, format_args!("{octet:02x}")));
            out.push(';');
        }
        Value::List(items) => {
            out.push('L');
            steps.push(Step::Str("]"));
            for item in items.iter().rev() {
                steps.push(Step::Str(","));
                steps.push(Step::Value(item));
            }
        }
        Value::Dict(dict) => {
            out.push('D');
            steps.push(Step::Str("}"));
            let entries: Vec<_> = dict.iter().collect();
            for (key, value) in entries.into_iter().rev() {
                steps.push(Step::Str(","));
                steps.push(Step::Value(value));
                steps.push(Step::Key(key));
            }
        }
        Value::Set(set) => {
            let mut keys: Vec<String> = set.iter().map(structural_key).collect();
            keys.sort();
            out.push('S');
            keys.iter()
                .for_each(|key| push(out, format_args!("{key},")));
            out.push('}');
        }
        _ => {
            let (kind, shown) = (value.type_name(), value.show());
            push(
                out,
                format_args!("o{}:{kind}{}:{shown}", kind.len(), shown.len()),
            );
        }
    }
}

/// Whether two values have the same structural key.
pub(super) fn is_same_structure(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Int(one), Value::Int(other)) => one == other,
        (Value::Text(one), Value::Text(other)) => one == other,
        (Value::Float(one), Value::Float(other)) => one.to_bits() == other.to_bits(),
        _ => one.type_name() == other.type_name() && structural_key(one) == structural_key(other),
    }
}
