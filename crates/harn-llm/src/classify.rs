//! What a failure means: whether to try again, and what programs are told.
//!
//! A failure of ours carries its category from where it happened. What a provider or a mock
//! writes is text, and programs rely on how the specification reads it: phrases first, the
//! category last.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{Category, Error};

/// Whether trying again makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It does.
    Transient,
    /// It does not.
    Terminal,
}

impl Kind {
    /// The word programs see.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Transient => "transient",
            Kind::Terminal => "terminal",
        }
    }
}

/// Why a call failed, as programs see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Slow down.
    RateLimit,
    /// The provider failed.
    ServerError,
    /// The network failed.
    NetworkError,
    /// Time was over.
    Timeout,
    /// The key is missing or refused.
    AuthFailure,
    /// The conversation is too long.
    ContextOverflow,
    /// The provider does not want to answer that.
    ContentPolicy,
    /// The provider does not understand the request.
    InvalidRequest,
    /// There is no such model.
    ModelUnavailable,
    /// Anything else.
    Unknown,
}

impl Reason {
    /// The word programs see.
    pub fn word(self) -> &'static str {
        match self {
            Reason::RateLimit => "rate_limit",
            Reason::ServerError => "server_error",
            Reason::NetworkError => "network_error",
            Reason::Timeout => "timeout",
            Reason::AuthFailure => "auth_failure",
            Reason::ContextOverflow => "context_overflow",
            Reason::ContentPolicy => "content_policy",
            Reason::InvalidRequest => "invalid_request",
            Reason::ModelUnavailable => "model_unavailable",
            Reason::Unknown => "unknown",
        }
    }

    /// The kind that goes with it.
    pub fn kind(self) -> Kind {
        match self {
            Reason::RateLimit | Reason::ServerError | Reason::NetworkError | Reason::Timeout => {
                Kind::Transient
            }
            Reason::AuthFailure
            | Reason::ContextOverflow
            | Reason::ContentPolicy
            | Reason::InvalidRequest
            | Reason::ModelUnavailable
            | Reason::Unknown => Kind::Terminal,
        }
    }
}

const OVERFLOW_PHRASES: &[&str] = &[
    "maximum context length",
    "context length",
    "context exceeded",
    "context_length_exceeded",
    "context_overflow",
    "prompt is too long",
    "prompt_tokens_exceeded",
    "exceeds the maximum",
];

const POLICY_PHRASES: &[&str] = &[
    "content_policy",
    "content policy",
    "safety policy",
    "moderation",
    "responsible_ai_policy",
    "blocked by policy",
];

/// Phrases in the order they are looked for, after those of overflow and policy.
const PHRASES: &[(&[&str], Reason)] = &[
    (
        &[
            "invalid_api_key",
            "authentication_error",
            "auth_failure",
            "unauthorized",
            "forbidden",
        ],
        Reason::AuthFailure,
    ),
    (
        &[
            "model_not_found",
            "not_found_error",
            "model unavailable",
            "model is unavailable",
            "model not found",
        ],
        Reason::ModelUnavailable,
    ),
    (
        &[
            "[rate_limited]",
            "too many requests",
            "insufficient_quota",
            "billing_hard_limit_reached",
        ],
        Reason::RateLimit,
    ),
    (
        &[
            "[http_error]",
            "bad gateway",
            "service unavailable",
            "overloaded",
            "api_error",
        ],
        Reason::ServerError,
    ),
    (&["timed out", "timeout"], Reason::Timeout),
    (
        &[
            "connection reset",
            "connection refused",
            "connection closed",
            "broken pipe",
            "dns error",
            "stream error",
            "eof",
        ],
        Reason::NetworkError,
    ),
    (&["invalid_request", "bad request"], Reason::InvalidRequest),
];

/// Words that name a reason in a message that calls itself transient.
const TRANSIENT_WORDS: &[(&[&str], Reason)] = &[
    (&["rate_limit", "rate_limited"], Reason::RateLimit),
    (&["timeout"], Reason::Timeout),
    (
        &["network_error", "transient_network"],
        Reason::NetworkError,
    ),
    (&["server_error", "overloaded"], Reason::ServerError),
];

/// What a failure means. `message` is read first, `category` last.
pub fn classify(category: Category, message: &str) -> Reason {
    let text = message.to_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    let calls_itself_transient = text.contains("kind") && text.contains("transient");
    let named = TRANSIENT_WORDS.iter().find(|(words, _)| says(words));
    if let Some((_, reason)) = named.filter(|_| calls_itself_transient) {
        return *reason;
    }
    if let Some(reason) = forbidden_or_too_long(&text) {
        return reason;
    }
    if let Some((_, reason)) = PHRASES.iter().find(|(phrases, _)| says(phrases)) {
        return *reason;
    }
    if is_empty_completion(message) {
        return Reason::ServerError;
    }
    by_category(category)
}

