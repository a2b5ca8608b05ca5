//! Whoever stops waiting closes the connection at once.

use std::io::Write;
use std::sync::Mutex;
use std::sync::mpsc::channel;

use super::programs::check;
use super::server::{Server, answer, until_closed};

#[test]
fn a_deadline_closes_the_connection() {
    let server = Server::start(|_, stream| until_closed(stream));
    check(
        &server.url,
        r#"println(attempt({ -> deadline 500ms { http_get("URL") } }))"#,
        &["Deadline exceeded"],
    );
    server.await_farewell();
}

#[test]
fn a_task_that_is_cancelled_closes_the_connection() {
    let (arrived, has_arrived) = channel();
    let has_arrived = Mutex::new(has_arrived);
    let server = Server::start(move |request, stream| {
        if request.line == "GET /ready" {
            has_arrived.lock().unwrap().recv().unwrap();
            return stream.write_all(&answer("200 OK", &[], b"ready"));
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc")?;
        arrived.send(()).unwrap();
        until_closed(stream)
    });
    check(
        &server.url,
        r#"
let task = spawn { http_get("URL/") }
println(http_get("URL/ready").body)
cancel(task)
"#,
        &["ready"],
    );
    server.await_farewell();
}

#[test]
fn a_download_that_is_cancelled_leaves_what_was_there() {
    let server = Server::start(|_, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc")?;
        until_closed(stream)
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.bin");
    std::fs::write(&path, "old").unwrap();
    let program = r#"println(attempt({ -> deadline 500ms { http_download("URL", "PATH") } }))"#;
    let program = program.replace("PATH", &path.display().to_string());
    check(&server.url, &program, &["Deadline exceeded"]);
    server.await_farewell();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
    let beside = std::fs::read_dir(folder.path()).unwrap();
    assert_eq!(beside.count(), 1);
}

#[test]
fn a_program_that_ends_closes_what_is_open() {
    let server = Server::start(|_, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc")?;
        until_closed(stream)
    });
    check(
        &server.url,
        r#"println(bytes_to_string(http_stream_read(http_stream_open("URL"))))"#,
        &["abc"],
    );
    server.await_farewell();
}
