//! Which function answers which method.

use std::future::Future;
use std::sync::Arc;

use agent_client_protocol::{Responder, UntypedMessage};
use serde_json::Value;

use super::connection::Connection;
use super::{initialize, methods, prompt};
use crate::error::Refusal;

/// Answers a request, perhaps later.
pub(super) fn request(connection: &Arc<Connection>, request: UntypedMessage, responder: Responder) {
    let (method, parameters) = request.into_parts();
    if method == "initialize" {
        return answer(responder, initialize::initialize(connection, &parameters));
    }
    if !connection.is_initialized() {
        return answer(responder, Err(Refusal::not_initialized(&method)));
    }
    let connection = Arc::clone(connection);
    match &*method {
        "session/new" => later(responder, async move {
            methods::new(&connection, &parameters).await
        }),
        // It takes its place in the order of turns before anything that comes after it.
        "session/prompt" => match prompt::begin(&connection, &parameters) {
            Ok(turn) => later_to_its_end(responder, turn),
            Err(refusal) => answer(responder, Err(refusal)),
        },
        _ => answer(responder, Err(Refusal::unknown_method(&method))),
    }
}

/// Takes note of a notification. What is not understood is counted and let go.
pub(super) fn notification(connection: &Arc<Connection>, notification: UntypedMessage) {
    let (method, parameters) = notification.into_parts();
    match &*method {
        "session/cancel" => {
            let id = parameters["sessionId"].as_str().unwrap_or_default();
            if let Ok(session) = connection.session(id) {
                session.cancel();
            }
        }
        "$/cancel_request" => {} // The SDK has told the responder.
        _ => tracing::debug!(target: "acp", method, "a notification that nobody knows"),
    }
}

fn answer(responder: Responder, result: Result<Value, Refusal>) {
    let result = result.map_err(agent_client_protocol::Error::from);
    if responder.respond_with_result(result).is_err() {
        tracing::debug!(target: "acp", "nobody waits for an answer any more");
    }
}

/// Answers when something was done; who does not want to wait any more need not.
fn later(
    responder: Responder,
    work: impl Future<Output = Result<Value, Refusal>> + Send + 'static,
) {
    let cancellation = responder.cancellation();
    tokio::spawn(async move {
        let result = tokio::select! {
            result = work => result,
            () = cancellation.cancelled() => Err(Refusal::cancelled()),
        };
        answer(responder, result);
    });
}

/// Answers when something has ended, however it does: a turn that is withdrawn is stopped, and
/// its answer says so.
fn later_to_its_end(responder: Responder, turn: prompt::Begun) {
    let cancellation = responder.cancellation();
    tokio::spawn(async move {
        let prompt::Begun { session, ended } = turn;
        let mut ended = std::pin::pin!(ended);
        let result = tokio::select! {
            result = &mut ended => result,
            () = cancellation.cancelled() => {
                session.cancel();
                ended.await
            }
        };
        answer(responder, result);
    });
}
