//! The tool with which a model stops its loop until somebody resumes it.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use harn_events::{ToolAnnotations, ToolKind};
use harn_llm::options::value::{Options, kind, truthy};
use harn_options::RESUMPTION;
use serde_json::{Map, Value, json};

use super::Run;
use super::turn::Flow;
use crate::callback::BoxFuture;
use crate::known_options::refuse_unknown;
use crate::session::{Change, kept};
use crate::tool::{Declaration, Tool, ToolCall, ToolError};
use crate::workers::AwaitedEvent;

/// What the model calls it, and what switches it on.
const NAME: &str = "agent_await_resumption";

/// What may happen when nobody resumes it in time.
const ON_TIMEOUT: [&str; 3] = ["resume_with_summary", "fail", "resume_with_input"];

/// Stops a loop after the turn that calls it.
#[derive(Default)]
pub(super) struct AwaitResumption {
    /// What the model waits for, once it does.
    wanted: Mutex<Option<Value>>,
}

/// The tool, if the options of a loop ask for it.
pub(super) fn tool(options: &Map<String, Value>) -> Option<Arc<AwaitResumption>> {
    let is_on = Options(options).given(NAME).is_some_and(truthy);
    is_on.then(Arc::default)
}

/// Ends the loop if its model waits for somebody. What it waits for is kept in the session.
pub(super) fn suspended(run: &Run<'_>) -> Option<Flow> {
    let tool = run.resumption.as_ref()?;
    let mut wanted = tool.wanted.lock().unwrap_or_else(PoisonError::into_inner);
    let mut suspension = wanted.take()?;
    let iterations = run.session.read(|state| state.run.total_iterations);
    let worker = run.ambient.worker_id.as_deref();
    suspension["handle"] = json!(worker.unwrap_or_else(|| run.session.id()));
    suspension["initiator"] = json!("agent");
    suspension["iterations_completed"] = json!(iterations);
    run.session.record(Change::Kept {
        name: kept::SUSPENSION.to_owned(),
        value: suspension,
    });
    Some(Flow::Break("suspended".to_owned()))
}

/// A loop that begins waits for nobody.
pub(super) fn forget(run: &Run<'_>) {
    if run.session.kept(kept::SUSPENSION).is_some() {
        run.session.keep(kept::SUSPENSION, Value::Null);
    }
}

impl Tool for AwaitResumption {
    fn declaration(&self) -> Cow<'_, Declaration> {
        Cow::Owned(Declaration {
            name: NAME.to_owned(),
            description: "Stop working until somebody resumes you. Say why, and on which \
                          conditions."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "reason": {"type": "string", "description": "What you wait for."},
                    "conditions": {
                        "type": "object",
                        "description": "{trigger?, timeout?: {duration_minutes, on_timeout: \
                                        resume_with_summary | fail | resume_with_input}, \
                                        on_event?}",
                    },
                },
                "required": ["reason"],
            }),
            annotations: Some(ToolAnnotations {
                kind: ToolKind::Think,
                ..ToolAnnotations::default()
            }),
        })
    }

    fn takes_declared_only(&self) -> bool {
        true
    }

    fn call<'a>(&'a self, call: ToolCall<'a>) -> BoxFuture<'a, Result<String, ToolError>> {
        let outcome = read(call.arguments).map_err(ToolError::Failed);
        if let Ok(suspension) = &outcome {
            let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
            *wanted = Some(suspension.clone());
        }
        let text = "You are suspended. The conversation goes on when somebody resumes it.";
        Box::pin(std::future::ready(outcome.map(|_| text.to_owned())))
    }
}

/// What a model waits for, if that makes sense.
fn read(arguments: &Value) -> Result<Value, String> {
    let reason = match &arguments["reason"] {
        Value::Null => Value::Null,
        Value::String(reason) => json!(reason),
        other => return Err(wrong("HARN-SUS-010", "reason", "a string", other)),
    };
    let conditions = &arguments["conditions"];
    check_conditions(conditions)?;
    Ok(json!({"reason": reason, "conditions": conditions}))
}

