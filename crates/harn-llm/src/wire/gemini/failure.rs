//! What Gemini says when it fails.

use std::time::Duration;

use serde_json::Value;

use crate::{Category, Error};

/// The longest wait that makes sense to hear of; more is a mistake.
const RETRY_SECONDS_MAX: f64 = 86_400.0;

/// The failure that the `error` of an event or body tells of.
pub(super) fn read(error: &Value) -> Error {
    let status = error["status"].as_str().unwrap_or("error");
    let message = match error["message"].as_str() {
        Some(message) => format!("{status}: {message}"),
        None => format!("{status}: {error}"),
    };
    let code = error["code"]
        .as_u64()
        .and_then(|code| u16::try_from(code).ok());
    Error {
        status: code,
        retry_after: retry_after(&error["details"]),
        ..Error::new(category(status, code), message)
    }
}

fn category(status: &str, code: Option<u16>) -> Category {
    match status {
        "UNAUTHENTICATED" | "PERMISSION_DENIED" => Category::Auth,
        "RESOURCE_EXHAUSTED" => Category::RateLimit,
        "UNAVAILABLE" => Category::Overloaded,
        "NOT_FOUND" => Category::NotFound,
        "DEADLINE_EXCEEDED" => Category::Timeout,
        "INTERNAL" | "UNKNOWN" | "ABORTED" => Category::ServerError,
        _ => match code {
            Some(401 | 403) => Category::Auth,
            Some(404) => Category::NotFound,
            Some(408 | 504) => Category::Timeout,
            Some(429) => Category::RateLimit,
            Some(503) => Category::Overloaded,
            Some(500..) => Category::ServerError,
            _ => Category::Generic,
        },
    }
}

/// The wait that one of the details asks for: `{"retryDelay": "3.5s"}`.
fn retry_after(details: &Value) -> Option<Duration> {
    let details = details.as_array()?;
    let delay = details
        .iter()
        .find_map(|detail| detail["retryDelay"].as_str())?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    let is_sensible = (0.0..=RETRY_SECONDS_MAX).contains(&seconds);
    is_sensible.then(|| Duration::from_secs_f64(seconds))
}
