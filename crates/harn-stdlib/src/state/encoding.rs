//! Values as they are kept: JSON for people.
//!
//! What JSON cannot say is nil. Floats keep their point, so that they are floats again when
//! they are read.

use std::fmt::Write;

use harn_machine::Value;

use crate::json::{self, Members, new_line};

/// A value as JSON that is so deep inside other JSON.
pub(super) fn indented(value: &Value, depth: usize) -> String {
    json::indented(value, depth, members, leaf)
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

fn members(value: &Value) -> Option<Members<'_>> {
    Some(match value {
        Value::List(items) => Members::Items(items.iter().collect()),
        Value::Dict(dict) => Members::Entries(dict.iter().collect()),
        _ => return None,
    })
}

fn leaf(value: &Value, out: &mut String) {
    match value {
        Value::Bool(_) | Value::Int(_) => value.show_into(out),
        Value::Text(text) => json::write_text(text, out),
        Value::Float(number) if number.is_finite() => {
            // Shows a point, and an exponent where digits would be many.
            write!(out, "{number:?}").expect("a string takes all that is written to it");
        }
        _ => out.push_str("null"),
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
