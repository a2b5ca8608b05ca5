//! Asks people and waits for what they decide.

use std::task::Poll;

use harn_machine::{Context, Failure, Value, Waiting};

use super::errors::{cancelled, denied, timed_out};
use super::mocked;
use super::request::{Request, Verdict};
use super::response::Response;
use super::{Kind, RESPONDED, TIMED_OUT};
use crate::observability::event_log::{self, Entry};
use crate::people::waitpoints::{self, Book, Status};
use crate::people::{field, new_id, now};

/// The agent that asks where no agent does: the program itself.
const PROGRAM: &str = "harn";

/// What came of a request.
pub(super) enum Outcome {
    Decided(Verdict),
    TimedOut,
    Cancelled { reason: Value },
}

/// Asks, or goes on waiting; what was asked and what came of it. The request is made by the
/// first call and noted for those that follow.
pub(super) fn ask(
    context: &mut Context<'_>,
    waiting: &mut Waiting,
    request: impl FnOnce(&mut Context<'_>) -> Result<Request, Failure>,
) -> Result<Poll<(Box<Request>, Outcome)>, Failure> {
    let noted = waiting.note.take().and_then(|note| note.downcast().ok());
    let (mut request, decided): (Box<Request>, _) = match noted {
        Some(request) => (request, None),
        None => {
            let mut request = Box::new(request(context)?);
            let decided = open(context, &mut request)?;
            waiting.set_timeout(context, request.timeout_ms);
            waiting.stops_at_once = true;
            (request, decided)
        }
    };
    let outcome = match decided {
        Some(verdict) => Some(Outcome::Decided(verdict)),
        None => look(context, waiting, &mut request)?,
    };
    let Some(outcome) = outcome else {
        waiting.note = Some(request);
        return Ok(Poll::Pending);
    };
    waiting.give_up(context);
    close(context, &request, &outcome)?;
    Ok(Poll::Ready((request, outcome)))
}

/// The value that people have decided for, or the error that tells why there is none.
pub(super) fn verdict(
    context: &mut Context<'_>,
    request: &Request,
    outcome: Outcome,
) -> Result<Verdict, Failure> {
    match outcome {
        Outcome::Decided(Verdict::Denied(response)) => Err(denied(request, &response)),
        Outcome::Decided(verdict) => Ok(verdict),
        Outcome::TimedOut => Err(timed_out(request)),
        Outcome::Cancelled { reason } => {
            let wait_id = new_id(context, "hitl_wait");
            Err(cancelled(request, wait_id, &reason))
        }
    }
}

/// Writes a request down. A mocked host may decide it at once.
fn open(context: &mut Context<'_>, request: &mut Request) -> Result<Option<Verdict>, Failure> {
    request.id = new_id(context, &format!("hitl_{}", request.kind.name()));
    request.trace_id = new_id(context, "trace");
    let requested_at = now(context);
    let payload = request.payload(PROGRAM, &requested_at);
    request.cursor = write(context, request.kind, request.kind.asked(), payload.clone())?;
    waitpoints::create(context, &request.id, (PROGRAM.into(), payload.clone()))?;
    for fields in mocked::responses(context, request.kind, payload)? {
        let response = Response::read(&fields, &now(context));
        let mut fields = fields;
        if let Value::Dict(fields) = &mut fields {
            fields.insert("request_id".into(), request.id.as_str().into());
        }
        request.cursor = write(context, request.kind, RESPONDED, fields)?;
        if let Some(verdict) = request.take(response) {
            return Ok(Some(verdict));
        }
    }
    Ok(None)
}

fn write(
    context: &mut Context<'_>,
    kind: Kind,
    event: &str,
    payload: Value,
) -> Result<i64, Failure> {
    event_log::append(
        context,
        Entry {
            topic: kind.topic().to_owned(),
            kind: event.to_owned(),
            payload,
            ..Entry::default()
        },
    )
}

/// What has come of a request by now.
fn look(
    context: &mut Context<'_>,
    waiting: &mut Waiting,
    request: &mut Request,
) -> Result<Option<Outcome>, Failure> {
    loop {
        let topic = request.kind.topic();
        if let Poll::Ready(events) = event_log::wait(context, waiting, topic, request.cursor)? {
            if let Some(verdict) = heard(context, request, &events) {
                return Ok(Some(Outcome::Decided(verdict)));
            }
            continue;
        }
        let point = Book::current(context)?.point(&request.id).cloned();
        let outcome = match point {
            Some(point) if point.status == Status::Cancelled => Some(Outcome::Cancelled {
                reason: point.reason,
            }),
            Some(point) if point.status == Status::Completed => {
                let response = of_value(point.value);
                let response = Response::read(&response, &now(context));
                request.take(response).map(Outcome::Decided)
            }
            _ => None,
        };
        if outcome.is_none() && waiting.is_over(context) {
            return Ok(Some(Outcome::TimedOut));
        }
        Book::notice_changes(context);
        return Ok(outcome);
    }
}

/// Reads responses among events of the topic.
fn heard(context: &mut Context<'_>, request: &mut Request, events: &Value) -> Option<Verdict> {
    let Value::List(events) = events else {
        return None;
    };
    for event in events.iter() {
        if let Some(Value::Int(id)) = field(event, "id") {
            request.cursor = request.cursor.max(*id);
        }
        let is_response = field(event, "kind").is_some_and(|kind| &*kind.to_text() == RESPONDED);
        let Some(payload) = field(event, "payload").filter(|_| is_response) else {
            continue;
        };
        let is_ours = field(payload, "request_id").is_some_and(|id| *id.to_text() == request.id);
        if is_ours {
            let response = Response::read(payload, &now(context));
            if let Some(verdict) = request.take(response) {
                return Some(verdict);
            }
        }
    }
    None
}

/// The response of somebody who has completed the waitpoint of a request: a response, or the
/// answer alone.
fn of_value(value: Value) -> Value {
    let is_response = ["answer", "approved", "accepted"]
        .iter()
        .any(|name| field(&value, name).is_some());
    match is_response {
        true => value,
        false => Value::dict([("answer", value)]),
    }
}

/// Writes down what came of a request.
fn close(context: &mut Context<'_>, request: &Request, outcome: &Outcome) -> Result<(), Failure> {
    let Request { kind, id, .. } = request;
    let event = match (outcome, kind) {
        (Outcome::TimedOut, _) => Some(TIMED_OUT),
        (Outcome::Decided(Verdict::Approved(_)), Kind::Approval) => Some("hitl.approval_approved"),
        (Outcome::Decided(Verdict::Approved(_)), _) => Some("hitl.dual_control_approved"),
        (Outcome::Decided(Verdict::Denied(_)), Kind::Approval) => Some("hitl.approval_denied"),
        (Outcome::Decided(Verdict::Denied(_)), _) => Some("hitl.dual_control_denied"),
        (Outcome::Decided(Verdict::Answered(response)), Kind::Escalation) if response.accepted => {
            Some("hitl.escalation_accepted")
        }
        (Outcome::Decided(Verdict::Answered(_)) | Outcome::Cancelled { .. }, _) => None,
    };
    if let Some(event) = event {
        let payload = Value::dict([
            ("request_id", id.as_str().into()),
            ("at", now(context).into()),
        ]);
        write(context, *kind, event, payload)?;
    }
    match outcome {
        Outcome::Decided(_) => waitpoints::complete(context, id, Value::Nil, &Value::Nil)?,
        Outcome::TimedOut | Outcome::Cancelled { .. } => {
            let reason = Value::dict([("reason", "timed out".into())]);
            waitpoints::cancel(context, id, &reason)?
        }
    };
    Ok(())
}

/// Notes that what enough people have approved was done.
pub(super) fn executed(context: &mut Context<'_>, request_id: &Value) -> Result<(), Failure> {
    let payload = Value::dict([
        ("request_id", request_id.clone()),
        ("at", now(context).into()),
    ]);
    write(
        context,
        Kind::DualControl,
        "hitl.dual_control_executed",
        payload,
    )?;
    Ok(())
}
