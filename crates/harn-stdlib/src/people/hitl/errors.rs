//! What is thrown when people do not give what was asked for.

use harn_machine::{Failure, Fault, Value};

use super::request::Request;
use super::response::Response;

/// Nobody has answered in time.
pub(super) fn timed_out(request: &Request) -> Failure {
    let kind = request.kind.name();
    Fault::thrown(Value::dict([
        ("name", "HumanTimeoutError".into()),
        ("category", "timeout".into()),
        ("message", format!("{kind} timed out").into()),
        ("request_id", request.id.as_str().into()),
        ("kind", kind.into()),
    ]))
}

/// Somebody has not approved.
pub(super) fn denied(request: &Request, response: &Response) -> Failure {
    let reason = response.reason.as_deref();
    Fault::thrown(Value::dict([
        ("name", "ApprovalDeniedError".into()),
        ("category", "generic".into()),
        ("message", reason.unwrap_or("approval was denied").into()),
        ("request_id", request.id.as_str().into()),
        (
            "reviewers",
            Value::list(vec![response.reviewer_name().into()]),
        ),
        ("reason", reason.into()),
    ]))
}

/// The request was taken back.
pub(super) fn cancelled(request: &Request, wait_id: String, reason: &Value) -> Failure {
    let kind = request.kind.name();
    let message = match reason {
        Value::Nil => format!("{kind} was cancelled").into(),
        reason => reason.clone(),
    };
    Fault::thrown(Value::dict([
        ("name", "HumanCancelledError".into()),
        ("category", "cancelled".into()),
        ("message", message),
        ("request_id", request.id.as_str().into()),
        ("kind", kind.into()),
        ("wait_id", wait_id.into()),
        (
            "waitpoint_ids",
            Value::list(vec![request.id.as_str().into()]),
        ),
        ("reason", reason.clone()),
    ]))
}
