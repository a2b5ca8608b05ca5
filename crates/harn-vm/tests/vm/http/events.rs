//! Streams of events.

use std::io::Write;
use std::net::TcpStream;

use super::programs::check;
use super::server::{Server, answer, until_closed};

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\
                      connection: close\r\n\r\n";

fn events(text: &'static str) -> Server {
    Server::start(move |_, stream: &mut TcpStream| {
        stream.write_all(HEAD)?;
        stream.write_all(text.as_bytes())?;
        Err(std::io::ErrorKind::ConnectionAborted.into())
    })
}

#[test]
fn events_arrive_in_order_until_the_end() {
    let server =
        events("data: one\n\nevent: e\ndata: two\ndata: lines\nid: 7\nretry: 9\n\ndata: cut");
    check(
        &server.url,
        r#"
let stream = sse_connect("GET", "URL/")
for _ in range(4) {
  println(sse_receive(stream))
}
println(sse_close(stream))
"#,
        &[
            "{type: open}",
            "{data: one, event: message, id: nil, retry_ms: nil, type: event}",
            "{data: two",
            "lines, event: e, id: 7, retry_ms: 9, type: event}",
            "nil",
            "true",
        ],
    );
}

#[test]
fn a_request_for_events_says_so() {
    let server = Server::start(|request, stream| {
        stream.write_all(HEAD)?;
        let accept = request.header("accept").unwrap_or_default();
        let body = String::from_utf8_lossy(&request.body);
        write!(stream, "data: {} {accept} {body}\n\n", request.line)?;
        until_closed(stream)
    });
    check(
        &server.url,
        r#"
let stream = sse_connect("POST", "URL/x", {body: "b", query: {q: 1}})
sse_receive(stream)
println(sse_receive(stream).data)
println(sse_receive(stream, 30))
println(sse_receive(stream, 30ms))
println(sse_close(stream))
"#,
        &[
            "POST /x?q=1 text/event-stream b",
            "{type: timeout}",
            "{type: timeout}",
            "true",
        ],
    );
    server.await_farewell();
}

#[test]
fn what_is_no_stream_of_events_is_an_error() {
    let missing = Server::fixed(answer("404 Not Found", &[], b""));
    let plain = Server::fixed(answer("200 OK", &[("content-type", "text/plain")], b""));
    for (server, reason) in [
        (missing, "unexpected status 404"),
        (plain, "unexpected content type 'text/plain'"),
    ] {
        check(
            &server.url,
            r#"
let stream = sse_connect("GET", "URL/")
println(attempt({ -> sse_receive(stream) }))
println(sse_receive(stream))
"#,
            &[&format!("sse_receive: stream error: {reason}"), "nil"],
        );
    }
}

#[test]
fn an_event_without_end_is_given_up() {
    let server = Server::start(|_, stream| {
        stream.write_all(HEAD)?;
        loop {
            stream.write_all(&[b'x'; 4096])?;
        }
    });
    check(
        &server.url,
        r#"
let stream = sse_connect("GET", "URL/", {max_message_bytes: 100000})
sse_receive(stream)
println(attempt({ -> sse_receive(stream) }))
println(sse_receive(stream))
"#,
        &[
            "sse_receive: message exceeded max_message_bytes (100000)",
            "nil",
        ],
    );
    server.await_farewell();
}

#[test]
fn a_redirect_leads_to_the_events() {
    let to = events("data: here\n\n");
    let location = [("location", to.url.as_str())];
    let from = Server::fixed(answer("307 Elsewhere", &location, b""));
    check(
        &from.url,
        r#"
let stream = sse_connect("GET", "URL/")
println(sse_receive(stream))
println(sse_receive(stream).data)
"#,
        &["{type: open}", "here"],
    );
}
