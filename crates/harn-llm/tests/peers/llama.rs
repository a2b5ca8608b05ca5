//! llama.cpp, with a model that says what `scripted_gguf.py` tells it to.

use harn_llm::wire::Wire;
use harn_llm::{Output, Request, StopReason, StreamEvent};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::asking::{Asked, Heard, question, tool, with_results};
use crate::servers::llama;

/// What llama.cpp speaks.
const WIRES: [Wire; 3] = [Wire::Chat, Wire::Anthropic, Wire::Responses];

const TEXT: &str = "Hello from a scripted model.";

fn with_tool(mut request: Request) -> Request {
    let properties = json!({"on": {"type": "boolean"}, "u": {"type": "string"}});
    request.tools = vec![tool("get_w", properties)].into();
    request
}

fn text_pieces(heard: &Heard) -> Vec<&str> {
    let pieces = heard.events.iter().filter_map(|event| match event {
        StreamEvent::TextDelta { text } => Some(text.as_str()),
        _ => None,
    });
    pieces.collect()
}

#[tokio::test]
async fn text_comes_token_by_token_on_every_wire() {
    let server = llama();
    for wire in WIRES {
        let asked = Asked::at(&server.url, wire);
        let heard = asked.ask(&question("scripted", "hello")).await;
        let reply = heard.reply();
        assert_eq!(reply.text, TEXT, "{wire:?}");
        let pieces = ["Hello", " from", " a", " scripted", " model", "."];
        assert_eq!(text_pieces(&heard), pieces, "{wire:?}");
        let stop = reply.stop.as_ref().expect("a whole answer has an end");
        assert_eq!(stop.reason, StopReason::End, "{wire:?}");
        // On the wire of Responses, llama.cpp tells the model only when all is said.
        if wire != Wire::Responses {
            assert_eq!(reply.model.as_deref(), Some("scripted"), "{wire:?}");
        }
        assert_eq!(reply.tool_calls, [], "{wire:?}");
    }
}

/// The template makes one prompt of the same question on all wires, and what llama.cpp has
/// in its cache counts as input on all of them.
#[tokio::test]
async fn the_same_question_counts_the_same_on_every_wire() {
    let server = llama();
    let mut counts = Vec::new();
    for wire in WIRES {
        let asked = Asked::at(&server.url, wire);
        let heard = asked.ask(&question("scripted", "how much is it?")).await;
        let usage = &heard.reply().usage;
        assert!(usage.cache_read <= usage.input, "{wire:?}: {usage:?}");
        counts.push((usage.input, usage.output));
    }
    // Six pieces and the end.
    assert_eq!(counts[0].1, 7);
    assert_eq!(counts, [counts[0]; 3]);
}

#[tokio::test]
async fn arguments_are_streamed_and_a_result_is_answered() {
    let server = llama();
    for wire in WIRES {
        let asked = Asked::at(&server.url, wire);
        let request = with_tool(question("scripted", "how is it?"));
        let heard = asked.ask(&request).await;
        let reply = heard.reply();
        assert_eq!(reply.tool_calls.len(), 1, "{wire:?}: {heard:#?}");
        let call = &reply.tool_calls[0];
        assert_eq!(call.name, "get_w", "{wire:?}");
        assert_eq!(call.arguments, json!({"on": true, "u": "C"}), "{wire:?}");
        assert_eq!(call.raw_arguments, r#"{"on": true, "u": "C"}"#, "{wire:?}");
        assert!(!call.id.is_empty(), "{wire:?}");
        let stop = reply.stop.as_ref().expect("a whole answer has an end");
        assert_eq!(stop.reason, StopReason::ToolUse, "{wire:?}");
        check_pieces_of_the_call(wire, &heard);

        let heard = asked
            .ask(&with_results(request, wire, reply, "21 °C"))
            .await;
        assert_eq!(heard.reply().text, TEXT, "{wire:?}");
    }
}

/// The model writes the arguments in six tokens, and they come as they are written.
fn check_pieces_of_the_call(wire: Wire, heard: &Heard) {
    let is_start = |event: &StreamEvent| matches!(event, StreamEvent::ToolCallStart { .. });
    let is_end = |event: &StreamEvent| matches!(event, StreamEvent::ToolCallEnd { index: 0 });
    let start = heard.events.iter().position(is_start);
    let end = heard.events.iter().position(is_end);
    let (start, end) = start.zip(end).expect("a call begins and ends");
    let pieces = heard.events[start..end]
        .iter()
        .filter_map(|event| match event {
            StreamEvent::ToolArgsDelta { index: 0, text } => Some(text.as_str()),
            _ => None,
        });
    let pieces: Vec<&str> = pieces.collect();
    assert_eq!(pieces.len(), 6, "{wire:?}: {pieces:?}");
    assert_eq!(pieces.concat(), r#"{"on": true, "u": "C"}"#, "{wire:?}");
}

#[tokio::test]
async fn the_server_holds_the_model_to_a_schema() {
    let server = llama();
    let asked = Asked::at(&server.url, Wire::Chat);
    let mut request = question("scripted", "json, please");
    let left_alone = asked.ask(&request).await;
    assert_eq!(left_alone.reply().text, r#"{"count": "many"}"#);

    request.output = Output::JsonSchema {
        schema: json!({
            "type": "object",
            "properties": {"count": {"type": "boolean"}},
            "required": ["count"],
            "additionalProperties": false,
        }),
        strict: true,
    };
    let held = asked.ask(&request).await;
    let text = &held.reply().text;
    let value: Value = serde_json::from_str(text).expect("the answer is JSON");
    assert!(value["count"].is_boolean(), "{text}");
}

#[tokio::test]
async fn the_output_cap_ends_an_answer() {
    let server = llama();
    for wire in WIRES {
        let asked = Asked::at(&server.url, wire);
        let mut request = question("scripted", "forever");
        request.sampling.max_tokens = 5;
        let heard = asked.ask(&request).await;
        let reply = heard.reply();
        assert_eq!(reply.text, "La la la la la", "{wire:?}");
        if wire == Wire::Responses {
            // llama.cpp says `completed` here, whatever the reason was.
            continue;
        }
        let stop = reply.stop.as_ref().expect("a whole answer has an end");
        assert_eq!(stop.reason, StopReason::Length, "{wire:?}");
    }
}

/// The server has two places. Two answers without an end fill both, so both are written at
/// once; and a third question is only answered if dropping the two has freed their places.
#[tokio::test]
async fn two_answers_come_at_once_and_dropping_them_frees_their_places() {
    let server = llama();
    let asked = Asked::at(&server.url, Wire::Chat);
    let mut endless = question("scripted", "forever");
    endless.sampling.max_tokens = 1_000_000_000;
    let (first, second) = (Notify::new(), Notify::new());
    {
        let mut first_listener = |_: &StreamEvent| first.notify_one();
        let mut second_listener = |_: &StreamEvent| second.notify_one();
        let answers = async {
            tokio::join!(
                asked.ask_listening(&endless, &mut first_listener),
                asked.ask_listening(&endless, &mut second_listener),
            )
        };
        let both_began = async {
            first.notified().await;
            second.notified().await;
        };
        tokio::select! {
            answers = answers => panic!("an endless answer ended: {answers:?}"),
            () = both_began => {}
        }
    }
    let heard = asked.ask(&question("scripted", "hello")).await;
    assert_eq!(heard.reply().text, TEXT);
}
