//! Whether what the user wants is something for this agent.

use std::sync::Arc;

use harn_events::AgentEvent;
use harn_llm::desk::Thrown;
use harn_llm::options::value::{kind, truthy};
use serde_json::{Map, Value, json};

use super::super::Run;
use super::super::post_turn::close_without_dispatch;
use super::super::turn::Turn;
use super::judge;
use super::options::{Given, whole};
use crate::callback::Callback;
use crate::registry::told;

/// What looks at the input.
pub(super) struct Gate {
    guardrail: Option<Arc<dyn Callback>>,
    scope: Option<Scope>,
}

/// Decides whether a message is in scope.
struct Scope {
    classifier: Option<Arc<dyn Callback>>,
    config: Map<String, Value>,
    threshold: f64,
    context_window: usize,
    skips_main_turn: bool,
    timeout_ms: Option<u64>,
}

/// The model that decides unless another one is configured.
const MODEL_DEFAULT: &str = "ollama:qwen3:1.7b";

impl Gate {
    pub(super) fn read(given: Given<'_>) -> Result<Self, Thrown> {
        let scope = given.config("pre_turn_scope_classifier")?;
        let scope = scope.filter(|scope| scope.options.get("enabled").is_some_and(truthy));
        let timeout_ms = match &scope {
            Some(scope) => whole(&scope.options, "pre_turn_scope_classifier", "timeout_ms", 1)?,
            None => None,
        };
        let scope = scope.map(|scope| {
            let option = |key: &str| scope.options.get(key).filter(|value| !value.is_null());
            let window = option("context_window")
                .and_then(Value::as_u64)
                .unwrap_or(3);
            Scope {
                classifier: scope.functions.at("/classifier").cloned(),
                threshold: option("confidence_threshold")
                    .and_then(Value::as_f64)
                    .unwrap_or(0.65),
                context_window: usize::try_from(window).unwrap_or(usize::MAX),
                skips_main_turn: option("skip_main_turn").is_none_or(truthy),
                config: scope.options,
                timeout_ms,
            }
        });
        Ok(Self {
            guardrail: given.closure("input_guardrail")?,
            scope,
        })
    }
}

/// Looks at the input. Gives the status if the loop ends here.
pub(super) async fn check(run: &Run<'_>, turn: &Turn) -> Result<Option<String>, Thrown> {
    let gate = &run.controls.input;
    if let Some(guardrail) = gate.guardrail.as_ref().filter(|_| turn.iteration == 0) {
        let answer = guardrail.call(vec![payload(run, turn)]).await?;
        if is_tripwire(&answer) {
            let reason = "input_guardrail_tripwire";
            run.stop_because(reason);
            close_without_dispatch(run, turn, reason).await;
            return Ok(Some("input_guardrail".to_owned()));
        }
    }
    match &gate.scope {
        Some(scope) if is_new_message(run) => classify(run, turn, scope).await,
        _ => Ok(None),
    }
}

fn is_tripwire(answer: &Value) -> bool {
    match answer {
        Value::Bool(is_tripped) => *is_tripped,
        Value::Object(answer) => {
            let keys = ["tripwire", "tripwire_triggered", "tripped"];
            keys.iter().any(|key| answer.get(*key).is_some_and(truthy))
        }
        _ => false,
    }
}

/// Whether the model is about to answer something that a user said.
fn is_new_message(run: &Run<'_>) -> bool {
    run.session.read(|state| {
        let last = state.messages.last();
        last.is_some_and(|last| {
            let content = last["content"].as_str().unwrap_or_default();
            last["role"] == "user" && !content.starts_with("<runtime_")
        })
    })
}

fn payload(run: &Run<'_>, turn: &Turn) -> Value {
    run.session.read(|state| {
        json!({
            "session_id": run.session.id(),
            "task": run.task(),
            "messages": state.messages,
            "iteration": turn.iteration,
        })
    })
}

/// What a classifier said, after its confidence was looked at.
struct Label {
    label: String,
    original: String,
    confidence: f64,
    evidence: String,
    error: Option<String>,
}

