//! `ask_user`, `request_approval`, `dual_control` and `escalate_to`.

use std::task::Poll;

use harn_machine::{Context, Failure, Fault, Registry, Value, Waiting, argument};

use super::Kind;
use super::asking::{Outcome, ask, executed, given};
use super::coerce::like;
use super::options::{approval_keys, evidence, names, options, positive, quorum, text, timeout};
use super::request::Request;
use super::response::Response;
use crate::people::field;
use crate::schema::expected_of;

pub(super) fn register(registry: &mut Registry) {
    registry.waiting(&[
        ("__hitl_approve_action", approve_action),
        ("ask_user", ask_user),
        ("escalate_to", escalate_to),
        ("request_approval", request_approval),
    ]);
    registry.plain(&[("__hitl_executed", |context, arguments| {
        executed(context, argument(arguments, 0))?;
        Ok(Value::Nil)
    })]);
    registry.harn("people", &[("dual_control", "dual_control")]);
}

type Answered = Result<Poll<Value>, Failure>;

/// `ask_user(prompt, {schema?, timeout = 24h, default?, secret?, url?}?)`
fn ask_user(context: &mut Context<'_>, arguments: &mut [Value], waiting: &mut Waiting) -> Answered {
    let question = |_: &mut Context<'_>| {
        let prompt = text("ask_user", arguments, 0)?;
        let options = options("ask_user", arguments)?;
        let request = Request::new(Kind::Question, &prompt, timeout(options, "timeout")?);
        let option = |name: &str| field(options, name).cloned().unwrap_or_default();
        let mut request = request.with("default", option("default"));
        request = request.with("schema", option("schema"));
        // What is secret is asked on a page of its own and never in a form.
        for name in ["secret", "url"] {
            if let Some(value) = field(options, name) {
                request = request.with(name, value.clone());
            }
        }
        Ok(request)
    };
    let Poll::Ready((request, outcome)) = ask(context, waiting, question)? else {
        return Ok(Poll::Pending);
    };
    let options = argument(arguments, 1);
    let default = field(options, "default");
    if let (Outcome::TimedOut, Some(default)) = (&outcome, default) {
        return Ok(Poll::Ready(default.clone()));
    }
    let responses = given(context, &request, outcome)?;
    let mut answer = only(responses).answer;
    if let Some(schema) = field(options, "schema") {
        answer = expected_of(context, &answer, schema)?;
    }
    if let Some(default) = default {
        answer = like(default, &answer);
    }
    Ok(Poll::Ready(answer))
}

/// The response where one is enough.
fn only(mut responses: Vec<Response>) -> Response {
    responses.pop().expect("somebody has said something")
}

/// What else a program says about something to approve.
const DETAILS: [&str; 6] = [
    "detail",
    "args",
    "principal",
    "evidence_refs",
    "undo_metadata",
    "capabilities_requested",
];

/// `request_approval(action, options?)`
fn request_approval(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Answered {
    let builtin = "request_approval";
    let wanted = |_: &mut Context<'_>| {
        let action = text(builtin, arguments, 0)?;
        let options = options(builtin, arguments)?;
        approval_keys(builtin, options)?;
        evidence(builtin, options)?;
        let mut request = Request::new(Kind::Approval, &action, timeout(options, "deadline")?);
        request.quorum = quorum(builtin, options)?;
        request.approvers = names(builtin, field(options, "reviewers"))?;
        for name in DETAILS {
            if let Some(detail) = field(options, name) {
                request = request.with(name, detail.clone());
            }
        }
        let quorum = request.quorum.into();
        Ok(request.with("quorum", quorum))
    };
    let Poll::Ready((request, outcome)) = ask(context, waiting, wanted)? else {
        return Ok(Poll::Pending);
    };
    let approvals = given(context, &request, outcome)?;
    Ok(Poll::Ready(approval(&request, &approvals)))
}

/// Who has approved, and when.
fn approval(request: &Request, approvals: &[Response]) -> Value {
    let mut reviewers: Vec<_> = approvals.iter().map(Response::reviewer_name).collect();
    reviewers.sort();
    let last = approvals.last();
    let signatures = approvals.iter().map(|one| one.signed(&request.id));
    Value::dict([
        ("approved", true.into()),
        (
            "reviewers",
            reviewers.into_iter().map(Value::from).collect(),
        ),
        (
            "approved_at",
            last.map(|one| one.responded_at.clone()).into(),
        ),
        ("reason", last.and_then(|one| one.reason.clone()).into()),
        ("signatures", signatures.collect()),
    ])
}

/// Waits until enough people have approved of an action; gives the id of the request.
fn approve_action(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Answered {
    let wanted = |_: &mut Context<'_>| two_person_request(arguments);
    let Poll::Ready((request, outcome)) = ask(context, waiting, wanted)? else {
        return Ok(Poll::Pending);
    };
    given(context, &request, outcome)?;
    Ok(Poll::Ready(request.id.as_str().into()))
}

fn two_person_request(arguments: &[Value]) -> Result<Request, Failure> {
    let builtin = "dual_control";
    let wanted = positive(builtin, arguments, 0)?;
    let total = positive(builtin, arguments, 1)?;
    let fault = |problem: String| Err(Fault::runtime(format!("{builtin}: {problem}")));
    if wanted > total {
        return fault("n must be less than or equal to m".to_owned());
    }
    if !argument(arguments, 2).is_callable() {
        return fault("action must be a closure".to_owned());
    }
    let approvers = names(builtin, arguments.get(3))?;
    if !approvers.is_empty() && approvers.len() < total {
        let count = approvers.len();
        return fault(format!("expected at least {total} approvers, got {count}"));
    }
    let prompt = format!("{wanted} of {total} people have to approve");
    let mut request = Request::new(
        Kind::DualControl,
        &prompt,
        timeout(&Value::Nil, "deadline")?,
    );
    request.quorum = wanted;
    request.approvers = approvers;
    let request = request.with("n", wanted.into());
    Ok(request.with("m", total.into()))
}

/// `escalate_to(role, reason)`
fn escalate_to(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Answered {
    let handed_over = |_: &mut Context<'_>| {
        let role = text("escalate_to", arguments, 0)?;
        let reason = text("escalate_to", arguments, 1)?;
        let timeout = timeout(&Value::Nil, "timeout")?;
        let request = Request::new(Kind::Escalation, &reason, timeout);
        let request = request.with("role", role.into());
        Ok(request.with("reason", reason.into()))
    };
    let Poll::Ready((request, outcome)) = ask(context, waiting, handed_over)? else {
        return Ok(Poll::Pending);
    };
    let response = only(given(context, &request, outcome)?);
    let accepted_at = response.accepted.then(|| response.responded_at.clone());
    let status = if response.accepted {
        "accepted"
    } else {
        "pending"
    };
    Ok(Poll::Ready(Value::dict([
        ("request_id", request.id.as_str().into()),
        ("role", argument(arguments, 0).clone()),
        ("reason", argument(arguments, 1).clone()),
        ("trace_id", request.trace_id.as_str().into()),
        ("status", status.into()),
        ("accepted_at", accepted_at.into()),
        ("reviewer", response.reviewer.into()),
    ])))
}
