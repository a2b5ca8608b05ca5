//! Writes a request.

use serde_json::{Map, Value, json};

use super::{JSON_TOOL, cache, messages};
use crate::wire::{HttpRequest, Target, conversation};
use crate::{Effort, Output, Request, SearchVariant, Secret, Thinking, ToolSpec};

const BETA_HEADER: &str = "anthropic-beta";
const INTERLEAVED_THINKING: &str = "interleaved-thinking-2025-05-14";

/// How many tokens a model may think if nobody says.
const BUDGET_TOKENS_DEFAULT: u64 = 10_000;
/// The provider allows no smaller budgets.
const BUDGET_TOKENS_MIN: u64 = 1024;
/// With thoughts, only the most likely words may be left out.
const TOP_P_MIN_WITH_THOUGHTS: f64 = 0.95;

/// The HTTP request for `request`.
pub(in crate::wire) fn encode(request: &Request, target: &Target) -> HttpRequest {
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| {
        body.insert(name.to_owned(), value);
    };
    put("model", json!(request.model));
    put("max_tokens", json!(request.sampling.max_tokens));
    put("stream", json!(request.stream));

    let turns = conversation::read(&request.messages);
    let (instructions, mut messages) = messages::write(&turns);
    let system = request.system.iter().cloned().chain(instructions);
    let system: Vec<String> = system.filter(|text| !text.trim().is_empty()).collect();
    if !system.is_empty() {
        put("system", json!(system.join("\n\n")));
    }
    if let Some(prefill) = prefill(request, target) {
        let block = json!({"type": "text", "text": prefill});
        messages::append(&mut messages, "assistant", vec![block]);
    }
    put("messages", Value::Array(messages));

    write_thinking(&mut body, request, target);
    write_sampling(&mut body, request, target);
    write_tools(&mut body, request);
    if request.cache {
        cache::mark(&mut body);
    }
    body.extend(request.extra.clone());
    HttpRequest {
        url: target.url.replace("{model}", &request.model),
        headers: headers(request, target),
        body: Value::Object(body),
    }
}

/// How the answer begins, where the model lets us say so. The provider refuses it with
/// thoughts, which come before the text, and with blanks at its end.
fn prefill<'a>(request: &'a Request, target: &Target) -> Option<&'a str> {
    let prefill = request.prefill.as_deref().map(str::trim_end);
    let is_possible = target.traits.accepts_prefill && !thinks(request);
    prefill.filter(|text| is_possible && !text.is_empty())
}

fn thinks(request: &Request) -> bool {
    request.thinking != Thinking::Disabled
}

fn write_thinking(body: &mut Map<String, Value>, request: &Request, target: &Target) {
    let max_tokens = request.sampling.max_tokens;
    let adaptive = json!({"type": "adaptive"});
    let with_budget = |tokens: u64| json!({"type": "enabled", "budget_tokens": tokens});
    let thinking = match request.thinking {
        Thinking::Disabled => return,
        Thinking::Effort { level } if target.traits.adaptive_only => {
            body.insert("output_config".to_owned(), json!({"effort": level.word()}));
            adaptive
        }
        Thinking::Adaptive => adaptive,
        Thinking::Enabled { .. } if target.traits.adaptive_only => adaptive,
        Thinking::Enabled {
            budget_tokens: Some(tokens),
        } => with_budget(tokens),
        Thinking::Enabled {
            budget_tokens: None,
        } => with_budget(fitting_budget(BUDGET_TOKENS_DEFAULT, max_tokens)),
        Thinking::Effort { level } => with_budget(fitting_budget(effort_budget(level), max_tokens)),
    };
    body.insert("thinking".to_owned(), thinking);
}

fn effort_budget(level: Effort) -> u64 {
    match level {
        Effort::Low => 2048,
        Effort::Medium => BUDGET_TOKENS_DEFAULT,
        Effort::High => 32_000,
    }
}

/// A budget that nobody asked for by number leaves a quarter of the output cap for the
/// answer: the provider refuses budgets that reach the cap.
fn fitting_budget(wanted_tokens: u64, max_tokens: u64) -> u64 {
    let fitting_tokens = max_tokens - max_tokens / 4;
    wanted_tokens.min(fitting_tokens).max(BUDGET_TOKENS_MIN)
}

