//! Takes out what should not be kept.

use harn_machine::Value;
use harn_machine::value::{Dict, Text};

/// What stands in the place of something that was taken out.
const REDACTED: &str = "[redacted]";

/// How long a word of letters and digits may be before it is taken for a secret.
const WORD_MAX: usize = 48;

/// A text without what looks like a secret, its words joined by single spaces.
pub(super) fn text(text: &str) -> String {
    let words = text.split_whitespace().map(|word| match is_secret(word) {
        true => REDACTED,
        false => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The same for every text in a value, and for the fields whose names say that they are secret.
pub(crate) fn value(value: &Value) -> Value {
    match value {
        Value::Text(content) => text(content).into(),
        Value::List(items) => items.iter().map(self::value).collect(),
        Value::Dict(fields) => dict(fields).into(),
        other => other.clone(),
    }
}

/// The same for a dict.
pub(super) fn dict(fields: &Dict) -> Dict {
    let kept = fields.iter().filter(|(key, _)| !is_raw(key));
    let kept = kept.map(|(key, field)| match is_telling(key) {
        true => (key.clone(), Value::from(REDACTED)),
        false => (key.clone(), value(field)),
    });
    kept.collect()
}

/// Whether a field holds what people wrote as they wrote it, which is never kept.
fn is_raw(key: &str) -> bool {
    matches!(key, "raw_content" | "raw_prompt")
}

fn is_telling(key: &Text) -> bool {
    let key = key.to_lowercase();
    let telling = ["secret", "token", "password", "api_key", "apikey"];
    key == "authorization" || telling.iter().any(|part| key.contains(part))
}

/// Whether a word looks like a secret.
pub(super) fn is_secret(word: &str) -> bool {
    let lower = word.to_lowercase();
    let assigned = ["token=", "password=", "api_key=", "apikey="];
    let prefixes = ["sk-", "ghp_", "xoxb-", "AKIA"];
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
    assigned.iter().any(|part| lower.contains(part))
        || prefixes.iter().any(|prefix| word.starts_with(prefix))
        || (word.chars().count() > WORD_MAX && word.chars().all(is_plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_taken_out_and_words_joined() {
        for (given, expected) in [
            ("call  sk-abc\nnow", "call [redacted] now"),
            ("Password=x y", "[redacted] y"),
            ("a?api_key=1 b", "[redacted] b"),
            ("AKIA1 akia1", "[redacted] akia1"),
            ("risk-free", "risk-free"),
        ] {
            assert_eq!(text(given), expected);
        }
        assert_eq!(text(&"a".repeat(48)), "a".repeat(48));
        assert_eq!(text(&"a".repeat(49)), REDACTED);
        assert_eq!(text(&"a/".repeat(49)), "a/".repeat(49));
    }

    #[test]
    fn fields_are_taken_out_by_their_names() {
        let given = Value::dict([
            ("Authorization", "x".into()),
            ("secret_ref", "vault".into()),
            ("query", "status ghp_1".into()),
            ("raw_prompt", "x".into()),
            ("n", Value::Int(1)),
            (
                "inner",
                Value::list(vec![Value::dict([("apiKey", "x".into())])]),
            ),
        ]);
        assert_eq!(
            value(&given).show(),
            "{Authorization: [redacted], inner: [{apiKey: [redacted]}], n: 1, \
             query: status [redacted], secret_ref: [redacted]}"
        );
    }
}
