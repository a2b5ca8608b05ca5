//! The tool that loads a skill.

use harn_events::ToolCallErrorCategory;
use harn_llm::ToolSpec;
use harn_llm::catalog::route::Style;
use harn_llm::options::CallOptions;
use harn_llm::options::tools::native_projection;
use harn_llm::sorted_json_pretty;
use serde_json::{Value, json};

use super::super::Run;
use super::super::turn::{Call, CallResult, Turn};
use super::{end_announced, tell_answer};
use crate::session::{CallOutcome, Change};
use crate::skills::Skill;

/// What the model calls it.
pub(in crate::run) const NAME: &str = "load_skill";

/// Whether a call is for us. A program without skills may have a tool of that name.
pub(super) fn is_load(run: &Run<'_>, name: &str) -> bool {
    let is_ours = !run.skills.options.registry.is_empty() || run.tools.get(NAME).is_none();
    name == NAME && is_ours
}

/// Why a skill is not loaded.
struct Refusal {
    error: &'static str,
    message: String,
}

impl Refusal {
    fn new(error: &'static str, message: impl Into<String>) -> Self {
        Self {
            error,
            message: message.into(),
        }
    }

    /// What the model reads.
    fn text(&self, skill: &str) -> String {
        let told = json!({"error": self.error, "message": self.message, "skill": skill});
        sorted_json_pretty(&told)
    }
}

/// Loads a skill: its body is the answer, and part of the prompt from the next turn on.
pub(super) async fn load(run: &Run<'_>, turn: &mut Turn, call: &Call) {
    let name = NAME.to_owned();
    let answer = match body(run, &call.arguments).await {
        Ok((id, body)) => {
            run.session.record(Change::SkillLoaded { id });
            run.session.record(Change::PseudoToolUsed { name });
            Ok(body)
        }
        Err(refusal) => {
            run.session.record(Change::PseudoToolFailed { name });
            let asked = call.arguments["name"].as_str().unwrap_or_default();
            Err(refusal.text(asked))
        }
    };
    let outcome = match &answer {
        Ok(_) => CallOutcome::Ok,
        Err(_) => CallOutcome::Error,
    };
    turn.results.push(CallResult {
        name: NAME.to_owned(),
        outcome,
    });
    let (Ok(text) | Err(text)) = &answer;
    let text = text.clone();
    let ending = answer.map_err(|error| (error, ToolCallErrorCategory::ToolError));
    end_announced(run, turn, call, ending).await;
    tell_answer(run, turn, call, &text);
}

/// The id and the body of the skill that is asked for.
async fn body(run: &Run<'_>, arguments: &Value) -> Result<(String, String), Refusal> {
    let invalid = |message: &str| Refusal::new("invalid_arguments", message);
    let name = arguments["name"].as_str().unwrap_or_default();
    if name.trim().is_empty() {
        return Err(invalid("load_skill requires a non-empty `name` argument"));
    }
    let is_asked = match &arguments["require_signature"] {
        Value::Null => false,
        Value::Bool(asked) => *asked,
        _ => return Err(invalid("load_skill `require_signature` must be a boolean")),
    };
    let registry = &run.skills.options.registry;
    if registry.is_empty() {
        return Err(Refusal::new(
            "skill_registry_unavailable",
            "load_skill requires agent_loop to receive a `skills:` registry",
        ));
    }
    let not_found = |message: String| Refusal::new("skill_not_found", message);
    let skill = registry
        .resolve(name)
        .map_err(|error| not_found(error.to_string()))?;
    note_load(run, skill);
    let id = skill.id();
    if skill.is_gated {
        return Err(Refusal::new(
            "skill_model_invocation_disabled",
            format!("skill '{id}' is gated to explicit user invocation"),
        ));
    }
    skill
        .check_signature(is_asked || run.runtime.requires_signed_skills())
        .map_err(|error| Refusal::new(error.word(), error.message()))?;
    let body = run.skill_body(skill).await.map_err(not_found)?;
    Ok((id, body.to_string()))
}

/// Every load of a known skill is recorded, also one that is refused.
fn note_load(run: &Run<'_>, skill: &Skill) {
    let provenance = &skill.provenance;
    let metadata = json!({
        "skill_id": skill.id(),
        "signer_fingerprint": provenance.signer_fingerprint,
        "signed": provenance.signed,
        "trusted": provenance.trusted,
    });
    run.note(
        "skill.loaded",
        "system",
        "internal",
        &skill.id(),
        Some(metadata),
    );
}

/// Puts the tool first among those that a model sees, behind a search.
pub(in crate::run) fn offer(call: &mut CallOptions, style: Style) {
    let spec = spec();
    let mut shown = native_projection(&spec, style);
    for place in ["/function/parameters", "/input_schema"] {
        if let Some(schema) = shown.pointer_mut(place) {
            schema["required"] = json!(["name"]);
        }
    }
    let native = call.native_tools.get_or_insert_default();
    call.request.tools.retain(|tool| tool.name != NAME);
    // A search of ours is a tool; one of the provider's is only in the list that is shown.
    let is_searched_here = call.search.as_ref().is_some_and(|plan| !plan.native);
    let at = usize::from(is_searched_here).min(call.request.tools.len());
    call.request.tools.insert(at, spec);
    let is_searched = call.search.is_some();
    native.change(|native| {
        native.retain(|tool| tool["name"] != NAME && tool["function"]["name"] != NAME);
        native.insert(usize::from(is_searched).min(native.len()), shown);
    });
}

fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME.to_owned(),
        description: "Load the full instructions of a skill by its id when it becomes relevant."
            .to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "The id of the skill."},
                "require_signature": {
                    "type": "boolean",
                    "description": "Refuse the skill unless somebody who is trusted signed it.",
                },
            },
            "required": ["name"],
            "additionalProperties": false,
        }),
        ..ToolSpec::default()
    }
}