async fn classify(run: &Run<'_>, turn: &Turn, scope: &Scope) -> Result<Option<String>, Thrown> {
    let asked = asked(run, turn, scope);
    let answer = match &scope.classifier {
        Some(classifier) => {
            let answer = classifier.call(vec![asked]).await;
            answer.map_err(|thrown| told(&thrown))
        }
        None => ask_model(run, scope, &asked).await,
    };
    let label = read(answer, scope);
    let model = match &scope.classifier {
        Some(_) => None,
        None => Some(model_of(scope)),
    };
    run.emit(AgentEvent::ScopeClassifierVerdict {
        session_id: run.id(),
        iteration: turn.number(),
        label: label.label.clone(),
        original_label: label.original,
        confidence: label.confidence,
        confidence_threshold: scope.threshold,
        evidence: label.evidence,
        skip_main_turn: scope.skips_main_turn,
        classifier_kind: Some(match model {
            Some(_) => "model".to_owned(),
            None => "closure".to_owned(),
        }),
        model,
        error: label.error,
    })
    .await;
    if label.label != "out_of_scope" || !scope.skips_main_turn {
        return Ok(None);
    }
    run.stop_because("scope_classifier_out_of_scope");
    close_without_dispatch(run, turn, "scope_classifier_out_of_scope").await;
    Ok(Some("scope_alert".to_owned()))
}

/// The newest message and what was said before it.
fn asked(run: &Run<'_>, turn: &Turn, scope: &Scope) -> Value {
    run.session.read(|state| {
        let messages = &state.messages;
        let newest = messages
            .last()
            .map_or(Value::Null, |last| last["content"].clone());
        let before = messages.len().saturating_sub(1);
        let first = before.saturating_sub(scope.context_window);
        json!({
            "session_id": run.session.id(),
            "iteration": turn.iteration,
            "message": newest,
            "context": messages.iter_from(first).take(before - first).collect::<Vec<&Value>>(),
            "task": run.task(),
            "system": run.system,
        })
    })
}

/// Errors fail open: an agent that answers too much is better than one that is silent.
fn read(answer: Result<Value, String>, scope: &Scope) -> Label {
    let failed = |error: String| Label {
        label: "in_scope".to_owned(),
        original: "error".to_owned(),
        confidence: 0.0,
        evidence: String::new(),
        error: Some(error),
    };
    let answer = match answer {
        Ok(Value::Object(answer)) => answer,
        Ok(other) => {
            return failed(format!("classifier returned {}, not a dict", kind(&other)));
        }
        Err(error) => return failed(error),
    };
    let text = |key: &str| answer.get(key).and_then(Value::as_str).unwrap_or_default();
    let confidence = answer
        .get("confidence")
        .and_then(Value::as_f64)
        .unwrap_or(0.0);
    let known = ["in_scope", "out_of_scope", "escalate"];
    let original = match known.contains(&text("label")) {
        true => text("label"),
        false => "invalid",
    };
    let label = match confidence < scope.threshold || original == "invalid" {
        true => "escalate",
        false => original,
    };
    Label {
        label: label.to_owned(),
        original: original.to_owned(),
        confidence,
        evidence: text("evidence").to_owned(),
        error: None,
    }
}

fn model_of(scope: &Scope) -> String {
    let model = scope.config.get("model").and_then(Value::as_str);
    model.unwrap_or(MODEL_DEFAULT).to_owned()
}

async fn ask_model(run: &Run<'_>, scope: &Scope, asked: &Value) -> Result<Value, String> {
    let mut config = scope.config.clone();
    let model = model_of(scope);
    // `provider:model` names both.
    if let Some((provider, name)) = model.split_once(':')
        && !config.contains_key("provider")
    {
        config.insert("provider".to_owned(), json!(provider));
        config.insert("model".to_owned(), json!(name));
    }
    let case = judge::Case {
        system:
            "You decide whether the newest message of a user is something for an agent. Answer \
                 with the label `in_scope`, `out_of_scope` or `escalate`, how sure you are between \
                 0 and 1, and a short piece of evidence."
                .to_owned(),
        prompt: format!(
            "What the agent is:\n{}\n\nWhat was said before:\n{}\n\nNewest message:\n{}",
            asked["system"].as_str().unwrap_or_default(),
            asked["context"],
            asked["message"].as_str().unwrap_or_default()
        ),
        schema: json!({
            "type": "object",
            "properties": {
                "label": {"type": "string", "enum": ["in_scope", "out_of_scope", "escalate"]},
                "confidence": {"type": "number"},
                "evidence": {"type": "string"},
            },
            "required": ["label", "confidence"],
        }),
        config: &config,
        timeout_ms: scope.timeout_ms,
    };
    judge::ask(run, case).await
}
