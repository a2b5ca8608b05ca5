//! The verbs of the endpoint.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::{RawJsonRpcMessage, RawJsonRpcResponse};
use axum::Extension;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use harn_listen::Caller;
use serde_json::json;

use super::connection::HttpConnection;
use super::hub::Hub;
use super::routes::{apply_header, apply_tracing};
use crate::frames::envelope::{INTERNAL_ERROR, error_answer};
use crate::frames::{Gate, Verdict};

pub(super) const CONNECTION_ID: &str = "acp-connection-id";
pub(super) const SESSION_ID: &str = "acp-session-id";

/// How long `initialize` may take.
const INITIALIZE_WITHIN: Duration = Duration::from_secs(30);
/// How often a stream on which nothing happens says so.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const RETRY_AFTER_SECS: u64 = 5;

/// A message of the client.
pub(super) async fn post(
    State(hub): State<Arc<Hub>>,
    caller: Option<Extension<Caller>>,
    request: Request,
) -> Response {
    let caller = caller.map_or_else(Caller::anybody, |caller| caller.0);
    let (head, body) = request.into_parts();
    if !is_json(&head.headers) {
        return (StatusCode::UNSUPPORTED_MEDIA_TYPE, "send application/json").into_response();
    }
    match head.headers.get(CONNECTION_ID) {
        None => begin(&hub, caller, &head.headers, body).await,
        Some(_) => match find(&hub, &caller, &head.headers) {
            Ok(connection) => go_on(&connection, &head.headers, body).await,
            Err(refusal) => refusal.into_response(),
        },
    }
}

/// Opens an event stream: that of a session, or of the connection.
pub(super) fn stream(hub: &Arc<Hub>, caller: &Caller, headers: &HeaderMap) -> Response {
    let accepts = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
    if !accepts.is_some_and(|accept| accept.contains("text/event-stream")) {
        return (StatusCode::NOT_ACCEPTABLE, "accept text/event-stream").into_response();
    }
    let connection = match find(hub, caller, headers) {
        Ok(connection) => connection,
        Err(refusal) => return refusal.into_response(),
    };
    let session = text(headers, SESSION_ID);
    let Ok(reader) = connection.streams.read(session) else {
        hub.counters.overload.add();
        return too_many("too many sessions are open on this connection");
    };
    let frames = unfold(reader, async |mut reader| {
        let frame = reader.next().await?;
        Some((Ok::<_, Infallible>(Event::default().data(frame)), reader))
    });
    let alive = KeepAlive::new().interval(KEEP_ALIVE);
    let mut response = Sse::new(frames).keep_alive(alive).into_response();
    for name in [CONNECTION_ID, SESSION_ID] {
        if let Some(value) = headers.get(name) {
            response.headers_mut().insert(name, value.clone());
        }
    }
    response
}

/// Ends a connection.
pub(super) async fn delete(
    State(hub): State<Arc<Hub>>,
    caller: Option<Extension<Caller>>,
    headers: HeaderMap,
) -> Response {
    let caller = caller.map_or_else(Caller::anybody, |caller| caller.0);
    match find(&hub, &caller, &headers) {
        Ok(connection) => {
            connection.close();
            StatusCode::ACCEPTED.into_response()
        }
        Err(refusal) => refusal.into_response(),
    }
}

