//! HTTP with event streams.

use std::time::Duration;

use futures_util::StreamExt;
use harn_listen::{Policy, Secret};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

use super::super::Network;
use super::{KEY, World, request};

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find_map(|(known, value)| (known == name).then_some(value))
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

async fn ask(world: &World, method: &str, headers: &str, body: &str) -> Answer {
    let mut stream = TcpStream::connect(world.address).await.unwrap();
    let length = body.len();
    let request = format!(
        "{method} /acp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-length: {length}\r\n{headers}\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    Answer {
        status: head[9..12].parse().unwrap(),
        head: head.to_ascii_lowercase(),
        body: body.to_owned(),
    }
}

const JSON: &str = "content-type: application/json\r\n";

async fn post(world: &World, headers: &str, body: &str) -> Answer {
    ask(world, "POST", &format!("{JSON}{headers}"), body).await
}

/// Begins a connection, and gives the header that names it.
async fn begin(world: &World) -> String {
    let answer = post(world, "", &request(0, "initialize", json!({}))).await;
    assert_eq!((answer.status, &answer.json()["id"]), (200, &json!(0)));
    let id = answer.header("acp-connection-id").unwrap();
    format!("acp-connection-id: {id}\r\n")
}

struct Stream(BufReader<TcpStream>);

async fn stream(world: &World, headers: &str) -> Stream {
    let mut stream = TcpStream::connect(world.address).await.unwrap();
    let request = format!(
        "GET /acp HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n{headers}\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut stream = Stream(BufReader::new(stream));
    let status = stream.line().await.unwrap();
    assert!(status.contains(" 200 "), "{status}");
    while stream.line().await.is_some_and(|line| !line.is_empty()) {}
    stream
}

impl Stream {
    async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let count = self.0.read_line(&mut line).await.unwrap_or(0);
        (count > 0).then(|| line.trim_end().to_owned())
    }

    /// The next message; `None` when the stream has ended.
    async fn hear(&mut self) -> Option<Value> {
        while let Some(line) = self.line().await {
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(data).unwrap());
            }
            // The chunk after the last one.
            if line == "0" {
                return None;
            }
        }
        None
    }
}

#[tokio::test]
async fn a_connection_begins_with_initialize_and_answers_on_its_stream() {
    let world = World::open(Network::default()).await;
    let id = begin(&world).await;
    let mut own = stream(&world, &id).await;
    let accepted = post(&world, &id, &request("a", "m", json!({"x": 1}))).await;
    assert_eq!((accepted.status, accepted.body.as_str()), (202, ""));
    assert_eq!(own.hear().await.unwrap()["id"], "a");
}

#[tokio::test]
async fn what_happens_in_a_session_comes_on_its_own_stream() {
    let world = World::open(Network::default()).await;
    let id = begin(&world).await;
    let mut own = stream(&world, &id).await;
    post(&world, &id, &request(1, "session/new", json!({}))).await;
    assert_eq!(own.hear().await.unwrap()["result"]["sessionId"], "s1");
    let named = format!("{id}acp-session-id: s1\r\n");
    // Also what was said before anybody read it.
    post(
        &world,
        &named,
        &request(2, "session/prompt", json!({"sessionId": "s1"})),
    )
    .await;
    let mut session = stream(&world, &named).await;
    assert_eq!(session.hear().await.unwrap()["params"]["number"], 3);
    assert_eq!(session.hear().await.unwrap()["id"], 2);
}

#[tokio::test]
async fn a_session_can_be_loaded_by_clients_that_name_it_in_the_header() {
    let world = World::open(Network::default()).await;
    let id = begin(&world).await;
    let named = format!("{id}acp-session-id: s9\r\n");
    let mut session = stream(&world, &named).await;
    post(
        &world,
        &named,
        &request(1, "session/load", json!({"sessionId": "s9"})),
    )
    .await;
    for expected in [1, 2] {
        assert_eq!(session.hear().await.unwrap()["params"]["number"], expected);
    }
    assert_eq!(session.hear().await.unwrap()["id"], 1);
}

#[tokio::test]
async fn a_session_can_be_loaded_by_clients_that_do_not() {
    let world = World::open(Network::default()).await;
    let id = begin(&world).await;
    let mut own = stream(&world, &id).await;
    post(
        &world,
        &id,
        &request(1, "session/load", json!({"sessionId": "s9"})),
    )
    .await;
    // All of it comes where the client looks, in order.
    for expected in [1, 2] {
        assert_eq!(own.hear().await.unwrap()["params"]["number"], expected);
    }
    assert_eq!(own.hear().await.unwrap()["id"], 1);
    // Once it reads the session's stream, everything comes there.
    let named = format!("{id}acp-session-id: s9\r\n");
    let mut session = stream(&world, &named).await;
    post(
        &world,
        &named,
        &request(2, "session/prompt", json!({"sessionId": "s9"})),
    )
    .await;
    assert_eq!(session.hear().await.unwrap()["params"]["number"], 3);
    assert_eq!(session.hear().await.unwrap()["id"], 2);
}

