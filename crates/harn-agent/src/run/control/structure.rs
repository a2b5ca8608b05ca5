//! Whether what the model said has the form that its task needs.
//!
//! The rules are written in Harn, by `with_structural_validator`; here is what they look at and
//! what follows from what they say.

use std::sync::Arc;

use harn_events::{AgentEvent, SideEffectLevel, ToolCallErrorCategory, ToolKind};
use harn_llm::desk::Thrown;
use serde_json::{Value, json};

use super::super::post_turn::close_without_dispatch;
use super::super::turn::{Call, Turn};
use super::super::{Run, dispatch};
use super::options::Given;
use crate::callback::Callback;
use crate::session::{About, TranscriptEvent};

const REVISE: &str = "structural_validator_revise";

/// How often a turn is asked for again unless something else is configured.
const ATTEMPTS_MAX: u64 = 3;

/// What looks at turns.
pub(super) struct Validator(Arc<dyn Callback>);

impl Validator {
    pub(super) fn read(given: Given<'_>) -> Result<Option<Self>, Thrown> {
        Ok(given.closure("structural_validator")?.map(Self))
    }
}

/// What was found.
struct Finding {
    rule: String,
    diagnostic: String,
    recommended_action: String,
    on_failure: String,
    attempts_max: u64,
    is_warning: bool,
}

/// Looks at a turn. Says whether it is asked for again.
pub(super) async fn check(run: &Run<'_>, turn: &Turn) -> Result<bool, Thrown> {
    let Some(Validator(validator)) = &run.controls.structure else {
        return Ok(false);
    };
    let answer = validator.call(vec![payload(run, turn)]).await?;
    let Some(finding) = Finding::read(&answer) else {
        return Ok(false);
    };
    let used = run.control_state().revisions;
    let is_spent = used >= finding.attempts_max;
    let is_vetoed = !finding.is_warning && !is_spent;
    if is_vetoed {
        run.set_controls(|state| state.revisions += 1);
    }
    run.emit(AgentEvent::StructuralValidatorDecision {
        session_id: run.id(),
        iteration: turn.number(),
        rule: finding.rule.clone(),
        diagnostic: finding.diagnostic.clone(),
        recommended_action: finding.recommended_action.clone(),
        vetoed: is_vetoed,
        skipped: is_spent && !finding.is_warning,
        reason: match (is_spent, finding.is_warning) {
            (_, true) => Some("warn_only".to_owned()),
            (true, false) => Some("max_attempts_reached".to_owned()),
            (false, false) => None,
        },
        on_failure: finding.on_failure.clone(),
        attempts: usize::try_from(used + u64::from(is_vetoed)).unwrap_or(usize::MAX),
        max_attempts: usize::try_from(finding.attempts_max).unwrap_or(usize::MAX),
    })
    .await;
    if !is_vetoed {
        return Ok(false);
    }
    if finding.on_failure == "raise" {
        return Err(Thrown::Plain(finding.diagnostic));
    }
    ask_again(run, turn, &finding).await;
    Ok(true)
}

/// What the model said does not become history; what is wrong with it does.
async fn ask_again(run: &Run<'_>, turn: &Turn, finding: &Finding) {
    for call in &turn.calls {
        let skipped = format!("the call was not made: {REVISE}");
        let outcome = Err((skipped, ToolCallErrorCategory::Cancelled));
        dispatch::end_announced(run, turn, call, outcome).await;
    }
    let report = json!({
        "rule": finding.rule,
        "diagnostic": finding.diagnostic,
        "recommended_action": finding.recommended_action,
    });
    run.tell("structural_validator", &report.to_string());
    close_without_dispatch(run, turn, REVISE).await;
}

