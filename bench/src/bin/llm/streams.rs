//! Long streams, made of what real servers have sent.

use harn_llm::wire::frames::Frames;
use harn_llm::wire::{Frame, Wire, decoder};
use harn_llm::{Collector, Reply};

/// How much of an answer arrives at once.
const CHUNK_BYTES: usize = 16 * 1024;

pub(crate) const WIRES: [Wire; 5] = [
    Wire::Anthropic,
    Wire::Chat,
    Wire::Responses,
    Wire::Gemini,
    Wire::Ollama,
];

/// A long answer.
pub(crate) struct Stream {
    pub(crate) wire: Wire,
    pub(crate) bytes: Vec<u8>,
    pub(crate) frames: usize,
}

impl Stream {
    /// A recorded answer in which a frame with text comes again and again.
    pub(crate) fn of_at_least(wire: Wire, bytes: usize) -> Self {
        let (recorded, end_of_frame, mark) = recorded(wire);
        let mut stream = String::new();
        let mut count = 0;
        for frame in recorded.split_inclusive(end_of_frame) {
            let is_text = frame.contains(mark) && count < bytes / frame.len();
            let times = match is_text {
                true => bytes.saturating_sub(recorded.len()) / frame.len() + 1,
                false => 1,
            };
            stream.push_str(&frame.repeat(times));
            count += times;
        }
        Self {
            wire,
            bytes: stream.into_bytes(),
            frames: count,
        }
    }

    /// From bytes to the whole answer.
    pub(crate) fn decode(&self) -> Reply {
        let mut frames = Frames::new(self.wire.framing());
        let mut decoder = decoder(self.wire);
        let mut collector = Collector::default();
        let mut events = Vec::new();
        for chunk in self.bytes.chunks(CHUNK_BYTES) {
            let fed = frames.push(chunk, |frame: Frame<'_>| decoder.frame(frame, &mut events));
            fed.expect("the answer was recorded whole");
            for event in events.drain(..) {
                collector.push(event);
            }
        }
        let ended = frames.finish(|frame| decoder.frame(frame, &mut events));
        ended.expect("the answer was recorded whole");
        decoder
            .finish(&mut events)
            .expect("the answer was recorded whole");
        for event in events.drain(..) {
            collector.push(event);
        }
        collector.finish()
    }
}

/// What aimock has sent on a wire, how its frames end, and what is in the one with text.
fn recorded(wire: Wire) -> (&'static str, &'static str, &'static str) {
    macro_rules! recorded {
        ($file:literal) => {
            include_str!(concat!(
                "../../../../crates/harn-llm/tests/fixtures/",
                $file
            ))
        };
    }
    match wire {
        Wire::Anthropic => (
            recorded!("anthropic/peer-aimock-calls.sse"),
            "\n\n",
            r#""text":"Let me "#,
        ),
        Wire::Chat => (
            recorded!("chat/peer-aimock-calls.sse"),
            "\n\n",
            r#""content":"Let me "#,
        ),
        Wire::Responses => (
            recorded!("responses/peer-aimock-calls.sse"),
            "\n\n",
            r#""delta":"Let me "#,
        ),
        Wire::Gemini => (
            recorded!("gemini/peer-aimock-calls.sse"),
            "\n\n",
            r#""text":"Let me "#,
        ),
        Wire::Ollama => (
            recorded!("ollama/peer-aimock-calls.ndjson"),
            "\n",
            r#""content":"Let me "#,
        ),
    }
}
