//! JSON text with sorted keys.
//!
//! Objects keep the order in which they were made. A text that is compared, hashed or shown
//! must not depend on it: programs see the entries of a dict sorted by key, and so does everybody
//! who reads one as JSON.

use serde_json::Value;

/// The value as compact JSON, the keys of all objects sorted.
pub fn sorted_json(value: &Value) -> String {
    match is_sorted(value) {
        true => written(value),
        false => written(&sorted(value)),
    }
}

/// The value as JSON with line breaks, the keys of all objects sorted.
pub fn sorted_json_pretty(value: &Value) -> String {
    let text = match is_sorted(value) {
        true => serde_json::to_string_pretty(value),
        false => serde_json::to_string_pretty(&sorted(value)),
    };
    text.expect("every JSON value can be written")
}

/// Without the detour over formatting that `to_string` takes.
fn written(value: &Value) -> String {
    serde_json::to_string(value).expect("every JSON value can be written")
}

fn sorted(value: &Value) -> Value {
    let mut value = value.clone();
    value.sort_all_objects();
    value
}

fn is_sorted(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().all(is_sorted),
        Value::Object(fields) => fields.keys().is_sorted() && fields.values().all(is_sorted),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_are_sorted_at_every_depth() {
        let value = json!({"b": [{"d": 1, "c": null}], "a": {}});
        assert_eq!(sorted_json(&value), r#"{"a":{},"b":[{"c":null,"d":1}]}"#);
        assert_eq!(sorted_json(&json!({"a": 1, "b": 2})), r#"{"a":1,"b":2}"#);
        let pretty = sorted_json_pretty(&json!({"b": 1, "a": 2}));
        assert_eq!(pretty, "{\n  \"a\": 2,\n  \"b\": 1\n}");
    }
}
