//! The event log of a run.
//!
//! ```text
//! event_log.emit, waitpoints, audits ──► Request::Other { "event_log", JSON } ──► harn-vm: the log
//!                                    ◄── JSON: an id, or events
//! ```
//!
//! This file knows what is asked and how it is written; which log answers is decided by
//! whoever runs the program. Every function comes in two kinds: those that take a [`Waiting`]
//! let other tasks run meanwhile, those that do not keep the program waiting.

use std::task::Poll;

use harn_machine::value::Dict;
use harn_machine::{
    Answer, Context, Failure, Fault, Registry, Request, Value, Waiting, argument, thrown,
};

use super::encode::encode;
use crate::json;

/// The kind of effects that are for the log.
pub const EFFECT: &str = "event_log";

pub(crate) fn register(registry: &mut Registry) {
    registry.waiting(&[
        ("event_log.emit", emit),
        ("event_log.latest", latest),
        ("__event_log_after", after),
    ]);
    registry.plain(&[
        ("__event_log_cursor", cursor),
        ("__event_log_topic", topic),
        ("event_log_emit", |_, _| {
            thrown("event_log_emit: no active Harn connector context")
        }),
    ]);
    registry.harn("observability", &[("event_log.subscribe", "subscribe")]);
}

/// Something that is to be added to a topic.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// Where it goes.
    pub topic: String,
    /// What it is, in the words of whoever adds it.
    pub kind: String,
    /// What it says.
    pub payload: Value,
    /// Texts by their names.
    pub headers: Dict,
    /// Whether it is kept where other processes find it, and the headers it has there.
    pub kept: Option<Dict>,
}

/// Adds an entry to its topic and gives its id.
///
/// # Errors
/// The log does not take it.
pub fn append(context: &mut Context<'_>, entry: Entry) -> Result<i64, Failure> {
    let answer = context.perform(&entry.request());
    answered(answer).map(|id| number(&id))
}

/// The same while other tasks run.
///
/// # Errors
/// The log does not take it.
pub fn append_waiting(
    context: &mut Context<'_>,
    waiting: &mut Waiting,
    entry: impl FnOnce() -> Entry,
) -> Result<Poll<i64>, Failure> {
    match waiting.effect(context, || entry().request()) {
        None => Ok(Poll::Pending),
        Some(answer) => answered(answer).map(|id| Poll::Ready(number(&id))),
    }
}

/// Up to `limit` events of a topic whose ids are greater than `cursor`, as programs see them.
///
/// # Errors
/// The log cannot be read.
pub fn read(
    context: &mut Context<'_>,
    topic: &str,
    cursor: i64,
    limit: usize,
) -> Result<Vec<Value>, Failure> {
    let request = request([
        ("do", "read".into()),
        ("topic", topic.into()),
        ("cursor", cursor.into()),
        ("limit", limit.into()),
    ]);
    let answer = context.perform(&request);
    match answered(answer)? {
        Value::List(events) => Ok(events.into_items()),
        _ => Ok(Vec::new()),
    }
}

/// The id of the last event of a topic; 0 if it has none.
///
/// # Errors
/// The log cannot be read.
pub fn last(context: &mut Context<'_>, topic: &str) -> Result<i64, Failure> {
    let request = request([("do", "latest".into()), ("topic", topic.into())]);
    let answer = context.perform(&request);
    answered(answer).map(|id| number(&id))
}

/// Waits until a topic has events whose ids are greater than `cursor`, and gives some of them.
///
/// # Errors
/// The log cannot be read.
pub fn wait(
    context: &mut Context<'_>,
    waiting: &mut Waiting,
    topic: &str,
    cursor: i64,
) -> Result<Poll<Value>, Failure> {
    let request = || {
        request([
            ("do", "wait".into()),
            ("topic", topic.into()),
            ("cursor", cursor.into()),
        ])
    };
    match waiting.effect(context, request) {
        None => Ok(Poll::Pending),
        Some(answer) => answered(answer).map(Poll::Ready),
    }
}

