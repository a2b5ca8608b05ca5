//! Web sockets.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Message, WebSocket, accept_hdr};

use super::programs::check;

/// A server that takes one web socket after another. It wants the token `t` at `/secret`.
fn server(each: impl Fn(WebSocket<TcpStream>) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let url = format!("ws://{}", listener.local_addr().expect("it is bound"));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            if let Ok(socket) = accept_hdr(stream, admit) {
                each(socket);
            }
        }
    });
    url
}

#[expect(clippy::result_large_err, reason = "the protocol wants it so")]
fn admit(request: &Request, response: Response) -> Result<Response, ErrorResponse> {
    let header = request.headers().get("authorization");
    if request.uri().path() == "/secret" && header.is_none_or(|token| token != "Bearer t") {
        let mut refusal = ErrorResponse::new(None);
        *refusal.status_mut() = 401_u16.try_into().expect("it is a status");
        return Err(refusal);
    }
    Ok(response)
}

/// Sends back whatever it gets.
fn echo(mut socket: WebSocket<TcpStream>) {
    while let Ok(message) = socket.read() {
        let is_data = message.is_text() || message.is_binary();
        if is_data && socket.send(message).is_err() {
            return;
        }
    }
}

#[test]
fn messages_go_both_ways() {
    let url = server(echo);
    check(
        &url,
        r#"
let socket = websocket_connect("URL/chat")
println(websocket_send(socket, "é"))
println(websocket_send(socket, bytes_from_string("hi")))
println(websocket_receive(socket))
println(websocket_receive(socket))
println(websocket_send(socket, "p", {type: "ping"}))
println(websocket_receive(socket))
println(websocket_receive(socket, 20))
println(websocket_close(socket))
println(websocket_close(socket))
println(websocket_receive(socket))
println(websocket_send(socket, "late"))
"#,
        &[
            "true",
            "true",
            "{data: é, type: text}",
            "{data_base64: aGk=, type: binary}",
            "true",
            "{data_base64: cA==, type: pong}",
            "{type: timeout}",
            "true",
            "false",
            "nil",
            "false",
        ],
    );
}

#[test]
fn a_server_may_want_a_token() {
    let url = server(echo);
    check(
        &url,
        r#"
println(attempt({ -> websocket_connect("URL/secret") }))
println(attempt({ -> websocket_connect("URL/secret", {auth: {bearer: "x"}}) }))
println(websocket_close(websocket_connect("URL/secret", {auth: {bearer: "t"}})))
println(websocket_close(websocket_connect("URL/secret", {auth: "t"})))
println(websocket_close(websocket_connect("URL/secret", {headers: {Authorization: "Bearer t"}})))
"#,
        &[
            "websocket_connect: failed: HTTP error: 401 Unauthorized",
            "websocket_connect: failed: HTTP error: 401 Unauthorized",
            "true",
            "true",
            "true",
        ],
    );
}

#[test]
fn the_end_has_a_code_and_a_reason() {
    let url = server(|mut socket| {
        let frame = CloseFrame {
            code: 4001.into(),
            reason: "enough".into(),
        };
        socket.send(Message::Text("last".into())).unwrap();
        socket.close(Some(frame)).unwrap();
        while socket.read().is_ok() {}
    });
    check(
        &url,
        r#"
let socket = websocket_connect("URL/")
println(websocket_receive(socket))
println(websocket_receive(socket))
println(websocket_receive(socket))
println(websocket_send(socket, "x"))
"#,
        &[
            "{data: last, type: text}",
            "{code: 4001, reason: enough, type: close}",
            "nil",
            "false",
        ],
    );
}

#[test]
fn what_is_too_large_closes_the_socket() {
    let (sender, code) = std::sync::mpsc::channel();
    let url = server(move |mut socket| {
        socket.send(Message::Text("x".repeat(2000).into())).unwrap();
        loop {
            match socket.read() {
                Ok(Message::Close(frame)) => {
                    let code = frame.map(|frame| u16::from(frame.code));
                    return sender.send(code).unwrap();
                }
                Ok(_) => {}
                Err(_) => return sender.send(None).unwrap(),
            }
        }
    });
    check(
        &url,
        r#"
let socket = websocket_connect("URL/", {max_message_bytes: 1000})
println(attempt({ -> websocket_receive(socket) }))
println(websocket_receive(socket))
"#,
        &[
            "websocket_receive: message exceeded max_message_bytes (1000)",
            "nil",
        ],
    );
    assert_eq!(code.recv().unwrap(), Some(1009));
}

#[test]
fn a_program_can_say_why_it_goes() {
    let (sender, seen) = std::sync::mpsc::channel();
    let url = server(move |mut socket| {
        while let Ok(message) = socket.read() {
            if let Message::Close(Some(frame)) = message {
                sender
                    .send((u16::from(frame.code), frame.reason.to_string()))
                    .unwrap();
            }
        }
    });
    check(
        &url,
        r#"
let socket = websocket_connect("URL/")
println(websocket_send(socket, "", {type: "close", code: 4002, reason: "done"}))
println(websocket_send(socket, "x"))
"#,
        &["true", "false"],
    );
    assert_eq!(seen.recv().unwrap(), (4002, "done".to_owned()));
}

#[test]
fn a_server_that_does_not_answer_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}", listener.local_addr().unwrap());
    check(
        &url,
        r#"println(attempt({ -> websocket_connect("URL/", {timeout_ms: 50}) }))"#,
        &["websocket_connect: timed out after 50ms"],
    );
}

/// A proxy that lets one user connect, wherever it is told to.
fn proxy() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _one_of_them_is_gone = pass_on(stream);
        }
    });
    url
}

fn pass_on(client: TcpStream) -> io::Result<()> {
    let mut reader = BufReader::new(client.try_clone()?);
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if reader.read_until(b'\n', &mut head)? == 0 {
            return Ok(());
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let mut client = client;
    if !head.contains("Proxy-Authorization: Basic dTpw\r\n") {
        return client.write_all(b"HTTP/1.1 407 Who are you\r\n\r\n");
    }
    let target = head.split(' ').nth(1).unwrap_or_default();
    let mut server = TcpStream::connect(target)?;
    client.write_all(b"HTTP/1.1 200 Connected\r\n\r\n")?;
    let (mut from_server, mut to_client) = (server.try_clone()?, client.try_clone()?);
    thread::spawn(move || io::copy(&mut from_server, &mut to_client));
    io::copy(&mut reader, &mut server).map(drop)
}

#[test]
fn a_socket_can_go_through_a_proxy() {
    let url = server(echo);
    let program = r#"
let login = {proxy: "PROXY", proxy_auth: {user: "u", password: "p"}}
let socket = websocket_connect("URL/chat", login)
println(websocket_send(socket, "hello"))
println(websocket_receive(socket).data)
println(websocket_close(socket))
println(attempt({ -> websocket_connect("URL/chat", {proxy: "PROXY"}) }))
let direct = websocket_connect("URL/chat", {proxy: {url: "PROXY", no_proxy: "127.0.0.1"}})
println(websocket_send(direct, "x"))
println(attempt({ -> websocket_connect("URL/chat", {proxy: "socks5://127.0.0.1:1"}) }))
"#;
    check(
        &url,
        &program.replace("PROXY", &proxy()),
        &[
            "true",
            "hello",
            "true",
            "websocket_connect: failed: the proxy says 'HTTP/1.1 407 Who are you'",
            "true",
            "websocket_connect: failed: web sockets go through proxies of http:// only",
        ],
    );
}
