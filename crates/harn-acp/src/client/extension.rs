//! What a client may tell a program that runs: the `_harn/*` messages that come to us.

use std::sync::Arc;

use harn_vm::agent::Principal;
use harn_vm::agent::events::AgentEvent;
use harn_vm::agent::log::{AnyEventLog, EventLog, LogError, Topic};
use harn_vm::agent::people::{
    Given, RESPONDED, Requests, RespondError, Response, headers, respond,
};
use serde_json::{Value, json};

use super::EditorHost;
use super::inputs::{InputError, InputMode, Pushed};
use crate::error::Refusal;

/// Something a client tells us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// What a person says while a loop runs.
    Input,
    /// A daemon should go on.
    Resume,
    /// What a person says to a request.
    Respond,
    /// The host has other skills than before.
    SkillsChanged,
    /// An event of the host.
    Emit,
    /// Something for a workflow.
    Workflow(&'static str),
}

/// What it is called, and what it was called before.
const NAMES: [(Told, &[&str]); 10] = [
    (
        Told::Input,
        &[
            "_harn/session/input",
            "session/input",
            "user_message",
            "agent/user_message",
        ],
    ),
    (Told::Resume, &["_harn/agent/resume", "agent/resume"]),
    (Told::Respond, &["_harn/hitl/respond", "harn.hitl.respond"]),
    (
        Told::SkillsChanged,
        &["_harn/skills/changed", "skills/update"],
    ),
    (Told::Emit, &["_harn/events/emit"]),
    (
        Told::Workflow("signal"),
        &[
            "_harn/workflow/signal",
            "workflow/signal",
            "harn.workflow.signal",
        ],
    ),
    (
        Told::Workflow("query"),
        &[
            "_harn/workflow/query",
            "workflow/query",
            "harn.workflow.query",
        ],
    ),
    (
        Told::Workflow("update"),
        &[
            "_harn/workflow/update",
            "workflow/update",
            "harn.workflow.update",
        ],
    ),
    (
        Told::Workflow("pause"),
        &[
            "_harn/workflow/pause",
            "workflow/pause",
            "harn.workflow.pause",
        ],
    ),
    (
        Told::Workflow("resume"),
        &[
            "_harn/workflow/resume",
            "workflow/resume",
            "harn.workflow.resume",
        ],
    ),
];

impl Told {
    /// What a method is, by any of its names; `None`: it is none of ours.
    pub(crate) fn named(method: &str) -> Option<Self> {
        let mut names = NAMES.iter();
        let found = names.find(|(_, names)| names.contains(&method));
        found.map(|(told, _)| *told)
    }

    /// The names that clients should use.
    pub(crate) fn canonical() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(_, names)| names[0])
    }
}

/// Does what a client tells the session of a host. What comes of it is the answer to a request,
/// and nobody's business if it was a notification.
///
/// # Errors
/// What is wrong with it.
pub(crate) async fn handle_extension(
    host: &Arc<EditorHost>,
    told: Told,
    parameters: &Value,
    who: &Principal,
) -> Result<Value, Refusal> {
    match told {
        Told::Input => host.hear(parameters, who).await,
        Told::Resume => {
            host.resumes().insert(host.facts.id.clone());
            Ok(json!({}))
        }
        Told::Respond => host.respond(parameters, who).await,
        Told::SkillsChanged => {
            host.note_other_skills();
            Ok(json!({}))
        }
        Told::Emit => host.emit(parameters).await,
        Told::Workflow(what) => Err(no_workflow(what)),
    }
}

/// There are no workflows in a session of a conversation.
fn no_workflow(what: &str) -> Refusal {
    let message = format!("there is no workflow in this session to {what}");
    Refusal::bad_parameters(message).with(json!({"reason": "no_workflow"}))
}

impl EditorHost {
    /// What a person says while a loop runs.
    async fn hear(&self, parameters: &Value, who: &Principal) -> Result<Value, Refusal> {
        let mode = match &parameters["mode"] {
            Value::Null => InputMode::FinishStep,
            Value::String(word) => InputMode::named(word).ok_or_else(|| {
                Refusal::bad_parameters(format!(
                    "`mode` is `{word}`; it may be `interrupt_immediate`, `finish_step` or \
                     `wait_for_completion`"
                ))
            })?,
            _ => return Err(Refusal::bad_parameters("`mode` is no text")),
        };
        let content = content(&parameters["content"])?;
        let id = match &parameters["messageId"] {
            Value::String(id) if !id.is_empty() => id.clone(),
            _ => format!("input-{}", harn_vm::new_id()),
        };
        let index = match self.inputs.push(id.clone(), content, mode, who).await {
            Ok(Pushed::New(index)) => index,
            Ok(Pushed::Known(index)) => {
                self.tell_control(&id, "idempotent", "waiting", None, who);
                index
            }
            Err(error @ InputError::TooMany) => {
                self.tell_control(&id, "rejected", "refused", Some("too_many_inputs"), who);
                return Err(Refusal::overloaded(error.to_string(), 1000));
            }
            Err(error @ InputError::Log(_)) => {
                self.tell_control(&id, "rejected", "refused", Some("not_kept"), who);
                return Err(Refusal::internal(error.to_string()));
            }
        };
        Ok(json!({"index": index, "messageId": id}))
    }

    /// Tells the session what came of an input that was not simply taken.
    fn tell_control(
        &self,
        id: &str,
        outcome: &str,
        status: &str,
        reason: Option<&str>,
        who: &Principal,
    ) {
        let Some(bus) = &self.facts.bus else {
            return;
        };
        bus.emit(&AgentEvent::ControlOutcome {
            session_id: self.facts.id.clone(),
            control_id: id.to_owned(),
            method: "session/input".to_owned(),
            outcome: outcome.to_owned(),
            status: status.to_owned(),
            actor: who.stored(),
            target: json!({"sessionId": self.facts.id, "messageId": id}),
            reason: reason.map(str::to_owned),
            metadata: Value::Null,
        });
    }

