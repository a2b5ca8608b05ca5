//! Writes a request.

use serde_json::{Map, Value, json};

use super::contents::Writer;
use super::schema;
use crate::wire::{HttpRequest, Target, conversation};
use crate::{Effort, Output, Request, Thinking, ToolSpec};

/// The HTTP request for `request`.
pub(in crate::wire) fn encode(request: &Request, target: &Target) -> HttpRequest {
    let mut body = Map::new();
    let turns = conversation::read(&request.messages);
    let writer = Writer::new(&turns, is_third_generation(request));
    let (instructions, contents) = writer.write(&turns);
    body.insert("contents".to_owned(), Value::Array(contents));

    let system = request.system.iter().cloned().chain(instructions);
    let system: Vec<String> = system.filter(|text| !text.trim().is_empty()).collect();
    if !system.is_empty() {
        let instruction = json!({"parts": [{"text": system.join("\n\n")}]});
        body.insert("systemInstruction".to_owned(), instruction);
    }
    body.insert("generationConfig".to_owned(), generation_config(request));
    if !request.tools.is_empty() {
        let declarations: Vec<Value> = request.tools.iter().map(declaration).collect();
        let tools = json!([{"functionDeclarations": declarations}]);
        body.insert("tools".to_owned(), tools);
    }
    let config = tool_config(request, target);
    body.extend(config.map(|config| ("toolConfig".to_owned(), config)));
    merge_extra(&mut body, &request.extra);
    HttpRequest {
        url: url(request, target),
        headers: target.headers.clone(),
        body: Value::Object(body),
    }
}

fn url(request: &Request, target: &Target) -> String {
    let model = request.model.strip_prefix("models/");
    let model = model.unwrap_or(&request.model);
    let method = match request.stream {
        true => "streamGenerateContent?alt=sse",
        false => "generateContent",
    };
    format!("{}/{model}:{method}", target.url.trim_end_matches('/'))
}

/// Models since Gemini 3 think by levels and demand proofs of their calls.
fn is_third_generation(request: &Request) -> bool {
    request.model.contains("gemini-3")
}

fn generation_config(request: &Request) -> Value {
    let sampling = &request.sampling;
    let mut config = Map::new();
    let mut put = |name: &str, value: Value| {
        if !value.is_null() {
            config.insert(name.to_owned(), value);
        }
    };
    put("maxOutputTokens", json!(sampling.max_tokens));
    put("temperature", json!(sampling.temperature));
    put("topP", json!(sampling.top_p));
    put("topK", json!(sampling.top_k));
    put("seed", json!(sampling.seed));
    put("frequencyPenalty", json!(sampling.frequency_penalty));
    put("presencePenalty", json!(sampling.presence_penalty));
    if !sampling.stop.is_empty() {
        put("stopSequences", json!(sampling.stop));
    }
    put("thinkingConfig", thinking_config(request));
    if request.output != Output::Text {
        put("responseMimeType", json!("application/json"));
    }
    if let Output::JsonSchema { schema, .. } = &request.output {
        match schema::has_references(schema) {
            true => put("responseJsonSchema", schema.clone()),
            false => put("responseSchema", schema::plain(schema)),
        }
    }
    Value::Object(config)
}

/// How much to think, or null where the model's own way is the best one can ask for.
fn thinking_config(request: &Request) -> Value {
    let by_level = is_third_generation(request);
    match request.thinking {
        // The only models that can be told not to.
        Thinking::Disabled if request.model.contains("gemini-2.5-flash") => {
            json!({"thinkingBudget": 0})
        }
        Thinking::Disabled => Value::Null,
        Thinking::Enabled {
            budget_tokens: Some(tokens),
        } => json!({"includeThoughts": true, "thinkingBudget": tokens}),
        Thinking::Adaptive if !by_level => json!({"includeThoughts": true, "thinkingBudget": -1}),
        Thinking::Enabled {
            budget_tokens: None,
        }
        | Thinking::Adaptive => json!({"includeThoughts": true}),
        Thinking::Effort { level } if by_level => {
            json!({"includeThoughts": true, "thinkingLevel": level.word()})
        }
        Thinking::Effort { level } => {
            json!({"includeThoughts": true, "thinkingBudget": effort_budget(level)})
        }
    }
}

fn effort_budget(level: Effort) -> u64 {
    match level {
        Effort::Low => 1024,
        Effort::Medium => 8192,
        Effort::High => 24_576,
    }
}

fn declaration(spec: &ToolSpec) -> Value {
    let mut declaration = json!({"name": spec.name, "description": spec.description});
    let properties = spec.parameters["properties"].as_object();
    // A function without parameters must say nothing about them.
    if properties.is_some_and(|properties| !properties.is_empty()) {
        match schema::has_references(&spec.parameters) {
            true => declaration["parametersJsonSchema"] = spec.parameters.clone(),
            false => declaration["parameters"] = schema::plain(&spec.parameters),
        }
    }
    declaration
}

fn tool_config(request: &Request, target: &Target) -> Option<Value> {
    if request.tools.is_empty() {
        return None;
    }
    let mut calling = match &request.tool_choice {
        None => json!({}),
        Some(choice) if choice["functionCallingConfig"].is_object() => return Some(choice.clone()),
        Some(choice) => calling_config(choice),
    };
    // Pieces of arguments are offered by one of the two endpoints only.
    if request.stream && request.wants_partial_arguments && target.provider == "vertex" {
        calling["streamFunctionCallArguments"] = json!(true);
    }
    let is_empty = calling.as_object().is_some_and(Map::is_empty);
    (!is_empty).then(|| json!({"functionCallingConfig": calling}))
}

/// Which tool to call, in the words of any wire.
fn calling_config(choice: &Value) -> Value {
    let only = |name: &Value| json!({"mode": "ANY", "allowedFunctionNames": [name]});
    match choice.as_str().or_else(|| choice["type"].as_str()) {
        Some("auto") => json!({"mode": "AUTO"}),
        Some("any" | "required") => json!({"mode": "ANY"}),
        Some("none") => json!({"mode": "NONE"}),
        Some("function") if choice.is_object() => only(&choice["function"]["name"]),
        Some("tool") if choice.is_object() => only(&choice["name"]),
        Some(name) if choice.is_string() => only(&json!(name)),
        _ if choice.is_object() => choice.clone(),
        _ => json!({}),
    }
}

/// Merges key by key; what goes into `generationConfig` joins what is there.
fn merge_extra(body: &mut Map<String, Value>, extra: &Map<String, Value>) {
    for (name, value) in extra {
        match (body.get_mut(name), value) {
            (Some(Value::Object(known)), Value::Object(more)) if name == "generationConfig" => {
                known.extend(more.clone());
            }
            _ => {
                body.insert(name.clone(), value.clone());
            }
        }
    }
}
