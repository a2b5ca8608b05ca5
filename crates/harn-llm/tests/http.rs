//! The network transport against servers that are really there.

use std::time::Duration;

use harn_llm::transport::{Http, HttpOptions, TimeLimits, Transport};
use harn_llm::wire::HttpRequest;
use harn_llm::{Category, Error, Secret};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

async fn server() -> (TcpListener, HttpRequest) {
    let listener = TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    let request = HttpRequest {
        url: format!("http://{address}/v1/x"),
        headers: vec![("x-api-key".to_owned(), Secret::new("sk-marked"))],
        body: json!({"a": 1}),
    };
    (listener, request)
}

/// Reads one request to the end of its body.
async fn hear(stream: &mut TcpStream, body: &str) -> String {
    let mut heard = Vec::new();
    while !heard.ends_with(body.as_bytes()) {
        let mut buffer = [0; 1024];
        let count = stream.read(&mut buffer).await.expect("it can be read");
        assert_ne!(count, 0, "the request ended early");
        heard.extend_from_slice(&buffer[..count]);
    }
    String::from_utf8(heard).expect("requests are text")
}

fn limits(milliseconds: u64) -> TimeLimits {
    TimeLimits {
        whole: Duration::from_secs(60),
        idle: Duration::from_millis(milliseconds),
    }
}

/// How an answer fails that has begun.
async fn failure(http: &Http, request: &HttpRequest, limits: &TimeLimits) -> Error {
    let answer = http.send(request, limits).await;
    let mut answer = answer.expect("it begins well");
    loop {
        match answer.body.chunk().await {
            Ok(chunk) => assert!(chunk.is_some(), "the body is not whole"),
            Err(error) => return error,
        }
    }
}

#[tokio::test]
async fn a_request_carries_headers_and_body_and_pieces_come_as_they_are_sent() {
    let (listener, request) = server().await;
    let (http, limits) = (Http::new(HttpOptions::default()), limits(60_000));
    let serve = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let heard = hear(&mut stream, "{\"a\":1}").await;
        let head = "HTTP/1.1 200 OK\r\nx-id: 7\r\ntransfer-encoding: chunked\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(b"3\r\none\r\n").await.unwrap();
        stream.write_all(b"3\r\ntwo\r\n0\r\n\r\n").await.unwrap();
        (heard, stream)
    };
    let ask = async {
        let mut answer = http.send(&request, &limits).await.unwrap();
        let mut body = Vec::new();
        while let Some(chunk) = answer.body.chunk().await.unwrap() {
            body.extend_from_slice(&chunk);
        }
        (
            answer.status,
            answer.header("x-id").map(str::to_owned),
            body,
        )
    };
    let ((heard, _open), (status, id, body)) = tokio::join!(serve, ask);
    assert!(heard.starts_with("POST /v1/x HTTP/1.1\r\n"), "{heard}");
    assert!(heard.contains("x-api-key: sk-marked\r\n"), "{heard}");
    assert!(
        heard.contains("content-type: application/json\r\n"),
        "{heard}"
    );
    assert_eq!(
        (status, id.as_deref(), body.as_slice()),
        (200, Some("7"), &b"onetwo"[..])
    );
}

#[tokio::test]
async fn a_request_without_a_body_is_a_get() {
    let (listener, mut request) = server().await;
    request.body = Value::Null;
    let (http, limits) = (Http::new(HttpOptions::default()), limits(60_000));
    let serve = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let heard = hear(&mut stream, "\r\n\r\n").await;
        let answer =
            "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(answer.as_bytes()).await.unwrap();
        heard
    };
    let (heard, answer) = tokio::join!(serve, http.send(&request, &limits));
    assert!(heard.starts_with("GET /v1/x HTTP/1.1\r\n"), "{heard}");
    // A redirect is an answer: following it would carry the key elsewhere.
    assert_eq!(answer.unwrap().status, 302);
}

#[tokio::test]
async fn a_server_that_falls_silent_is_given_up() {
    let (listener, request) = server().await;
    let (http, limits) = (Http::new(HttpOptions::default()), limits(50));
    let serve = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        hear(&mut stream, "{\"a\":1}").await;
        let head = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf";
        stream.write_all(head.as_bytes()).await.unwrap();
        // The client hangs up: that is the end of what can be read.
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).await.unwrap();
    };
    let ((), error) = tokio::join!(serve, failure(&http, &request, &limits));
    assert_eq!(error.category, Category::Timeout);
    assert_eq!(
        error.message,
        "the provider was silent for 0.05 s: timed out"
    );
}

#[tokio::test]
async fn a_body_that_breaks_off_is_an_error() {
    let (listener, request) = server().await;
    let (http, limits) = (Http::new(HttpOptions::default()), limits(60_000));
    let serve = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        hear(&mut stream, "{\"a\":1}").await;
        let head = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf";
        stream.write_all(head.as_bytes()).await.unwrap();
    };
    let ((), error) = tokio::join!(serve, failure(&http, &request, &limits));
    assert_eq!(error.category, Category::TransientNetwork);
}

#[tokio::test]
async fn nobody_there_is_told_without_the_address_and_the_key() {
    let (listener, request) = server().await;
    drop(listener);
    let http = Http::new(HttpOptions::default());
    let error = http.send(&request, &limits(60_000)).await.err().unwrap();
    assert_eq!(error.category, Category::TransientNetwork);
    assert!(
        error
            .message
            .starts_with("cannot connect to the provider: "),
        "{error}"
    );
    assert!(!error.message.contains("/v1/x"), "{error}");
    assert!(!format!("{error:?}{request:?}").contains("sk-marked"));
}
