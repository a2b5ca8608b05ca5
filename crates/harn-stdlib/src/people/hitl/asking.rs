//! Asks people and waits for what they decide.

use std::task::Poll;

use harn_machine::value::Dict;
use harn_machine::{Context, Failure, Value, Waiting};

use super::errors::{cancelled, denied, timed_out};
use super::request::{PROGRAM, Request, Verdict};
use super::response::Response;
use super::{Kind, RESPONDED, TIMED_OUT};
use super::{mocked, others};
use crate::observability::event_log::{self, Entry};
use crate::people::waitpoints::{self, Book, Status};
use crate::people::{field, new_id, now};

/// So many events are read at a time.
const BATCH: usize = 128;

/// What came of a request.
pub(super) enum Outcome {
    Decided(Verdict),
    TimedOut,
    Cancelled { reason: Value },
}

impl Outcome {
    /// What the events of a session call it.
    fn word(&self) -> &'static str {
        match self {
            Self::Decided(_) => "answered",
            Self::TimedOut => "timeout",
            Self::Cancelled { .. } => "cancelled",
        }
    }
}

/// A task that asks, and how far it is.
struct Asking {
    request: Box<Request>,
    stage: Stage,
}

enum Stage {
    /// Whoever listens hears of the request. A mocked host may have decided it already.
    Announcing(Option<Verdict>),
    /// Somebody should answer.
    Waiting,
    /// Whoever listens hears what came of it.
    Resolving(Outcome),
}

