//! Reads the errors that providers report inside an answer.
//!
//! The category comes from the words and numbers made for that, `code` and `type`; the
//! message is for people.

use serde_json::Value;

use crate::{Category, Error};

/// How much of a provider's message we pass on.
const MESSAGE_CHARS_MAX: usize = 2_000;

/// What the words of `code` and `type` mean. What is not here is the caller's mistake.
const WORDS: [(&str, Category); 31] = [
    ("rate_limit_exceeded", Category::RateLimit),
    ("rate_limit_error", Category::RateLimit),
    ("rate_limited", Category::RateLimit),
    ("too_many_requests", Category::RateLimit),
    ("insufficient_quota", Category::RateLimit),
    ("requests", Category::RateLimit),
    ("tokens", Category::RateLimit),
    ("invalid_api_key", Category::Auth),
    ("authentication_error", Category::Auth),
    ("permission_error", Category::Auth),
    ("permission_denied", Category::Auth),
    ("unauthorized", Category::Auth),
    ("overloaded_error", Category::Overloaded),
    ("overloaded", Category::Overloaded),
    ("server_overloaded", Category::Overloaded),
    ("engine_overloaded", Category::Overloaded),
    ("service_unavailable", Category::Overloaded),
    ("unavailable_error", Category::Overloaded),
    ("slow_down", Category::Overloaded),
    ("server_error", Category::ServerError),
    ("internal_server_error", Category::ServerError),
    ("internal_error", Category::ServerError),
    ("internalservererror", Category::ServerError),
    ("api_error", Category::ServerError),
    ("bad_gateway", Category::ServerError),
    ("timeout", Category::Timeout),
    ("request_timeout", Category::Timeout),
    ("model_not_found", Category::NotFound),
    ("not_found_error", Category::NotFound),
    ("not_found", Category::NotFound),
    ("notfounderror", Category::NotFound),
];

/// The failure that `error` reports: an object, or a text where servers send no more.
pub(in crate::wire) fn read(error: &Value) -> Error {
    let code = word(error, "code");
    let kind = word(error, "type").or_else(|| word(error, "error_type"));
    let number = number(error);
    let category = code
        .and_then(category_of_word)
        .or_else(|| kind.and_then(category_of_word))
        .or_else(|| number.and_then(category_of_number));
    let message = match error.get("message").or(Some(error)) {
        Some(Value::String(text)) => one_line(text),
        _ => one_line(&error.to_string()),
    };
    let label = code
        .or(kind)
        .map(one_line)
        .or_else(|| number.map(|number| format!("error {number}")));
    let message = match label {
        Some(label) => format!("{label}: {message}"),
        None => message,
    };
    Error::new(category.unwrap_or(Category::Generic), message)
}

/// The failure of a whole answer that is none.
pub(in crate::wire) fn no_answer(missing: &str) -> Error {
    Error::new(
        Category::ServerError,
        format!("the provider's answer has no `{missing}`"),
    )
}

fn word<'a>(error: &'a Value, key: &str) -> Option<&'a str> {
    let word = error.get(key)?.as_str()?;
    (!word.is_empty() && word.parse::<u64>().is_err()).then_some(word)
}

fn number(error: &Value) -> Option<u64> {
    let code = error.get("code").or_else(|| error.get("status"))?;
    code.as_u64().or_else(|| code.as_str()?.parse().ok())
}

fn category_of_word(word: &str) -> Option<Category> {
    let row = WORDS
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(word));
    row.map(|(_, category)| *category)
}

fn category_of_number(number: u64) -> Option<Category> {
    match number {
        401 | 403 => Some(Category::Auth),
        404 | 410 => Some(Category::NotFound),
        408 | 504 | 522 | 524 => Some(Category::Timeout),
        429 => Some(Category::RateLimit),
        503 | 529 => Some(Category::Overloaded),
        500 | 502 => Some(Category::ServerError),
        _ => None,
    }
}

fn one_line(text: &str) -> String {
    text.chars()
        .take(MESSAGE_CHARS_MAX)
        .map(|character| match character {
            control if control.is_control() => ' ',
            other => other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(error: Value, category: Category, message: &str) {
        assert_eq!(read(&error), Error::new(category, message), "{error}");
    }

    #[test]
    fn the_code_decides_then_the_type_then_the_number() {
        check(
            json!({"message": "Slow down", "type": "tokens", "code": "rate_limit_exceeded"}),
            Category::RateLimit,
            "rate_limit_exceeded: Slow down",
        );
        check(
            json!({"message": "The model is gone", "type": "invalid_request_error",
                   "code": "model_not_found"}),
            Category::NotFound,
            "model_not_found: The model is gone",
        );
        check(
            json!({"message": "boom", "type": "server_error", "code": 500}),
            Category::ServerError,
            "server_error: boom",
        );
        check(
            json!({"message": "Provider disconnected", "code": 502}),
            Category::ServerError,
            "error 502: Provider disconnected",
        );
        check(
            json!({"message": "busy", "code": "503"}),
            Category::Overloaded,
            "error 503: busy",
        );
    }

    #[test]
    fn what_nobody_knows_is_generic_and_keeps_its_words() {
        check(
            json!({"message": "too long", "code": "context_length_exceeded"}),
            Category::Generic,
            "context_length_exceeded: too long",
        );
        check(json!("two\nlines"), Category::Generic, "two lines");
        check(json!({"code": []}), Category::Generic, r#"{"code":[]}"#);
        check(json!(7), Category::Generic, "7");
    }

    #[test]
    fn a_long_message_is_cut() {
        let error = read(&json!({"message": "é".repeat(MESSAGE_CHARS_MAX + 1)}));
        assert_eq!(error.message.chars().count(), MESSAGE_CHARS_MAX);
    }
}
