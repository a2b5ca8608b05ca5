//! aimock, which speaks every wire and says what `aimock/answers.json` tells it to.
//!
//! It is not faithful everywhere: it gives Ollama's thoughts under another name and counts
//! nothing there, and it ends Gemini's calls with `FUNCTION_CALL`, a word that Gemini does not
//! have and that we do not know.

use std::time::Duration;

use harn_llm::classify::wait_for;
use harn_llm::wire::{Wire, encode};
use harn_llm::{Category, Request, StopReason, StreamEvent};
use serde_json::{Value, json};

use crate::asking::{Asked, Heard, WIRES, question, tool, with_results};
use crate::servers::{Server, aimock};

fn at_the_mock(server: &Server, wire: Wire) -> Asked {
    Asked::at(&server.url, wire)
}

fn weather() -> Request {
    let mut request = question("some-model", "What is the weather?");
    request.system = Some("You are terse.".to_owned());
    request.tools = vec![
        tool("get_weather", json!({"city": {"type": "string"}})),
        tool("get_time", json!({})),
    ]
    .into();
    request
}

#[tokio::test]
async fn thoughts_text_calls_and_counts_come_on_every_wire() {
    let server = aimock();
    for wire in WIRES {
        let heard = at_the_mock(&server, wire).ask(&weather()).await;
        let reply = heard.reply();
        assert_eq!(reply.text, "Let me look.", "{wire:?}");
        let thoughts = match wire {
            Wire::Responses => &reply.thinking_summary,
            _ => &reply.thinking,
        };
        let expected = match wire {
            Wire::Ollama => None,
            _ => Some("The user wants the weather."),
        };
        assert_eq!(thoughts.as_deref(), expected, "{wire:?}");
        let calls: Vec<_> = reply
            .tool_calls
            .iter()
            .map(|call| (call.name.as_str(), &call.arguments))
            .collect();
        let in_zurich = json!({"city": "Zürich", "days": [1, 2, 3]});
        let expected = [("get_weather", &in_zurich), ("get_time", &json!({}))];
        assert_eq!(calls, expected, "{wire:?}");
        let stop = reply.stop.as_ref().expect("a whole answer has an end");
        let expected = match wire {
            Wire::Gemini => StopReason::Error,
            _ => StopReason::ToolUse,
        };
        assert_eq!(stop.reason, expected, "{wire:?}");
        let expected = match wire {
            Wire::Ollama => (0, 0),
            _ => (11, 22),
        };
        let counts = (reply.usage.input, reply.usage.output);
        assert_eq!(counts, expected, "{wire:?}");
        check_order(wire, &heard);
    }
}

/// Thoughts come before text, text before calls, and each call ends once after its
/// arguments.
fn check_order(wire: Wire, heard: &Heard) {
    let stages = heard.events.iter().filter_map(|event| match event {
        StreamEvent::ThoughtDelta { .. } | StreamEvent::ThoughtSummaryDelta { .. } => Some(0),
        StreamEvent::TextDelta { .. } => Some(1),
        StreamEvent::ToolCallStart { .. } => Some(2),
        StreamEvent::End { .. } => Some(3),
        _ => None,
    });
    assert!(stages.is_sorted(), "{wire:?}: {heard:#?}");
    for index in [0, 1] {
        let story = heard.events.iter().filter_map(|event| match event {
            StreamEvent::ToolCallStart { index: at, .. } if *at == index => Some("start"),
            StreamEvent::ToolArgsDelta { index: at, .. } if *at == index => Some("more"),
            StreamEvent::ToolCallEnd { index: at } if *at == index => Some("end"),
            _ => None,
        });
        let mut story: Vec<&str> = story.collect();
        story.dedup();
        assert_eq!(story, ["start", "more", "end"], "{wire:?}, call {index}");
    }
}

#[tokio::test]
async fn a_conversation_goes_on_with_results() {
    let server = aimock();
    for wire in WIRES {
        let asked = at_the_mock(&server, wire);
        let request = weather();
        let heard = asked.ask(&request).await;
        let request = with_results(request, wire, heard.reply(), "21 °C");
        let heard = asked.ask(&request).await;
        let reply = heard.reply();
        let expected = "It is 21 °C in Zürich, with a light wind from the lake.";
        assert_eq!(reply.text, expected, "{wire:?}");
        let stop = reply.stop.as_ref().expect("a whole answer has an end");
        assert_eq!(stop.reason, StopReason::End, "{wire:?}");
    }
}

