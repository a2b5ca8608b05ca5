//! Values where the script wants text or a truth.

use serde_json::Value;

/// Below this, a float without a fraction is shown with one decimal.
const INTEGRAL_MAX: f64 = 1e15;

/// A value as the language shows it.
pub(super) fn display(value: &Value) -> String {
    match value {
        Value::Null => "nil".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => display_number(number),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(display).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let show = |(key, value): (&String, &Value)| format!("{key}: {}", display(value));
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(key, _)| *key);
            let fields: Vec<String> = fields.into_iter().map(show).collect();
            format!("{{{}}}", fields.join(", "))
        }
    }
}

fn display_number(number: &serde_json::Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() => {
            if float.fract() == 0.0 && float.abs() < INTEGRAL_MAX {
                format!("{float:.1}")
            } else {
                float.to_string()
            }
        }
        _ => number.to_string(),
    }
}

/// Whether the language takes the value for true.
pub(super) fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(truth) => *truth,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_shown_as_the_language_shows_them() {
        let rows = [
            (json!(null), "nil"),
            (json!(true), "true"),
            (json!(-3), "-3"),
            (json!(10.0), "10.0"),
            (json!(3.25), "3.25"),
            (json!(1e15), "1000000000000000"),
            (json!(["a", null, 2.0, {"k": "v"}]), "[a, nil, 2.0, {k: v}]"),
            (json!({"b": 1, "a": [true]}), "{a: [true], b: 1}"),
        ];
        for (value, expected) in rows {
            assert_eq!(display(&value), expected);
        }
    }

    #[test]
    fn zero_and_nothing_are_false() {
        for value in [
            json!(null),
            json!(false),
            json!(0),
            json!(0.0),
            json!(""),
            json!([]),
            json!({}),
        ] {
            assert!(!is_truthy(&value), "{value}");
        }
        for value in [
            json!(true),
            json!(-1),
            json!("0"),
            json!([0]),
            json!({"a": null}),
        ] {
            assert!(is_truthy(&value), "{value}");
        }
    }
}
