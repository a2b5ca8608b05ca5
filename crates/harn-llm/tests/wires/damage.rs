//! Answers and conversations that are not what anybody promised.

use harn_llm::wire::{self, Target, Wire};
use harn_llm::{Output, Request, StreamEvent};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixture::{Fixture, Outcome, WIRES};

/// Every value in every frame is replaced by something else, one at a time.
#[test]
fn a_frame_that_is_wrong_in_one_place_makes_no_decoder_panic() {
    let others = [
        json!(null),
        json!(7),
        json!("x"),
        json!([1]),
        json!({"a": 1}),
    ];
    for fixture in Fixture::all() {
        let frames = fixture.frames();
        for (index, (_, data)) in frames.iter().enumerate() {
            let Ok(value) = serde_json::from_str::<Value>(data) else {
                continue;
            };
            for pointer in pointers(&value) {
                for other in &others {
                    let mut damaged = value.clone();
                    *damaged.pointer_mut(&pointer).expect("it was found there") = other.clone();
                    let mut frames = frames.clone();
                    frames[index].1 = damaged.to_string();
                    let outcome = fixture.decode_frames(&frames);
                    let place = format!("{}, frame {index}, {pointer} = {other}", fixture.name);
                    check_order(&outcome, &place);
                }
            }
        }
    }
}

/// Every frame is left out, and every frame comes twice.
#[test]
fn a_frame_too_few_or_too_many_makes_no_decoder_panic() {
    for fixture in Fixture::all() {
        let frames = fixture.frames();
        for index in 0..frames.len() {
            let mut fewer = frames.clone();
            fewer.remove(index);
            let mut more = frames.clone();
            more.insert(index, frames[index].clone());
            for frames in [fewer, more] {
                let outcome = fixture.decode_frames(&frames);
                check_order(&outcome, &format!("{}, frame {index}", fixture.name));
            }
        }
    }
}

/// What holds for every answer, however broken: it ends once and last, calls are numbered as
/// they begin, and each ends at most once and after it began.
#[track_caller]
fn check_order(outcome: &Outcome, place: &str) {
    let ends = |event: &StreamEvent| matches!(event, StreamEvent::End { .. });
    let end_count = outcome.events.iter().filter(|event| ends(event)).count();
    assert!(end_count <= 1, "{place}: {outcome:#?}");
    if outcome.error.is_none() {
        assert!(
            outcome.events.last().is_some_and(ends),
            "{place}: {outcome:#?}"
        );
    }
    let mut has_ended: Vec<bool> = Vec::new();
    for event in &outcome.events {
        match event {
            StreamEvent::ToolCallStart { index, .. } => {
                assert_eq!(*index, has_ended.len(), "{place}");
                has_ended.push(false);
            }
            StreamEvent::ToolArgsDelta { index, .. } => {
                assert_eq!(has_ended.get(*index), Some(&false), "{place}");
            }
            StreamEvent::ToolCallEnd { index } => {
                assert_eq!(has_ended.get(*index), Some(&false), "{place}");
                has_ended[*index] = true;
            }
            _ => {}
        }
    }
    // Putting it together checks itself.
    outcome.reply();
}

/// The places of all values inside, the outermost included.
fn pointers(value: &Value) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut inside = |key: &str, value: &Value| {
        let key = key.replace('~', "~0").replace('/', "~1");
        found.extend(pointers(value).iter().map(|rest| format!("/{key}{rest}")));
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| inside(key, value)),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, value)| inside(&index.to_string(), value)),
        _ => {}
    }
    found
}

/// Values made of the words that messages are made of.
fn any_value() -> impl Strategy<Value = Value> {
    let words = [
        "",
        "x",
        "user",
        "assistant",
        "tool",
        "system",
        "text",
        "image",
        "image_url",
        "tool_use",
        "tool_result",
        "thinking",
        "anthropic",
        "gemini",
        "chat",
        "responses",
        "ollama",
        "{",
        "{}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop::sample::select(words.to_vec()).prop_map(Value::from),
    ];
    let keys = [
        "role",
        "content",
        "type",
        "text",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "id",
        "input",
        "tool_use_id",
        "tool_call_id",
        "kept",
        "wire",
        "blocks",
        "source",
        "url",
        "data",
        "image_url",
        "thinking",
        "signature",
        "functionCall",
        "is_error",
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(keys.to_vec()), inner), 0..6).prop_map(
                |fields| fields
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect()
            ),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_conversation_can_be_asked_of_any_provider(
        messages in prop::collection::vec(any_value(), 0..5),
        schema in any_value(),
        tool_choice in any_value(),
    ) {
        for wire in WIRES {
            let mut request = Request {
                messages: messages.clone().into(),
                tool_choice: Some(tool_choice.clone()),
                cache: true,
                ..Request::default()
            };
            wire::encode(wire, &request, &Target::default());
            request.tools = vec![harn_llm::ToolSpec { parameters: schema.clone(), ..Default::default() }].into();
            request.output = Output::JsonSchema { schema: schema.clone(), strict: true };
            let body = wire::encode(wire, &request, &Target::default()).body;
            let is_built = matches!(wire, Wire::Anthropic | Wire::Gemini);
            prop_assert!(body.is_object() || !is_built);
        }
    }
}