/// Waits until one of several topics has events whose ids are greater than its cursor.
///
/// # Errors
/// The log cannot be read.
pub fn wait_any(
    context: &mut Context<'_>,
    waiting: &mut Waiting,
    topics: &[(&str, i64)],
) -> Result<Poll<()>, Failure> {
    let request = || {
        let topics = topics
            .iter()
            .map(|&(topic, cursor)| Value::list(vec![topic.into(), cursor.into()]));
        request([("do", "wait_any".into()), ("topics", topics.collect())])
    };
    match waiting.effect(context, request) {
        None => Ok(Poll::Pending),
        Some(answer) => answered(answer).map(|_| Poll::Ready(())),
    }
}

impl Entry {
    fn request(self) -> Request {
        request([
            ("do", "append".into()),
            ("topic", self.topic.into()),
            ("kind", self.kind.into()),
            ("payload", self.payload),
            ("headers", self.headers.into()),
            ("kept", self.kept.map(Value::from).unwrap_or_default()),
        ])
    }
}

fn request<const N: usize>(fields: [(&str, Value); N]) -> Request {
    Request::Other {
        kind: EFFECT,
        payload: encode(&Value::dict(fields)),
    }
}

fn answered(answer: Answer) -> Result<Value, Failure> {
    match answer {
        Answer::Text(Some(text)) => json::parse(&text).map_err(Fault::runtime),
        Answer::Failed(failure) => Err(Fault::runtime(format!("event_log: {}", failure.message))),
        _ => Err(Fault::runtime("event_log: there is no log")),
    }
}

fn number(id: &Value) -> i64 {
    match id {
        Value::Int(id) => *id,
        _ => 0,
    }
}

/// `event_log.emit(topic, kind, payload = nil, headers = {})`
fn emit(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let entry = entry(arguments)?;
    let id = append_waiting(context, waiting, || entry)?;
    Ok(id.map(Value::Int))
}

fn entry(arguments: &[Value]) -> Result<Entry, Failure> {
    let topic = named_topic("emit", argument(arguments, 0))?;
    let kind = match argument(arguments, 1) {
        Value::Text(kind) => kind.to_string(),
        other => return Err(mismatch("event_log.emit: kind must be a string", other)),
    };
    let headers = match argument(arguments, 3) {
        Value::Nil => Dict::default(),
        Value::Dict(headers) => headers.clone(),
        other => return Err(mismatch("event_log.emit: headers must be a dict", other)),
    };
    for (name, value) in &headers {
        if !matches!(value, Value::Text(_)) {
            let wanted = format!("event_log.emit: header '{name}' must be a string");
            return Err(mismatch(&wanted, value));
        }
    }
    Ok(Entry {
        topic,
        kind,
        payload: argument(arguments, 2).clone(),
        headers,
        kept: None,
    })
}

fn named_topic(function: &str, topic: &Value) -> Result<String, Failure> {
    match topic {
        Value::Nil => {
            let problem = format!("event_log.{function}: missing topic");
            Err(Fault::type_error(problem))
        }
        topic => Ok(topic.to_text().to_string()),
    }
}

fn mismatch(wanted: &str, found: &Value) -> Failure {
    Fault::type_error(format!("{wanted}, got {}", found.type_name()))
}

/// `event_log.latest(topic)`
fn latest(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let topic = named_topic("latest", argument(arguments, 0))?;
    let request = || request([("do", "latest".into()), ("topic", topic.into())]);
    match waiting.effect(context, request) {
        None => Ok(Poll::Pending),
        Some(answer) => answered(answer).map(Poll::Ready),
    }
}

fn after(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let topic = argument(arguments, 0).to_text();
    let cursor = number(argument(arguments, 1));
    wait(context, waiting, &topic, cursor)
}

/// The topic to subscribe to. It is looked at at once, and not when the first event is drawn.
fn topic(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let topic = named_topic("subscribe", argument(arguments, 0))?;
    let request = request([("do", "check".into()), ("topic", topic.as_str().into())]);
    let answer = context.perform(&request);
    answered(answer)?;
    Ok(topic.into())
}

/// After which event to begin; nil is before all.
fn cursor(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    match argument(arguments, 0) {
        Value::Nil => Ok(Value::Int(0)),
        Value::Int(cursor) if *cursor >= 0 => Ok(Value::Int(*cursor)),
        other => Err(mismatch(
            "event_log.subscribe: from_cursor must be a non-negative int or nil",
            other,
        )),
    }
}
