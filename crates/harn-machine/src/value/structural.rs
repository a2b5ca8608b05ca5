//! The text that tells values apart more strictly than equality does.

use std::fmt::Write;
use std::hash::Hasher;

use super::Value;
use super::hash::{Hashed, seeded};

/// What is left to write.
enum Step<'a> {
    Value(&'a Value),
    Str(&'static str),
    Key(&'a str),
    /// The next member of a set is written to a text of its own.
    Member(&'a Value),
    /// So many members of a set are written: their texts are sorted and joined.
    EndOfSet(usize),
}

/// The structural key of a value: two values have the same one if they are equal and of the
/// same kinds all the way down. Numbers of different kinds differ.
pub fn structural_key(value: &Value) -> String {
    // The last text is the one being written; those below wait for it.
    let mut texts = vec![String::new()];
    let mut steps = vec![Step::Value(value)];
    while let Some(step) = steps.pop() {
        if let Step::EndOfSet(count) = step {
            let mut members = texts.split_off(texts.len() - count);
            members.sort_unstable();
            let out = texts.last_mut().expect("a set is written into a text");
            members
                .iter()
                .for_each(|member| push(out, format_args!("{member},")));
            out.push('}');
            continue;
        }
        if let Step::Member(_) = step {
            texts.push(String::new());
        }
        let out = texts
            .last_mut()
            .expect("there is always a text being written");
        match step {
            Step::Str(text) => out.push_str(text),
            Step::Key(key) => push(out, format_args!("{}:{key}=", key.len())),
            Step::Value(value) | Step::Member(value) => key_of(value, out, &mut steps),
            Step::EndOfSet(_) => {}
        }
    }
    texts.pop().unwrap_or_default()
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
            out.push('S');
            match set.items() {
                // A single one needs no sorting, and so no text of its own.
                [member] => steps.extend([Step::Str(",}"), Step::Value(member)]),
                members => {
                    steps.push(Step::EndOfSet(members.len()));
                    steps.extend(members.iter().rev().map(Step::Member));
                }
            }
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

/// A hash that values with the same structural key share. What changes how it is shown while
/// it stays where it is all has the same.
pub(super) fn hash_structure(value: &Value) -> u64 {
    use Value::{Atomic, Generator, Int, Iter, Text};
    match value {
        Text(text) => text.hash(),
        Int(value) => {
            let mut hasher = seeded(Hashed::Int);
            hasher.write_i64(*value);
            hasher.finish()
        }
        Atomic(_) | Generator(_) | Iter(_) => 0,
        _ => {
            let mut hasher = seeded(Hashed::Structure);
            hasher.write(structural_key(value).as_bytes());
            hasher.finish()
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
