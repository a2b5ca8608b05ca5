//! Values as they are kept in the log: JSON in which floats are still floats when they are
//! read again.

use std::fmt::Write;

use harn_machine::Value;
use harn_machine::value::Text;

use crate::json::write_text;

/// How deep a value may be nested; what is deeper is left out.
const DEPTH_MAX: usize = 100;

/// From which length on nothing more is written. Parts of a value can be shared, so that
/// written out they would fill any memory.
const LENGTH_MAX: usize = 64 << 20;

/// A value as JSON. What only means something inside a program, such as a closure, is null.
pub(crate) fn encode(value: &Value) -> String {
    let mut out = String::new();
    write(value, DEPTH_MAX, &mut out);
    out
}

fn write(value: &Value, depth: usize, out: &mut String) {
    if depth == 0 || out.len() > LENGTH_MAX {
        return out.push_str("null");
    }
    match value {
        Value::Bool(_) | Value::Int(_) => value.show_into(out),
        Value::Float(number) if number.is_finite() => {
            write!(out, "{number:?}").expect("a string takes all that is written to it");
        }
        Value::Text(text) => write_text(text, out),
        Value::Duration(_) | Value::Bytes(_) | Value::Enum(_) | Value::Range(_) => {
            write_text(&value.show(), out);
        }
        Value::List(items) => write_items(items, depth, out),
        Value::Set(set) => write_items(set.items(), depth, out),
        Value::Dict(dict) => write_fields(dict.iter(), depth, out),
        Value::Struct(body) => write_fields(body.fields(), depth, out),
        _ => out.push_str("null"),
    }
}

fn write_items(items: &[Value], depth: usize, out: &mut String) {
    out.push('[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(item, depth - 1, out);
    }
    out.push(']');
}

fn write_fields<'a>(
    fields: impl Iterator<Item = (&'a Text, &'a Value)>,
    depth: usize,
    out: &mut String,
) {
    out.push('{');
    for (at, (key, value)) in fields.enumerate() {
        if at > 0 {
            out.push(',');
        }
        write_text(key, out);
        out.push(':');
        write(value, depth - 1, out);
    }
    out.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_stay_floats() {
        let value = Value::dict([
            ("a", Value::Float(2.0)),
            ("b", Value::Float(f64::NAN)),
            (
                "c",
                Value::list(vec![Value::Int(1), "x".into(), Value::Nil]),
            ),
        ]);
        assert_eq!(encode(&value), r#"{"a":2.0,"b":null,"c":[1,"x",null]}"#);
    }

    #[test]
    fn what_is_too_deep_is_left_out() {
        let mut deep = Value::Int(1);
        for _ in 0..1000 {
            deep = [deep].into_iter().collect();
        }
        let text = encode(&deep);
        assert_eq!(text.matches('[').count(), DEPTH_MAX);
        assert!(text.contains("[null]"));
    }
}