/// Fails if conditions are malformed.
fn check_conditions(conditions: &Value) -> Result<(), String> {
    let fields = match conditions {
        Value::Null => return Ok(()),
        Value::Object(fields) => fields,
        other => return Err(wrong("HARN-SUS-004", "conditions", "a dict", other)),
    };
    // A model that misspells a condition would wait for something else, or for ever.
    if let Err(invalid) = refuse_unknown("conditions", &RESUMPTION, fields) {
        return Err(format!("HARN-SUS-004: {invalid}"));
    }
    let given = Options(fields);
    if let Some(timeout) = given.given("timeout") {
        check_timeout(timeout)?;
    }
    let is_name = |value: &Value| value.is_string() || value.is_object();
    if let Some(trigger) = given.given("trigger").filter(|value| !is_name(value)) {
        return Err(wrong(
            "HARN-SUS-008",
            "trigger",
            "a string or a dict",
            trigger,
        ));
    }
    let event = given.given("on_event").unwrap_or(&Value::Null);
    match event.is_null() || AwaitedEvent::read(event).is_some() {
        true => Ok(()),
        false => {
            let expected = "the type of an event, a list of them or {type, session_id?}";
            Err(wrong("HARN-SUS-009", "on_event", expected, event))
        }
    }
}

fn check_timeout(timeout: &Value) -> Result<(), String> {
    let Some(fields) = timeout.as_object() else {
        return Err(wrong("HARN-SUS-005", "timeout", "a dict", timeout));
    };
    let minutes = fields.get("duration_minutes").unwrap_or(&Value::Null);
    if minutes.as_f64().is_none_or(|minutes| minutes <= 0.0) {
        let place = "timeout.duration_minutes";
        return Err(wrong("HARN-SUS-006", place, "a positive number", minutes));
    }
    let action = Options(fields).given_text("on_timeout");
    match action.filter(|action| !ON_TIMEOUT.contains(&&**action)) {
        Some(action) => Err(format!(
            "HARN-SUS-007: timeout.on_timeout must be one of {}; got `{action}`",
            ON_TIMEOUT.join(", ")
        )),
        None => Ok(()),
    }
}

fn wrong(code: &str, place: &str, expected: &str, got: &Value) -> String {
    format!("{code}: {place} must be {expected}; got {}", kind(got))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_that_make_no_sense_are_told_apart() {
        let rows = [
            (json!({"reason": 7}), "HARN-SUS-010"),
            (json!({"conditions": 7}), "HARN-SUS-004"),
            (json!({"conditions": {"timeout": 5}}), "HARN-SUS-005"),
            (json!({"conditions": {"timeout": {}}}), "HARN-SUS-006"),
            (
                json!({"conditions": {"timeout": {"duration_minutes": 0}}}),
                "HARN-SUS-006",
            ),
            (
                json!({"conditions": {"timeout": {"duration_minutes": 1, "on_timeout": "x"}}}),
                "HARN-SUS-007",
            ),
            (
                json!({"conditions": {"on_evnt": "a"}}),
                "HARN-SUS-004: conditions: unknown option key 'on_evnt'; did you mean 'on_event'?",
            ),
            (
                json!({"conditions": {"timeout": {"duration_minutes": 1, "on_timout": "fail"}}}),
                "HARN-SUS-004: conditions: unknown option key 'timeout.on_timout'; did you mean \
                 'on_timeout'?",
            ),
            (
                json!({"conditions": {"on_event": {"type": "a", "session": "s"}}}),
                "HARN-SUS-004: conditions: unknown option key 'on_event.session'",
            ),
            (json!({"conditions": {"trigger": 1}}), "HARN-SUS-008"),
            (json!({"conditions": {"on_event": true}}), "HARN-SUS-009"),
        ];
        for (arguments, code) in rows {
            let error = read(&arguments).expect_err("it makes no sense");
            assert!(error.starts_with(code), "{error}");
        }
        for arguments in [
            json!({}),
            json!({"reason": "lunch", "conditions": {}}),
            json!({"conditions": {
                "timeout": {"duration_minutes": 0.5, "on_timeout": "fail"},
                "trigger": "t",
                "on_event": ["a"],
            }}),
        ] {
            assert!(read(&arguments).is_ok(), "{arguments}");
        }
    }
}
