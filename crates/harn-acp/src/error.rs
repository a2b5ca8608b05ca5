//! What a client is told when a request cannot be answered.
//!
//! One situation of the runtime is one code of the wire; the table is in the book. A message is
//! fit for a person and `data` for a program; neither has a stack trace, a path outside of the
//! workspace, a value of the environment or a credential in it.

use harn_vm::agent::{CannotClaim, rfc3339_seconds};
use serde_json::{Value, json};

/// Why a request is not answered with a result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Refusal {
    /// The code of JSON-RPC.
    pub(crate) code: i32,
    /// What a person reads.
    pub(crate) message: String,
    /// What a program reads.
    pub(crate) data: Option<Value>,
}

impl Refusal {
    fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// With something for programs.
    pub(crate) fn with(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// The client has not said `initialize`.
    pub(crate) fn not_initialized(method: &str) -> Self {
        Self::new(-32600, format!("`{method}` before `initialize`"))
    }

    /// There is no such method.
    pub(crate) fn unknown_method(method: &str) -> Self {
        let message = format!("there is no method `{method}`");
        Self::new(-32601, message).with(json!({"method": method}))
    }

    /// The parameters are not what the method wants.
    pub(crate) fn bad_parameters(why: impl Into<String>) -> Self {
        Self::new(-32602, why)
    }

    /// The client may not do that.
    pub(crate) fn not_allowed(why: impl Into<String>) -> Self {
        Self::new(-32603, why)
    }

    /// There is no such session.
    pub(crate) fn unknown_session(id: &str) -> Self {
        Self::new(-32002, format!("there is no session `{id}`")).with(json!({"sessionId": id}))
    }

    /// The client has withdrawn its request.
    pub(crate) fn cancelled() -> Self {
        Self::new(-32800, "the request was withdrawn")
    }

    /// Something failed that is not the fault of the client.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(-32603, message)
    }

    /// A session cannot be written here.
    pub(crate) fn unclaimed(id: &str, cause: &CannotClaim) -> Self {
        let refusal = Self::internal(format!("session '{id}' {cause}"));
        match cause {
            CannotClaim::InUse(owner) => refusal.with(json!({
                "reason": "in_use",
                "sessionId": id,
                "owner": {
                    "process": owner.process,
                    "host": owner.host,
                    "since": rfc3339_seconds(owner.since_ms),
                },
            })),
            CannotClaim::Log(_) => refusal.with(json!({"sessionId": id})),
        }
    }

    /// There is too much to do; it may work later.
    pub(crate) fn overloaded(message: impl Into<String>, retry_after_ms: u64) -> Self {
        Self::new(-32603, message).with(json!({"retryAfterMs": retry_after_ms}))
    }
}

impl From<Refusal> for agent_client_protocol::Error {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal.code, refusal.message).data(refusal.data)
    }
}
