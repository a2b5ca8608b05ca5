//! What holds of every answer on every wire, whatever it says.

use harn_llm::wire::frames::Frames;
use harn_llm::wire::{Frame, Wire, decoder};
use harn_llm::{Error, StreamEvent};

/// What came of an answer.
#[derive(Debug, PartialEq)]
struct Outcome {
    events: Vec<StreamEvent>,
    error: Option<Error>,
}

/// Decodes `bytes` as a stream and, if they are JSON, as an answer in one piece.
pub fn check(wire: Wire, bytes: &[u8]) {
    let full = decode(wire, [bytes]);
    check_events(&full);
    assert_eq!(full, decode(wire, bytes.chunks(1)), "byte by byte");
    // Where it breaks off follows from the input.
    let seed = bytes.iter().fold(0_usize, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(usize::from(*byte))
    });
    let at = seed % (bytes.len() + 1);
    let (before, after) = bytes.split_at(at);
    assert_eq!(full, decode(wire, [before, after]), "cut at {at}");
    check_broken_off(&full, &decode(wire, [before]));
    if let Ok(body) = serde_json::from_slice(bytes) {
        let mut events = Vec::new();
        let error = decoder(wire).whole(&body, &mut events).err();
        check_events(&Outcome { events, error });
    }
}

fn decode<'a>(wire: Wire, chunks: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
    let mut frames = Frames::new(wire.framing());
    let mut decoder = decoder(wire);
    let mut events = Vec::new();
    let mut each = |frame: Frame<'_>| decoder.frame(frame, &mut events);
    let fed = chunks
        .into_iter()
        .try_for_each(|chunk| frames.push(chunk, &mut each))
        .and_then(|()| frames.finish(&mut each));
    let error = fed.and_then(|()| decoder.finish(&mut events)).err();
    Outcome { events, error }
}

/// Calls begin in order, end at most once, and nothing is added to one that has ended; an
/// answer ends exactly once, or fails.
fn check_events(outcome: &Outcome) {
    let mut has_ended: Vec<bool> = Vec::new();
    let mut ends = 0;
    for event in &outcome.events {
        match event {
            StreamEvent::ToolCallStart { index, .. } => {
                assert_eq!(*index, has_ended.len(), "{outcome:?}");
                has_ended.push(false);
            }
            StreamEvent::ToolArgsDelta { index, .. } => {
                assert!(!has_ended[*index], "{outcome:?}");
            }
            StreamEvent::ToolCallEnd { index } => {
                let had_ended = std::mem::replace(&mut has_ended[*index], true);
                assert!(!had_ended, "{outcome:?}");
            }
            StreamEvent::End { .. } => ends += 1,
            _ => {}
        }
    }
    assert!(ends <= 1, "{outcome:?}");
    assert_eq!(ends == 0, outcome.error.is_some(), "{outcome:?}");
    let written = serde_json::to_string(&outcome.events).expect("events are plain JSON");
    let read: Vec<StreamEvent> = serde_json::from_str(&written).expect("and are read again");
    assert_eq!(read, outcome.events, "{written}");
}

/// A call that ends in a part of an answer is the one that the whole answer writes.
fn check_broken_off(full: &Outcome, cut: &Outcome) {
    for event in &cut.events {
        if let StreamEvent::ToolCallEnd { index } = event {
            let written = (arguments(full, *index), arguments(cut, *index));
            assert_eq!(written.0, written.1, "call {index}: {cut:?}\nof {full:?}");
        }
    }
}

fn arguments(outcome: &Outcome, call: usize) -> String {
    let pieces = outcome.events.iter().filter_map(|event| match event {
        StreamEvent::ToolArgsDelta { index, text } if *index == call => Some(text.as_str()),
        _ => None,
    });
    pieces.collect()
}