#[tokio::test]
async fn an_answer_in_one_piece_says_the_same() {
    let server = aimock();
    for wire in WIRES {
        let mut request = weather();
        request.stream = false;
        let heard = at_the_mock(&server, wire).ask(&request).await;
        let reply = heard.reply();
        assert_eq!(reply.text, "Let me look.", "{wire:?}");
        let names = reply.tool_calls.iter().map(|call| call.name.as_str());
        let names: Vec<&str> = names.collect();
        assert_eq!(names, ["get_weather", "get_time"], "{wire:?}");
    }
}

/// A header, and what must come of an answer that it spoils.
struct Trouble {
    header: &'static str,
    category: Category,
    status: Option<u16>,
    retry_after: Option<Duration>,
}

const TROUBLES: [Trouble; 4] = [
    Trouble {
        header: "x-aimock-chaos-ratelimit",
        category: Category::RateLimit,
        status: Some(429),
        retry_after: Some(Duration::from_secs(1)),
    },
    Trouble {
        header: "x-aimock-chaos-drop",
        category: Category::ServerError,
        status: Some(500),
        retry_after: None,
    },
    Trouble {
        header: "x-aimock-chaos-malformed",
        category: Category::ServerError,
        status: None,
        retry_after: None,
    },
    Trouble {
        header: "x-aimock-chaos-disconnect",
        category: Category::TransientNetwork,
        status: None,
        retry_after: None,
    },
];

#[tokio::test]
async fn every_trouble_has_its_category_on_every_wire() {
    let server = aimock();
    for wire in WIRES {
        for trouble in &TROUBLES {
            let asked = at_the_mock(&server, wire).header(trouble.header, "1");
            let heard = asked.ask(&question("some-model", "hello")).await;
            let error = heard.error();
            let place = format!("{wire:?}, {}: {error:?}", trouble.header);
            let expected = match (wire, trouble.header) {
                // A line that is no JSON and has no end may be half a line.
                (Wire::Ollama, "x-aimock-chaos-malformed") => Category::StreamTruncated,
                _ => trouble.category,
            };
            assert_eq!(error.category, expected, "{place}");
            assert_eq!(error.status, trouble.status, "{place}");
            assert_eq!(wait_for(error, 0), trouble.retry_after, "{place}");
            assert_eq!(heard.events, [], "{place}");
        }
    }
}

#[tokio::test]
async fn a_model_that_does_not_exist_is_not_found() {
    let server = aimock();
    for wire in WIRES {
        let heard = at_the_mock(&server, wire)
            .ask(&question("some-model", "unhappy"))
            .await;
        let error = heard.error();
        assert_eq!(error.category, Category::NotFound, "{wire:?}: {error:?}");
        assert_eq!(error.status, Some(404), "{wire:?}");
        assert!(
            error.message.contains("The model does not exist"),
            "{error:?}"
        );
    }
}

/// The mock closes the connection after eight chunks.
#[tokio::test]
async fn a_connection_that_breaks_leaves_what_was_said_and_no_calls() {
    let server = aimock();
    for wire in WIRES {
        let mut request = question("some-model", "truncated");
        request.tools = vec![tool("delete_everything", json!({}))].into();
        let heard = at_the_mock(&server, wire).ask(&request).await;
        let category = heard.error().category;
        let is_expected = matches!(
            category,
            Category::TransientNetwork | Category::StreamTruncated
        );
        assert!(is_expected, "{wire:?}: {category:?}");
        let text: String = heard.events.iter().filter_map(text_of).collect();
        let whole = "This text is long enough to come in many pieces, and it never ends.";
        let is_cut = whole.starts_with(&text) && !text.is_empty() && text != whole;
        assert!(is_cut, "{wire:?}: {text}");
        let ended = |event: &StreamEvent| {
            matches!(
                event,
                StreamEvent::ToolCallEnd { .. } | StreamEvent::End { .. }
            )
        };
        assert!(!heard.events.iter().any(ended), "{wire:?}: {heard:#?}");
    }
}

