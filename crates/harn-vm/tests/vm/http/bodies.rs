//! Bodies: packed, large, slow and without end.

use std::io::Write;

use super::programs::check;
use super::server::{Server, answer, until_closed};

/// `hello`, packed in every way we understand.
const PACKED: [(&str, &[u8]); 4] = [
    (
        "gzip",
        &[
            0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 7, 0, 0x86, 0xa6,
            0x10, 0x36, 5, 0, 0, 0,
        ],
    ),
    (
        "deflate",
        &[
            0x78, 0x9c, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 7, 0, 6, 0x2c, 2, 0x15,
        ],
    ),
    ("br", b"\x0b\x02\x80hello\x03"),
    ("zstd", b"\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00hello"),
];

#[test]
fn packed_bodies_are_unpacked_unless_they_should_not() {
    for (encoding, packed) in PACKED {
        let server = Server::fixed(answer("200 OK", &[("content-encoding", encoding)], packed));
        check(
            &server.url,
            r#"
println(http_get("URL").body)
println(http_get("URL", {decompress: false}).body == "hello")
println(bytes_to_string(http_stream_read(http_stream_open("URL"))))
"#,
            &["hello", "false", "hello"],
        );
    }
}

#[test]
fn what_is_packed_wrongly_fails() {
    let server = Server::fixed(answer("200 OK", &[("content-encoding", "gzip")], b"hello"));
    check(
        &server.url,
        r#"println(attempt({ -> http_get("URL") }).starts_with("http: failed to read response body: "))"#,
        &["true"],
    );
}

#[test]
fn what_is_no_text_is_marked() {
    let server = Server::fixed(answer("200 OK", &[], b"a\xffb"));
    check(
        &server.url,
        r#"println(http_get("URL").body)"#,
        &["a\u{fffd}b"],
    );
}

#[test]
fn a_body_that_breaks_off_is_an_error() {
    let server = Server::start(|_, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc")?;
        Err(std::io::ErrorKind::ConnectionAborted.into())
    });
    check(
        &server.url,
        r#"println(attempt({ -> http_get("URL") }).starts_with("http: failed to read response body: "))"#,
        &["true"],
    );
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    let server = Server::start(|_, stream| until_closed(stream));
    check(
        &server.url,
        r#"
println(attempt({ -> http_get("URL", {timeout_ms: 50}) }))
println(attempt({ -> http_get("URL", {timeout: 50ms}) }))
println(attempt({ -> http_get("URL", {total_timeout_ms: 50, retries: 1, backoff: 1}) }))
println(attempt({ -> http_get("URL", {read_timeout_ms: 50}) }))
println(attempt({ -> http_stream_open("URL", {timeout_ms: 50}) }))
"#,
        &[
            "http: request failed: timed out after 50ms",
            "http: request failed: timed out after 50ms",
            "http: request failed: timed out after 50ms",
            "http: request failed: timed out after 50ms",
            "http_stream_open: request failed: timed out after 50ms",
        ],
    );
    server.await_farewell();
}

#[test]
fn a_body_that_stops_is_given_up() {
    let server = Server::start(|_, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc")?;
        until_closed(stream)
    });
    check(
        &server.url,
        r#"
println(attempt({ -> http_get("URL", {timeout_ms: 50}) }))
println(attempt({ -> http_get("URL", {read_timeout_ms: 50}) }))
println(attempt({ -> http_download("URL", "/tmp/harn-never", {timeout_ms: 50}) }))
println(attempt({ -> http_download("URL", "/tmp/harn-never", {read_timeout_ms: 50}) }))
println(file_exists("/tmp/harn-never"))
"#,
        &[
            "http: request failed: timed out after 50ms",
            "http: request failed: timed out after 50ms",
            "http_download: request failed: timed out after 50ms",
            "http_download: request failed: timed out after 50ms",
            "false",
        ],
    );
}

#[test]
fn a_body_without_end_is_given_up() {
    let server = Server::start(|_, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")?;
        let piece = [&b"100000\r\n"[..], &vec![b'x'; 1 << 20], b"\r\n"].concat();
        loop {
            stream.write_all(&piece)?;
        }
    });
    check(
        &server.url,
        r#"println(attempt({ -> http_get("URL") }))"#,
        &["http: failed to read response body: it is larger than 134217728 bytes"],
    );
    server.await_farewell();
}