/// Asks, or goes on waiting; what was asked and what came of it. The request is made by the
/// first call and noted for those that follow.
pub(super) fn ask(
    context: &mut Context<'_>,
    waiting: &mut Waiting,
    request: impl FnOnce(&mut Context<'_>) -> Result<Request, Failure>,
) -> Result<Poll<(Box<Request>, Outcome)>, Failure> {
    let noted = waiting.note.take().and_then(|note| note.downcast().ok());
    let mut asking: Asking = match noted {
        Some(asking) => *asking,
        None => {
            let mut request = Box::new(request(context)?);
            let verdict = open(context, &mut request)?;
            waiting.stops_at_once = true;
            let stage = Stage::Announcing(verdict);
            Asking { request, stage }
        }
    };
    loop {
        let Asking { request, stage } = asking;
        match go_on(context, waiting, request, stage)? {
            Step::On(next) => asking = next,
            Step::Done(request, outcome) => return Ok(Poll::Ready((request, outcome))),
            Step::Pending(asking) => {
                waiting.note = Some(Box::new(asking));
                return Ok(Poll::Pending);
            }
        }
    }
}

/// How far one step has brought a task that asks.
enum Step {
    On(Asking),
    Pending(Asking),
    Done(Box<Request>, Outcome),
}

fn go_on(
    context: &mut Context<'_>,
    waiting: &mut Waiting,
    mut request: Box<Request>,
    stage: Stage,
) -> Result<Step, Failure> {
    Ok(match stage {
        // What a mock decides outside of a session concerns nobody else.
        Stage::Announcing(Some(verdict)) if request.session.is_none() => {
            let outcome = Outcome::Decided(verdict);
            close(context, &request, &outcome)?;
            Step::Done(request, outcome)
        }
        Stage::Announcing(verdict) => match others::requested(context, waiting, &request) {
            Poll::Pending => Step::Pending(Asking {
                request,
                stage: Stage::Announcing(verdict),
            }),
            Poll::Ready(()) => match verdict {
                Some(verdict) => resolve(context, waiting, request, Outcome::Decided(verdict))?,
                None => {
                    waiting.until = Some(request.until);
                    let stage = Stage::Waiting;
                    Step::On(Asking { request, stage })
                }
            },
        },
        Stage::Waiting => match look(context, waiting, &mut request)? {
            Some(outcome) => resolve(context, waiting, request, outcome)?,
            None => Step::Pending(Asking {
                request,
                stage: Stage::Waiting,
            }),
        },
        Stage::Resolving(outcome) => {
            let word = outcome.word();
            match others::resolved(context, waiting, &request, word) {
                Poll::Ready(()) => Step::Done(request, outcome),
                Poll::Pending => Step::Pending(Asking {
                    request,
                    stage: Stage::Resolving(outcome),
                }),
            }
        }
    })
}

/// It is known what becomes of a request.
fn resolve(
    context: &mut Context<'_>,
    waiting: &mut Waiting,
    request: Box<Request>,
    outcome: Outcome,
) -> Result<Step, Failure> {
    others::decided(context, &request);
    waiting.give_up(context);
    waiting.until = None;
    close(context, &request, &outcome)?;
    let stage = Stage::Resolving(outcome);
    Ok(Step::On(Asking { request, stage }))
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
    request.session = others::session(context);
    let requested_at = now(context);
    request.payload = request.described(&requested_at);
    let mocked = mocked::responses(context, request.kind, request.payload.clone())?;
    let mut taken = Vec::new();
    let mut verdict = None;
    for fields in mocked {
        let response = Response::read(&fields, &now(context));
        taken.push(fields);
        verdict = request.take(response);
        if verdict.is_some() {
            break;
        }
    }
    let mut record = Some(Dict::default());
    if verdict.is_none() {
        record = share(context, request);
    }
    request.until = context.elapsed().saturating_add(request.timeout_ms);
    if record.is_some() {
        let kept = record.filter(|headers| !headers.is_empty());
        let (asked, payload) = (request.kind.asked(), request.payload.clone());
        request.cursor = write(context, request.kind, asked, payload, kept)?;
    }
    let by = request.session.as_deref().unwrap_or(PROGRAM);
    let point = (by.into(), request.payload.clone());
    waitpoints::create(context, &request.id, point)?;
    for mut fields in taken {
        if let Value::Dict(fields) = &mut fields {
            fields.insert("request_id".into(), request.id.as_str().into());
        }
        request.cursor = note(context, request, RESPONDED, fields)?;
    }
    Ok(verdict)
}

/// Lets other processes find a request, and goes on with one that an earlier process has made.
/// Gives the headers of the record that is to be written; `None` if it is there.
fn share(context: &mut Context<'_>, request: &mut Request) -> Option<Dict> {
    let Some(opening) = others::open(context, request, &request.payload.clone()) else {
        return Some(Dict::default());
    };
    request.headers = opening.headers;
    let Some(earlier) = opening.earlier else {
        context.holding::<Book>().keep(&request.id);
        return Some(request.headers.clone());
    };
    let text = |name: &str| {
        let text = field(&earlier.payload, name).map(Value::to_text);
        text.map(|text| text.to_string()).unwrap_or_default()
    };
    (request.id, request.trace_id) = (text("request_id"), text("trace_id"));
    request.payload = earlier.payload;
    request.timeout_ms = earlier.timeout_ms;
    request.is_earlier = true;
    context.holding::<Book>().keep(&request.id);
    match earlier.event_id {
        Some(event_id) => {
            request.cursor = event_id;
            None
        }
        // Other processes know it already; the log of the program does not.
        None => Some(Dict::default()),
    }
}

fn write(
    context: &mut Context<'_>,
    kind: Kind,
    event: &str,
    payload: Value,
    kept: Option<Dict>,
) -> Result<i64, Failure> {
    event_log::append(
        context,
        Entry {
            topic: kind.topic().to_owned(),
            kind: event.to_owned(),
            payload,
            kept,
            ..Entry::default()
        },
    )
}

/// Writes down what happens to a request.
fn note(
    context: &mut Context<'_>,
    request: &Request,
    event: &str,
    payload: Value,
) -> Result<i64, Failure> {
    let is_kept = context.holding::<Book>().keeps(&request.id);
    let kept = is_kept.then(Dict::default);
    write(context, request.kind, event, payload, kept)
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
        let topics = [(topic, request.cursor), Book::cursor(context)];
        if others::wait(context, waiting, request, &topics)?.is_pending() {
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
        note(context, request, event, payload)?;
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
    let is_kept = context.holding::<Book>().keeps(&request_id.to_text());
    let kept = is_kept.then(Dict::default);
    let event = "hitl.dual_control_executed";
    write(context, Kind::DualControl, event, payload, kept)?;
    Ok(())
}
