use serde_json::json;

use super::*;
use crate::Category;

fn decode(frames: &[Value]) -> (Vec<StreamEvent>, Result<(), Error>) {
    let mut decoder = Decoder::default();
    let mut events = Vec::new();
    let fed = frames.iter().try_for_each(|value| {
        let data = value.to_string();
        let event = "response.completed";
        decoder.frame(Frame { event, data: &data }, &mut events)
    });
    let outcome = fed.and_then(|()| decoder.finish(&mut events));
    (events, outcome)
}

fn ended_calls(events: &[StreamEvent]) -> usize {
    let is_end = |event: &&StreamEvent| matches!(event, StreamEvent::ToolCallEnd { .. });
    events.iter().filter(is_end).count()
}

#[test]
fn an_event_without_a_type_is_known_by_its_name() {
    let (events, outcome) = decode(&[json!({"response": {"id": "r"}})]);
    assert_eq!(outcome, Ok(()));
    assert_eq!(events.len(), 2, "start, end");
}

#[test]
fn an_error_needs_no_type() {
    let (_, outcome) = decode(&[json!({"error": {"code": 503, "message": "busy"}})]);
    let error = outcome.unwrap_err();
    assert_eq!(error, Error::new(Category::Overloaded, "error 503: busy"));
}

#[test]
fn a_call_without_a_status_counts_only_if_its_arguments_are_json() {
    for (arguments, expected) in [("{\"a\":1}", 1), ("", 1), ("{\"a\":", 0)] {
        let item = json!({"type": "function_call", "call_id": "c", "name": "f",
                          "arguments": arguments});
        let (events, _) =
            decode(&[json!({"type": "response.incomplete", "response": {"output": [item]}})]);
        assert_eq!(ended_calls(&events), expected, "{arguments}");
        let kept = |event: &StreamEvent| matches!(event, StreamEvent::Kept { .. });
        assert_eq!(events.iter().any(kept), expected == 1, "{arguments}");
    }
}

#[test]
fn a_number_tells_items_apart_where_ids_change() {
    let event = |kind: &str, id: &str, more: Value| {
        let mut event = json!({"type": kind, "output_index": 0, "item_id": id});
        event
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        event
    };
    let message = json!({"type": "message", "id": "z",
                         "content": [{"type": "output_text", "text": "once"}]});
    let (events, _) = decode(&[
        event("response.output_text.delta", "x", json!({"delta": "on"})),
        event("response.output_text.delta", "y", json!({"delta": "ce"})),
        event("response.output_item.done", "z", json!({"item": message})),
    ]);
    let mut collector = crate::Collector::default();
    events.into_iter().for_each(|event| collector.push(event));
    assert_eq!(collector.finish().text, "once");
}

#[test]
fn a_whole_answer_fails_as_it_says() {
    let rows = [
        (
            json!({"error": {"code": "invalid_api_key", "message": "no"}}),
            Category::Auth,
        ),
        (
            json!({"status": "failed", "error": {"code": "server_error", "message": "no"}}),
            Category::ServerError,
        ),
        (json!({"status": "in_progress"}), Category::StreamTruncated),
        (json!([]), Category::ServerError),
    ];
    for (body, category) in rows {
        let outcome = Decoder::default().whole(&body, &mut Vec::new());
        assert_eq!(outcome.unwrap_err().category, category, "{body}");
    }
}
