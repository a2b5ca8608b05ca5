//! Asks a person, through the host, whether a call may be made.
//!
//! ```text
//! policy says "ask" ─► answered for good before? ─► host ─► decision: an event ─► the call
//! ```
//!
//! Whatever goes wrong on the way is a no. Arguments that the host has changed are looked at
//! as if the model had written them: they have to fit the tool, and the policy has to like them.

use harn_events::{
    AgentEvent, Completeness, ToolAnnotations, ToolCallErrorCategory, ToolCallStatus,
};
use harn_llm::sorted_json;
use serde_json::{Value, json};

use super::super::Run;
use super::super::turn::Call;
use super::gates::{Refused, check_known, check_policy};
use crate::moment::rfc3339;
use crate::policy::{
    Approval, ApprovalStatus, HostAnswer, NO_HOST_BRIDGE, PermissionRecord, REQUEST_FAILED, Scope,
    arguments_fit, denied_result, digest, is_for_good, permission_request, read_host_answer,
    remembered_call,
};
use crate::session::{About, kept};
use crate::tool::{Caution, ToolCall};

/// Why a call is denied that was refused for good.
const REFUSED_FOR_GOOD: &str = "the host does not want this call to be made in this session";

/// What the host said about a call.
struct Decision {
    answer: HostAnswer,
    /// The id of the request; `None`: nobody had to be asked again.
    request_id: Option<String>,
}

pub(super) async fn check_approval(
    run: &Run<'_>,
    call: &mut Call,
    annotations: Option<&ToolAnnotations>,
) -> Result<(), Refused> {
    let caution = run.caution(call);
    match run.decide(call, &call.arguments) {
        Approval::Approved if caution.is_none() => return Ok(()),
        Approval::Denied(reason) => {
            return Err(denied(run, call, reason, ApprovalStatus::AutoDenied));
        }
        Approval::Approved | Approval::Ask => {}
    }
    let known = match &caution {
        None => remembered(run, call, annotations),
        // What was said before is not about this: a person has to agree each time.
        Some(_) => {
            run.secure_answers().await;
            None
        }
    };
    let mut decision = match known {
        Some(answer) => Decision {
            answer,
            request_id: None,
        },
        None => ask_host(run, call, annotations, caution.as_ref()).await,
    };
    if let HostAnswer::Granted {
        arguments: Some(arguments),
    } = &decision.answer
        && let Err(reason) = check_changed(run, call, arguments)
    {
        decision.answer = HostAnswer::Denied(reason);
    }
    tell_decision(run, call, &decision).await;
    match decision.answer {
        HostAnswer::Granted { arguments } => {
            if let Some(arguments) = arguments {
                call.arguments = arguments;
                run.tell_changed_arguments(call).await;
            }
            if let Some(caution) = &caution {
                run.allow(call, caution);
            }
            note_grant(run, call);
            Ok(())
        }
        HostAnswer::Denied(reason) => Err(denied(run, call, reason, ApprovalStatus::HostDenied)),
    }
}

fn denied(run: &Run<'_>, call: &Call, reason: String, status: ApprovalStatus) -> Refused {
    run.note_permission(&PermissionRecord::denial(
        &call.name,
        &call.arguments,
        &reason,
    ));
    Refused {
        result: denied_result(&call.name, &reason),
        reason,
        category: ToolCallErrorCategory::PermissionDenied,
        metadata: Box::new(json!({"arguments": call.arguments, "approval": status.as_str()})),
        is_denial: true,
    }
}

fn note_grant(run: &Run<'_>, call: &Call) {
    run.note_execution(
        "",
        About::Other(json!({
            "tool_name": call.name,
            "tool_use_id": call.model_id,
            "approval": ApprovalStatus::HostGranted.as_str(),
        })),
    );
}

/// Whether arguments that the host has changed may be used.
fn check_changed(run: &Run<'_>, call: &Call, arguments: &Value) -> Result<(), String> {
    if let Some(entry) = run.tool(&call.name) {
        let fits = arguments_fit(&entry.declared["parameters"], arguments);
        fits.map_err(|what| format!("the host's arguments do not fit the tool: {what}"))?;
    }
    let changed = Call {
        arguments: arguments.clone(),
        ..call.clone()
    };
    check_known(run, &changed).map_err(|refused| refused.reason)?;
    check_policy(run, &changed).map_err(|refused| refused.reason)?;
    match run.decide(call, arguments) {
        Approval::Denied(reason) => Err(reason),
        Approval::Approved | Approval::Ask => Ok(()),
    }
}

async fn ask_host(
    run: &Run<'_>,
    call: &Call,
    annotations: Option<&ToolAnnotations>,
    caution: Option<&Caution>,
) -> Decision {
    let Some(bridge) = &run.runtime.bridge else {
        let reason = match caution {
            None => NO_HOST_BRIDGE.to_owned(),
            Some(Caution { reason, .. }) => format!(
                "'{}' {reason}: a person has to agree to this each time, and nobody can be asked",
                call.name
            ),
        };
        return Decision {
            answer: HostAnswer::Denied(reason),
            request_id: None,
        };
    };
    let asked = ToolCall {
        id: &call.id,
        session_id: run.session.id(),
        name: &call.name,
        arguments: &call.arguments,
    };
    let request_id = run.runtime.new_id();
    let record = approval_record(run, call, annotations, &request_id);
    // What a person has to agree to each time is not remembered.
    let known_as = remembered_as(run, call, annotations).filter(|_| caution.is_none());
    let scope = known_as
        .as_ref()
        .map(|_| remembered_scope(run, call, annotations));
    let audit = json!(run.audit());
    let mut parameters = permission_request(&asked, annotations, record, audit, scope);
    if let Some(Caution { reason, .. }) = caution {
        parameters["caution"] = json!(reason);
    }
    // What a host remembers by itself has to be the same.
    parameters["remembersAs"] = json!(known_as);
    let said = bridge
        .request("session/request_permission", parameters)
        .await;
    let answer = match said {
        Ok(said) => {
            let answer = read_host_answer(&said);
            if let (true, Some(known_as)) = (is_for_good(&said), known_as) {
                remember(run, known_as, &answer);
            }
            answer
        }
        Err(_) => HostAnswer::Denied(REQUEST_FAILED.to_owned()),
    };
    Decision {
        answer,
        request_id: Some(request_id),
    }
}

