//! Which function answers which method.

use std::future::Future;
use std::sync::Arc;

use agent_client_protocol::{Responder, UntypedMessage};
use serde_json::Value;

use super::connection::Connection;
use super::methods::{self, Answer};
use super::{initialize, prompt};
use crate::client::{Told, handle_extension};
use crate::error::Refusal;
use crate::peer::Peer;
use crate::session::From;

/// Answers a request, perhaps later.
pub(super) fn request(connection: &Arc<Connection>, request: UntypedMessage, responder: Responder) {
    let (method, parameters) = request.into_parts();
    if method == "initialize" {
        return answer(responder, initialize::initialize(connection, &parameters));
    }
    if !connection.is_initialized() {
        return answer(responder, Err(Refusal::not_initialized(&method)));
    }
    let own = Arc::clone(connection);
    let is_kept = !connection.server.options.is_ephemeral;
    match &*method {
        "session/new" => later(connection, responder, async move {
            methods::new(&own, &parameters).await
        }),
        // It takes its place in the order of turns before anything that comes after it.
        "session/prompt" => match prompt::begin(connection, &parameters) {
            Ok(turn) => later_to_its_end(responder, turn),
            Err(refusal) => answer(responder, Err(refusal)),
        },
        "session/load" if is_kept => later(connection, responder, async move {
            let from = methods::after(&parameters)?;
            methods::load(&own, &parameters, from).await
        }),
        "session/resume" if is_kept => later(connection, responder, async move {
            methods::load(&own, &parameters, From::Now).await
        }),
        "session/fork" if is_kept => later(connection, responder, async move {
            methods::fork(&own, &parameters).await
        }),
        "session/list" if is_kept => later(connection, responder, async move {
            methods::list(&own.server, &parameters).await
        }),
        "session/close" if is_kept => later(connection, responder, async move {
            methods::close(&own, &parameters).await
        }),
        "session/delete" if is_kept => later(connection, responder, async move {
            methods::delete(&own, &parameters).await
        }),
        "session/set_mode" => answer(responder, methods::set_mode(connection, &parameters)),
        "session/set_config_option" => {
            answer(
                responder,
                methods::set_config_option(connection, &parameters),
            );
        }
        _ => match Told::named(&method) {
            Some(told) => later(connection, responder, async move {
                let told = extension(&own, told, &parameters).await?;
                Ok(Answer::plain(told))
            }),
            // `authenticate` and `logout` too: nobody has to sign in here.
            None => answer(responder, Err(Refusal::unknown_method(&method))),
        },
    }
}

/// Takes note of a notification. What is not understood is let go.
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
        _ => match Told::named(&method) {
            Some(told) => {
                let own = Arc::clone(connection);
                tokio::spawn(async move {
                    if let Err(refusal) = extension(&own, told, &parameters).await {
                        tracing::debug!(target: "acp", method, %refusal, "it makes no sense");
                    }
                });
            }
            None => tracing::debug!(target: "acp", method, "a notification that nobody knows"),
        },
    }
}

/// Does what a client tells a session that it follows. Who follows just one need not name it.
async fn extension(
    connection: &Arc<Connection>,
    told: Told,
    parameters: &Value,
) -> Result<Value, Refusal> {
    let session = match parameters.get("sessionId") {
        Some(_) => connection.session(methods::session_id(parameters)?)?,
        None => connection.only_session().ok_or_else(|| {
            Refusal::bad_parameters("`sessionId` is missing, and there is not just one session")
        })?,
    };
    handle_extension(&session.host, told, parameters).await
}

fn answer(responder: Responder, result: Result<Value, Refusal>) {
    let result = result.map_err(agent_client_protocol::Error::from);
    if responder.respond_with_result(result).is_err() {
        tracing::debug!(target: "acp", "nobody waits for an answer any more");
    }
}

/// Answers when something was done; who does not want to wait any more need not.
fn later(
    connection: &Arc<Connection>,
    responder: Responder,
    work: impl Future<Output = Result<Answer, Refusal>> + Send + 'static,
) {
    let cancellation = responder.cancellation();
    let peer = Arc::clone(connection) as Arc<dyn Peer>;
    tokio::spawn(async move {
        let result = tokio::select! {
            result = work => result,
            () = cancellation.cancelled() => Err(Refusal::cancelled()),
        };
        let follows = result
            .as_ref()
            .ok()
            .and_then(|answer| answer.follows.clone());
        answer(responder, result.map(|answer| answer.value));
        if let Some(session) = follows {
            session.start(&peer);
        }
    });
}

/// Answers when a turn has ended, however it does: one that is withdrawn is stopped, and its
/// answer says so.
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
