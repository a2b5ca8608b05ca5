//! Records without secrets.

use harn_events::{Completeness, RedactionPolicy};
use harn_log::LogEvent;

/// Takes secrets out of a record. A log stores what it is given, so whoever emits
/// calls this first; whoever shows records may call it again.
pub trait RedactLogEvent {
    /// Replaces what the policy hides in headers and payload by `[redacted]`.
    fn redact_in_place(&mut self, policy: &RedactionPolicy);
}

impl RedactLogEvent for LogEvent {
    fn redact_in_place(&mut self, policy: &RedactionPolicy) {
        policy.redact_value(&mut self.payload, Completeness::Whole);
        for (name, value) in &mut self.headers {
            if policy.is_sensitive_name(name) {
                *value = "[redacted]".to_owned();
                continue;
            }
            let redacted = policy.redact_text(value, Completeness::Whole).into_owned();
            *value = redacted;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn headers_and_fields_are_hidden_by_name_and_secrets_by_shape() {
        let mut event = LogEvent::at(
            "k",
            json!({"password": "p", "text": "Bearer abcdefghijklmnop1234", "n": 1}),
            0,
        )
        .with_header("Authorization", "anything")
        .with_header("session_id", "s");
        event.redact_in_place(&RedactionPolicy::new());
        assert_eq!(event.payload["password"], "[redacted]");
        assert_eq!(event.payload["n"], 1);
        assert!(!event.payload.to_string().contains("abcdefghijklmnop1234"));
        assert_eq!(event.headers["Authorization"], "[redacted]");
        assert_eq!(event.headers["session_id"], "s");
    }
}
