use std::sync::{Arc, Mutex};

use serde_json::json;

use super::*;
use crate::Category;

/// A file that remembers each write.
#[derive(Clone, Default)]
struct Writes(Arc<Mutex<Vec<String>>>);

impl Write for Writes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        self.0.lock().unwrap().push(text);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn request() -> HttpRequest {
    HttpRequest {
        url: "https://api.example/v1?key=key-in-url".to_owned(),
        headers: vec![
            ("X-Api-Key".to_owned(), Secret::new("sk-live-1")),
            ("content-type".to_owned(), Secret::new("application/json")),
        ],
        body: json!({"model": "m", "messages": [{"role": "user", "content": "my sk-live-1"}]}),
    }
}

fn redaction() -> Redaction {
    Redaction::none().with_secret(&Secret::new("key-in-url"))
}

fn recorded(writes: &Writes) -> Vec<String> {
    writes.0.lock().unwrap().clone()
}

#[test]
fn an_exchange_is_one_line_in_one_write_without_secrets() {
    let writes = Writes::default();
    let mut recorder = TapeRecorder::new(writes.clone(), redaction());
    let mut open = recorder.begin(Wire::Anthropic, &request());
    let headers = [
        ("Content-Type", "text/event-stream"),
        ("Set-Cookie", "session"),
        ("Request-Id", "req_1"),
    ];
    open.response(200, headers);
    open.chunk(10, b"data: sk-li");
    open.chunk(12, b"ve-1\n");
    recorder.exchange(open).unwrap();
    let expected = concat!(
        r#"{"tape":1,"wire":"anthropic","request":{"url":"https://api.example/v1?key=[redacted]","#,
        r#""headers":["content-type","x-api-key"],"#,
        r#""body":{"model":"m","messages":[{"role":"user","content":"my [redacted]"}]}},"#,
        r#""response":{"status":200,"#,
        r#""headers":{"content-type":"text/event-stream","request-id":"req_1"},"#,
        r#""chunks":[{"at_ms":12,"text":"data: [redacted]\n"}]}}"#,
        "\n",
    );
    assert_eq!(recorded(&writes), [expected]);
}

#[test]
fn exchanges_that_overlap_do_not_mix() {
    let writes = Writes::default();
    let mut recorder = TapeRecorder::new(writes.clone(), redaction());
    let mut first = recorder.begin(Wire::Chat, &request());
    let mut second = recorder.begin(Wire::Chat, &request());
    first.response(200, []);
    second.response(429, [("retry-after", "2")]);
    second.chunk(1, b"slow down");
    first.chunk(2, b"hello");
    recorder.exchange(second).unwrap();
    recorder.exchange(first).unwrap();
    let tape = Tape::read("t", recorded(&writes).concat().as_bytes()).unwrap();
    let statuses: Vec<u16> = tape
        .exchanges
        .iter()
        .filter_map(|exchange| exchange.response.as_ref())
        .map(|response| response.status)
        .collect();
    assert_eq!(statuses, [429, 200]);
}

#[test]
fn a_failure_is_kept_with_what_came_before() {
    let recorder = TapeRecorder::new(Writes::default(), redaction());
    let error = crate::Error::new(Category::TransientNetwork, "reset at key-in-url");
    let mut before = recorder.begin(Wire::Chat, &request());
    before.chunk(1, b"nobody answered yet");
    before.failed(&error);
    let before = before.finish();
    assert_eq!(before.response, None);
    let failure = before.failure.unwrap();
    assert_eq!(failure.to_error().category, Category::TransientNetwork);
    assert_eq!(failure.to_error().message, "reset at [redacted]");

    let mut within = recorder.begin(Wire::Chat, &request());
    within.response(200, []);
    within.chunk(1, b"half");
    within.failed(&error);
    let within = within.finish();
    assert_eq!(within.response.unwrap().chunks.len(), 1);
    assert!(within.failure.is_some());
}

#[test]
fn a_body_without_end_is_cut_and_marked() {
    let recorder = TapeRecorder::new(Writes::default(), Redaction::none());
    let mut open = recorder.begin(Wire::Chat, &request());
    open.response(200, []);
    let piece = vec![b'x'; EXCHANGE_BYTES_MAX / 2 + 1];
    for at_ms in 0..3 {
        open.chunk(at_ms, &piece);
    }
    let kept: usize = open
        .exchange
        .response
        .iter()
        .flat_map(|response| &response.chunks)
        .map(|chunk| chunk.bytes.len())
        .sum();
    assert_eq!(kept, EXCHANGE_BYTES_MAX);
    assert!(open.exchange.failure.is_some());
}

#[test]
fn a_tape_is_gone_on_with_after_its_last_whole_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape");
    let record = || {
        let (mut recorder, torn) = TapeRecorder::open(&path, redaction()).unwrap();
        let open = recorder.begin(Wire::Chat, &request());
        recorder.exchange(open).unwrap();
        torn
    };
    assert_eq!(record(), None);
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, [&whole[..], &whole[..30]].concat()).unwrap();
    assert_eq!(record(), Some(Torn { line: 2, bytes: 30 }));
    assert_eq!(
        std::fs::read(&path).unwrap(),
        [&whole[..], &whole[..]].concat()
    );
    // Without the last line break alone, nothing is lost.
    std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    assert_eq!(record(), None);
    assert_eq!(Tape::open(&path).unwrap().exchanges.len(), 2);
}

#[test]
fn a_file_that_is_no_tape_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    for text in ["my notes", "my notes\n", "{\"a\": 1}\n"] {
        std::fs::write(&path, text).unwrap();
        TapeRecorder::open(&path, redaction()).unwrap_err();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}
