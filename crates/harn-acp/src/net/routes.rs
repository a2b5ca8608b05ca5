//! Which answers go where.
//!
//! A request over HTTP is answered on an event stream. Which one depends on what was asked:
//! answers about a session go to its stream, behind the updates that belong before them.

use std::collections::HashMap;

use agent_client_protocol::{RawJsonRpcId, RawJsonRpcMessage, RawJsonRpcParams};
use axum::http::HeaderMap;

/// The requests of one connection that wait for an answer.
#[derive(Default)]
pub(super) struct Routes(HashMap<RawJsonRpcId, Route>);

/// Where the answer to a request belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Route {
    /// The session that the request is about.
    pub(super) session: Option<String>,
    /// What the request does to it.
    pub(super) effect: Effect,
}

/// What a request does to the session it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It works with it.
    None,
    /// It begins to follow it: the client may not have opened its stream yet.
    Attaches,
    /// It ends it.
    Ends,
}

impl Effect {
    fn of(method: &str) -> Self {
        match method {
            "session/new" | "session/fork" | "session/load" | "session/resume" => Self::Attaches,
            "session/close" | "session/delete" => Self::Ends,
            _ => Self::None,
        }
    }
}

impl Routes {
    /// Notes where the answer to a request belongs, and says it.
    pub(super) fn note(&mut self, request: &RawJsonRpcMessage) -> Option<Route> {
        let RawJsonRpcMessage::Request(asked) = request else {
            return None;
        };
        let route = Route {
            session: session_of(request).map(str::to_owned),
            effect: Effect::of(&asked.method),
        };
        self.0.insert(asked.id.clone(), route.clone());
        Some(route)
    }

    /// Where an answer belongs.
    pub(super) fn take(&mut self, id: &RawJsonRpcId) -> Option<Route> {
        self.0.remove(id)
    }
}

/// The session that a message is about. What concerns the protocol concerns no session.
pub(super) fn session_of(message: &RawJsonRpcMessage) -> Option<&str> {
    let (method, params) = match message {
        RawJsonRpcMessage::Request(request) => (&request.method, request.params.as_ref()),
        RawJsonRpcMessage::Notification(told) => (&told.method, told.params.as_ref()),
        RawJsonRpcMessage::Response(_) => return None,
    };
    match params {
        Some(RawJsonRpcParams::Object(params)) if !method.starts_with("$/") => {
            params.get("sessionId")?.as_str()
        }
        _ => None,
    }
}

/// Holds the session of the header against that of the message. A client that leaves it out of
/// either means the other; one that says two different things is told so.
///
/// # Errors
/// What is wrong, for a person.
pub(super) fn apply_header(
    message: &mut RawJsonRpcMessage,
    header: Option<&str>,
) -> Result<(), &'static str> {
    let Some(header) = header else {
        return Ok(());
    };
    let (method, params) = match message {
        RawJsonRpcMessage::Request(request) => (&request.method, &mut request.params),
        RawJsonRpcMessage::Notification(told) => (&told.method, &mut told.params),
        RawJsonRpcMessage::Response(_) => return Ok(()),
    };
    if method.starts_with("$/") {
        return Ok(());
    }
    let params = params.get_or_insert_with(|| RawJsonRpcParams::Object(serde_json::Map::new()));
    let RawJsonRpcParams::Object(params) = params else {
        return Err("with Acp-Session-Id, `params` must be an object");
    };
    match params.get("sessionId") {
        None => {
            params.insert("sessionId".to_owned(), header.into());
            Ok(())
        }
        Some(known) if known == header => Ok(()),
        Some(_) => Err("Acp-Session-Id and `params.sessionId` name different sessions"),
    }
}

/// The names of tracing context, as headers and in `_meta`.
const TRACING: [&str; 3] = ["traceparent", "tracestate", "baggage"];

/// Passes on where a request comes from in a trace: over HTTP the headers say it, inside it is
/// in `_meta`. What the message itself says goes first.
pub(super) fn apply_tracing(message: &mut RawJsonRpcMessage, headers: &HeaderMap) {
    let said = TRACING
        .iter()
        .filter_map(|name| Some((name, headers.get(*name)?.to_str().ok()?)));
    let mut said = said.peekable();
    let params = match message {
        RawJsonRpcMessage::Request(request) => &mut request.params,
        RawJsonRpcMessage::Notification(told) => &mut told.params,
        RawJsonRpcMessage::Response(_) => return,
    };
    let Some(RawJsonRpcParams::Object(params)) = params else {
        return;
    };
    if said.peek().is_none() {
        return;
    }
    let meta = params
        .entry("_meta")
        .or_insert_with(|| serde_json::json!({}));
    let Some(meta) = meta.as_object_mut() else {
        return;
    };
    if meta.contains_key(TRACING[0]) {
        return;
    }
    for (name, value) in said {
        meta.insert((*name).to_owned(), value.into());
    }
}
