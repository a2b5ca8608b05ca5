//! What Anthropic says when it fails.

use serde_json::Value;

use crate::{Category, Error};

/// The failure that an `error` event or body tells of.
pub(super) fn read(body: &Value) -> Error {
    let error = &body["error"];
    let kind = error["type"].as_str().unwrap_or("error");
    let message = match error["message"].as_str().or(error.as_str()) {
        Some(message) => format!("{kind}: {message}"),
        None => format!("{kind}: {body}"),
    };
    Error::new(category(kind), message)
}

fn category(kind: &str) -> Category {
    match kind {
        "overloaded_error" => Category::Overloaded,
        "rate_limit_error" => Category::RateLimit,
        "authentication_error" | "permission_error" => Category::Auth,
        "not_found_error" => Category::NotFound,
        "api_error" => Category::ServerError,
        "timeout_error" => Category::Timeout,
        // The request is at fault, so that asking again does not help:
        // `invalid_request_error`, `request_too_large`, `billing_error` and what is unknown.
        _ => Category::Generic,
    }
}