/// Begins a connection, which only `initialize` can do, and waits for its answer.
async fn begin(hub: &Arc<Hub>, caller: Caller, headers: &HeaderMap, body: Body) -> Response {
    let stranger = Gate::new(hub.settings.frames, Arc::clone(&hub.counters));
    let frame = match read(&stranger, headers, body).await {
        Ok(frame) => frame,
        Err(refusal) => return json_body(StatusCode::PAYLOAD_TOO_LARGE, refusal),
    };
    // Judged by a gate of its own, before anything is made for it.
    let is_first = match stranger.accept(&frame) {
        Verdict::Pass(RawJsonRpcMessage::Request(request)) => &*request.method == "initialize",
        Verdict::Answer(answer) => return json_body(StatusCode::BAD_REQUEST, answer),
        _ => false,
    };
    if !is_first {
        return (StatusCode::BAD_REQUEST, "send Acp-Connection-Id").into_response();
    }
    let Some(place) = hub.place(&caller) else {
        return too_many("too many connections are open");
    };
    let connection = HttpConnection::begin(hub, place, caller);
    let closing = CloseUnlessKept(Some(Arc::clone(&connection)));
    let Verdict::Pass(message) = connection.gate.accept(&frame) else {
        unreachable!("a new gate judges as the other one did");
    };
    let answered = connection.give_first(message);
    let Ok(Ok(answer)) = tokio::time::timeout(INITIALIZE_WITHIN, answered).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let is_good = matches!(
        answer,
        RawJsonRpcMessage::Response(RawJsonRpcResponse::Result { .. })
    );
    let answer = serde_json::to_string(&answer).unwrap_or_default();
    let mut response = json_body(StatusCode::OK, answer);
    if is_good && let Ok(id) = HeaderValue::try_from(&connection.id) {
        closing.keep();
        response.headers_mut().insert(CONNECTION_ID, id);
    }
    response
}

/// A client that leaves before it knows the id of its connection cannot use it.
struct CloseUnlessKept(Option<Arc<HttpConnection>>);

impl CloseUnlessKept {
    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for CloseUnlessKept {
    fn drop(&mut self) {
        if let Some(connection) = self.0.take() {
            connection.close();
        }
    }
}

async fn go_on(connection: &HttpConnection, headers: &HeaderMap, body: Body) -> Response {
    let frame = match read(&connection.gate, headers, body).await {
        Ok(frame) => frame,
        Err(refusal) => return json_body(StatusCode::PAYLOAD_TOO_LARGE, refusal),
    };
    let mut message = match connection.gate.accept(&frame) {
        Verdict::Pass(message) => message,
        Verdict::Answer(answer) => return json_body(StatusCode::BAD_REQUEST, answer),
        Verdict::Dropped => return StatusCode::ACCEPTED.into_response(),
    };
    let session = text(headers, SESSION_ID);
    if let Err(wrong) = apply_header(&mut message, session) {
        connection.gate.forget(&message);
        return (StatusCode::BAD_REQUEST, wrong).into_response();
    }
    apply_tracing(&mut message, headers);
    match connection.give(message, session.is_some()) {
        true => StatusCode::ACCEPTED.into_response(),
        false => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Reads a body, unless it is too large: then no more of it than may be.
///
/// # Errors
/// What to answer then.
async fn read(gate: &Gate, headers: &HeaderMap, body: Body) -> Result<Vec<u8>, String> {
    let max = gate.limits().frame_in_bytes_max;
    let announced = text(headers, CONTENT_LENGTH.as_str()).and_then(|length| length.parse().ok());
    if announced.is_some_and(|length: usize| length > max) {
        return Err(gate.refuse_large());
    }
    let bytes = to_bytes(body, max).await;
    let bytes = bytes.map_err(|_| gate.refuse_large())?;
    Ok(bytes.into())
}

/// The connection that a request names.
fn find(
    hub: &Hub,
    caller: &Caller,
    headers: &HeaderMap,
) -> Result<Arc<HttpConnection>, (StatusCode, &'static str)> {
    let id = text(headers, CONNECTION_ID);
    let id = id.ok_or((StatusCode::BAD_REQUEST, "send Acp-Connection-Id"))?;
    let found = hub.find(id, caller);
    found.ok_or((StatusCode::NOT_FOUND, "there is no such connection"))
}

pub(super) fn too_many(why: &str) -> Response {
    let data = json!({"retryAfterMs": RETRY_AFTER_SECS * 1000});
    let answer = error_answer(None, INTERNAL_ERROR, why, Some(data));
    let mut response = json_body(StatusCode::SERVICE_UNAVAILABLE, answer);
    let after = HeaderValue::from(RETRY_AFTER_SECS);
    response.headers_mut().insert(RETRY_AFTER, after);
    response
}

fn json_body(status: StatusCode, body: String) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], body).into_response()
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = text(headers, CONTENT_TYPE.as_str()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
