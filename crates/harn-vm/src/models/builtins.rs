//! The builtins about models: values become JSON, and JSON becomes values.

use std::task::Poll;

use harn_machine::value::{Dict, Text};
use harn_machine::{Answer, Context, Failure, Fault, Registry, Request, Value, Waiting, argument};
use harn_stdlib::spans;
use serde_json::json;

use super::KIND;
use super::reply::decode;
use crate::json::to_json;

/// Bodies that are answered at once, each with the name of its builtin.
macro_rules! at_once {
    ($($name:literal),* $(,)?) => {
        &[$(($name, |context, arguments| at_once(context, $name, arguments))),*]
    };
}

/// Bodies that wait for a model, each with its name, what it asks of the port and what its
/// arguments are.
macro_rules! in_time {
    ($($name:literal asks $asked:literal: $form:expr),* $(,)?) => {
        &[$(($name, |context, arguments, waiting| {
            in_time(context, ($asked, $form), arguments, waiting)
        })),*]
    };
}

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(at_once![
        "__llm_stream_open",
        "agent_trace",
        "agent_trace_summary",
        "llm_available_providers",
        "llm_budget",
        "llm_budget_remaining",
        "llm_config",
        "llm_cost",
        "llm_infer_provider",
        "llm_info",
        "llm_known_models",
        "llm_mock",
        "llm_mock_calls",
        "llm_mock_clear",
        "llm_mock_pop_scope",
        "llm_mock_push_scope",
        "llm_model_info",
        "llm_model_tier",
        "llm_pick_model",
        "llm_provider_catalog",
        "llm_providers",
        "llm_qc_default_model",
        "llm_rate_limit",
        "llm_resolve_model",
        "llm_session_cost",
        "llm_usage",
        "provider_capabilities",
        "provider_capabilities_clear",
        "provider_capabilities_install",
        "provider_register",
    ]);
    registry.plain(&[("__trace_models", |context, arguments| {
        at_once(context, "enable_tracing", arguments)
    })]);
    registry.waiting(in_time![
        "__llm_permit" asks "__llm_permit": Form::Plain,
        "__llm_stream_next" asks "__llm_stream_next": Form::Plain,
        "__llm_call" asks "llm_call": Form::Texts(2),
        "__llm_call_safe" asks "llm_call_safe": Form::Texts(2),
        "__llm_call_structured" asks "llm_call_structured": Form::Schema,
        "__llm_call_structured_result" asks "llm_call_structured_result": Form::Schema,
        "__llm_call_structured_safe" asks "llm_call_structured_safe": Form::Schema,
        "llm_completion" asks "llm_completion": Form::Texts(3),
        "llm_healthcheck" asks "llm_healthcheck": Form::Plain,
    ]);
    registry.file("models", include_str!("../../harn/models.harn"));
    let written_in_harn = [
        "enable_tracing",
        "llm_call",
        "llm_call_safe",
        "llm_call_structured",
        "llm_call_structured_result",
        "llm_call_structured_safe",
        "llm_stream",
        "with_rate_limit",
    ];
    registry.harn("models", &written_in_harn.map(|name| (name, name)));
}

/// What the arguments of a builtin are.
#[derive(Clone, Copy)]
enum Form {
    /// JSON.
    Plain,
    /// So many texts, then JSON.
    Texts(usize),
    /// A text, a schema, then JSON.
    Schema,
}

fn at_once(
    context: &mut Context<'_>,
    builtin: &str,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let answer = context.perform(&request(builtin, Form::Plain, arguments));
    read(answer)
}

fn in_time(
    context: &mut Context<'_>,
    (builtin, form): (&str, Form),
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if let (Form::Schema, Some(problem)) = (form, schema_problem(arguments)) {
        return without_schema(builtin, &problem).map(Poll::Ready);
    }
    if !waiting.is_resumed() && !matches!(form, Form::Plain) {
        let span = spans::begin(context, Text::new("llm_call"), Text::new(builtin));
        waiting.note = span.map(|span| Box::new(span) as _);
    }
    match waiting.effect(context, || request(builtin, form, arguments)) {
        None => Ok(Poll::Pending),
        Some(answer) => {
            let answer = read(answer);
            let span = waiting.note.take();
            if let Some(span) = span.and_then(|span| span.downcast::<i64>().ok()) {
                spans::end(context, *span, answer.as_ref().ok().and_then(noted));
            }
            answer.map(Poll::Ready)
        }
    }
}

/// What is noted about a call in its span.
fn noted(answer: &Value) -> Option<Dict> {
    let Value::Dict(answer) = answer else {
        return None;
    };
    let keys = ["model", "provider", "input_tokens", "output_tokens"];
    let known = keys.iter().filter_map(|key| {
        let value = answer.get(key).filter(|value| !value.is_nil())?;
        Some((Text::new(key), value.clone()))
    });
    let known: Dict = known.collect();
    (!known.is_empty()).then_some(known)
}

fn request(builtin: &str, form: Form, arguments: &[Value]) -> Request {
    let texts = match form {
        Form::Plain => 0,
        Form::Texts(count) => count,
        Form::Schema => 1,
    };
    let arguments = arguments.iter().enumerate().map(|(at, value)| match value {
        Value::Nil if at > 0 => json!(null),
        value if at < texts => json!(value.to_text().as_str()),
        value => to_json(value),
    });
    let arguments: Vec<_> = arguments.collect();
    Request::Other {
        kind: KIND,
        payload: json!({"builtin": builtin, "arguments": arguments}).to_string(),
    }
}

fn read(answer: Answer) -> Result<Value, Failure> {
    match answer {
        Answer::Text(Some(text)) => decode(&text),
        Answer::Failed(failure) => Err(Fault::runtime(failure.message)),
        _ => Err(Fault::runtime("the world does not know models")),
    }
}

/// What is wrong with the schema of a builtin that needs one.
fn schema_problem(arguments: &[Value]) -> Option<String> {
    match argument(arguments, 1) {
        Value::Dict(_) => None,
        _ if arguments.len() < 2 => Some(
            "llm_call_structured: missing required `schema` argument \
             (expected (prompt, schema, options?))"
                .to_owned(),
        ),
        other => Some(format!(
            "llm_call_structured: `schema` must be a dict (JSON Schema), got {}",
            other.type_name()
        )),
    }
}

/// What a builtin says that was given no schema: one throws, the others never do.
fn without_schema(builtin: &str, problem: &str) -> Result<Value, Failure> {
    let dict = |fields: Vec<(&'static str, Value)>| {
        let fields = fields.into_iter();
        Value::Dict(
            fields
                .map(|(key, value)| (Text::from(key), value))
                .collect(),
        )
    };
    match builtin {
        "llm_call_structured_safe" => Ok(dict(vec![
            ("ok", Value::Bool(false)),
            ("data", Value::Nil),
            (
                "error",
                dict(vec![
                    ("category", Value::from("generic")),
                    ("kind", Value::from("terminal")),
                    ("reason", Value::from("unknown")),
                    ("message", Value::from(problem)),
                ]),
            ),
        ])),
        "llm_call_structured_result" => {
            let envelope = harn_agent::llm::desk::argument_envelope(problem);
            Ok(crate::json::from_json(&envelope))
        }
        _ => Err(Fault::runtime(problem)),
    }
}