impl Finding {
    /// Nil, true and an empty text say that nothing was found.
    fn read(answer: &Value) -> Option<Self> {
        let plain = |diagnostic: &str| Self {
            rule: "custom".to_owned(),
            diagnostic: diagnostic.to_owned(),
            recommended_action: "Revise the turn.".to_owned(),
            on_failure: "regenerate_with_feedback".to_owned(),
            attempts_max: ATTEMPTS_MAX,
            is_warning: false,
        };
        match answer {
            Value::Bool(false) => Some(plain("The turn was refused.")),
            Value::String(diagnostic) if !diagnostic.is_empty() => Some(plain(diagnostic)),
            Value::Object(found) => {
                if found.get("ok") == Some(&json!(true)) {
                    return None;
                }
                let text = |key: &str, otherwise: &str| {
                    let text = found.get(key).and_then(Value::as_str);
                    text.unwrap_or(otherwise).to_owned()
                };
                let max = found.get("max_attempts").and_then(Value::as_u64);
                Some(Self {
                    rule: text("rule", "custom"),
                    diagnostic: text("diagnostic", "The turn was refused."),
                    recommended_action: text("recommended_action", "Revise the turn."),
                    on_failure: text("on_failure", "regenerate_with_feedback"),
                    attempts_max: max.unwrap_or(ATTEMPTS_MAX),
                    is_warning: found.get("warn_only") == Some(&json!(true)),
                })
            }
            _ => None,
        }
    }
}

/// What rules look at.
fn payload(run: &Run<'_>, turn: &Turn) -> Value {
    let answer = turn.answer();
    let calls: Vec<Value> = turn
        .calls
        .iter()
        .map(|call| json!({"name": call.name, "arguments": call.arguments}))
        .collect();
    let writers: Vec<String> = run
        .offered_names()
        .filter(|name| is_writer(run, name))
        .collect();
    let has_written = run.session.read(|state| {
        let mut events = state.events.iter();
        events.any(|event| written_by(event).is_some_and(|name| writers.contains(&name)))
    });
    let violations: Vec<String> = turn
        .calls
        .iter()
        .filter_map(|call| violation(run, call))
        .collect();
    json!({
        "session_id": run.session.id(),
        "iteration": turn.iteration,
        "text": answer.reply.text,
        "visible_text": turn.prose,
        "tool_calls": calls,
        "tool_format": run.call.tool_format,
        "write_tools": writers,
        "has_written": has_written,
        "done": turn.is_complete || turn.has_done_marker,
        "parse_errors": turn.parse_errors,
        "protocol_violations": turn.violations,
        "schema_violations": violations,
        "output_tokens": answer.reply.usage.output,
        "output_token_cap": turn.call().request.sampling.max_tokens,
    })
}

/// The tool that an event of the transcript says has done its work, in this loop or an earlier one
/// of the session.
fn written_by(event: &TranscriptEvent) -> Option<String> {
    match event {
        TranscriptEvent::Noted(note) => match &note.about {
            Some(About::Execution {
                tool_name,
                rejected: false,
                error_category: None,
                ..
            }) => Some(tool_name.clone()),
            _ => None,
        },
        TranscriptEvent::Given(event) if event["kind"] == "tool_execution" => {
            let about = &event["metadata"];
            let is_fine = about["rejected"] == false && about["error_category"].is_null();
            about["tool_name"]
                .as_str()
                .filter(|_| is_fine)
                .map(str::to_owned)
        }
        TranscriptEvent::Given(_) => None,
    }
}

/// Whether a tool can change something.
fn is_writer(run: &Run<'_>, name: &str) -> bool {
    run.annotations_of(name).is_some_and(|annotations| {
        let kinds = [ToolKind::Edit, ToolKind::Delete, ToolKind::Move];
        kinds.contains(&annotations.kind)
            || annotations.side_effect_level >= SideEffectLevel::WorkspaceWrite
    })
}

/// What is wrong with a call, as far as its declaration tells.
fn violation(run: &Run<'_>, call: &Call) -> Option<String> {
    let name = &call.name;
    if name.is_empty() {
        return Some("Tool call is missing a tool name.".to_owned());
    }
    let mut offered = run.offered_names();
    if !offered.any(|offered| offered == *name) {
        return Some(format!("Unknown tool '{name}'."));
    }
    let Value::Object(arguments) = &call.arguments else {
        return Some(format!("Tool '{name}' arguments must be a dict."));
    };
    let tools = run.call.request.tools.iter();
    let tool = tools.clone().find(|tool| tool.name == *name)?;
    let required = tool.parameters.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    let missing: Vec<&str> = required
        .filter(|key| !arguments.contains_key(*key))
        .collect();
    (!missing.is_empty()).then(|| {
        format!(
            "Tool '{name}' is missing required parameter(s): {}. Provide all required parameters \
             and try again.",
            missing.join(", ")
        )
    })
}