/// What a failure of ours means: its category was decided where the cause was known.
fn by_category(category: Category) -> Reason {
    match category {
        Category::RateLimit => Reason::RateLimit,
        Category::Timeout => Reason::Timeout,
        Category::Overloaded | Category::ServerError => Reason::ServerError,
        Category::TransientNetwork | Category::StreamTruncated => Reason::NetworkError,
        Category::Auth => Reason::AuthFailure,
        Category::NotFound => Reason::ModelUnavailable,
        _ => Reason::Unknown,
    }
}

/// `text` is in lower case.
fn forbidden_or_too_long(text: &str) -> Option<Reason> {
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    let exceeds =
        text.contains("exceed") && (text.contains("context") || text.contains("max_tokens"));
    match () {
        () if exceeds || says(OVERFLOW_PHRASES) => Some(Reason::ContextOverflow),
        () if says(POLICY_PHRASES) => Some(Reason::ContentPolicy),
        () => None,
    }
}

/// Whether a model counted tokens and gave nothing for them, which passes by itself.
pub fn is_empty_completion(message: &str) -> bool {
    message.contains("completion_tokens=") && message.contains("delivered no content")
}

/// The failure that an HTTP status means.
pub fn http_failure(provider: &str, status: u16, body: &str, retry_after: Option<&str>) -> Error {
    let (category, reason) = by_status(status, body);
    let tag = match reason {
        Reason::RateLimit => "rate_limited",
        Reason::ServerError => "http_error",
        reason => reason.word(),
    };
    let phrase = status_phrase(status);
    let mut message = format!("{provider} HTTP {status}{phrase} [{tag}]: {body}");
    if let (Reason::ContextOverflow, Some(tokens)) = (reason, largest_number(body)) {
        message.push_str(&format!(" (offending_tokens: {tokens})"));
    }
    if let Some(text) = retry_after {
        message.push_str(&format!(" (retry-after: {text})"));
    }
    Error {
        category,
        message,
        status: Some(status),
        retry_after: None,
    }
}

/// In the order of the specification: what the body says about length and policy, then the
/// status.
fn by_status(status: u16, body: &str) -> (Category, Reason) {
    if let Some(reason) = forbidden_or_too_long(&body.to_lowercase()) {
        return (Category::Generic, reason);
    }
    match status {
        401 | 403 => (Category::Auth, Reason::AuthFailure),
        429 => (Category::RateLimit, Reason::RateLimit),
        408 | 504 | 522 | 524 => (Category::Timeout, Reason::Timeout),
        404 | 410 => (Category::NotFound, Reason::ModelUnavailable),
        529 | 503 => (Category::Overloaded, Reason::ServerError),
        500 | 502 => (Category::ServerError, Reason::ServerError),
        // A conflict passes: protocols.md counts it among what is tried again.
        409 => (Category::ServerError, Reason::ServerError),
        400 => (Category::Generic, Reason::InvalidRequest),
        _ => (Category::Generic, Reason::Unknown),
    }
}

/// The reason phrase of a status with a space before it; nothing if there is none.
fn status_phrase(status: u16) -> String {
    let phrase = reqwest::StatusCode::from_u16(status).ok();
    let phrase = phrase.and_then(|status| status.canonical_reason());
    phrase
        .map(|phrase| format!(" {phrase}"))
        .unwrap_or_default()
}

fn largest_number(text: &str) -> Option<u64> {
    let numbers = text.split(|character: char| !character.is_ascii_digit());
    numbers.filter_map(|digits| digits.parse().ok()).max()
}

/// The longest a provider can make us wait.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);

/// How long to wait by a `retry-after` text: seconds, with a fraction if need be, or a date.
/// `now` is in milliseconds since the epoch.
pub fn read_retry_after(text: &str, now: i64) -> Option<Duration> {
    let text = text.trim();
    let wait = match text.parse::<f64>() {
        Ok(seconds) if seconds.is_finite() && seconds >= 0.0 => {
            Duration::from_secs_f64(seconds.min(RETRY_AFTER_MAX.as_secs_f64()))
        }
        Ok(_) => return None,
        Err(_) => {
            let date = httpdate::parse_http_date(text).ok()?;
            let since = date.duration_since(std::time::UNIX_EPOCH).ok()?;
            let date = i64::try_from(since.as_millis()).ok()?;
            Duration::from_millis(u64::try_from(date.saturating_sub(now)).unwrap_or(0))
        }
    };
    Some(wait.min(RETRY_AFTER_MAX))
}

/// How long the text of a failure says to wait: `retry-after: X` anywhere in it.
pub fn retry_after_in(message: &str, now: i64) -> Option<Duration> {
    let at = message.to_ascii_lowercase().find("retry-after:")?;
    let rest = &message[at + "retry-after:".len()..];
    let line = rest.split(['\n', ')']).next().unwrap_or_default();
    read_retry_after(line, now)
}