fn text_of(event: &StreamEvent) -> Option<&str> {
    match event {
        StreamEvent::TextDelta { text } => Some(text),
        _ => None,
    }
}

/// What the mock noted down of a request.
fn journal(server: &Server, test: &str) -> Vec<Value> {
    let entries = server.get(&format!("/__aimock/journal?testId={test}"));
    entries.as_array().expect("a journal is a list").clone()
}

/// aimock notes the bodies of the chat wire as they came, with one member of its own.
#[tokio::test]
async fn what_was_sent_is_what_was_encoded() {
    let server = aimock();
    let asked = at_the_mock(&server, Wire::Chat)
        .header("x-test-id", "sent")
        .header("authorization", "Bearer key-1");
    let request = weather();
    asked.ask(&request).await.reply();
    let entries = journal(&server, "sent");
    assert_eq!(entries.len(), 1, "asked once: {entries:#?}");
    let mut body = entries[0]["body"].clone();
    body.as_object_mut().unwrap().remove("_endpointType");
    assert_eq!(body, encode(Wire::Chat, &request, &asked.target).body);
    assert_eq!(entries[0]["method"], "POST");
    let agent = entries[0]["headers"]["user-agent"].as_str();
    assert!(
        agent.is_some_and(|agent| agent.starts_with("harn/")),
        "{agent:?}"
    );
}

/// The bodies of the other wires it notes as what they would be on the chat wire. That a
/// stranger's translation finds everything shows that everything is where it belongs.
#[tokio::test]
async fn others_find_everything_in_what_was_sent() {
    let server = aimock();
    for wire in WIRES {
        let test = format!("found-{}", wire.name());
        let asked = at_the_mock(&server, wire).header("x-test-id", &test);
        let request = weather();
        let heard = asked.ask(&request).await;
        let request = with_results(request, wire, heard.reply(), "21 °C");
        asked.ask(&request).await.reply();

        let entries = journal(&server, &test);
        assert_eq!(entries.len(), 2, "{wire:?}");
        let is_second = |entry: &&Value| entry["body"].to_string().contains("21 °C");
        let second = entries.iter().find(is_second);
        let body = &second.expect("results were sent")["body"];
        assert_eq!(body["model"], "some-model", "{wire:?}: {body:#}");
        let messages = body["messages"].as_array().expect("there are messages");
        let mut roles: Vec<&str> = messages
            .iter()
            .filter_map(|message| message["role"].as_str())
            .collect();
        // Text and calls are things of their own on the wire of Responses.
        roles.dedup();
        let expected = ["system", "user", "assistant", "tool"];
        assert_eq!(roles, expected, "{wire:?}: {body:#}");
        assert_eq!(text_in(&messages[0]), "You are terse.", "{wire:?}");
        assert_eq!(text_in(&messages[1]), "What is the weather?", "{wire:?}");
        assert_eq!(text_in(&messages[2]), "Let me look.", "{wire:?}");
        let calls = messages
            .iter()
            .filter_map(|message| message["tool_calls"].as_array());
        let calls: Vec<&Value> = calls.flatten().collect();
        let names: Vec<&Value> = calls.iter().map(|call| &call["function"]["name"]).collect();
        assert_eq!(names, ["get_weather", "get_time"], "{wire:?}: {body:#}");
        let results = messages.iter().filter(|message| message["role"] == "tool");
        let results: Vec<&Value> = results.collect();
        assert_eq!(results.len(), 2, "{wire:?}: {body:#}");
        for (call, result) in calls.iter().zip(results) {
            let expected = match wire {
                // Ollama has no ids; results are in the order of the calls.
                Wire::Ollama => &Value::Null,
                _ => &call["id"],
            };
            assert_eq!(result["tool_call_id"], *expected, "{wire:?}: {body:#}");
        }
        let tools = body["tools"].as_array().expect("tools are declared");
        let names: Vec<&Value> = tools.iter().map(|tool| &tool["function"]["name"]).collect();
        assert_eq!(names, ["get_weather", "get_time"], "{wire:?}");
    }
}

/// The text of a message, which is a string or a list of parts.
fn text_in(message: &Value) -> String {
    match &message["content"] {
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
        content => content.as_str().unwrap_or_default().to_owned(),
    }
}
