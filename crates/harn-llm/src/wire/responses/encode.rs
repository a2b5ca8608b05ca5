//! Writes requests of this wire.

use serde_json::{Map, Value, json};

use super::input;
use crate::wire::chat::http_request;
use crate::wire::conversation::{self, Turn};
use crate::wire::{HttpRequest, Target};
use crate::{Output, Request, Thinking, ToolSpec};

/// The HTTP request for `request`.
pub(in crate::wire) fn encode(request: &Request, target: &Target) -> HttpRequest {
    let turns = conversation::read(&request.messages);
    http_request(request, target, body(request, target, &turns))
}

/// This wire knows no seed, penalties, `top_k` or texts that end an answer.
fn body(request: &Request, target: &Target, turns: &[Turn]) -> Map<String, Value> {
    let mut input = input::items(turns);
    let prefill = request.prefill.as_ref();
    if let Some(prefill) = prefill.filter(|_| target.traits.accepts_prefill) {
        input.push(input::assistant_message(prefill));
    }
    let tools = tools(request);
    let choice = request.tool_choice.as_ref();
    let choice = choice.filter(|choice| !choice.is_null() && !tools.is_empty());
    let sampling = &request.sampling;
    let rows = [
        ("model", Some(json!(request.model))),
        ("input", Some(Value::Array(input))),
        (
            "instructions",
            request.system.as_ref().map(|text| json!(text)),
        ),
        ("store", Some(json!(false))),
        ("include", Some(json!(["reasoning.encrypted_content"]))),
        ("stream", Some(json!(request.stream))),
        ("max_output_tokens", Some(json!(sampling.max_tokens))),
        ("temperature", sampling.temperature.map(|n| json!(n))),
        ("top_p", sampling.top_p.map(|n| json!(n))),
        ("reasoning", reasoning(request.thinking)),
        (
            "text",
            format(&request.output).map(|format| json!({"format": format})),
        ),
        ("tool_choice", choice.map(tool_choice)),
        ("tools", (!tools.is_empty()).then_some(Value::Array(tools))),
    ];
    let set = rows.into_iter();
    set.filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .collect()
}

fn reasoning(thinking: Thinking) -> Option<Value> {
    match thinking {
        Thinking::Disabled => None,
        Thinking::Enabled { .. } | Thinking::Adaptive => Some(json!({"summary": "auto"})),
        Thinking::Effort { level } => Some(json!({"effort": level.word(), "summary": "auto"})),
    }
}

fn format(output: &Output) -> Option<Value> {
    match output {
        Output::Text => None,
        Output::JsonObject => Some(json!({"type": "json_object"})),
        Output::JsonSchema { schema, strict } => Some(json!({
            "type": "json_schema", "name": "response", "schema": schema, "strict": strict,
        })),
    }
}

/// The tools, with those of a namespace together where its first one was.
fn tools(request: &Request) -> Vec<Value> {
    let mut tools = Vec::new();
    if request.tool_search.is_some() {
        tools.push(json!({"type": "tool_search", "execution": "server"}));
    }
    let mut namespaces: Vec<&str> = Vec::new();
    for tool in &request.tools {
        match tool.namespace.as_deref() {
            None => tools.push(function(tool)),
            Some(namespace) if namespaces.contains(&namespace) => {}
            Some(namespace) => {
                namespaces.push(namespace);
                tools.push(group(namespace, &request.tools));
            }
        }
    }
    tools
}

fn group(namespace: &str, tools: &[ToolSpec]) -> Value {
    let members = tools
        .iter()
        .filter(|tool| tool.namespace.as_deref() == Some(namespace));
    json!({
        "type": "namespace",
        "name": namespace,
        // The wire wants one, and a registry has none.
        "description": format!("Tools of {namespace}."),
        "tools": members.map(function).collect::<Vec<_>>(),
    })
}

/// Whether it is strict is always said, because this wire takes silence for yes and then
/// refuses schemas with optional parameters.
fn function(tool: &ToolSpec) -> Value {
    let mut entry = json!({
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": tool.strict.unwrap_or(false),
    });
    if tool.defer_loading {
        entry["defer_loading"] = json!(true);
    }
    entry
}

