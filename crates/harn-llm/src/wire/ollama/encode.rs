//! Writes requests of this wire.

use serde_json::{Map, Value, json};

use crate::wire::chat::{function_tool, http_request, joined_text};
use crate::wire::conversation::{self, Part, Role, Source, Turn};
use crate::wire::{HttpRequest, Target, Wire};
use crate::{Output, Request, Sampling, Thinking};

/// The HTTP request for `request`. The caller's `options` are added to ours one by one.
pub(in crate::wire) fn encode(request: &Request, target: &Target) -> HttpRequest {
    let turns = conversation::read(&request.messages);
    let body = body(request, target, &turns);
    let mut options = body["options"].clone();
    let mut http = http_request(request, target, body);
    if let (Some(ours), Some(theirs)) = (
        options.as_object_mut(),
        request.extra.get("options").and_then(Value::as_object),
    ) {
        ours.extend(theirs.clone());
        http.body["options"] = options;
    }
    http
}

fn body(request: &Request, target: &Target, turns: &[Turn]) -> Map<String, Value> {
    let tools: Vec<Value> = request.tools.iter().map(function_tool).collect();
    let format = match &request.output {
        Output::Text => None,
        Output::JsonObject => Some(json!("json")),
        Output::JsonSchema { schema, .. } => Some(schema.clone()),
    };
    let rows = [
        ("model", Some(json!(request.model))),
        ("messages", Some(messages(request, target, turns))),
        ("stream", Some(json!(request.stream))),
        ("think", Some(think(request.thinking))),
        ("options", Some(options(&request.sampling))),
        ("format", format),
        ("tools", (!tools.is_empty()).then_some(Value::Array(tools))),
    ];
    set(rows).collect()
}

/// Always said, because models that can think do so when nobody says anything.
fn think(thinking: Thinking) -> Value {
    match thinking {
        Thinking::Disabled => json!(false),
        Thinking::Enabled { .. } | Thinking::Adaptive => json!(true),
        Thinking::Effort { level } => json!(level.word()),
    }
}

fn options(sampling: &Sampling) -> Value {
    let stop = Some(&sampling.stop).filter(|stop| !stop.is_empty());
    let frequency = sampling.frequency_penalty;
    let rows = [
        ("num_predict", Some(json!(sampling.max_tokens))),
        ("temperature", sampling.temperature.map(|n| json!(n))),
        ("top_p", sampling.top_p.map(|n| json!(n))),
        ("top_k", sampling.top_k.map(|n| json!(n))),
        ("seed", sampling.seed.map(|n| json!(n))),
        ("frequency_penalty", frequency.map(|n| json!(n))),
        (
            "presence_penalty",
            sampling.presence_penalty.map(|n| json!(n)),
        ),
        ("stop", stop.map(|stop| json!(stop))),
    ];
    Value::Object(set(rows).collect())
}

fn set<const N: usize>(
    rows: [(&str, Option<Value>); N],
) -> impl Iterator<Item = (String, Value)> + '_ {
    let rows = rows.into_iter();
    rows.filter_map(|(key, value)| Some((key.to_owned(), value?)))
}

fn messages(request: &Request, target: &Target, turns: &[Turn]) -> Value {
    let mut messages = Vec::new();
    if let Some(system) = &request.system {
        messages.push(json!({"role": "system", "content": system}));
    }
    for turn in turns {
        match turn.role {
            Role::System => {
                let text = joined_text(&turn.parts, "\n");
                messages.push(json!({"role": "system", "content": text}));
            }
            Role::User => user(&turn.parts, &mut messages),
            Role::Assistant => messages.push(assistant(turn, target.traits.preserve_thinking)),
        }
    }
    if let Some(prefill) = &request.prefill {
        messages.push(json!({"role": "assistant", "content": prefill}));
    }
    Value::Array(messages)
}

/// Results are messages of their own and directly follow the calls.
fn user(parts: &[Part], messages: &mut Vec<Value>) {
    let mut rest = Vec::new();
    for part in parts {
        let Part::Result { name, content, .. } = part else {
            rest.push(part.clone());
            continue;
        };
        let mut message = said("tool", content);
        if let Some(name) = name {
            message["tool_name"] = json!(name);
        }
        messages.push(message);
    }
    if !rest.is_empty() {
        messages.push(said("user", &rest));
    }
}

/// A message with the texts and pictures of `parts`. Pictures have to be here; the server
/// fetches nothing.
fn said(role: &str, parts: &[Part]) -> Value {
    let mut message = json!({"role": role, "content": joined_text(parts, "\n")});
    let images = parts.iter().filter_map(|part| match part {
        Part::Image {
            source: Source::Base64 { data, .. },
            ..
        } => Some(data.as_str()),
        _ => None,
    });
    let images: Vec<&str> = images.collect();
    if !images.is_empty() {
        message["images"] = json!(images);
    }
    message
}

fn assistant(turn: &Turn, preserve_thinking: bool) -> Value {
    let mut message = json!({"role": "assistant", "content": joined_text(&turn.parts, "")});
    let calls: Vec<Value> = turn.parts.iter().filter_map(call).collect();
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    if let Some(thinking) = thinking(turn).filter(|_| preserve_thinking) {
        message["thinking"] = thinking;
    }
    message
}

