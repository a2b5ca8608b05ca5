//! Web sockets.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use harn_listen::{Policy, Secret};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::super::Network;
use super::{KEY, World, request};

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

async fn open(world: &World) -> Socket {
    let url = format!("ws://{}/acp", world.address);
    connect_async(url).await.unwrap().0
}

async fn say(socket: &mut Socket, text: String) {
    socket.send(Message::Text(text.into())).await.unwrap();
}

async fn hear(socket: &mut Socket) -> Value {
    loop {
        match socket.next().await.unwrap().unwrap() {
            Message::Text(text) => return serde_json::from_str(&text).unwrap(),
            Message::Close(Some(frame)) => return json!({"closed": u16::from(frame.code)}),
            _ => {}
        }
    }
}

#[tokio::test]
async fn messages_go_both_ways_one_a_frame() {
    let mut world = World::open(Network::default()).await;
    let mut socket = open(&world).await;
    say(&mut socket, request("a", "initialize", json!({}))).await;
    assert_eq!(hear(&mut socket).await["id"], "a");
    say(&mut socket, request(1, "ask", json!({"x": 1}))).await;
    let question = hear(&mut socket).await;
    assert_eq!(question["method"], "question");
    assert_eq!(hear(&mut socket).await["id"], 1);
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": "yes"});
    say(&mut socket, answer.to_string()).await;
    assert!(world.noticed().await.contains("yes"));
    socket.close(None).await.unwrap();
    assert_eq!(world.noticed().await, "left");
}

#[tokio::test]
async fn binary_frames_are_refused_and_the_connection_goes_on() {
    let world = World::open(Network::default()).await;
    let mut socket = open(&world).await;
    let bytes = request(1, "initialize", json!({})).into_bytes();
    socket.send(Message::Binary(bytes.into())).await.unwrap();
    let refusal = hear(&mut socket).await;
    assert_eq!(refusal["error"]["code"], -32600);
    assert_eq!(refusal["id"], Value::Null);
    say(&mut socket, request(1, "initialize", json!({}))).await;
    assert_eq!(hear(&mut socket).await["id"], 1);
}

#[tokio::test]
async fn broken_frames_are_refused_however_many() {
    let world = World::open(Network::default()).await;
    let mut socket = open(&world).await;
    for (frame, code) in [
        ("{", -32700),
        ("{", -32700),
        ("{", -32700),
        ("{", -32700),
        ("[]", -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, -32600),
    ] {
        say(&mut socket, frame.to_owned()).await;
        assert_eq!(hear(&mut socket).await["error"]["code"], code, "{frame}");
    }
    say(&mut socket, request(1, "m", json!({}))).await;
    assert_eq!(hear(&mut socket).await["result"]["method"], "m");
}

#[tokio::test]
async fn a_frame_that_is_too_large_is_refused_and_ends_the_socket() {
    let mut settings = Network::default();
    settings.frames.frame_in_bytes_max = 1000;
    let mut world = World::open(settings).await;
    let mut socket = open(&world).await;
    say(
        &mut socket,
        request(1, "m", json!({"text": "x".repeat(2000)})),
    )
    .await;
    assert_eq!(hear(&mut socket).await["error"]["code"], -32600);
    assert_eq!(hear(&mut socket).await, json!({"closed": 1009}));
    assert_eq!(world.noticed().await, "left");
}

#[tokio::test]
async fn an_agent_that_panics_leaves_no_request_open() {
    let world = World::open(Network::default()).await;
    let mut socket = open(&world).await;
    say(&mut socket, request(1, "panic", json!({}))).await;
    let answer = hear(&mut socket).await;
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(1), &json!(-32603))
    );
}

