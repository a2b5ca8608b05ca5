//! Who else there is: the session that asks, the host, other processes.
//!
//! This file knows what they are told and how it is written; who they are is decided by whoever
//! runs the program. Where nobody is, requests are in the log of the program and nowhere else.

use std::task::Poll;

use harn_machine::value::Dict;
use harn_machine::{Answer, Context, Failure, Fault, Request as Effect, Value, Waiting};

use super::request::Request;
use crate::json;
use crate::observability::encode::encode;
use crate::people::{EFFECT, field};
use crate::surroundings::AGENT_SESSION;

/// What is known about a request before it is made.
pub(super) struct Opening {
    /// The headers of its record where it is kept.
    pub(super) headers: Dict,
    /// The request of an earlier process that is the same.
    pub(super) earlier: Option<Earlier>,
}

/// A request of an earlier process.
pub(super) struct Earlier {
    pub(super) payload: Value,
    /// How long people still have.
    pub(super) timeout_ms: i64,
    /// Where its record is, if that is in the log of the program.
    pub(super) event_id: Option<i64>,
}

/// The session whose loop asks, if one does.
pub(super) fn session(context: &mut Context<'_>) -> Option<String> {
    match context.strand().values.get(AGENT_SESSION) {
        Some(Value::Text(id)) => Some(id.to_string()),
        _ => None,
    }
}

/// A request is about to be made. `None`: there is nobody else.
pub(super) fn open(
    context: &mut Context<'_>,
    request: &Request,
    payload: &Value,
) -> Option<Opening> {
    let about = about("open", request, payload);
    let Answer::Text(Some(answer)) = context.perform(&effect(about)) else {
        return None;
    };
    let answer = json::parse(&answer).ok()?;
    let headers = match field(&answer, "headers") {
        Some(Value::Dict(headers)) => headers.clone(),
        _ => Dict::default(),
    };
    let earlier = field(&answer, "earlier").map(|earlier| {
        let number = |name: &str| match field(earlier, name) {
            Some(Value::Int(number)) => *number,
            _ => 0,
        };
        let is_here = field(earlier, "is_here").is_some_and(Value::is_truthy);
        Earlier {
            payload: field(earlier, "payload").cloned().unwrap_or_default(),
            timeout_ms: number("timeout_ms"),
            event_id: is_here.then(|| number("event_id")),
        }
    });
    Some(Opening { headers, earlier })
}

/// A request was made: whoever listens hears of it.
pub(super) fn requested(
    context: &mut Context<'_>,
    waiting: &mut Waiting,
    request: &Request,
) -> Poll<()> {
    let told = || {
        let mut about = about("requested", request, &request.payload);
        if let Value::Dict(about) = &mut about {
            about.insert("headers".into(), request.headers.clone().into());
            about.insert("is_earlier".into(), request.is_earlier.into());
        }
        effect(about)
    };
    // Nobody has to listen.
    waiting
        .effect(context, told)
        .map_or(Poll::Pending, |_| Poll::Ready(()))
}

/// Waits until one of the topics has an event after its cursor. Others run meanwhile.
pub(super) fn wait(
    context: &mut Context<'_>,
    waiting: &mut Waiting,
    request: &Request,
    topics: &[(&str, i64)],
) -> Result<Poll<()>, Failure> {
    let told = || {
        let topics = topics
            .iter()
            .map(|&(topic, cursor)| Value::list(vec![topic.into(), cursor.into()]));
        effect(Value::dict([
            ("do", "wait".into()),
            ("request_id", request.id.as_str().into()),
            ("topics", topics.collect()),
        ]))
    };
    match waiting.effect(context, told) {
        None => Ok(Poll::Pending),
        Some(Answer::Text(Some(answer))) => {
            let answer = json::parse(&answer).map_err(Fault::runtime)?;
            match field(&answer, "runtime") {
                None => Ok(Poll::Ready(())),
                Some(problem) => Err(Fault::runtime(problem.to_text().to_string())),
            }
        }
        Some(Answer::Failed(failure)) => Err(Fault::runtime(failure.message)),
        Some(_) => Err(Fault::runtime("event_log: there is no log")),
    }
}

/// It is known what becomes of a request: from here on, nobody waits for it.
pub(super) fn decided(context: &mut Context<'_>, request: &Request) {
    let told = Value::dict([
        ("do", "decided".into()),
        ("request_id", request.id.as_str().into()),
    ]);
    context.perform(&effect(told));
}

/// What became of a request was written down: whoever listens hears of it.
pub(super) fn resolved(
    context: &mut Context<'_>,
    waiting: &mut Waiting,
    request: &Request,
    outcome: &str,
) -> Poll<()> {
    let told = || {
        effect(Value::dict([
            ("do", "resolved".into()),
            ("request_id", request.id.as_str().into()),
            ("outcome", outcome.into()),
        ]))
    };
    waiting
        .effect(context, told)
        .map_or(Poll::Pending, |_| Poll::Ready(()))
}

fn about(what: &str, request: &Request, payload: &Value) -> Value {
    Value::dict([
        ("do", what.into()),
        ("kind", request.kind.name().into()),
        ("payload", payload.clone()),
        ("session", request.session.clone().into()),
        ("timeout_ms", request.timeout_ms.into()),
    ])
}

fn effect(told: Value) -> Effect {
    Effect::Other {
        kind: EFFECT,
        payload: encode(&told),
    }
}
