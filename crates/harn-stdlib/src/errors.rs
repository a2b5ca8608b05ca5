//! Assertions, and errors that programs tell apart by category.

use harn_machine::{Context, Failure, Fault, Registry, Value, argument};

use crate::expect::{text, text_or};

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("assert", assert),
        ("assert_eq", assert_eq),
        ("assert_ne", assert_ne),
        ("error_category", error_category),
        ("is_rate_limited", is_rate_limited),
        ("is_timeout", is_timeout),
        ("throw_error", throw_error),
    ]);
}

const CATEGORIES: [&str; 16] = [
    "timeout",
    "auth",
    "rate_limit",
    "overloaded",
    "server_error",
    "transient_network",
    "schema_validation",
    "tool_error",
    "tool_rejected",
    "egress_blocked",
    "cancelled",
    "not_found",
    "circuit_open",
    "budget_exceeded",
    "resource_busy",
    "generic",
];

/// What the texts of services and libraries give away.
const MARKS: [(&str, &str); 11] = [
    ("Deadline exceeded", "timeout"),
    ("context deadline exceeded", "timeout"),
    ("overloaded_error", "overloaded"),
    ("api_error", "server_error"),
    ("insufficient_quota", "rate_limit"),
    ("billing_hard_limit_reached", "rate_limit"),
    ("invalid_api_key", "auth"),
    ("authentication_error", "auth"),
    ("not_found_error", "not_found"),
    ("model_not_found", "not_found"),
    ("circuit_open", "circuit_open"),
];

/// What connections say when they break, in whatever case.
const NETWORK_MARKS: [&str; 7] = [
    "connection reset",
    "connection refused",
    "connection closed",
    "broken pipe",
    "dns error",
    "stream error",
    "unexpected eof",
];

fn assert(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    match argument(arguments, 0).is_truthy() {
        true => Ok(Value::Nil),
        false => Err(Fault::thrown(text_or(arguments, 1, "Assertion failed"))),
    }
}

fn assert_eq(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let [actual, expected, ..] = arguments else {
        return Err(Fault::thrown("assert_eq requires at least 2 arguments"));
    };
    if actual == expected {
        return Ok(Value::Nil);
    }
    let message = format!("Assertion failed: expected {expected}, got {actual}");
    Err(Fault::thrown(message_or(arguments, message)))
}

fn assert_ne(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let [one, other, ..] = arguments else {
        return Err(Fault::thrown("assert_ne requires at least 2 arguments"));
    };
    if one != other {
        return Ok(Value::Nil);
    }
    let message = format!("Assertion failed: values should not be equal: {one}");
    Err(Fault::thrown(message_or(arguments, message)))
}

/// The message that was passed after two values, or the usual one.
fn message_or(arguments: &[Value], usual: String) -> Value {
    match argument(arguments, 2) {
        Value::Nil => usual.into(),
        message => message.to_text().into(),
    }
}

fn throw_error(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let category = text_or(arguments, 1, "generic");
    let known = CATEGORIES
        .into_iter()
        .find(|known| *known == category.as_str());
    Err(Fault::thrown(Value::dict([
        ("category", known.unwrap_or("generic").into()),
        ("message", text(arguments, 0).into()),
    ])))
}

fn error_category(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(category_of(argument(arguments, 0)))
}

fn is_timeout(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok((category_of(argument(arguments, 0)) == Value::text("timeout")).into())
}

fn is_rate_limited(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok((category_of(argument(arguments, 0)) == Value::text("rate_limit")).into())
}

/// The category of a caught value.
fn category_of(error: &Value) -> Value {
    match error {
        Value::Dict(dict) => match dict.get("category") {
            Some(category) => category.to_text().into(),
            None => "generic".into(),
        },
        Value::Text(text) => classify(text).into(),
        _ => "generic".into(),
    }
}

/// The category that the text of an error speaks for.
pub(crate) fn classify(text: &str) -> &'static str {
    if let Some(category) = stated_category(text) {
        return category;
    }
    if let Some(category) = status_codes(text).find_map(category_of_status) {
        return category;
    }
    if let Some((_, category)) = MARKS.iter().find(|(mark, _)| text.contains(mark)) {
        return category;
    }
    let lower = text.to_lowercase();
    match NETWORK_MARKS.iter().any(|mark| lower.contains(mark)) {
        true => "transient_network",
        false => "generic",
    }
}

/// The category that a categorised error names at the beginning of its text.
fn stated_category(text: &str) -> Option<&'static str> {
    let (stated, _) = text.strip_prefix("Error [")?.split_once("]: ")?;
    CATEGORIES.into_iter().find(|known| *known == stated)
}

/// The numbers of three digits in a text.
fn status_codes(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_ascii_digit())
        .filter(|digits| digits.len() == 3)
}

fn category_of_status(code: &str) -> Option<&'static str> {
    Some(match code {
        "401" | "403" => "auth",
        "404" | "410" => "not_found",
        "408" | "504" | "522" | "524" => "timeout",
        "429" => "rate_limit",
        "503" | "529" => "overloaded",
        "500" | "502" => "server_error",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::classify;

    #[test]
    fn texts_are_classified_by_status_then_by_marks_then_by_what_networks_say() {
        for (text, category) in [
            ("HTTP 401 Unauthorized", "auth"),
            ("status 418 then 429", "rate_limit"),
            ("got 503: Deadline exceeded", "overloaded"),
            ("took 4040 ms", "generic"),
            ("code=524", "timeout"),
            ("context deadline exceeded", "timeout"),
            ("overloaded_error", "overloaded"),
            ("upstream api_error", "server_error"),
            ("insufficient_quota", "rate_limit"),
            ("invalid_api_key", "auth"),
            ("model_not_found", "not_found"),
            ("circuit_open: x", "circuit_open"),
            ("Connection Reset by peer", "transient_network"),
            ("UNEXPECTED EOF", "transient_network"),
            ("boom", "generic"),
            ("Error [resource_busy]: f: s is in use", "resource_busy"),
            ("Error [tool_rejected]: got 503", "tool_rejected"),
            ("Error [nonsense]: got 503", "overloaded"),
        ] {
            assert_eq!(classify(text), category, "{text}");
        }
    }
}
