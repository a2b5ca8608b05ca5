//! Values as they are kept: JSON for people.
//!
//! What JSON cannot say is nil. Floats keep their point, so that they are floats again when
//! they are read.

use std::fmt::Write;

use harn_machine::Value;
use harn_machine::value::Text;

use crate::json;

/// How far members are indented.
const INDENT: &str = "  ";

/// What is left to write.
enum Step<'a> {
    Value(&'a Value, usize),
    Key(&'a Text),
    Separator(usize),
    Close(char, usize),
}

/// A value as JSON that is so deep inside other JSON. Values nest deeply, so what is left to
/// write is kept in a list.
pub(super) fn indented(value: &Value, depth: usize) -> String {
    let mut out = String::new();
    let mut steps = vec![Step::Value(value, depth)];
    while let Some(step) = steps.pop() {
        match step {
            Step::Value(value, depth) => one(value, depth, &mut out, &mut steps),
            Step::Key(key) => {
                json::write_text(key, &mut out);
                out.push_str(": ");
            }
            Step::Separator(depth) => {
                out.push(',');
                new_line(depth, &mut out);
            }
            Step::Close(bracket, depth) => {
                new_line(depth, &mut out);
                out.push(bracket);
            }
        }
    }
    out
}

/// An object of members that are written already, at the depth of one.
pub(super) fn object<'a>(members: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut out = String::from("{");
    for (key, value) in members {
        if out.len() > 1 {
            out.push(',');
        }
        new_line(1, &mut out);
        json::write_text(key, &mut out);
        out.push_str(": ");
        out.push_str(value);
    }
    if out.len() > 1 {
        new_line(0, &mut out);
    }
    out.push('}');
    out
}

fn new_line(depth: usize, out: &mut String) {
    out.push('\n');
    out.extend(std::iter::repeat_n(INDENT, depth));
}

/// Writes a value, or what it begins with, and what is to be written next.
fn one<'a>(value: &'a Value, depth: usize, out: &mut String, steps: &mut Vec<Step<'a>>) {
    match value {
        Value::Bool(_) | Value::Int(_) => value.show_into(out),
        Value::Text(text) => json::write_text(text, out),
        Value::Float(number) if number.is_finite() => {
            // Shows a point, and an exponent where digits would be many.
            write!(out, "{number:?}").expect("a string takes all that is written to it");
        }
        Value::List(items) => {
            let members = items.iter().map(|item| (None, item)).collect();
            open(('[', ']'), members, depth, out, steps);
        }
        Value::Dict(dict) => {
            let members = dict.iter().map(|(key, item)| (Some(key), item)).collect();
            open(('{', '}'), members, depth, out, steps);
        }
        _ => out.push_str("null"),
    }
}

fn open<'a>(
    (begin, end): (char, char),
    members: Vec<(Option<&'a Text>, &'a Value)>,
    depth: usize,
    out: &mut String,
    steps: &mut Vec<Step<'a>>,
) {
    out.push(begin);
    if members.is_empty() {
        return out.push(end);
    }
    new_line(depth + 1, out);
    steps.push(Step::Close(end, depth));
    for (at, (key, value)) in members.into_iter().enumerate().rev() {
        steps.push(Step::Value(value, depth + 1));
        steps.extend(key.map(Step::Key));
        if at > 0 {
            steps.push(Step::Separator(depth + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harn_machine::value::{Sameness, Set};

    #[track_caller]
    fn check(value: Value, expected: &str) {
        assert_eq!(indented(&value, 0), expected);
    }

    #[test]
    fn members_stand_on_lines_of_their_own() {
        let inner = Value::dict([("b", Value::list(vec![Value::Int(1), "x".into()]))]);
        let value = Value::dict([("a", inner), ("c", Value::dict([]))]);
        check(
            value,
            "{\n  \"a\": {\n    \"b\": [\n      1,\n      \"x\"\n    ]\n  },\n  \"c\": {}\n}",
        );
    }

    #[test]
    fn floats_stay_floats() {
        for number in [1.0, -0.0, 0.1, 1e300, 5e-324, f64::MAX] {
            let text = indented(&Value::Float(number), 0);
            let read = json::parse(&text).unwrap();
            assert!(matches!(read, Value::Float(it) if it == number), "{text}");
        }
        check(Value::Float(f64::NAN), "null");
    }

    #[test]
    fn what_json_cannot_say_is_nil() {
        let set = Set::new([Value::Int(1)], Sameness::Equal);
        check(Value::Set(set), "null");
        check(Value::Duration(5), "null");
        check(Value::list(vec![Value::ok(Value::Nil)]), "[\n  null\n]");
    }

    #[test]
    fn members_that_are_written_already_are_put_together() {
        assert_eq!(object([].into_iter()), "{}");
        let inner = indented(&Value::list(vec![Value::Int(1)]), 1);
        let members = [("a", "1"), ("b", inner.as_str())];
        let expected = "{\n  \"a\": 1,\n  \"b\": [\n    1\n  ]\n}";
        assert_eq!(object(members.into_iter()), expected);
    }

    #[test]
    fn values_nest_as_deeply_as_memory_allows() {
        let mut value = Value::Nil;
        for _ in 0..5_000 {
            value = Value::list(vec![value]);
        }
        assert!(indented(&value, 0).contains("null"));
    }
}
