//! Writes requests of this wire.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::message;
use crate::wire::conversation::{self, Turn};
use crate::wire::{HttpRequest, Target};
use crate::{Output, Request, Sampling, Thinking, ToolSpec};

/// Providers whose servers hand `chat_template_kwargs` to the model's template.
const TEMPLATE_SERVERS: [&str; 9] = [
    "dashscope",
    "fireworks",
    "huggingface",
    "llamacpp",
    "local",
    "mlx",
    "tgi",
    "together",
    "vllm",
];

/// The HTTP request for `request`.
pub(in crate::wire) fn encode(request: &Request, target: &Target) -> HttpRequest {
    let turns = conversation::read(&request.messages);
    http_request(request, target, body(request, target, &turns))
}

/// The HTTP request that takes `body` to `target`, with what the caller wants in it last.
pub(in crate::wire) fn http_request(
    request: &Request,
    target: &Target,
    mut body: Map<String, Value>,
) -> HttpRequest {
    body.extend(request.extra.clone());
    HttpRequest {
        url: url(&target.url, &request.model),
        headers: target.headers.clone(),
        body: Value::Object(body),
    }
}

/// Most URLs do not name the model, and to find that out is quick.
fn url(url: &str, model: &str) -> String {
    match url.contains('{') {
        true => url.replace("{model}", model),
        false => url.to_owned(),
    }
}

fn body(request: &Request, target: &Target, turns: &[Turn]) -> Map<String, Value> {
    let mut body = Map::new();
    let mut set = |key: &str, value: Value| body.insert(key.to_owned(), value);
    set("model", json!(request.model));
    set("messages", messages(request, target, turns));
    let cap = match target.traits.requires_completion_tokens {
        true => "max_completion_tokens",
        false => "max_tokens",
    };
    set(cap, json!(request.sampling.max_tokens));
    set("stream", json!(request.stream));
    if request.stream {
        set("stream_options", json!({"include_usage": true}));
    }
    if let Some(format) = response_format(&request.output) {
        set("response_format", format);
    }
    let tools = tools(request);
    if !tools.is_empty() {
        set("tools", Value::Array(tools));
        if let Some(choice) = request
            .tool_choice
            .as_ref()
            .filter(|choice| !choice.is_null())
        {
            set("tool_choice", tool_choice(choice));
        }
    }
    sampling(&request.sampling, target, &mut body);
    body.extend(thinking(request.thinking, &target.provider));
    body
}

fn messages(request: &Request, target: &Target, turns: &[Turn]) -> Value {
    let mut messages = Vec::new();
    if let Some(system) = &request.system {
        messages.push(json!({"role": "system", "content": system}));
    }
    message::messages(turns, target.traits.preserve_thinking, &mut messages);
    if let Some(prefill) = &request.prefill {
        messages.push(json!({"role": "assistant", "content": prefill}));
    }
    Value::Array(messages)
}

/// What is set; the rest is left to the provider.
fn sampling(sampling: &Sampling, target: &Target, body: &mut Map<String, Value>) {
    // OpenAI itself refuses the key; the copies know it.
    let top_k = sampling.top_k.filter(|_| target.provider != "openai");
    let stop = Some(&sampling.stop).filter(|stop| !stop.is_empty());
    let rows = [
        ("temperature", sampling.temperature.map(|n| json!(n))),
        ("top_p", sampling.top_p.map(|n| json!(n))),
        ("top_k", top_k.map(|n| json!(n))),
        ("seed", sampling.seed.map(|n| json!(n))),
        (
            "frequency_penalty",
            sampling.frequency_penalty.map(|n| json!(n)),
        ),
        (
            "presence_penalty",
            sampling.presence_penalty.map(|n| json!(n)),
        ),
        ("stop", stop.map(|stop| json!(stop))),
    ];
    for (key, value) in rows {
        if let Some(value) = value {
            body.insert(key.to_owned(), value);
        }
    }
}

fn thinking(thinking: Thinking, provider: &str) -> Map<String, Value> {
    let mut keys = Map::new();
    if thinking == Thinking::Disabled {
        return keys;
    }
    if provider == "openrouter" {
        let reasoning = match thinking {
            Thinking::Enabled {
                budget_tokens: Some(budget),
            } => json!({"max_tokens": budget}),
            Thinking::Effort { level } => json!({"effort": level.word()}),
            Thinking::Enabled { .. } | Thinking::Adaptive | Thinking::Disabled => {
                json!({"enabled": true})
            }
        };
        keys.insert("reasoning".to_owned(), reasoning);
        return keys;
    }
    if TEMPLATE_SERVERS.contains(&provider) {
        let arguments = json!({"enable_thinking": true});
        keys.insert("chat_template_kwargs".to_owned(), arguments);
    }
    if let Thinking::Effort { level } = thinking {
        keys.insert("reasoning_effort".to_owned(), json!(level.word()));
    }
    keys
}

fn response_format(output: &Output) -> Option<Value> {
    match output {
        Output::Text => None,
        Output::JsonObject => Some(json!({"type": "json_object"})),
        Output::JsonSchema { schema, strict } => Some(json!({
            "type": "json_schema",
            "json_schema": {"name": "response", "schema": schema, "strict": strict},
        })),
    }
}

fn tools(request: &Request) -> Vec<Value> {
    let mut tools = Vec::new();
    if request.tool_search.is_some() {
        let namespaces: BTreeSet<&str> = request
            .tools
            .iter()
            .filter_map(|tool| tool.namespace.as_deref())
            .collect();
        tools.push(json!({"type": "tool_search", "mode": "hosted", "namespaces": namespaces}));
    }
    for tool in &request.tools {
        let mut entry = function_tool(tool);
        if tool.defer_loading {
            entry["defer_loading"] = json!(true);
        }
        if let Some(namespace) = &tool.namespace {
            entry["namespace"] = json!(namespace);
        }
        tools.push(entry);
    }
    tools
}

/// A tool in the shape that OpenAI gave it and others took over.
pub(in crate::wire) fn function_tool(tool: &ToolSpec) -> Value {
    let mut function = json!({
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    });
    if let Some(strict) = tool.strict {
        function["strict"] = json!(strict);
    }
    json!({"type": "function", "function": function})
}

/// Three words have a meaning; any other is the name of a function.
fn tool_choice(choice: &Value) -> Value {
    match choice.as_str() {
        None | Some("auto" | "none" | "required") => choice.clone(),
        Some(name) => json!({"type": "function", "function": {"name": name}}),
    }
}

#[cfg(test)]
mod tests;
