//! Requests to one server, as rmcp's transport wants them made.
//!
//! rmcp knows the order of things: sessions, headers that repeat the body, streams that are
//! taken up again, and that a stream which is closed cancels its request. Here is what one
//! request is: our headers, a token if there is one, limits on what comes back, and a second
//! try when the server wants to know who asks.

#![expect(
    clippy::mutable_key_type,
    reason = "rmcp hands headers over in a map by name, and names do not change"
)]

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use harn_agent::BoxFuture;
use harn_agent::llm::Secret;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, StatusCode};
use reqwest::{RequestBuilder, Response};
use rmcp::model::{
    ClientJsonRpcMessage, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use rmcp::transport::common::http_header::{
    EVENT_STREAM_MIME_TYPE, HEADER_LAST_EVENT_ID, HEADER_SESSION_ID, JSON_MIME_TYPE,
};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpClient,
    StreamableHttpError, StreamableHttpPostResponse,
};

use super::access::Access;
use super::body;
use super::fault::HttpFault;

/// How much of a body that is no message is told.
const PREVIEW_CHARS_MAX: usize = 200;

type Fault = StreamableHttpError<HttpFault>;

/// Makes requests to one server. Cheap to clone.
#[derive(Clone)]
pub(crate) struct HttpClient {
    pub(super) client: reqwest::Client,
    /// What a person has configured; every value is marked as a secret.
    pub(super) headers: HeaderMap,
    pub(super) access: Arc<Access>,
    /// How large a body, or an event, may be.
    pub(super) bytes_max: usize,
}

/// What a message is, as far as its answer depends on it.
struct Sent {
    /// Of a request, which has to be answered.
    id: Option<RequestId>,
    /// The question that servers of the handshake do not know.
    is_discovery: bool,
    has_session: bool,
}

impl Sent {
    fn of(message: &ClientJsonRpcMessage, has_session: bool) -> Self {
        let id = match message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let value = serde_json::to_value(message).unwrap_or_default();
        let method = value["method"].as_str().unwrap_or_default();
        Self {
            id,
            is_discovery: method == "server/discover",
            has_session,
        }
    }
}

impl HttpClient {
    /// Our headers and those of the transport.
    fn dressed(
        &self,
        request: RequestBuilder,
        given: HashMap<HeaderName, HeaderValue>,
        token: Option<&Secret>,
    ) -> RequestBuilder {
        let mut headers = self.headers.clone();
        headers.extend(given);
        let request = request.headers(headers);
        match token {
            Some(token) => request.bearer_auth(token.expose()),
            None => request,
        }
    }

