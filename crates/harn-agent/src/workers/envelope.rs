//! What a child gives back: the same keys whatever happened.

use std::sync::Arc;

use harn_llm::desk::Thrown;
use harn_llm::grammar::extract::extract;
use harn_llm::grammar::visible;
use harn_llm::options::value::{Options, display, truthy};
use harn_llm::sorted_json;
use serde_json::{Value, json};

use super::child::Seen;
use crate::loop_result::LoopResult;
use crate::registry::told;
use crate::runtime::Runtime;
use crate::session::{Session, SessionState, TranscriptEvent};

/// What whoever asks for a child wants to have of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// What `data` has to be.
    schema: Option<Value>,
    /// Whether it is to be JSON.
    is_structured: bool,
    /// How many tokens it may use.
    token_budget: Option<u64>,
}

impl Wanted {
    pub(crate) fn read(options: Options<'_>) -> Self {
        let returns = options.given("returns");
        let schema = returns.and_then(|returns| returns.get("schema")).cloned();
        let schema = schema.filter(|schema| !schema.is_null());
        let is_asked = |key: &str| options.given(key).is_some_and(truthy);
        let is_structured = schema.is_some()
            || options.given_text("response_format").as_deref() == Some("json")
            || ["output_format", "json_schema", "output_schema"]
                .into_iter()
                .any(is_asked);
        Self {
            schema,
            is_structured,
            token_budget: options.count("token_budget"),
        }
    }
}

/// What is wrong with a child, as its envelope tells it.
struct Failure {
    category: String,
    message: String,
    tool: Option<String>,
}

impl Failure {
    fn to_value(&self) -> Value {
        let mut value = json!({"category": self.category, "message": self.message});
        if let Some(tool) = &self.tool {
            value["tool"] = json!(tool);
        }
        value
    }

    fn of_schema(message: String) -> Self {
        Self {
            category: "schema_validation".to_owned(),
            message,
            tool: None,
        }
    }
}

/// Puts together what came of a child, whose session had seen so much before.
pub(crate) fn put_together(
    runtime: &Arc<Runtime>,
    session: &Session,
    seen: Seen,
    wanted: &Wanted,
    outcome: Result<LoopResult, Thrown>,
) -> Value {
    let (summary, data, failure) = match &outcome {
        Ok(result) => told_of(runtime, session, seen, wanted, result),
        Err(thrown) => (String::new(), Value::Null, Some(of_error(thrown))),
    };
    let tokens = session.read(|state| tokens_used(state, seen));
    let artifacts = session.read(|state| own(&state.assets, seen.assets).to_vec());
    let mut new_id = || runtime.new_id();
    let transcript = session.transcript(&mut new_id);
    json!({
        "ok": failure.is_none(),
        "summary": summary,
        "evidence_added": artifacts.len(),
        "artifacts": artifacts,
        "tokens_used": tokens,
        "budget_exceeded": wanted.token_budget.is_some_and(|budget| tokens >= budget),
        "data": data,
        "error": failure.map(|failure| failure.to_value()),
        "session_id": session.id(),
        "transcript": transcript,
    })
}

/// The summary, the data, and what is wrong with them.
fn told_of(
    runtime: &Runtime,
    session: &Session,
    seen: Seen,
    wanted: &Wanted,
    result: &LoopResult,
) -> (String, Value, Option<Failure>) {
    let last = session.read(|state| last_text(state, seen));
    let last = last.unwrap_or_default();
    let texts = [&*result.visible_text, &*last, &*result.text];
    let found = texts.into_iter().find_map(extract);
    let said = || said(session, result, &last);
    if !wanted.is_structured {
        let denial = session.read(|state| denial(state, seen));
        return (said(), Value::Null, denial);
    }
    let summary = found.as_ref().map(sorted_json);
    let summary = summary.unwrap_or_else(said);
    let (data, problem) = match &wanted.schema {
        None => (found.unwrap_or_default(), None),
        Some(schema) => checked(runtime, schema, found),
    };
    let denial = || session.read(|state| denial(state, seen));
    (summary, data, problem.or_else(denial))
}

/// What a person would read, first of all.
fn said(session: &Session, result: &LoopResult, last: &str) -> String {
    let filled = |text: &str| (!text.trim().is_empty()).then(|| text.to_owned());
    filled(&result.visible_text)
        .or_else(|| filled(last))
        .or_else(|| session.read(|state| state.summary.clone()))
        .unwrap_or_else(|| result.text.clone())
}

fn checked(runtime: &Runtime, schema: &Value, found: Option<Value>) -> (Value, Option<Failure>) {
    let Some(found) = found else {
        let message = "sub_agent_run: child transcript did not contain valid JSON";
        return (Value::Null, Some(Failure::of_schema(message.to_owned())));
    };
    let errors = (runtime.desk.ports().schema_errors)(schema, &found);
    match errors.is_empty() {
        true => (found, None),
        false => {
            let errors = errors.join("; ");
            let message = format!("sub_agent_run: return schema validation failed: {errors}");
            (Value::Null, Some(Failure::of_schema(message)))
        }
    }
}

/// The entries of a child itself. If there are fewer than there were before, all of them are.
fn own<T>(entries: &[T], before: usize) -> &[T] {
    entries.get(before..).unwrap_or(entries)
}

/// The last thing that the child itself said.
fn last_text(state: &SessionState, seen: Seen) -> Option<String> {
    let known = Some(seen.messages).filter(|known| *known <= state.messages.len());
    let mut newest_first = state.messages.iter_from(known.unwrap_or(0)).rev();
    newest_first.find_map(|message| {
        let text = match &message["content"] {
            _ if message["role"] != "assistant" => return None,
            Value::String(text) => text.clone(),
            Value::Array(blocks) => {
                let texts = blocks.iter().filter_map(|block| block["text"].as_str());
                texts.collect::<Vec<&str>>().join("\n")
            }
            _ => return None,
        };
        let text = visible::sanitize(&text);
        (!text.trim().is_empty()).then_some(text)
    })
}

fn tokens_used(state: &SessionState, seen: Seen) -> u64 {
    let events = own(&state.events, seen.events).iter();
    let tokens = events.map(TranscriptEvent::to_value).map(|event| {
        let count = |key: &str| event["metadata"][key].as_u64().unwrap_or(0);
        count("input_tokens") + count("output_tokens")
    });
    tokens.sum()
}

/// The newest call of the child that was denied.
fn denial(state: &SessionState, seen: Seen) -> Option<Failure> {
    let newest_first = own(&state.events, seen.events).iter().rev();
    let mut newest_first = newest_first.map(TranscriptEvent::to_value);
    let denied = newest_first.find(|event| event["kind"] == "PermissionDeny")?;
    let reason = &denied["metadata"]["reason"];
    let tool = denied["metadata"]["tool_name"].as_str();
    Some(Failure {
        category: "permission_denied".to_owned(),
        message: display(reason),
        tool: tool.map(str::to_owned),
    })
}

/// What a loop threw.
fn of_error(thrown: &Thrown) -> Failure {
    let category = match thrown {
        Thrown::Categorised(category, _) => category.word().to_owned(),
        Thrown::Dict(dict) => dict["category"].as_str().unwrap_or("runtime").to_owned(),
        Thrown::Plain(_) | Thrown::Runtime(_) => "runtime".to_owned(),
    };
    Failure {
        category,
        message: told(thrown),
        tool: None,
    }
}