/// What an answer for good is about. A tool that runs commands is never meant as a whole.
fn remembered_scope(run: &Run<'_>, call: &Call, annotations: Option<&ToolAnnotations>) -> Scope {
    match run.commands_of(&call.name).is_empty() {
        true => Scope::of(annotations),
        false => Scope::Call,
    }
}

/// What is to be approved, in the form in which people are asked for approvals elsewhere too.
fn approval_record(
    run: &Run<'_>,
    call: &Call,
    annotations: Option<&ToolAnnotations>,
    request_id: &str,
) -> Value {
    let mut arguments = call.arguments.clone();
    let redaction = run.runtime.bus.redaction_policy();
    redaction.redact_value(&mut arguments, Completeness::Whole);
    let capabilities = annotations.map(|known| &known.capabilities).into_iter();
    let capabilities = capabilities.flatten().flat_map(|(capability, operations)| {
        let named = move |operation| format!("{capability}.{operation}");
        operations.iter().map(named)
    });
    json!({
        "id": request_id,
        "action": call.name,
        "args": arguments,
        "principal": run.session.kept(kept::ACTOR),
        "requestedAt": rfc3339(run.runtime.now_ms()),
        "approversRequired": 1,
        "evidenceRefs": [],
        "undoMetadata": null,
        "capabilitiesRequested": capabilities.collect::<Vec<String>>(),
    })
}

/// What an answer for good is kept under; `None`: each time is another time.
fn remembered_as(
    run: &Run<'_>,
    call: &Call,
    annotations: Option<&ToolAnnotations>,
) -> Option<String> {
    let name = &call.name;
    let commands = run.commands_of(name);
    match Scope::of(annotations) {
        _ if !commands.is_empty() => {
            let place = run.command_place(name);
            let known = remembered_call(&call.arguments, &commands, &place)?;
            Some(format!("{name} {known}"))
        }
        Scope::Tool => Some(name.clone()),
        Scope::Call => Some(format!("{name} {}", digest(&sorted_json(&call.arguments)))),
    }
}

fn remember(run: &Run<'_>, known_as: String, answer: &HostAnswer) {
    let mut known = run.session.kept(kept::APPROVALS).unwrap_or(json!({}));
    known[known_as] = json!(matches!(answer, HostAnswer::Granted { .. }));
    run.session.keep(kept::APPROVALS, known);
}

/// What was said for good about such a call.
fn remembered(
    run: &Run<'_>,
    call: &Call,
    annotations: Option<&ToolAnnotations>,
) -> Option<HostAnswer> {
    let known = run.session.kept(kept::APPROVALS)?;
    let is_allowed = known.get(remembered_as(run, call, annotations)?)?;
    Some(match is_allowed {
        Value::Bool(true) => HostAnswer::Granted { arguments: None },
        _ => HostAnswer::Denied(REFUSED_FOR_GOOD.to_owned()),
    })
}

/// What was decided is known to everybody before the tool runs.
async fn tell_decision(run: &Run<'_>, call: &Call, decision: &Decision) {
    // Where there is no host, nobody has decided anything.
    if run.runtime.bridge.is_none() {
        return;
    }
    let mut checkpoint = json!({
        "kind": "permission_decision",
        "tool_call_id": call.id,
        "tool_name": call.name,
        "request_id": decision.request_id,
        "remembered": decision.request_id.is_none(),
    });
    match &decision.answer {
        HostAnswer::Granted { arguments } => {
            checkpoint["decision"] = json!(ApprovalStatus::HostGranted.as_str());
            checkpoint["changes_arguments"] = json!(arguments.is_some());
        }
        HostAnswer::Denied(reason) => {
            checkpoint["decision"] = json!(ApprovalStatus::HostDenied.as_str());
            checkpoint["reason"] = json!(reason);
        }
    }
    run.emit(AgentEvent::TypedCheckpoint {
        session_id: run.id(),
        checkpoint,
    })
    .await;
}

impl Run<'_> {
    /// A call is made with other arguments than those that were announced.
    async fn tell_changed_arguments(&self, call: &Call) {
        self.emit(AgentEvent::ToolCallUpdate {
            session_id: self.id(),
            tool_call_id: call.id.clone(),
            tool_name: call.name.clone(),
            status: ToolCallStatus::Pending,
            raw_output: None,
            error: None,
            duration_ms: None,
            execution_duration_ms: None,
            error_category: None,
            executor: None,
            parsing: None,
            raw_input: Some(call.arguments.clone()),
            raw_input_partial: None,
            audit: self.audit(),
        })
        .await;
    }
}
