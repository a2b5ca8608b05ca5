use std::collections::HashMap;

use harn_agent::tool_servers::ServerLimits;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{StreamableHttpClient, StreamableHttpPostResponse};
use serde_json::json;

use super::*;
use crate::testing::{Peer, Reply, Seen};

type Fault = StreamableHttpError<HttpFault>;

fn endpoint(peer: &Peer) -> HttpEndpoint {
    HttpEndpoint {
        url: peer.url("/mcp").to_string(),
        ..HttpEndpoint::default()
    }
}

fn config(endpoint: HttpEndpoint) -> ServerConfig {
    ServerConfig::new("s", Endpoint::Http(endpoint))
}

fn client(endpoint: HttpEndpoint) -> HttpClient {
    let config = config(endpoint.clone());
    dress(&config, &endpoint, &Web::default()).unwrap()
}

fn message(method: &str) -> ClientJsonRpcMessage {
    let message = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": {}});
    serde_json::from_value(message).unwrap()
}

async fn post(client: &HttpClient, url: &Url) -> Result<StreamableHttpPostResponse, Fault> {
    let uri = Arc::from(url.as_str());
    client
        .post_message(uri, message("ping"), None, None, HashMap::new())
        .await
}

fn pong() -> Reply {
    Reply::json(&json!({"jsonrpc": "2.0", "id": 7, "result": {}}))
}

#[tokio::test]
async fn configured_headers_go_with_every_request_and_are_never_shown() {
    let peer = Peer::start(|_| pong()).await;
    let mut endpoint = endpoint(&peer);
    endpoint.headers = vec![("X-Key".to_owned(), Secret::new("s3cret"))];
    let client = client(endpoint);
    post(&client, &peer.url("/mcp")).await.unwrap();
    let seen = &peer.seen()[0];
    assert_eq!(seen.header("x-key"), Some("s3cret"));
    assert_eq!(
        seen.header("accept"),
        Some("text/event-stream, application/json")
    );
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert!(!format!("{:?}", client.headers).contains("s3cret"));
}

#[tokio::test]
async fn headers_of_the_protocol_cannot_be_configured() {
    let peer = Peer::start(|_| pong()).await;
    for (name, expected) in [
        (
            "Mcp-Session-Id",
            "mcp server 's' is given the header 'Mcp-Session-Id', which the protocol sets",
        ),
        (
            "accept",
            "mcp server 's' is given the header 'accept', which the protocol sets",
        ),
        (
            "a b",
            "mcp server 's' is given 'a b', which is not the name of a header",
        ),
    ] {
        let mut endpoint = endpoint(&peer);
        endpoint.headers = vec![(name.to_owned(), Secret::new("v"))];
        let config = config(endpoint.clone());
        let Err(error) = open(&config, &endpoint, &Web::default()) else {
            panic!("{name} was accepted");
        };
        assert_eq!(error.to_string(), expected);
    }
}

#[tokio::test]
async fn another_origin_learns_nothing() {
    let other = Peer::start(|_| pong()).await;
    let target = other.url("/mcp").to_string();
    let peer = Peer::start(move |seen: &Seen| match seen.path() {
        "/mcp" => Reply::new(307).header("location", "/moved"),
        "/moved" => pong(),
        _ => Reply::new(308).header("location", &target),
    })
    .await;
    let client = client(endpoint(&peer));
    assert!(post(&client, &peer.url("/mcp")).await.is_ok());
    assert_eq!(peer.seen_at("/moved")[0].method, "POST");
    let error = post(&client, &peer.url("/away")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "unexpected server response: HTTP 308 Permanent Redirect: "
    );
    assert!(other.seen().is_empty());
}

#[tokio::test]
async fn a_body_that_is_too_large_is_not_read() {
    let peer = Peer::start(|seen: &Seen| match seen.path() {
        "/error" => Reply::new(400).body(vec![b'x'; 100]),
        _ => pong().body(vec![b' '; 100]),
    })
    .await;
    let endpoint = endpoint(&peer);
    let mut config = config(endpoint.clone());
    config.limits = ServerLimits {
        frame_bytes_max: 99,
        ..ServerLimits::default()
    };
    let client = dress(&config, &endpoint, &Web::default()).unwrap();
    for path in ["/mcp", "/error"] {
        let error = post(&client, &peer.url(path)).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "Client error: it sent more than 99 bytes"
        );
    }
}

