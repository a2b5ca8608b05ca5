//! Whatever a peer sends, each line is one message or is refused, however it is cut into chunks.

#![no_main]

use frames::envelope::{self, Envelope, Id, Refusal};
use frames::lines::{Line, Lines};
use serde_json::{Value, json};

/// The sources alone: they need nothing of the rest of their crate.
#[allow(
    dead_code,
    reason = "the target checks what it can without a connection"
)]
#[path = "../../crates/harn-acp/src/frames"]
mod frames {
    pub(crate) mod envelope;
    pub(crate) mod lines;
}

/// Small, so that inputs meet them.
const LINE_BYTES_MAX: usize = 200;
const DEPTH_MAX: usize = 6;

/// The lines; `None` for one that is too long.
fn cut(bytes: &[u8], size: usize) -> Vec<Option<Vec<u8>>> {
    let mut lines = Lines::new(LINE_BYTES_MAX);
    let mut seen = Vec::new();
    let mut note = |line: Line<'_>| {
        seen.push(match line {
            Line::Whole(bytes) => Some(bytes.to_vec()),
            Line::TooLong => None,
        });
    };
    for chunk in bytes.chunks(size) {
        lines.push(chunk, &mut note);
        assert!(lines.held_bytes() <= LINE_BYTES_MAX);
    }
    lines.finish(&mut note);
    seen
}

fn expected(bytes: &[u8]) -> Vec<Option<Vec<u8>>> {
    let mut lines: Vec<_> = bytes.split(|byte| *byte == b'\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    let whole = |line: &[u8]| (line.len() <= LINE_BYTES_MAX).then(|| line.to_vec());
    lines.into_iter().map(whole).collect()
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

fn check(line: &[u8]) {
    let json: Option<Value> = serde_json::from_slice(line).ok();
    match envelope::read(line, DEPTH_MAX) {
        Ok(message) => {
            let json = json.expect("a message is JSON");
            assert!(depth(&json) <= DEPTH_MAX);
            check_message(&message, &json);
        }
        Err(Refusal::Answer { id, fault }) => {
            let answer = envelope::error_answer(id.as_ref(), fault.code(), fault.message(), None);
            let answer: Value = serde_json::from_str(&answer).expect("we write JSON");
            assert!(fault.code() != envelope::PARSE_ERROR || json.is_none());
            let is_named = json.is_some_and(|json| json["id"] == answer["id"]);
            assert!(answer["id"].is_null() || is_named);
        }
        Err(Refusal::BrokenNotification) => {
            let json = json.expect("a notification is JSON");
            assert!(json.get("method").is_some() && json.get("id").is_none());
        }
        Err(Refusal::BrokenResponse) => {
            assert!(json.expect("a response is JSON").get("method").is_none());
        }
    }
}

fn check_message(message: &Envelope, json: &Value) {
    assert_eq!(
        json.get("id").is_none(),
        matches!(message, Envelope::Notification { .. })
    );
    match message {
        Envelope::Request { id, method, .. } => {
            assert_eq!(
                (&written(id), &json!(method)),
                (&json["id"], &json["method"])
            );
        }
        Envelope::Notification { method, .. } => assert_eq!(&json!(method), &json["method"]),
        Envelope::Response { id, .. } => assert_eq!(written(id), json["id"]),
    }
}

fn written(id: &Id) -> Value {
    match id {
        Id::Number(number) => json!(number),
        Id::Text(text) => json!(text),
    }
}

harn_fuzz::target!(|bytes| {
    let lines = expected(bytes);
    for size in [1, 7, bytes.len().max(1)] {
        assert_eq!(cut(bytes, size), lines, "in chunks of {size}");
    }
    for line in lines.iter().flatten() {
        check(line);
    }
});
