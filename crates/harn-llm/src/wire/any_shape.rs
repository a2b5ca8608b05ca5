//! Whatever JSON a server sends, a decoder neither panics nor breaks its promises.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Frame, Wire, decoder};
use crate::{Collector, StreamEvent};

const WIRES: [Wire; 5] = [
    Wire::Anthropic,
    Wire::Chat,
    Wire::Responses,
    Wire::Gemini,
    Wire::Ollama,
];

/// What the wires call things, so that generated shapes are often almost right.
const KEYS: [&str; 41] = [
    "arguments",
    "call_id",
    "candidates",
    "choices",
    "code",
    "content",
    "content_block",
    "delta",
    "done",
    "done_reason",
    "error",
    "finish_reason",
    "function",
    "function_call",
    "functionCall",
    "id",
    "incomplete_details",
    "index",
    "item",
    "item_id",
    "message",
    "model",
    "name",
    "output",
    "output_index",
    "partial_json",
    "parts",
    "prompt_tokens_details",
    "reasoning_content",
    "reasoning_details",
    "refusal",
    "response",
    "status",
    "stop_reason",
    "summary",
    "text",
    "thoughtSignature",
    "thinking",
    "tool_calls",
    "tools",
    "usage",
];

const WORDS: [&str; 27] = [
    "",
    "a",
    "{\"a\":1}",
    "{\"a\"",
    "completed",
    "content_block_delta",
    "content_block_start",
    "content_block_stop",
    "function_call",
    "incomplete",
    "input_json_delta",
    "length",
    "message",
    "message_delta",
    "message_stop",
    "output_text",
    "reasoning",
    "response.completed",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.output_item.added",
    "response.output_item.done",
    "response.output_text.delta",
    "stop",
    "tool_calls",
    "tool_search_output",
    "tool_use",
];

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-1_i64..3).prop_map(|number| json!(number)),
        Just(json!(1e300)),
        proptest::sample::select(&WORDS[..]).prop_map(|word| json!(word)),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let key = prop_oneof![
            2 => Just("type"),
            8 => proptest::sample::select(&KEYS[..]),
        ];
        prop_oneof![
            1 => proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            3 => proptest::collection::vec((key, inner), 0..5).prop_map(|fields| {
                let fields = fields.into_iter().map(|(key, value)| (key.to_owned(), value));
                Value::Object(fields.collect::<Map<_, _>>())
            }),
        ]
    })
}

/// A piece of a call that is almost right, which chance alone seldom makes.
fn call_chunk() -> impl Strategy<Value = Value> {
    let maybe = |words: &'static [&'static str]| {
        proptest::option::of(proptest::sample::select(words).prop_map(str::to_owned))
    };
    let arguments = maybe(&["", "{}", "{\"a\":", "1}", " "]);
    let parts = (
        proptest::option::of(0_u64..3),
        maybe(&["x", "y", ""]),
        maybe(&["f", "g", ""]),
        arguments,
        proptest::option::weighted(0.1, Just("length")),
    );
    parts.prop_map(|(index, id, name, arguments, finish)| {
        let call = json!({"index": index, "id": id,
                          "function": {"name": name, "arguments": arguments}});
        json!({"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": finish}]})
    })
}

/// Calls are numbered as they begin, end once and get nothing after that; the end is last.
fn check_promises(events: &[StreamEvent]) {
    let mut collector = Collector::default();
    let mut has_ended: Vec<bool> = Vec::new();
    for (place, event) in events.iter().enumerate() {
        collector.push(event.clone());
        match event {
            StreamEvent::ToolCallStart { index, .. } => {
                assert_eq!(*index, has_ended.len());
                has_ended.push(false);
            }
            StreamEvent::ToolArgsDelta { index, .. } => assert!(!has_ended[*index]),
            StreamEvent::ToolCallEnd { index } => {
                assert!(!std::mem::replace(&mut has_ended[*index], true));
            }
            StreamEvent::End { .. } => assert_eq!(place + 1, events.len()),
            _ => {}
        }
    }
    collector.finish();
}

fn check(wire: Wire, frames: &[Value]) {
    let mut decoder_of_stream = decoder(wire);
    let mut events = Vec::new();
    let fed = frames.iter().try_for_each(|value| {
        let data = value.to_string();
        let frame = Frame {
            event: "",
            data: &data,
        };
        decoder_of_stream.frame(frame, &mut events)
    });
    let finished = fed.and_then(|()| decoder_of_stream.finish(&mut events));
    let is_whole = matches!(events.last(), Some(StreamEvent::End { .. }));
    assert_eq!(finished.is_ok(), is_whole, "{finished:?} {events:?}");
    check_promises(&events);
    for value in frames {
        let mut events = Vec::new();
        // Whether it is an answer does not matter here.
        drop(decoder(wire).whole(value, &mut events));
        check_promises(&events);
    }
}

proptest! {
    #[test]
    fn any_json_is_taken(frames in proptest::collection::vec(any_json(), 1..8)) {
        for wire in WIRES {
            check(wire, &frames);
        }
    }

    #[test]
    fn any_mix_of_pieces_of_calls_keeps_the_promises(
        frames in proptest::collection::vec(call_chunk(), 1..10),
    ) {
        check(Wire::Chat, &frames);
    }
}
