//! Whether two documents say the same.

use serde_json::Value;

/// Floats that are whole are written as ints, and ints that are too large are floats.
pub(crate) fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            let mut pairs = one.iter().zip(other);
            one.len() == other.len() && pairs.all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let is_there = |(key, value): (&String, &Value)| {
                other.get(key).is_some_and(|other| is_same(value, other))
            };
            one.len() == other.len() && one.iter().all(is_there)
        }
        (one, other) => one == other,
    }
}
