//! Whatever a model writes, calls are read or refused, never half of one; and what is announced
//! while it writes does not depend on the pieces it comes in.

#![no_main]

use harn_llm::grammar::think::{Piece, ThinkSplitter};
use harn_llm::grammar::visible::{VisibleStream, sanitize};
use harn_llm::grammar::{Candidate, Candidates, Channel, ToolNames, extract, fenced, parse, value};

fn tools() -> ToolNames {
    ["read", "write"].into_iter().collect()
}

fn announced<'a>(channel: Channel, pieces: impl IntoIterator<Item = &'a str>) -> Vec<Candidate> {
    let mut candidates = Candidates::new(tools(), channel, 1);
    let mut all = Vec::new();
    for piece in pieces {
        all.extend(candidates.push(piece));
    }
    all.extend(candidates.finish());
    all
}

fn characters(text: &str) -> impl Iterator<Item = &str> {
    text.char_indices()
        .map(|(at, character)| &text[at..at + character.len_utf8()])
}

/// The thoughts and the rest of a text that comes in those pieces.
fn thoughts<'a>(pieces: impl IntoIterator<Item = &'a str>) -> (String, String) {
    let mut splitter = ThinkSplitter::default();
    let mut found = Vec::new();
    for piece in pieces {
        found.extend(splitter.push(piece));
    }
    found.extend(splitter.finish());
    let (mut thought, mut said) = (String::new(), String::new());
    for piece in found {
        match piece {
            Piece::Thought(text) => thought.push_str(&text),
            Piece::Text(text) => said.push_str(&text),
        }
    }
    (thought, said)
}

harn_fuzz::target!(|bytes| {
    // Longer texts say nothing new, and looking at all that is visible after every piece
    // costs the square of it.
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(2048)]);
    for parsed in [
        parse(&text, &tools(), Some("##DONE##")),
        fenced::parse(&text, &tools(), None),
    ] {
        for call in &parsed.calls {
            assert!(tools().knows(&call.name), "{call:?}");
            assert!(call.arguments.is_object(), "{call:?}");
        }
    }
    for channel in [Channel::Tagged, Channel::Fenced] {
        let whole = announced(channel, [text.as_ref()]);
        assert_eq!(announced(channel, characters(&text)), whole, "{text:?}");
    }
    assert_eq!(thoughts(characters(&text)), thoughts([text.as_ref()]));

    let mut stream = VisibleStream::default();
    for piece in characters(&text).take(256) {
        stream.push(piece);
    }
    sanitize(&text);
    // What was read is written as JSON, and read as the same.
    if let Ok((read, _)) = value::read(&text) {
        let written = read.to_string();
        let (again, repairs) = value::read(&written).expect("JSON is a value");
        assert_eq!((again, repairs), (read, Vec::new()), "{written}");
    }
    extract::extract(&text);
});