#[tokio::test]
async fn an_event_that_is_too_large_ends_its_stream() {
    let event = format!("data: {}\n\n", "x".repeat(100));
    let peer = Peer::start(move |_| Reply::events(&event)).await;
    let client = client(endpoint(&peer));
    let uri = Arc::from(peer.url("/mcp").as_str());
    let posted = client
        .post_message_with_max_sse_event_size(uri, message("ping"), None, None, HashMap::new(), 50)
        .await;
    let Ok(StreamableHttpPostResponse::Sse(mut events, _)) = posted else {
        panic!("it is a stream");
    };
    let first = std::future::poll_fn(|ctx| events.as_mut().poll_next(ctx)).await;
    let error = first.unwrap().unwrap_err().to_string();
    assert!(error.contains("more than 50 bytes"), "{error}");
}

#[tokio::test]
async fn dropping_a_stream_closes_it() {
    let peer = Peer::start(|_| Reply::events(": hello\n\n")).await;
    let client = client(endpoint(&peer));
    let posted = post(&client, &peer.url("/mcp")).await.unwrap();
    assert!(matches!(posted, StreamableHttpPostResponse::Sse(..)));
    drop(posted);
    let mut abandoned = peer.abandoned.clone();
    abandoned.wait_for(|count| *count == 1).await.unwrap();
}

#[tokio::test]
async fn a_server_that_wants_to_know_who_asks_says_so() {
    let peer =
        Peer::start(|_| Reply::new(401).header("www-authenticate", "Bearer scope=\"a b\"")).await;
    let endpoint = endpoint(&peer);
    let config = config(endpoint.clone());
    let error = post(&client(endpoint.clone()), &peer.url("/mcp"))
        .await
        .unwrap_err();
    let told = auth_required(&config, &error).unwrap();
    assert_eq!(told, (endpoint.url, Some("a b".to_owned())));
    // Nobody was asked and nothing was looked for.
    assert_eq!(peer.seen().len(), 1);
}

#[tokio::test]
async fn a_configured_token_that_is_refused_needs_no_login() {
    let peer = Peer::start(|_| Reply::new(401)).await;
    let mut endpoint = endpoint(&peer);
    endpoint.headers = vec![("Authorization".to_owned(), Secret::new("Bearer x"))];
    let config = config(endpoint.clone());
    let error = post(&client(endpoint), &peer.url("/mcp"))
        .await
        .unwrap_err();
    assert_eq!(auth_required(&config, &error), None);
    assert_eq!(
        error.to_string(),
        "Client error: it refused the Authorization header that is configured for it"
    );
}

#[tokio::test]
async fn an_old_server_that_does_not_know_the_first_question_is_understood() {
    let peer = Peer::start(|_| {
        Reply::json(&json!({
            "jsonrpc": "2.0", "id": "server-error",
            "error": {"code": -32600, "message": "Missing session ID"},
        }))
        .status(400)
    })
    .await;
    let client = client(endpoint(&peer));
    let uri = Arc::from(peer.url("/mcp").as_str());
    let question = message("server/discover");
    let answer = client
        .post_message(uri, question, None, None, HashMap::new())
        .await;
    let Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(error), None)) = answer
    else {
        panic!("it is an answer to the question");
    };
    assert_eq!(serde_json::to_value(error.id).unwrap(), json!(7));
    assert_eq!(error.error.message, "Missing session ID");
}

#[tokio::test]
async fn what_is_busy_or_gone_is_told_apart() {
    let peer = Peer::start(|seen: &Seen| match seen.path() {
        "/busy" => Reply::new(429).header("retry-after", "17"),
        "/broken" => Reply::new(502).body("<html>"),
        _ => Reply::new(404),
    })
    .await;
    let client = client(endpoint(&peer));
    let busy = post(&client, &peer.url("/busy")).await;
    let Err(Fault::HttpStatus(busy)) = busy else {
        panic!("it is busy");
    };
    assert_eq!(
        (busy.status, busy.retry_after.as_deref()),
        (429, Some("17"))
    );
    let broken = post(&client, &peer.url("/broken")).await.unwrap_err();
    assert_eq!(broken.to_string(), "HTTP 502");
    let uri = Arc::from(peer.url("/gone").as_str());
    let session = Some(Arc::from("session"));
    let gone = client
        .post_message(uri, message("ping"), session, None, HashMap::new())
        .await;
    assert!(matches!(gone, Err(Fault::SessionExpired)));
    assert_eq!(
        peer.seen_at("/gone")[0].header("mcp-session-id"),
        Some("session")
    );
}

#[tokio::test]
async fn errors_do_not_show_where_the_server_is() {
    let endpoint = HttpEndpoint {
        url: "http://127.0.0.1:1/mcp?key=s3cret".to_owned(),
        ..HttpEndpoint::default()
    };
    let url = Url::parse(&endpoint.url).unwrap();
    let error = post(&client(endpoint), &url).await.unwrap_err().to_string();
    assert!(
        error.contains("Connection refused") && !error.contains("s3cret"),
        "{error}"
    );
}