/// What the model thought: as this wire kept it, else what other wires and programs call a
/// thought.
fn thinking(turn: &Turn) -> Option<Value> {
    let kept = turn.kept.as_ref();
    if let Some(kept) = kept.filter(|kept| kept.wire == Wire::Ollama.name()) {
        let mut texts = kept.blocks.iter().filter_map(|block| block.get("thinking"));
        return texts.next().cloned();
    }
    let texts = turn.parts.iter().filter_map(|part| match part {
        Part::Thought { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let text: String = texts.collect();
    (!text.is_empty()).then_some(Value::String(text))
}

fn call(part: &Part) -> Option<Value> {
    let Part::Call {
        name, arguments, ..
    } = part
    else {
        return None;
    };
    Some(json!({"function": {"name": name, "arguments": arguments_object(arguments)}}))
}

/// The server takes nothing but objects, and a conversation with one bad call must go on.
fn arguments_object(arguments: &Value) -> Value {
    match arguments {
        Value::Object(_) => arguments.clone(),
        Value::Null => json!({}),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(Value::Object(object)) => Value::Object(object),
            _ => json!({"value": text}),
        },
        other => json!({"value": other}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Effort, ToolSpec};

    fn request(messages: Value) -> Request {
        Request {
            model: "m".to_owned(),
            messages: messages.as_array().unwrap().clone().into(),
            ..Request::default()
        }
    }

    #[track_caller]
    fn check_messages(written: Value, preserve_thinking: bool, expected: Value) {
        let mut target = Target::default();
        target.traits.preserve_thinking = preserve_thinking;
        let body = encode(&request(written), &target).body;
        assert_eq!(body["messages"], expected);
    }

    #[test]
    fn a_body_has_what_it_must_and_no_more() {
        let request = request(json!([{"role": "user", "content": "hi"}]));
        let expected = json!({
            "model": "m",
            "messages": [{"role": "user", "content": "hi"}],
            "stream": false,
            "think": false,
            "options": {"num_predict": 16384},
        });
        assert_eq!(encode(&request, &Target::default()).body, expected);
    }

    #[test]
    fn the_callers_options_are_added_to_ours() {
        let mut request = request(json!([]));
        request.sampling.temperature = Some(0.5);
        request.sampling.seed = Some(7);
        request
            .extra
            .insert("options".to_owned(), json!({"num_ctx": 32768, "seed": 8}));
        request.extra.insert("keep_alive".to_owned(), json!("30m"));
        let body = encode(&request, &Target::default()).body;
        let expected =
            json!({"num_predict": 16384, "temperature": 0.5, "seed": 8, "num_ctx": 32768});
        assert_eq!(body["options"], expected);
        assert_eq!(body["keep_alive"], "30m");
    }

    #[test]
    fn thinking_formats_and_tools_have_their_keys() {
        let mut request = request(json!([]));
        request.thinking = Thinking::Effort {
            level: Effort::High,
        };
        request.output = Output::JsonObject;
        request.tools = vec![ToolSpec {
            name: "f".to_owned(),
            parameters: json!({}),
            defer_loading: true,
            ..ToolSpec::default()
        }]
        .into();
        let body = encode(&request, &Target::default()).body;
        assert_eq!(body["think"], "high");
        assert_eq!(body["format"], "json");
        let tool = json!({"type": "function",
            "function": {"name": "f", "description": "", "parameters": {}}});
        assert_eq!(body["tools"], json!([tool]));

        request.thinking = Thinking::Adaptive;
        request.output = Output::JsonSchema {
            schema: json!({"type": "object"}),
            strict: true,
        };
        let body = encode(&request, &Target::default()).body;
        assert_eq!(body["think"], true);
        assert_eq!(body["format"], json!({"type": "object"}));
    }

    #[test]
    fn calls_have_objects_and_results_have_names() {
        let written = json!([
            {"role": "user", "content": [
                {"type": "text", "text": "look"},
                {"type": "image", "base64": "QQ==", "media_type": "image/png"},
            ]},
            {"role": "assistant", "content": "", "thinking": "hm", "tool_calls": [
                {"id": "c", "function": {"name": "f", "arguments": "{\"a\":1}"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "ok"},
        ]);
        let mut expected = json!([
            {"role": "user", "content": "look", "images": ["QQ=="]},
            {"role": "assistant", "content": "",
             "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]},
            {"role": "tool", "tool_name": "f", "content": "ok"},
        ]);
        check_messages(written.clone(), false, expected.clone());
        expected[1]["thinking"] = json!("hm");
        check_messages(written, true, expected);
    }

    #[test]
    fn what_was_kept_goes_back_to_models_that_want_it() {
        let written = json!([{"role": "assistant", "content": "x",
            "kept": {"wire": "ollama", "blocks": [{"thinking": "kept"}]}}]);
        check_messages(
            written,
            true,
            json!([{"role": "assistant", "content": "x", "thinking": "kept"}]),
        );
    }

    #[test]
    fn arguments_that_are_no_object_become_one() {
        for (arguments, expected) in [
            (json!("nope"), json!({"value": "nope"})),
            (json!("{\"a\":1}"), json!({"a": 1})),
            (json!([1]), json!({"value": [1]})),
            (Value::Null, json!({})),
        ] {
            assert_eq!(arguments_object(&arguments), expected);
        }
    }
}
