//! How long somebody is ready to wait.

use harn_machine::Value;

/// A time as a program gives it: a duration or a number of milliseconds.
pub(crate) fn milliseconds(value: &Value) -> Option<i64> {
    match value {
        Value::Int(time) | Value::Duration(time) => Some(*time),
        // Beyond what an int holds it is for ever either way.
        Value::Float(time) => Some(*time as i64),
        _ => None,
    }
}

/// The time that an argument allows, also as `{timeout_ms}` or `{max_wait_ms}`; `None`: as
/// long as it takes. No time means one try.
pub(crate) fn patience(value: &Value) -> Option<i64> {
    let time = match value {
        Value::Dict(options) => ["timeout_ms", "max_wait_ms"]
            .into_iter()
            .find_map(|name| milliseconds(options.get(name)?)),
        _ => milliseconds(value),
    };
    time.map(|time| time.max(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_number_a_duration_or_an_option() {
        let dict = |name, time| Value::dict([(name, time)]);
        let table = [
            (Value::Nil, None),
            (Value::Int(20), Some(20)),
            (Value::Int(-20), Some(0)),
            (Value::Duration(1500), Some(1500)),
            (Value::Float(2.9), Some(2)),
            (dict("timeout_ms", Value::Int(7)), Some(7)),
            (dict("max_wait_ms", Value::Duration(8)), Some(8)),
            (dict("other", Value::Int(7)), None),
            (Value::text("5"), None),
        ];
        for (value, expected) in table {
            assert_eq!(patience(&value), expected, "{value}");
        }
    }
}