    async fn post(
        &self,
        uri: &str,
        message: &ClientJsonRpcMessage,
        session: Option<&str>,
        headers: HashMap<HeaderName, HeaderValue>,
        events_max: usize,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let sent = Sent::of(message, session.is_some());
        let body = serde_json::to_vec(message)?;
        let (sent, body, headers) = (&sent, &body, &headers);
        let ask = |token: Option<Secret>| -> BoxFuture<'_, _> {
            let mut request = self
                .client
                .post(uri)
                .header(ACCEPT, accepted())
                .header(CONTENT_TYPE, JSON_MIME_TYPE)
                .body(body.clone());
            if let Some(session) = session {
                request = request.header(HEADER_SESSION_ID, session);
            }
            let request = self.dressed(request, headers.clone(), token.as_ref());
            Box::pin(async move {
                let response = send(request).await?;
                self.read(sent, response, events_max).await
            })
        };
        self.access.with(ask).await
    }

    /// What a server answers to a message.
    async fn read(
        &self,
        sent: &Sent,
        response: Response,
        events_max: usize,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && sent.has_session {
            return Err(Fault::SessionExpired);
        }
        if !status.is_success() {
            return self.read_refusal(sent, response).await;
        }
        let session = response.headers().get(HEADER_SESSION_ID);
        let session = session.and_then(|id| id.to_str().ok()).map(str::to_owned);
        match kind(&response) {
            Kind::Events => {
                let events = body::events(response, events_max);
                Ok(StreamableHttpPostResponse::Sse(events, session))
            }
            Kind::Json => {
                let body = body::whole(response, self.bytes_max).await?;
                match serde_json::from_slice(&body) {
                    Ok(message) => Ok(StreamableHttpPostResponse::Json(message, session)),
                    // Nobody waits for an answer to a notice.
                    Err(_) if sent.id.is_none() => Ok(StreamableHttpPostResponse::Accepted),
                    Err(error) => Err(unexpected(format!("{error}: {}", preview(&body)))),
                }
            }
            Kind::Other(_) if sent.id.is_none() => Ok(StreamableHttpPostResponse::Accepted),
            Kind::Other(kind) => Err(Fault::UnexpectedContentType(kind)),
        }
    }

    /// An error of HTTP can hold one of the protocol, which says more.
    async fn read_refusal(
        &self,
        sent: &Sent,
        response: Response,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let status = response.status();
        let is_json = matches!(kind(&response), Kind::Json);
        let unavailable = unavailable(&response);
        if let Some(error) = unavailable
            && (!is_json || status == StatusCode::TOO_MANY_REQUESTS)
        {
            return Err(error.into());
        }
        let body = body::whole(response, self.bytes_max).await?;
        let told = match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
            Ok(JsonRpcMessage::Error(error)) => Some(error),
            _ => None,
        };
        if sent.is_discovery && !sent.has_session && status.is_client_error() {
            // A server of the handshake, or what stands before it, refuses what it does not
            // know; often without repeating the id, by which rmcp knows its answers.
            let error = told.map_or_else(
                || ErrorData::invalid_request(format!("HTTP {status}: {}", preview(&body)), None),
                |told| told.error,
            );
            let answer = ServerJsonRpcMessage::error(error, sent.id.clone());
            return Ok(StreamableHttpPostResponse::Json(answer, None));
        }
        match told {
            Some(told) => Ok(StreamableHttpPostResponse::Json(
                JsonRpcMessage::Error(told),
                None,
            )),
            None if status.is_server_error() => {
                Err(HttpStatusError::new(status.as_u16(), None).into())
            }
            None => Err(unexpected(format!("HTTP {status}: {}", preview(&body)))),
        }
    }

    async fn stream(
        &self,
        uri: &str,
        session: Option<&str>,
        last_event_id: Option<&str>,
        headers: HashMap<HeaderName, HeaderValue>,
        events_max: usize,
    ) -> Result<BoxedSseResponse, Fault> {
        let ask = |token: Option<Secret>| -> BoxFuture<'_, _> {
            let mut request = self.client.get(uri).header(ACCEPT, accepted());
            if let Some(session) = session {
                request = request.header(HEADER_SESSION_ID, session);
            }
            if let Some(id) = last_event_id {
                request = request.header(HEADER_LAST_EVENT_ID, id);
            }
            let request = self.dressed(request, headers.clone(), token.as_ref());
            Box::pin(async move { stream_of(send(request).await?, events_max) })
        };
        self.access.with(ask).await
    }
}

impl StreamableHttpClient for HttpClient {
    type Error = HttpFault;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let events_max = self.bytes_max;
        self.post_message_with_max_sse_event_size(
            uri,
            message,
            session_id,
            auth_header,
            custom_headers,
            events_max,
        )
        .await
    }

    /// The token of the transport is never set: ours changes during a connection.
    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        events_max: usize,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let session = session_id.as_deref();
        self.post(&uri, &message, session, custom_headers, events_max)
            .await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Fault> {
        let ask = |token: Option<Secret>| -> BoxFuture<'_, _> {
            let request = self
                .client
                .delete(&*uri)
                .header(HEADER_SESSION_ID, &*session_id);
            let request = self.dressed(request, custom_headers.clone(), token.as_ref());
            Box::pin(async move {
                let status = send(request).await?.status();
                match status.is_success() || status == StatusCode::METHOD_NOT_ALLOWED {
                    true => Ok(()),
                    false => Err(unexpected(format!("HTTP {status}"))),
                }
            })
        };
        self.access.with(ask).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxedSseResponse, Fault> {
        let events_max = self.bytes_max;
        self.get_stream_with_max_sse_event_size(
            uri,
            session_id,
            last_event_id,
            auth_header,
            custom_headers,
            events_max,
        )
        .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        events_max: usize,
    ) -> Result<BoxedSseResponse, Fault> {
        let (session, last) = (session_id.as_deref(), last_event_id.as_deref());
        self.stream(&uri, session, last, custom_headers, events_max)
            .await
    }
}

