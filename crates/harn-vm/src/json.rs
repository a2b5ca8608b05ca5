//! Values of programs as JSON, and JSON as values.

use harn_machine::Value;
use harn_machine::value::{Dict, Text};
use serde_json::{Map, Number};

/// How deep a value may be nested; what is deeper is cut off.
const DEPTH_MAX: usize = 128;

/// A value as JSON. What only means something inside a program, such as a closure, is null.
pub(crate) fn to_json(value: &Value) -> serde_json::Value {
    nested(value, DEPTH_MAX)
}

fn nested(value: &Value, depth: usize) -> serde_json::Value {
    let Some(depth) = depth.checked_sub(1) else {
        return serde_json::Value::Null;
    };
    let all = |values: &[Value]| -> serde_json::Value {
        values.iter().map(|value| nested(value, depth)).collect()
    };
    let fields = |fields: &mut dyn Iterator<Item = (&Text, &Value)>| {
        let fields = fields.map(|(key, value)| (key.to_string(), nested(value, depth)));
        serde_json::Value::Object(fields.collect::<Map<_, _>>())
    };
    match value {
        Value::Bool(value) => (*value).into(),
        Value::Int(value) => (*value).into(),
        Value::Float(value) => {
            Number::from_f64(*value).map_or(serde_json::Value::Null, serde_json::Value::Number)
        }
        Value::Text(text) => text.as_str().into(),
        Value::Duration(_) | Value::Bytes(_) | Value::Enum(_) | Value::Range(_) => {
            value.show().into()
        }
        Value::List(items) => all(items),
        Value::Set(set) => all(set.items()),
        Value::Pair(pair) => all(&[pair.first.clone(), pair.second.clone()]),
        Value::Dict(dict) => fields(&mut dict.iter()),
        Value::Struct(body) => fields(&mut body.fields()),
        _ => serde_json::Value::Null,
    }
}

/// JSON as a value. Numbers beyond 64 bits become floats.
pub(crate) fn from_json(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Nil,
        serde_json::Value::Bool(value) => Value::Bool(*value),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(value) => Value::Int(value),
            None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        serde_json::Value::String(text) => Value::from(text.as_str()),
        serde_json::Value::Array(items) => items.iter().map(from_json).collect(),
        serde_json::Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, value)| (Text::from(key.as_str()), from_json(value)));
            Value::Dict(fields.collect::<Dict>())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_survives_the_way_into_a_program_and_back() {
        let json = json!({"a": [1, 2.0, "x", null, true], "b": {"c": -1}});
        assert_eq!(to_json(&from_json(&json)), json);
    }

    #[test]
    fn what_is_no_json_is_null() {
        assert_eq!(to_json(&Value::Float(f64::NAN)), json!(null));
        let mut deep = Value::Int(1);
        for _ in 0..1000 {
            deep = [deep].into_iter().collect();
        }
        let text = to_json(&deep).to_string();
        assert_eq!(text.matches("[").count(), DEPTH_MAX);
        assert!(text.contains("[null]"), "{text}");
    }
}
