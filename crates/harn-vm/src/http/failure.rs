//! What went wrong, in words that show no URL: a key can be part of one.

use std::error::Error;
use std::time::Duration;

use harn_machine::{NetAnswer, NetFailure, NetFailureKind};

use super::pin::is_mismatch;

/// A failure.
pub(super) fn failure(kind: NetFailureKind, reason: impl Into<String>) -> NetFailure {
    NetFailure {
        kind,
        reason: reason.into(),
    }
}

/// The answer of an effect.
pub(super) fn answer(result: Result<NetAnswer, NetFailure>) -> NetAnswer {
    result.unwrap_or_else(NetAnswer::Failed)
}

/// Nothing came in time.
pub(super) fn too_late(limit: Duration) -> NetFailure {
    let reason = format!("timed out after {}ms", limit.as_millis());
    failure(NetFailureKind::Timeout, reason)
}

/// A request without an answer.
pub(super) fn unanswered(error: &reqwest::Error) -> NetFailure {
    let (kind, what) = match () {
        () if is_mismatch(error) => (NetFailureKind::Pin, "the server has another key"),
        () if error.is_timeout() => (NetFailureKind::Timeout, "connecting timed out"),
        () if error.is_builder() => (NetFailureKind::Impossible, "it cannot be sent"),
        () if error.is_connect() => (NetFailureKind::Connection, "cannot connect"),
        () => (NetFailureKind::Connection, "the connection broke"),
    };
    failure(kind, with_causes(what, error))
}

/// A body that broke off.
pub(super) fn broken_off(error: &reqwest::Error) -> NetFailure {
    let what = match error.is_decode() {
        true => "it cannot be unpacked",
        false => "the connection broke",
    };
    failure(NetFailureKind::Body, with_causes(what, error))
}

/// What happened and the causes below it, without what the client says itself.
fn with_causes(what: &str, error: &reqwest::Error) -> String {
    let mut message = what.to_owned();
    let mut cause = error.source();
    while let Some(error) = cause {
        message.push_str(": ");
        message.push_str(&error.to_string());
        cause = error.source();
    }
    message
}