    /// What a person says to a request.
    async fn respond(&self, parameters: &Value, who: &Principal) -> Result<Value, Refusal> {
        let text = |key: &str| parameters[key].as_str().filter(|text| !text.is_empty());
        let id = text("requestId").or(text("request_id"));
        let id = id.ok_or_else(|| Refusal::bad_parameters("`requestId` is missing"))?;
        let response = response(parameters)?;
        let (log, now_ms) = (&*self.facts.log, (self.facts.now)());
        if !who.is_operator() && !self.has_asked(id).await {
            return Err(unknown_request(id));
        }
        let given = Given {
            reviewer: text("reviewer"),
            reason: text("reason"),
            actor: who,
        };
        match respond(log, id, response, given, now_ms).await {
            Ok(()) => Ok(json!({"requestId": id, "outcome": "recorded"})),
            Err(RespondError::Unknown(_)) => Err(unknown_request(id)),
            Err(RespondError::Log(error)) => Err(Refusal::internal(error.to_string())),
            Err(error) => {
                let existing = outcome(log, id, &error).await.unwrap_or_default();
                let data = json!({"requestId": id, "outcome": existing});
                Err(Refusal::bad_parameters(error.to_string()).with(data))
            }
        }
    }

    /// Whether a request is one of this session. The log has those of all sessions, and who may
    /// answer in one may not answer in the others.
    async fn has_asked(&self, request_id: &str) -> bool {
        let mut requests = Requests::default();
        if requests.read(&self.facts.log).await.is_err() {
            return false;
        }
        let request = requests.get(request_id);
        request.is_some_and(|one| one.header(headers::SESSION) == Some(&*self.facts.id))
    }

    /// An event of the host, through the door for hosts.
    async fn emit(&self, parameters: &Value) -> Result<Value, Refusal> {
        let kind = parameters["type"].as_str().unwrap_or_default();
        let bus = self.facts.bus.as_ref().ok_or_else(|| {
            let reason = json!({"reason": "no_session"});
            Refusal::bad_parameters("there is no session to publish events in").with(reason)
        })?;
        let emitted = bus
            .emit_host_event(&self.facts.id, kind, &parameters["payload"])
            .await;
        emitted.map_err(|error| Refusal::bad_parameters(error.to_string()))?;
        Ok(json!({}))
    }
}

/// There is no such request, or none for whoever answers.
fn unknown_request(id: &str) -> Refusal {
    Refusal {
        code: -32002,
        message: format!("there is no request `{id}`"),
        data: Some(json!({"requestId": id})),
    }
}

/// The one thing that a response says.
fn response(parameters: &Value) -> Result<Response, Refusal> {
    let given = |key: &str| parameters.get(key).filter(|value| !value.is_null());
    match (given("answer"), given("approved"), given("accepted")) {
        (Some(answer), None, None) => Ok(Response::Answer(answer.clone())),
        (None, Some(Value::Bool(approved)), None) => Ok(Response::Approved(*approved)),
        (None, None, Some(Value::Bool(accepted))) => Ok(Response::Accepted(*accepted)),
        _ => Err(Refusal::bad_parameters(
            "exactly one of `answer`, `approved` and `accepted` is needed; the last two are true \
             or false",
        )),
    }
}

/// What came of a request, for whoever is too late.
async fn outcome(
    log: &AnyEventLog,
    request_id: &str,
    error: &RespondError,
) -> Result<Value, LogError> {
    let mut requests = Requests::default();
    requests.read(log).await?;
    let state = match error {
        RespondError::AlreadyAnswered { .. } => "answered",
        RespondError::Over { outcome, .. } => match outcome {
            harn_vm::agent::people::Outcome::Answered => "answered",
            harn_vm::agent::people::Outcome::TimedOut => "timeout",
            harn_vm::agent::people::Outcome::Cancelled => "cancelled",
        },
        RespondError::Late { .. } => "timeout",
        _ => "open",
    };
    let mut told = json!({"state": state});
    let Some(request) = requests.get(request_id) else {
        return Ok(told);
    };
    let topic = Topic::new(request.kind.topic())?;
    let mut responses = Vec::new();
    let mut cursor = None;
    loop {
        let records = log.read_range(&topic, cursor, 256).await?;
        let Some((last, _)) = records.last() else {
            break;
        };
        cursor = Some(*last);
        let of_it = records.into_iter().filter(|(_, event)| {
            event.kind == RESPONDED && event.payload["request_id"] == *request_id
        });
        responses.extend(of_it.map(|(_, event)| event.payload));
    }
    told["responses"] = json!(responses);
    Ok(told)
}

/// What the model reads: a text, also one in several blocks.
fn content(given: &Value) -> Result<Value, Refusal> {
    let blocks = match given {
        Value::String(text) if !text.trim().is_empty() => return Ok(json!(text)),
        Value::Array(blocks) if !blocks.is_empty() => blocks,
        Value::Object(_) => std::slice::from_ref(given),
        _ => return Err(Refusal::bad_parameters("`content` says nothing")),
    };
    let mut texts = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let text = match block["type"].as_str() {
            Some("text") => block["text"].as_str().map(str::to_owned),
            Some("resource_link") => block["uri"].as_str().map(|uri| format!("<{uri}>")),
            _ => None,
        };
        texts.push(text.ok_or_else(|| {
            let message = format!("block {at} of `content` is neither a text nor a link");
            Refusal::bad_parameters(message).with(json!({"block": at}))
        })?);
    }
    Ok(json!(texts.join("\n")))
}