fn write_sampling(body: &mut Map<String, Value>, request: &Request, target: &Target) {
    let sampling = &request.sampling;
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            body.insert(name.to_owned(), value);
        }
    };
    let stop = Some(&sampling.stop).filter(|stop| !stop.is_empty());
    put("stop_sequences", stop.map(|stop| json!(stop)));
    if target.traits.adaptive_only {
        return;
    }
    let top_p = sampling.top_p;
    if thinks(request) {
        let top_p = top_p.filter(|share| *share >= TOP_P_MIN_WITH_THOUGHTS);
        put("top_p", top_p.map(|share| json!(share)));
        return;
    }
    put(
        "temperature",
        sampling.temperature.map(|value| json!(value)),
    );
    put("top_p", top_p.map(|value| json!(value)));
    put("top_k", sampling.top_k.map(|value| json!(value)));
}

fn write_tools(body: &mut Map<String, Value>, request: &Request) {
    let mut tools: Vec<Value> = Vec::new();
    tools.extend(
        request
            .tool_search
            .map(|search| search_tool(search.variant)),
    );
    let eager = request.stream && request.wants_partial_arguments;
    tools.extend(request.tools.iter().map(|spec| tool(spec, eager)));
    let answer = answer_tool(&request.output);
    let has_answer = answer.is_some();
    tools.extend(answer);
    if tools.is_empty() {
        return;
    }
    let choice = match &request.tool_choice {
        Some(choice) => Some(tool_choice(choice)),
        None if !has_answer => None,
        // The provider forces no tool on a model that thinks.
        None if thinks(request) => Some(json!({"type": "auto"})),
        None if tools.len() > 1 => Some(json!({"type": "any"})),
        None => Some(json!({"type": "tool", "name": JSON_TOOL})),
    };
    body.insert("tools".to_owned(), Value::Array(tools));
    if let Some(choice) = choice {
        body.insert("tool_choice".to_owned(), choice);
    }
}

fn search_tool(variant: SearchVariant) -> Value {
    match variant {
        SearchVariant::Bm25 => {
            json!({"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"})
        }
        SearchVariant::Regex => {
            json!({"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"})
        }
    }
}

fn tool(spec: &ToolSpec, eager: bool) -> Value {
    let mut tool = json!({"name": spec.name});
    tool["input_schema"] = match &spec.parameters {
        Value::Object(_) => spec.parameters.clone(),
        _ => json!({"type": "object", "properties": {}}),
    };
    if !spec.description.is_empty() {
        tool["description"] = json!(spec.description);
    }
    if let Some(strict) = spec.strict {
        tool["strict"] = json!(strict);
    }
    if spec.defer_loading {
        tool["defer_loading"] = json!(true);
    }
    if eager {
        tool["eager_input_streaming"] = json!(true);
    }
    tool
}

/// The tool whose input is the answer, if the answer has to be JSON.
fn answer_tool(output: &Output) -> Option<Value> {
    let schema = match output {
        Output::Text => return None,
        Output::JsonObject => json!({"type": "object"}),
        Output::JsonSchema { schema, .. } => schema.clone(),
    };
    Some(json!({
        "name": JSON_TOOL,
        "description": "Gives the answer. Its input is the answer.",
        "input_schema": schema,
    }))
}

fn tool_choice(choice: &Value) -> Value {
    match choice.as_str() {
        Some(word @ ("auto" | "none" | "any")) => json!({"type": word}),
        Some("required") => json!({"type": "any"}),
        Some(name) => json!({"type": "tool", "name": name}),
        None if choice["type"] == "function" => {
            json!({"type": "tool", "name": choice["function"]["name"]})
        }
        None => choice.clone(),
    }
}

/// The target's headers, with the betas this request needs added to the one that names them.
fn headers(request: &Request, target: &Target) -> Vec<(String, Secret)> {
    let mut headers = target.headers.clone();
    let known = headers
        .iter()
        .position(|(name, _)| name.eq_ignore_ascii_case(BETA_HEADER));
    let known = known.map(|index| headers.remove(index).1);
    let mut betas: Vec<&str> = known
        .iter()
        .flat_map(|value| value.expose().split(','))
        .chain(request.beta_features.iter().map(String::as_str))
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .collect();
    let thinks_between = matches!(
        request.thinking,
        Thinking::Enabled { .. } | Thinking::Adaptive
    ) && target.traits.interleaved_thinking;
    if thinks_between || request.interleaved_thinking {
        betas.push(INTERLEAVED_THINKING);
    }
    let mut names: Vec<&str> = Vec::new();
    for name in betas {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if !names.is_empty() {
        headers.push((BETA_HEADER.to_owned(), Secret::new(names.join(","))));
    }
    headers
}
