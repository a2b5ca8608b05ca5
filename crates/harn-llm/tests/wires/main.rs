//! Recorded answers of every wire, and what must come of them however they arrive.
//!
//! ```text
//! tests/fixtures/<wire>/NAME.sse | NAME.ndjson   the answer, byte for byte
//! tests/fixtures/<wire>/NAME.events.json         the events it gives, as a list
//! tests/fixtures/<wire>/NAME.whole.json          the same answer in one piece, if there is one
//! ```
//!
//! `<wire>` is [`Wire::name`](harn_llm::wire::Wire::name). An answer that fails has
//! `{"error": {"category", "message"}}` as the last entry of its events. Whoever adds a file
//! adds a test: each one is fed whole, byte by byte and cut in two at every byte, and it is
//! broken off at every byte.

mod damage;
mod fixture;

use fixture::{Fixture, Outcome};
use harn_llm::{Reply, StreamEvent, Usage};
use serde_json::Value;

#[test]
fn every_answer_gives_its_events() {
    for fixture in Fixture::all() {
        let outcome = fixture.decode([fixture.bytes.as_slice()]);
        fixture.check(&outcome, "in one chunk");
    }
}

#[test]
fn chunks_do_not_matter() {
    for fixture in Fixture::all() {
        let bytewise = fixture.decode(fixture.bytes.chunks(1));
        fixture.check(&bytewise, "byte by byte");
        for at in 0..fixture.bytes.len() {
            let (before, after) = fixture.bytes.split_at(at);
            let outcome = fixture.decode([before, after]);
            assert_eq!(outcome, bytewise, "{} cut at byte {at}", fixture.name);
        }
    }
}

#[test]
fn an_answer_that_breaks_off_is_an_error_and_makes_no_new_calls() {
    for fixture in Fixture::all() {
        let full = fixture.decode([fixture.bytes.as_slice()]);
        let full_reply = full.reply();
        for at in 0..fixture.bytes.len() {
            let cut = fixture.decode([&fixture.bytes[..at]]);
            let place = format!("{} broken off at byte {at}", fixture.name);
            if cut.error.is_none() {
                assert_eq!(full.error, None, "{place}: no error");
                let (cut, full) = (cut.reply(), full.reply());
                assert_eq!(without_usage(cut), without_usage(full), "{place}");
            }
            let said = match cut.events.as_slice() {
                [said @ .., StreamEvent::End { .. }] => said,
                said => said,
            };
            assert!(full.events.starts_with(said), "{place}: {cut:#?}");
            for call in cut.reply().tool_calls {
                assert!(full_reply.tool_calls.contains(&call), "{place}: {call:?}");
            }
        }
    }
}

#[test]
fn an_answer_in_one_piece_gives_the_same_reply() {
    for fixture in Fixture::all() {
        let Some(body) = &fixture.whole else {
            continue;
        };
        let whole = fixture.decode_whole(body);
        let streamed = fixture.decode([fixture.bytes.as_slice()]);
        assert_eq!(whole.error, streamed.error, "{}", fixture.name);
        assert_eq!(
            comparable(whole.reply()),
            comparable(streamed.reply()),
            "{}",
            fixture.name
        );
    }
}

/// A reply without its counts. Some wires give them after the answer and do not promise to,
/// so an answer without them is whole.
fn without_usage(mut reply: Reply) -> Reply {
    reply.usage = Usage::default();
    reply
}

/// A reply without what depends on how it came: blanks in arguments, and counts that only
/// one of the forms has.
fn comparable(mut reply: Reply) -> Reply {
    for call in &mut reply.tool_calls {
        call.raw_arguments.clear();
    }
    reply.usage.provider = Value::Null;
    reply
}

#[test]
fn events_survive_being_written_down() {
    for fixture in Fixture::all() {
        let Outcome { events, .. } = fixture.decode([fixture.bytes.as_slice()]);
        let written = serde_json::to_string(&events).unwrap();
        let read: Vec<harn_llm::StreamEvent> = serde_json::from_str(&written).unwrap();
        assert_eq!(read, events, "{}", fixture.name);
    }
}