/// The events that a server has for us.
fn stream_of(response: Response, events_max: usize) -> Result<BoxedSseResponse, Fault> {
    if response.status() == StatusCode::METHOD_NOT_ALLOWED {
        return Err(Fault::ServerDoesNotSupportSse);
    }
    if let Some(error) = unavailable(&response) {
        return Err(error.into());
    }
    if !response.status().is_success() {
        return Err(unexpected(format!("HTTP {}", response.status())));
    }
    match kind(&response) {
        Kind::Events => Ok(body::events(response, events_max)),
        Kind::Json => Err(Fault::UnexpectedContentType(Some(
            JSON_MIME_TYPE.to_owned(),
        ))),
        Kind::Other(kind) => Err(Fault::UnexpectedContentType(kind)),
    }
}

/// Sends a request; a refusal that a token could change is an error of its own.
async fn send(request: RequestBuilder) -> Result<Response, Fault> {
    let response = request
        .send()
        .await
        .map_err(|error| HttpFault::of(&error))?;
    match response.status() {
        // Without a challenge, too: the place where it would say more is known.
        StatusCode::UNAUTHORIZED => {
            let told = challenge(&response).unwrap_or_default();
            Err(Fault::AuthRequired(AuthRequiredError::new(told)))
        }
        StatusCode::FORBIDDEN => match challenge(&response) {
            Some(told) if told.contains("insufficient_scope") => Err(Fault::InsufficientScope(
                InsufficientScopeError::new(told, None),
            )),
            _ => Ok(response),
        },
        _ => Ok(response),
    }
}

fn challenge(response: &Response) -> Option<String> {
    let all = response.headers().get_all(WWW_AUTHENTICATE).iter();
    let mut all = all.filter_map(|one| one.to_str().ok());
    let bearer = |one: &&str| {
        one.get(..6)
            .is_some_and(|word| word.eq_ignore_ascii_case("bearer"))
    };
    all.find(bearer).map(str::to_owned)
}

enum Kind {
    Json,
    Events,
    Other(Option<String>),
}

fn kind(response: &Response) -> Kind {
    let kind = response.headers().get(CONTENT_TYPE);
    let kind = kind.map(|kind| String::from_utf8_lossy(kind.as_bytes()).into_owned());
    match kind.as_deref() {
        Some(text) if text.starts_with(EVENT_STREAM_MIME_TYPE) => Kind::Events,
        Some(text) if text.starts_with(JSON_MIME_TYPE) => Kind::Json,
        _ => Kind::Other(kind),
    }
}

/// Servers that are busy or broken, and when to come back.
fn unavailable(response: &Response) -> Option<HttpStatusError> {
    let status = response.status();
    if status != StatusCode::TOO_MANY_REQUESTS && !status.is_server_error() {
        return None;
    }
    let later = response.headers().get(RETRY_AFTER);
    let later = later
        .and_then(|later| later.to_str().ok())
        .map(str::to_owned);
    Some(HttpStatusError::new(status.as_u16(), later))
}

fn accepted() -> String {
    format!("{EVENT_STREAM_MIME_TYPE}, {JSON_MIME_TYPE}")
}

fn unexpected(what: String) -> Fault {
    Fault::UnexpectedServerResponse(Cow::Owned(what))
}

/// The beginning of a body that is not what it should be, in plain letters.
fn preview(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let plain = text.chars().filter(|letter| !letter.is_control());
    plain.take(PREVIEW_CHARS_MAX).collect()
}

impl From<HttpFault> for Fault {
    fn from(fault: HttpFault) -> Self {
        Self::Client(fault)
    }
}