#[tokio::test(start_paused = true)]
async fn a_socket_that_answers_pings_stays_open() {
    let world = World::open(Network::default()).await;
    let mut socket = open(&world).await;
    let mut pings = 0;
    while pings < 5 {
        match socket.next().await.unwrap().unwrap() {
            Message::Ping(_) => pings += 1,
            other => panic!("{other:?} is no ping"),
        }
        // The library answers when it is used again.
        socket.flush().await.unwrap();
    }
    say(&mut socket, request(1, "m", json!({}))).await;
    assert_eq!(hear(&mut socket).await["id"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_socket_that_does_not_answer_pings_is_closed() {
    let mut world = World::open(Network::default()).await;
    let began = tokio::time::Instant::now();
    let mut silent = TcpStream::connect(world.address).await.unwrap();
    let upgrade = "GET /acp HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\n\
        upgrade: websocket\r\nsec-websocket-version: 13\r\n\
        sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
    silent.write_all(upgrade.as_bytes()).await.unwrap();
    assert_eq!(world.noticed().await, "left");
    let passed = began.elapsed();
    assert!((40..42).contains(&passed.as_secs()), "{passed:?}");
    let mut seen = Vec::new();
    let _ = silent.read_to_end(&mut seen).await;
    let head = seen
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .unwrap()
        + 4;
    assert_eq!(&seen[head..head + 2], [0x89, 0], "a ping");
    assert_eq!(seen[head + 2], 0x88, "a farewell");
}

#[tokio::test]
async fn a_stranger_is_refused_before_the_upgrade() {
    let mut policy = Policy::new("127.0.0.1:0".parse().unwrap());
    policy.credentials.add_key("ci", Secret::new(KEY)).unwrap();
    let world = World::open_with(Network::default(), policy).await;
    let url = format!("ws://{}/acp", world.address);
    let ask = |headers: Vec<(&'static str, String)>| {
        let mut request = url.clone().into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        connect_async(request)
    };
    let status = |refused| match refused {
        Err(tokio_tungstenite::tungstenite::Error::Http(response)) => response.status().as_u16(),
        Err(other) => panic!("{other}"),
        Ok(_) => 101,
    };
    let bearer = ("authorization", format!("Bearer {KEY}"));
    assert_eq!(status(ask(vec![]).await), 401);
    assert_eq!(
        status(ask(vec![("authorization", "Bearer no".to_owned())]).await),
        401
    );
    let page = ("origin", "https://evil.example".to_owned());
    assert_eq!(status(ask(vec![bearer.clone(), page]).await), 403);
    assert_eq!(status(ask(vec![bearer]).await), 101);
}

#[tokio::test]
async fn connections_are_bounded() {
    let settings = Network {
        connections_max: 1,
        ..Network::default()
    };
    let mut world = World::open(settings).await;
    let socket = open(&world).await;
    let url = format!("ws://{}/acp", world.address);
    let Err(tokio_tungstenite::tungstenite::Error::Http(refused)) = connect_async(&url).await
    else {
        panic!("there is no second place");
    };
    assert_eq!(refused.status(), 503);
    drop(socket);
    assert_eq!(world.noticed().await, "left");
    // The place is given back when the connection has come to its end.
    while world.hub.place(&harn_listen::Caller::anybody()).is_none() {
        tokio::task::yield_now().await;
    }
    assert!(connect_async(&url).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_socket_that_is_not_read_holds_back_updates() {
    let mut settings = Network::default();
    settings.frames.waiting_frames_max = 16;
    let world = World::open(settings).await;
    let mut socket = open(&world).await;
    say(&mut socket, request(1, "flood", json!({"about": "s1"}))).await;
    let mut updates = 0;
    let answer = loop {
        let message = hear(&mut socket).await;
        match message["method"] {
            Value::Null => break message,
            _ => updates += 1,
        }
        if updates > 100_000 {
            panic!("nothing holds back");
        }
        if updates == 1 {
            // Nobody reads for a while.
            tokio::time::sleep(Duration::from_secs(3)).await;
        }
    };
    assert_eq!(answer["result"]["sent"], updates);
}