/// Three words have a meaning; any other is the name of a function.
fn tool_choice(choice: &Value) -> Value {
    match choice.as_str() {
        None | Some("auto" | "none" | "required") => choice.clone(),
        Some(name) => json!({"type": "function", "name": name}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Effort, Sampling, SearchVariant, ToolSearch};

    fn request() -> Request {
        Request {
            model: "m".to_owned(),
            messages: vec![json!({"role": "user", "content": "hi"})].into(),
            ..Request::default()
        }
    }

    /// What the body has beside what every body has.
    #[track_caller]
    fn check(request: &Request, expected: Value) {
        let mut body = encode(request, &Target::default()).body;
        let always = encode(&self::request(), &Target::default()).body;
        for (key, value) in always.as_object().unwrap() {
            assert_eq!(
                body.as_object_mut().unwrap().remove(key).as_ref(),
                Some(value)
            );
        }
        assert_eq!(body, expected);
    }

    #[test]
    fn nothing_is_stored_and_reasoning_comes_along_encrypted() {
        let expected = json!({
            "model": "m",
            "input": [{"type": "message", "role": "user",
                       "content": [{"type": "input_text", "text": "hi"}]}],
            "store": false,
            "include": ["reasoning.encrypted_content"],
            "stream": false,
            "max_output_tokens": 16384,
        });
        assert_eq!(encode(&request(), &Target::default()).body, expected);
    }

    #[test]
    fn what_is_set_is_sent_as_far_as_the_wire_knows_it() {
        let sampling = Sampling {
            temperature: Some(0.5),
            top_p: Some(0.25),
            top_k: Some(3),
            seed: Some(1),
            stop: vec!["X".to_owned()],
            ..Sampling::default()
        };
        let request = Request {
            system: Some("be kind".to_owned()),
            sampling,
            thinking: Thinking::Effort { level: Effort::Low },
            output: Output::JsonSchema {
                schema: json!({"type": "object"}),
                strict: true,
            },
            ..request()
        };
        let expected = json!({
            "instructions": "be kind",
            "temperature": 0.5,
            "top_p": 0.25,
            "reasoning": {"effort": "low", "summary": "auto"},
            "text": {"format": {"type": "json_schema", "name": "response",
                                "schema": {"type": "object"}, "strict": true}},
        });
        check(&request, expected);
    }

    #[test]
    fn namespaces_are_groups_and_the_search_comes_first() {
        let tool = |name: &str, namespace: Option<&str>| ToolSpec {
            name: name.to_owned(),
            description: "d".to_owned(),
            parameters: json!({"type": "object"}),
            namespace: namespace.map(str::to_owned),
            defer_loading: namespace.is_some(),
            ..ToolSpec::default()
        };
        let request = Request {
            tools: vec![tool("a", Some("n")), tool("b", None), tool("c", Some("n"))].into(),
            tool_search: Some(ToolSearch {
                variant: SearchVariant::Bm25,
            }),
            tool_choice: Some(json!("b")),
            ..request()
        };
        let deferred = |name: &str| {
            json!({"type": "function", "name": name, "description": "d",
                   "parameters": {"type": "object"}, "strict": false, "defer_loading": true})
        };
        let expected = json!({
            "tool_choice": {"type": "function", "name": "b"},
            "tools": [
                {"type": "tool_search", "execution": "server"},
                {"type": "namespace", "name": "n", "description": "Tools of n.",
                 "tools": [deferred("a"), deferred("c")]},
                {"type": "function", "name": "b", "description": "d",
                 "parameters": {"type": "object"}, "strict": false},
            ],
        });
        check(&request, expected);
    }

    #[test]
    fn a_prefill_is_for_models_that_take_one() {
        let request = Request {
            prefill: Some("{".to_owned()),
            ..request()
        };
        check(&request, json!({}));
        let mut target = Target::default();
        target.traits.accepts_prefill = true;
        let input = &encode(&request, &target).body["input"];
        assert_eq!(input[1], input::assistant_message("{"));
    }
}