#[tokio::test]
async fn the_header_and_the_message_must_name_one_session() {
    let world = World::open(Network::default()).await;
    let id = begin(&world).await;
    let mut own = stream(&world, &id).await;
    let other = format!("{id}acp-session-id: s2\r\n");
    let refused = post(
        &world,
        &other,
        &request(1, "session/prompt", json!({"sessionId": "s1"})),
    )
    .await;
    assert_eq!(refused.status, 400);
    // The id can be used again: the agent never saw the request.
    assert_eq!(
        post(&world, &id, &request(1, "m", json!({}))).await.status,
        202
    );
    assert_eq!(own.hear().await.unwrap()["id"], 1);
    // Left out of the message, it is taken from the header.
    let mut session = stream(&world, &other).await;
    post(&world, &other, &request(2, "echo", json!({}))).await;
    assert_eq!(
        session.hear().await.unwrap()["result"]["params"]["sessionId"],
        "s2"
    );
}

#[tokio::test]
async fn the_context_of_a_trace_is_passed_on() {
    let world = World::open(Network::default()).await;
    let id = begin(&world).await;
    let mut own = stream(&world, &id).await;
    let traced = format!("{id}traceparent: 00-1-2-01\r\nbaggage: a=b\r\n");
    post(&world, &traced, &request(1, "m", json!({}))).await;
    let meta = &own.hear().await.unwrap()["result"]["params"]["_meta"];
    assert_eq!(meta, &json!({"traceparent": "00-1-2-01", "baggage": "a=b"}));
    let own_words = json!({"_meta": {"traceparent": "00-3-4-01"}});
    post(&world, &traced, &request(2, "m", own_words.clone())).await;
    assert_eq!(own.hear().await.unwrap()["result"]["params"], own_words);
}

#[tokio::test]
async fn when_the_listener_stops_all_connections_end() {
    let mut world = World::open(Network::default()).await;
    let id = begin(&world).await;
    let mut own = stream(&world, &id).await;
    let url = format!("ws://{}/acp", world.address);
    let (mut socket, _) = connect_async(url).await.unwrap();
    world.hub.stop().await;
    assert_eq!(world.noticed().await, "left");
    assert_eq!(world.noticed().await, "left");
    assert_eq!(own.hear().await, None);
    let Message::Close(Some(farewell)) = socket.next().await.unwrap().unwrap() else {
        panic!("the socket is closed");
    };
    assert_eq!(u16::from(farewell.code), 1001);
}

