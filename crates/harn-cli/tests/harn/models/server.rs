//! A provider on this machine that says what a test wants.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long a test may keep it waiting.
const PATIENCE: Duration = Duration::from_secs(20);

/// A provider that answers so many requests.
pub(super) struct Server {
    pub(super) url: String,
    thread: JoinHandle<Vec<String>>,
}

impl Server {
    /// Answers each request with what the function gives for it: head and body.
    pub(super) fn start<const N: usize>(answers: [fn(&str) -> String; N]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("this machine has a network");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let thread = thread::spawn(move || {
            let answer = |answer: fn(&str) -> String| {
                let (mut stream, _) = listener.accept().expect("somebody asks");
                let request = read(&mut stream);
                let text = answer(&request);
                stream.write_all(text.as_bytes()).expect("somebody listens");
                request
            };
            answers.into_iter().map(answer).collect()
        });
        Self { url, thread }
    }

    /// What was asked.
    pub(super) fn requests(self) -> Vec<String> {
        self.thread.join().expect("it answered")
    }
}

/// A request, up to the end of its body.
fn read(stream: &mut TcpStream) -> String {
    stream.set_read_timeout(Some(PATIENCE)).expect("it is one");
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    while !is_whole(&String::from_utf8_lossy(&request)) {
        let length = stream.read(&mut piece).expect("somebody sends");
        assert!(length > 0, "the request ends early");
        request.extend_from_slice(&piece[..length]);
    }
    String::from_utf8(request).expect("requests are text")
}

fn is_whole(request: &str) -> bool {
    let Some((head, body)) = request.split_once("\r\n\r\n") else {
        return false;
    };
    let lower = head.to_lowercase();
    let length = lower.split("content-length: ").nth(1);
    let length = length.and_then(|rest| rest.lines().next()?.trim().parse().ok());
    body.len() >= length.unwrap_or(0)
}

/// The key that a request shows.
pub(super) fn key_of(request: &str) -> &str {
    let at = request.find("Bearer ").expect("the key is sent") + "Bearer ".len();
    request[at..].lines().next().expect("it has a line").trim()
}

/// An answer in one piece.
pub(super) fn whole(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    )
}

/// An answer as a stream of events.
pub(super) fn stream(events: &[&str]) -> String {
    let events: String = events
        .iter()
        .map(|event| format!("data: {event}\n\n"))
        .collect();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{events}"
    )
}

/// A stream that says something in two pieces.
pub(super) fn says_milk(_request: &str) -> String {
    stream(&[
        r#"{"model":"m-1","choices":[{"delta":{"content":"Buy "}}]}"#,
        r#"{"model":"m-1","choices":[{"delta":{"content":"milk."},"finish_reason":"stop"}]}"#,
        r#"{"model":"m-1","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}"#,
        "[DONE]",
    ])
}

/// A list of models.
pub(super) fn is_healthy(_request: &str) -> String {
    whole("200 OK", "{\"data\": []}")
}