/// The dict a program catches when a call fails.
pub fn thrown(error: &Error, provider: &str, model: &str, now: i64) -> Value {
    let reason = classify(error.category, &error.message);
    let mut dict = json!({
        "category": error.category.word(),
        "kind": reason.kind().word(),
        "reason": reason.word(),
        "message": error.message,
        "provider": provider,
        "model": model,
    });
    if let Some(wait) = wait_for(error, now) {
        dict["retry_after_ms"] = json!(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
    }
    dict
}

/// How long the provider wants us to wait, from wherever it said so.
pub fn wait_for(error: &Error, now: i64) -> Option<Duration> {
    let wait = error.retry_after.map(|wait| wait.min(RETRY_AFTER_MAX));
    wait.or_else(|| retry_after_in(&error.message, now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(category: Category, message: &str, expected: Reason) {
        assert_eq!(classify(category, message), expected, "{message}");
    }

    #[test]
    fn messages_are_read_before_categories() {
        use Category::{Auth, Generic, RateLimit};
        check(
            Generic,
            "{kind: transient, reason: rate_limited}",
            Reason::RateLimit,
        );
        check(Auth, "kind transient timeout", Reason::Timeout);
        check(
            Auth,
            "kind transient transient_network",
            Reason::NetworkError,
        );
        check(Auth, "kind transient overloaded", Reason::ServerError);
        check(
            RateLimit,
            "Maximum context length is 8",
            Reason::ContextOverflow,
        );
        check(
            Generic,
            "max_tokens will exceed the limit",
            Reason::ContextOverflow,
        );
        check(RateLimit, "flagged by moderation", Reason::ContentPolicy);
        check(Generic, "Unauthorized", Reason::AuthFailure);
        check(Generic, "model_not_found", Reason::ModelUnavailable);
        check(Generic, "insufficient_quota", Reason::RateLimit);
        check(Generic, "502 Bad Gateway", Reason::ServerError);
        check(Generic, "operation timed out", Reason::Timeout);
        check(Generic, "connection reset by peer", Reason::NetworkError);
        check(Generic, "unexpected EOF", Reason::NetworkError);
        check(Generic, "invalid_request: x", Reason::InvalidRequest);
    }

    #[test]
    fn categories_decide_when_messages_say_nothing() {
        for (category, expected) in [
            (Category::RateLimit, Reason::RateLimit),
            (Category::Timeout, Reason::Timeout),
            (Category::Overloaded, Reason::ServerError),
            (Category::ServerError, Reason::ServerError),
            (Category::TransientNetwork, Reason::NetworkError),
            (Category::Auth, Reason::AuthFailure),
            (Category::NotFound, Reason::ModelUnavailable),
            (Category::SchemaValidation, Reason::Unknown),
            (Category::Cancelled, Reason::Unknown),
        ] {
            check(category, "no", expected);
        }
    }

    #[test]
    fn http_failures_say_status_tag_and_body() {
        let rows: [(u16, &str, Option<&str>, &str, Category); 7] = [
            (
                429,
                "slow",
                Some("2"),
                "p HTTP 429 Too Many Requests [rate_limited]: slow (retry-after: 2)",
                Category::RateLimit,
            ),
            (
                500,
                "",
                None,
                "p HTTP 500 Internal Server Error [http_error]: ",
                Category::ServerError,
            ),
            (
                529,
                "busy",
                None,
                "p HTTP 529 [http_error]: busy",
                Category::Overloaded,
            ),
            (
                401,
                "who",
                None,
                "p HTTP 401 Unauthorized [auth_failure]: who",
                Category::Auth,
            ),
            (
                404,
                "x",
                None,
                "p HTTP 404 Not Found [model_unavailable]: x",
                Category::NotFound,
            ),
            (
                400,
                "x",
                None,
                "p HTTP 400 Bad Request [invalid_request]: x",
                Category::Generic,
            ),
            (
                400,
                "maximum context length is 8192 tokens, got 9000",
                None,
                "p HTTP 400 Bad Request [context_overflow]: maximum context length is 8192 tokens, got 9000 (offending_tokens: 9000)",
                Category::Generic,
            ),
        ];
        for (status, body, retry_after, message, category) in rows {
            let error = http_failure("p", status, body, retry_after);
            assert_eq!(
                (error.message.as_str(), error.category),
                (message, category)
            );
        }
    }

    #[test]
    fn waiting_is_told_in_seconds_or_by_a_date() {
        let second = Duration::from_secs(1);
        assert_eq!(read_retry_after(" 1 ", 0), Some(second));
        assert_eq!(
            read_retry_after("0.25", 0),
            Some(Duration::from_millis(250))
        );
        assert_eq!(read_retry_after("1e9", 0), Some(Duration::from_secs(60)));
        assert_eq!(read_retry_after("-1", 0), None);
        assert_eq!(read_retry_after("soon", 0), None);
        // 784111777 s after the epoch.
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(read_retry_after(date, 784_111_776_000), Some(second));
        assert_eq!(
            read_retry_after(date, 784_111_778_000),
            Some(Duration::ZERO)
        );
    }

    #[test]
    fn programs_catch_a_dict() {
        let error = Error::new(Category::RateLimit, "slow\nretry-after: 2\n");
        let expected = json!({
            "category": "rate_limit", "kind": "transient", "reason": "rate_limit",
            "message": "slow\nretry-after: 2\n", "retry_after_ms": 2000,
            "provider": "mock", "model": "m",
        });
        assert_eq!(thrown(&error, "mock", "m", 0), expected);
    }
}
