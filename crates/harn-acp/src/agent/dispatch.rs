//! Which function answers which method.

use std::future::Future;
use std::sync::Arc;

use agent_client_protocol::Responder;
use harn_vm::agent::Principal;
use serde_json::Value;

use super::connection::Connection;
use super::methods::{self, Answer};
use super::{initialize, prompt};
use crate::client::{Told, handle_extension};
use crate::error::Refusal;
use crate::link::{respond, unless_withdrawn};
use crate::session::From;

/// Answers a request, perhaps later.
pub(super) fn request(
    connection: &Arc<Connection>,
    method: &str,
    parameters: Value,
    responder: Responder,
) {
    let own = Arc::clone(connection);
    let is_kept = !connection.server.options.is_ephemeral;
    match method {
        "initialize" => respond(responder, initialize::initialize(connection, &parameters)),
        "session/new" => later(connection, responder, async move {
            methods::new(&own, &parameters).await
        }),
        // It takes its place in the order of turns before anything that comes after it.
        "session/prompt" => match prompt::begin(connection, &parameters) {
            Ok(turn) => later_to_its_end(responder, turn, connection.principal.clone()),
            Err(refusal) => respond(responder, Err(refusal)),
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
            methods::list(&own, &parameters).await
        }),
        "session/close" if is_kept => match methods::close(connection, &parameters) {
            Ok(begun) => later(connection, responder, begun.end()),
            Err(refusal) => respond(responder, Err(refusal)),
        },
        "session/delete" if is_kept => match methods::delete(connection, &parameters) {
            Ok(begun) => later(connection, responder, begun.end()),
            Err(refusal) => respond(responder, Err(refusal)),
        },
        "session/set_mode" => respond(responder, methods::set_mode(connection, &parameters)),
        "session/set_config_option" => {
            respond(
                responder,
                methods::set_config_option(connection, &parameters),
            );
        }
        _ => match Told::named(method) {
            Some(told) => later(connection, responder, async move {
                let told = extension(&own, told, &parameters).await?;
                Ok(Answer::plain(told))
            }),
            // `authenticate` and `logout` too: nobody has to sign in here.
            None => respond(responder, Err(Refusal::unknown_method(method))),
        },
    }
}

/// Takes note of a notification. What is not understood is counted and let go.
pub(super) fn notification(connection: &Arc<Connection>, method: String, parameters: Value) {
    if method == "session/cancel" {
        match methods::session_id(&parameters) {
            // Whoever is not there has nothing to stop.
            Ok(id) => {
                let who = &connection.principal;
                let session = connection.session(id);
                session.iter().for_each(|one| one.cancel_for_client(who));
            }
            Err(refusal) => connection.link.drop_notification(&method, &refusal.message),
        }
        return;
    }
    let Some(told) = Told::named(&method) else {
        return connection
            .link
            .drop_notification(&method, "nobody knows it");
    };
    let own = Arc::clone(connection);
    tokio::spawn(async move {
        if let Err(refusal) = extension(&own, told, &parameters).await {
            own.link.drop_notification(&method, &refusal.message);
        }
    });
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
    handle_extension(&session.host, told, parameters, &connection.principal).await
}

/// Answers when something was done; who does not want to wait any more need not.
fn later(
    connection: &Arc<Connection>,
    responder: Responder,
    work: impl Future<Output = Result<Answer, Refusal>> + Send + 'static,
) {
    let cancellation = responder.cancellation();
    let peer = connection.peer();
    tokio::spawn(async move {
        let result = unless_withdrawn(cancellation, work).await;
        let follows = result
            .as_ref()
            .ok()
            .and_then(|answer| answer.follows.clone());
        respond(responder, result.map(|answer| answer.value));
        if let Some(session) = follows {
            session.start(&peer);
        }
    });
}

/// Answers when a turn has ended, however it does: one that is withdrawn is stopped, and its
/// answer says so.
fn later_to_its_end(responder: Responder, turn: prompt::Begun, who: Principal) {
    let cancellation = responder.cancellation();
    tokio::spawn(async move {
        let prompt::Begun { session, ended } = turn;
        let mut ended = std::pin::pin!(ended);
        let result = tokio::select! {
            result = &mut ended => result,
            () = cancellation.cancelled() => {
                session.cancel(&who);
                ended.await
            }
        };
        respond(responder, result);
    });
}