#[tokio::test]
async fn what_is_no_message_is_refused_in_the_answer() {
    let mut settings = Network::default();
    settings.frames.frame_in_bytes_max = 1000;
    let world = World::open(settings).await;
    let id = begin(&world).await;
    let large = request(1, "m", json!({"text": "x".repeat(1000)}));
    for (body, status, code) in [
        ("{", 400, -32700),
        ("[]", 400, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, 400, -32600),
        (large.as_str(), 413, -32600),
    ] {
        for headers in ["", id.as_str()] {
            let refused = post(&world, headers, body).await;
            assert_eq!(refused.status, status, "{body}");
            assert_eq!(refused.json()["error"]["code"], code, "{body}");
        }
    }
    let dropped = r#"{"jsonrpc":"2.0","method":1}"#;
    assert_eq!(post(&world, &id, dropped).await.status, 202);
    // Announced and never sent: nothing is read.
    let head = format!("{JSON}{id}content-length: 2000\r\n");
    let mut stream = TcpStream::connect(world.address).await.unwrap();
    let head = format!("POST /acp HTTP/1.1\r\nhost: localhost\r\n{head}\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).await.unwrap();
    assert_eq!(&status, b"HTTP/1.1 413");
}

#[tokio::test]
async fn requests_must_name_a_connection_that_is_theirs() {
    let mut policy = Policy::new("127.0.0.1:0".parse().unwrap());
    policy.credentials.add_key("one", Secret::new(KEY)).unwrap();
    let other = "fedcba9876543210";
    policy
        .credentials
        .add_key("two", Secret::new(other))
        .unwrap();
    let world = World::open_with(Network::default(), policy).await;
    let key = |key| format!("x-api-key: {key}\r\n");
    let begun = post(&world, &key(KEY), &request(0, "initialize", json!({}))).await;
    let id = begun.header("acp-connection-id").unwrap();
    let id = format!("acp-connection-id: {id}\r\n");
    let message = request(1, "m", json!({}));
    let with = |parts: &[&str]| parts.concat();
    assert_eq!(
        post(&world, &with(&[&key(KEY), &id]), &message)
            .await
            .status,
        202
    );
    assert_eq!(
        post(&world, &with(&[&key(other), &id]), &message)
            .await
            .status,
        404
    );
    assert_eq!(
        ask(&world, "DELETE", &with(&[&key(other), &id]), "")
            .await
            .status,
        404
    );
    assert_eq!(post(&world, &id, &message).await.status, 401);
    assert_eq!(post(&world, &key(KEY), &message).await.status, 400);
    let made_up = "acp-connection-id: 0123456789abcdef\r\n";
    assert_eq!(
        post(&world, &with(&[&key(KEY), made_up]), &message)
            .await
            .status,
        404
    );
}

#[tokio::test]
async fn what_is_not_json_and_not_a_stream_is_refused() {
    let world = World::open(Network::default()).await;
    let id = begin(&world).await;
    let text = format!("{id}content-type: text/plain\r\n");
    assert_eq!(ask(&world, "POST", &text, "{}").await.status, 415);
    assert_eq!(ask(&world, "GET", &id, "").await.status, 406);
    assert_eq!(ask(&world, "PUT", &id, "").await.status, 405);
    let accept = "accept: text/event-stream\r\n";
    assert_eq!(ask(&world, "GET", accept, "").await.status, 400);
}

#[tokio::test]
async fn a_connection_ends_when_it_is_deleted() {
    let mut world = World::open(Network::default()).await;
    let id = begin(&world).await;
    let mut own = stream(&world, &id).await;
    assert_eq!(ask(&world, "DELETE", &id, "").await.status, 202);
    assert_eq!(world.noticed().await, "left");
    assert_eq!(own.hear().await, None);
    assert_eq!(
        post(&world, &id, &request(1, "m", json!({}))).await.status,
        404
    );
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_nobody_uses_counts_as_dropped() {
    let mut world = World::open(Network::default()).await;
    let id = begin(&world).await;
    let own = stream(&world, &id).await;
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!(world.hub.http_connections(), 1, "somebody reads");
    let began = tokio::time::Instant::now();
    drop(own);
    assert_eq!(world.noticed().await, "left");
    // A stream notices that nobody reads when it says that nothing happens.
    let passed = began.elapsed().as_secs();
    assert!((30..=46).contains(&passed), "{passed} s");
    assert_eq!(world.hub.http_connections(), 0);
}

#[tokio::test]
async fn who_comes_back_takes_over_the_stream() {
    let world = World::open(Network::default()).await;
    let id = begin(&world).await;
    let mut old = stream(&world, &id).await;
    let mut new = stream(&world, &id).await;
    assert_eq!(old.hear().await, None);
    post(&world, &id, &request(1, "m", json!({}))).await;
    assert_eq!(new.hear().await.unwrap()["id"], 1);
}

#[tokio::test]
async fn an_agent_that_panics_leaves_no_request_open() {
    let world = World::open(Network::default()).await;
    let id = begin(&world).await;
    let mut own = stream(&world, &id).await;
    post(&world, &id, &request(5, "panic", json!({}))).await;
    let answer = own.hear().await.unwrap();
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(5), &json!(-32603))
    );
    assert_eq!(own.hear().await, None);
}

#[tokio::test]
async fn connections_and_streams_are_bounded() {
    let settings = Network {
        connections_max: 1,
        streams_max: 1,
        ..Network::default()
    };
    let world = World::open(settings).await;
    let id = begin(&world).await;
    let refused = post(&world, "", &request(0, "initialize", json!({}))).await;
    assert_eq!(refused.status, 503);
    assert_eq!(refused.json()["error"]["code"], -32603);
    assert_eq!(refused.json()["error"]["data"]["retryAfterMs"], 5000);
    let _one = stream(&world, &format!("{id}acp-session-id: s1\r\n")).await;
    let two = format!("{id}acp-session-id: s2\r\naccept: text/event-stream\r\n");
    assert_eq!(ask(&world, "GET", &two, "").await.status, 503);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_not_read_holds_back_its_session_alone() {
    let mut settings = Network::default();
    settings.frames.waiting_frames_max = 16;
    let world = World::open(settings).await;
    let id = begin(&world).await;
    let mut own = stream(&world, &id).await;
    // Nobody reads the stream of the session, so 16 updates are let in.
    post(&world, &id, &request(1, "flood", json!({"about": "s1"}))).await;
    let answer = own.hear().await.unwrap();
    assert_eq!(answer["id"], 1);
    assert_eq!(answer["result"]["sent"], 16);
}
