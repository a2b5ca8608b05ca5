//! Putting a program's payload beside keys of our own.
//!
//! Some events carry whatever a script made up, and protocol envelopes show its
//! keys at top level. A script may use a key the envelope needs, so in that case
//! the payload as a whole moves one level down; it is never lost and never fails
//! the envelope.

use serde_json::{Map, Value};

/// The keys of `payload` for an object that has the keys `reserved` already. A
/// payload that is not an object has no keys.
pub fn spread_payload(payload: &Value, reserved: &[&str]) -> Map<String, Value> {
    let Some(object) = payload.as_object() else {
        return Map::new();
    };
    if reserved.iter().any(|key| object.contains_key(*key)) {
        return Map::from_iter([("payload".to_owned(), payload.clone())]);
    }
    object.clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(payload: Value, expected: Value) {
        let spread = Value::Object(spread_payload(&payload, &["kind", "sessionId"]));
        assert_eq!(spread, expected);
    }

    #[test]
    fn a_payload_with_a_reserved_key_is_delivered_one_level_down() {
        check(
            json!({"kind": "ping_pong", "n": 1}),
            json!({"payload": {"kind": "ping_pong", "n": 1}}),
        );
        check(
            json!({"sessionId": "x"}),
            json!({"payload": {"sessionId": "x"}}),
        );
    }

    #[test]
    fn other_payloads_are_spread() {
        check(
            json!({"pattern": "ping_pong"}),
            json!({"pattern": "ping_pong"}),
        );
        check(json!([1, 2]), json!({}));
        check(Value::Null, json!({}));
    }
}
