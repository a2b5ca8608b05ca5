//! Asks people and waits for what they decide.

use std::rc::{Rc, Weak};
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

/// So many events are read at a time.
const BATCH: usize = 128;

/// What came of a request.
pub(super) enum Outcome {
    Decided(Verdict),
    TimedOut,
    Cancelled { reason: Value },
}

/// The requests that tasks of this run wait for, and who does.
#[derive(Default)]
struct Awaited(Vec<(String, Weak<()>)>);

/// Takes the requests back whose tasks were stopped: nobody waits for an answer any more.
pub(super) fn take_back_abandoned(context: &mut Context<'_>) -> Result<(), Failure> {
    let awaited = &mut context.state::<Awaited>().0;
    let is_abandoned = |(_, waiter): &mut (String, Weak<()>)| waiter.strong_count() == 0;
    let abandoned: Vec<_> = awaited.extract_if(.., is_abandoned).collect();
    let reason = Value::dict([("reason", "nobody waits any more".into())]);
    for (id, _) in abandoned {
        waitpoints::cancel(context, &id, &reason)?;
    }
    Ok(())
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

/// What people have said, at least one of them, or the error that tells why they have not.
pub(super) fn given(
    context: &mut Context<'_>,
    request: &Request,
    outcome: Outcome,
) -> Result<Vec<Response>, Failure> {
    match outcome {
        Outcome::Decided(Verdict::Given(responses)) => Ok(responses),
        Outcome::Decided(Verdict::Denied(response)) => Err(denied(request, &response)),
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
    let awaited = (request.id.clone(), Rc::downgrade(&request.waiter));
    context.state::<Awaited>().0.push(awaited);
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

/// What has come of a request by now; nothing if there is something to wait for.
fn look(
    context: &mut Context<'_>,
    waiting: &mut Waiting,
    request: &mut Request,
) -> Result<Option<Outcome>, Failure> {
    let topic = request.kind.topic();
    loop {
        let events = event_log::read(context, topic, request.cursor, BATCH)?;
        let outcome = match heard(context, request, &events) {
            Some(verdict) => Some(Outcome::Decided(verdict)),
            None => waitpoint_ended(context, request)?,
        };
        if outcome.is_some() {
            return Ok(outcome);
        }
        if waiting.is_over(context) {
            return Ok(Some(Outcome::TimedOut));
        }
        let responses = Some((topic, request.cursor));
        if Book::wait_for_change(context, waiting, responses)?.is_pending() {
            return Ok(None);
        }
    }
}

/// What it means for a request that somebody has ended its waitpoint, if somebody has.
fn waitpoint_ended(
    context: &mut Context<'_>,
    request: &mut Request,
) -> Result<Option<Outcome>, Failure> {
    let Some(point) = Book::current(context)?.point(&request.id).cloned() else {
        return Ok(None);
    };
    Ok(match point.status {
        Status::Open => None,
        Status::Cancelled => Some(Outcome::Cancelled {
            reason: point.reason,
        }),
        Status::Completed => {
            let response = Response::read(&of_value(point.value), &now(context));
            request.take(response).map(Outcome::Decided)
        }
    })
}

/// Reads responses among events of the topic.
fn heard(context: &mut Context<'_>, request: &mut Request, events: &[Value]) -> Option<Verdict> {
    for event in events {
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
    context.state::<Awaited>().0.retain(|(one, _)| one != id);
    let event = match (outcome, kind) {
        (Outcome::TimedOut, _) => Some(TIMED_OUT),
        (Outcome::Decided(Verdict::Given(_)), Kind::Approval) => Some("hitl.approval_approved"),
        (Outcome::Decided(Verdict::Denied(_)), Kind::Approval) => Some("hitl.approval_denied"),
        (Outcome::Decided(Verdict::Given(_)), Kind::DualControl) => {
            Some("hitl.dual_control_approved")
        }
        (Outcome::Decided(Verdict::Denied(_)), Kind::DualControl) => {
            Some("hitl.dual_control_denied")
        }
        (Outcome::Decided(Verdict::Given(responses)), Kind::Escalation) => {
            let is_accepted = responses.iter().any(|response| response.accepted);
            is_accepted.then_some("hitl.escalation_accepted")
        }
        // The response or the waitpoint says it all.
        (Outcome::Decided(_), Kind::Question | Kind::Escalation)
        | (Outcome::Cancelled { .. }, _) => None,
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
