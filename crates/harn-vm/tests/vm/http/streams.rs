//! Answers in pieces and in files.

use std::io::Write;
use std::sync::Mutex;
use std::sync::mpsc::channel;

use super::programs::check;
use super::server::{Server, answer, until_closed};

#[test]
fn pieces_come_as_they_arrive() {
    let server = Server::start(|_, stream| {
        stream.write_all(b"HTTP/1.1 206 Part\r\ncontent-length: 7\r\nkind: x\r\n\r\nabcdefg")
    });
    check(
        &server.url,
        r#"
let stream = http_stream_open("URL/", {method: "post", body: "b"})
println(http_stream_info(stream).status)
println(http_stream_info(stream).headers.kind)
println(bytes_to_string(http_stream_read(stream, 3)))
println(bytes_to_string(http_stream_read(stream, 100)))
println(http_stream_read(stream))
println(http_stream_read(stream))
println(http_stream_close(stream))
println(attempt({ -> http_stream_read(stream) }))
"#,
        &[
            "206",
            "x",
            "abc",
            "defg",
            "nil",
            "nil",
            "true",
            "http_stream_read: unknown stream 'http-stream-1'",
        ],
    );
}

#[test]
fn the_first_piece_does_not_wait_for_the_second() {
    let (sender, go_on) = channel();
    let go_on = Mutex::new(go_on);
    let first = Server::start(move |_, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nabc")?;
        go_on.lock().unwrap().recv().unwrap();
        stream.write_all(b"def")
    });
    let second = Server::start(move |_, stream| {
        sender.send(()).unwrap();
        stream.write_all(&answer("200 OK", &[], b""))
    });
    let program = r#"
let stream = http_stream_open("URL/")
println(bytes_to_string(http_stream_read(stream)))
http_get("OTHER/")
println(bytes_to_string(http_stream_read(stream)))
"#;
    check(
        &first.url,
        &program.replace("OTHER", &second.url),
        &["abc", "def"],
    );
}

#[test]
fn closing_a_stream_closes_its_connection() {
    let server = Server::start(|_, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nabc")?;
        until_closed(stream)
    });
    check(
        &server.url,
        r#"
let stream = http_stream_open("URL/", {read_timeout_ms: 300})
http_stream_read(stream)
println(attempt({ -> http_stream_read(stream) }))
println(http_stream_close(stream))
"#,
        &[
            "http_stream_read: failed to read response body: timed out after 300ms",
            "true",
        ],
    );
    server.await_farewell();
}

#[test]
fn a_download_goes_to_its_file() {
    let body = vec![7; 300_000];
    let server = Server::fixed(answer("200 OK", &[("kind", "x")], &body));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("whole.bin");
    let program = r#"
let done = http_download("URL/", "PATH")
println(done.bytes_written)
println(done.status)
println(done.ok)
println(done.headers.kind)
println(http_download("URL/", "PATH", {method: "POST"}).bytes_written)
println(attempt({ -> http_download("URL/", "/no/such/folder/x") }))
"#;
    let program = program.replace("PATH", &path.display().to_string());
    let unwritten = "http_download: failed to write /no/such/folder/x: \
                     No such file or directory (os error 2)";
    let expected = ["300000", "200", "true", "x", "300000", unwritten];
    check(&server.url, &program, &expected);
    assert_eq!(std::fs::read(&path).unwrap(), body);
    let beside = std::fs::read_dir(folder.path()).unwrap();
    assert_eq!(beside.count(), 1);
}
