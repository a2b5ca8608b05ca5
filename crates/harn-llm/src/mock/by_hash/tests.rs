use std::collections::BTreeMap;

use super::*;
use crate::{Secret, Usage};

#[derive(Default)]
struct Memory(BTreeMap<String, String>);

impl Store for Memory {
    fn read(&self, name: &str) -> io::Result<Option<String>> {
        Ok(self.0.get(name).cloned())
    }

    fn write(&mut self, name: &str, text: &str) -> io::Result<()> {
        self.0.insert(name.to_owned(), text.to_owned());
        Ok(())
    }
}

fn request(system: Option<&str>) -> Request {
    Request {
        model: "m".to_owned(),
        messages: vec![json!({"role": "user", "content": "hi"})].into(),
        system: system.map(str::to_owned),
        ..Request::default()
    }
}

fn answer() -> Answer {
    Answer {
        reply: Reply {
            text: "hello, key sk-live-12345678".to_owned(),
            usage: Usage {
                input: 3,
                ..Usage::default()
            },
            ..Reply::default()
        },
        provider: "anthropic".to_owned(),
    }
}

/// These values are in the names of files that people keep; they must never change. They
/// were computed apart from this program, over the JSON in the comments.
#[test]
fn hashes_never_change() {
    let rows = [
        // ["",[],null]
        (Request::default(), "b073fd3a1b987d8e"),
        // ["m",[{"content":"hi","role":"user"}],"s"]
        (request(Some("s")), "f2e414f4d448b712"),
        // ["m",[{"content":"hi","role":"user"}],null]
        (request(None), "188267a9c8a1effc"),
    ];
    for (request, expected) in rows {
        assert_eq!(request_hash(&request), expected);
    }
    // ["read",{"a":1,"b":"é"}]
    let arguments = json!({"b": "é", "a": 1});
    assert_eq!(tool_hash("read", &arguments), "491f59509c2a0829");
}

#[test]
fn only_model_messages_and_system_count() {
    let other = Request {
        stream: true,
        cache: true,
        prefill: Some("x".to_owned()),
        ..request(None)
    };
    assert_eq!(request_hash(&other), request_hash(&request(None)));
}

#[test]
fn what_was_recorded_is_replayed() {
    let mut store = Memory::default();
    record(&mut store, &request(None), &answer(), &Redaction::none()).unwrap();
    assert_eq!(
        store.0.keys().collect::<Vec<_>>(),
        ["188267a9c8a1effc.json"]
    );
    assert_eq!(replay(&store, &request(None)).unwrap(), answer());
}

#[test]
fn what_was_never_recorded_says_how_to() {
    let error = replay(&Memory::default(), &request(None)).unwrap_err();
    let expected =
        "No fixture found for LLM call (hash: 188267a9c8a1effc). Run with --record first.";
    assert_eq!(error.message, expected);
}

#[test]
fn secrets_are_not_written() {
    let mut store = Memory::default();
    let redaction = Redaction::none().with_secret(&Secret::new("sk-live-12345678"));
    record(&mut store, &request(None), &answer(), &redaction).unwrap();
    assert!(!store.0["188267a9c8a1effc.json"].contains("sk-live"));
    let replayed = replay(&store, &request(None)).unwrap();
    assert_eq!(replayed.reply.text, "hello, key [redacted]");
}

#[test]
fn a_damaged_file_is_refused() {
    let name = "188267a9c8a1effc.json";
    let whole = json!({
        "version": 1, "hash": "188267a9c8a1effc", "provider": "p", "request": {}, "reply": {},
    });
    let with = |key: &str, value: Value| {
        let mut file = whole.clone();
        file[key] = value;
        file.to_string()
    };
    let rows = [
        ("{".to_owned(), format!("the fixture {name} is damaged: ")),
        (
            with("version", json!(2)),
            format!("the fixture {name} has version 2; this program reads version 1"),
        ),
        (
            with("hash", json!("00")),
            format!("the fixture {name} is for another call (hash: 00)"),
        ),
    ];
    for (text, expected) in rows {
        let mut store = Memory::default();
        store.write(name, &text).unwrap();
        let error = replay(&store, &request(None)).unwrap_err();
        assert!(error.message.starts_with(&expected), "{error}");
    }
}

#[test]
fn a_folder_is_made_when_it_is_needed() {
    let scratch = tempfile::tempdir().unwrap();
    let mut folder = Folder::new(scratch.path().join("a/b"));
    assert_eq!(folder.read("x.json").unwrap(), None);
    folder.write("x.json", "1").unwrap();
    folder.write("x.json", "2").unwrap();
    assert_eq!(folder.read("x.json").unwrap().as_deref(), Some("2"));
    assert_eq!(
        std::fs::read_dir(scratch.path().join("a/b"))
            .unwrap()
            .count(),
        1
    );
}
