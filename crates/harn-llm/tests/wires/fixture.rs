//! Finds the recorded answers and decodes them.

use std::fs;
use std::path::{Path, PathBuf};

use harn_llm::wire::frames::Frames;
use harn_llm::wire::{self, Framing, Wire};
use harn_llm::{Collector, Error, Reply, StreamEvent};
use serde_json::{Value, json};

/// All wires.
pub(crate) const WIRES: [Wire; 5] = [
    Wire::Anthropic,
    Wire::Chat,
    Wire::Responses,
    Wire::Gemini,
    Wire::Ollama,
];

/// A recorded answer.
pub(crate) struct Fixture {
    /// `<wire>/NAME`, for messages.
    pub(crate) name: String,
    wire: Wire,
    /// The answer.
    pub(crate) bytes: Vec<u8>,
    expected: Vec<Value>,
    /// The same answer in one piece.
    pub(crate) whole: Option<Value>,
}

/// What came of an answer.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    /// The pieces in order.
    pub(crate) events: Vec<StreamEvent>,
    /// How it failed, if it did.
    pub(crate) error: Option<Error>,
}

impl Outcome {
    /// The answer put together.
    pub(crate) fn reply(&self) -> Reply {
        let mut collector = Collector::default();
        for event in &self.events {
            collector.push(event.clone());
        }
        collector.finish()
    }
}

impl Fixture {
    /// All of them, of every wire that has some.
    pub(crate) fn all() -> Vec<Fixture> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        let mut fixtures = Vec::new();
        for wire in WIRES {
            let Ok(entries) = fs::read_dir(root.join(wire.name())) else {
                continue;
            };
            let mut paths: Vec<PathBuf> = entries
                .map(|entry| entry.expect("the folder can be read").path())
                .collect();
            paths.retain(|path| {
                path.extension()
                    .is_some_and(|ending| ending == ending_of(wire))
            });
            paths.sort();
            fixtures.extend(paths.iter().map(|path| Fixture::open(wire, path)));
        }
        assert!(!fixtures.is_empty(), "there are recorded answers");
        fixtures
    }

    fn open(wire: Wire, path: &Path) -> Fixture {
        let stem = path
            .file_stem()
            .expect("a file has a name")
            .to_string_lossy();
        let whole = path.with_extension("whole.json");
        Fixture {
            name: format!("{}/{stem}", wire.name()),
            wire,
            bytes: fs::read(path).expect("the answer can be read"),
            expected: read_json(&path.with_extension("events.json"))
                .as_array()
                .expect("events are a list")
                .clone(),
            whole: whole.exists().then(|| read_json(&whole)),
        }
    }

    /// What comes of the answer if it arrives in those chunks.
    pub(crate) fn decode<'a>(&self, chunks: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
        let mut frames = Frames::new(self.wire.framing());
        let mut decoder = wire::decoder(self.wire);
        let mut events = Vec::new();
        let mut each = |frame: wire::Frame<'_>| decoder.frame(frame, &mut events);
        let fed = chunks
            .into_iter()
            .try_for_each(|chunk| frames.push(chunk, &mut each))
            .and_then(|()| frames.finish(&mut each));
        let outcome = fed.and_then(|()| decoder.finish(&mut events));
        Outcome {
            events,
            error: outcome.err(),
        }
    }

    /// The frames of the answer, as event and data.
    pub(crate) fn frames(&self) -> Vec<(String, String)> {
        let mut frames = Frames::new(self.wire.framing());
        let mut found = Vec::new();
        let mut keep = |frame: wire::Frame<'_>| {
            found.push((frame.event.to_owned(), frame.data.to_owned()));
            Ok(())
        };
        let fed = frames.push(&self.bytes, &mut keep);
        fed.and_then(|()| frames.finish(&mut keep))
            .expect("recorded answers are within bounds");
        found
    }

    /// What comes of those frames.
    pub(crate) fn decode_frames(&self, frames: &[(String, String)]) -> Outcome {
        let mut decoder = wire::decoder(self.wire);
        let mut events = Vec::new();
        let outcome = frames
            .iter()
            .try_for_each(|(event, data)| decoder.frame(wire::Frame { event, data }, &mut events))
            .and_then(|()| decoder.finish(&mut events));
        Outcome {
            events,
            error: outcome.err(),
        }
    }

    /// What comes of the answer if it arrives as one body.
    pub(crate) fn decode_whole(&self, body: &Value) -> Outcome {
        let mut events = Vec::new();
        let outcome = wire::decoder(self.wire).whole(body, &mut events);
        Outcome {
            events,
            error: outcome.err(),
        }
    }

    /// Compares with what the fixture expects, event by event.
    #[track_caller]
    pub(crate) fn check(&self, outcome: &Outcome, how: &str) {
        let (errors, events): (Vec<&Value>, Vec<&Value>) = self
            .expected
            .iter()
            .partition(|entry| entry.get("error").is_some() && entry.get("type").is_none());
        for (index, (event, expected)) in outcome.events.iter().zip(&events).enumerate() {
            let expected: StreamEvent = serde_json::from_value((*expected).clone())
                .unwrap_or_else(|error| panic!("{}, event {index}: {error}", self.name));
            assert_eq!(*event, expected, "{}, {how}, event {index}", self.name);
        }
        let counts = (outcome.events.len(), outcome.error.iter().count());
        assert_eq!(
            counts,
            (events.len(), errors.len()),
            "{}, {how}: {outcome:#?}",
            self.name
        );
        for (error, expected) in outcome.error.iter().zip(errors) {
            let error = json!({"category": error.category.word(), "message": error.message});
            assert_eq!(error, expected["error"], "{}, {how}", self.name);
        }
    }
}

fn ending_of(wire: Wire) -> &'static str {
    match wire.framing() {
        Framing::Sse => "sse",
        Framing::Lines => "ndjson",
    }
}

fn read_json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}
