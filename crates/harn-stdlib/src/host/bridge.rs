//! What the host of the run lends, beyond what every host can do.
//!
//! Whoever runs a program may be asked for operations and tools of its own. This file knows what
//! it is asked and how that is written; who it is, and whether there is one, is decided above.
//! What the host lacks is done by the builtin operations.

use std::task::Poll;

use harn_machine::value::Text;
use harn_machine::{
    Answer, Context, Failure, Fault, Request, Value, Waiting, argument, thrown, undefined_builtin,
};

use crate::json;
use crate::observability::encode::encode;
use crate::people::field;
use crate::surroundings::AGENT_SESSION;

/// The kind of effects that ask the host.
pub const EFFECT: &str = "host";

/// Remembers that the host is being asked, between two calls of a body.
struct AsksHost;

/// What the host says to an operation.
pub(super) enum Lent {
    /// It did it.
    Done(Value),
    /// It lends nothing of that name.
    Lacking,
}

/// Whether a host lends anything.
fn is_attached(context: &mut Context<'_>) -> bool {
    let asked = Request::Other {
        kind: EFFECT,
        payload: "{\"do\":\"attached\"}".to_owned(),
    };
    matches!(context.perform(&asked), Answer::Truth(true))
}

/// Asks the host for an operation, if there is one to ask. Afterwards the wait is as new, so
/// that somebody else can begin something.
pub(super) fn operation(
    context: &mut Context<'_>,
    waiting: &mut Waiting,
    name: &str,
    params: &Value,
) -> Result<Poll<Lent>, Failure> {
    let is_asking = waiting
        .note
        .as_ref()
        .is_some_and(|note| note.is::<AsksHost>());
    if waiting.is_resumed() && !is_asking {
        return Ok(Poll::Ready(Lent::Lacking));
    }
    if !waiting.is_resumed() && !is_attached(context) {
        return Ok(Poll::Ready(Lent::Lacking));
    }
    waiting.note = Some(Box::new(AsksHost));
    let asked = [
        ("do", "call".into()),
        ("name", name.into()),
        ("args", params.clone()),
    ];
    let Poll::Ready(answer) = ask(context, waiting, asked)? else {
        return Ok(Poll::Pending);
    };
    if field(&answer, "lacks").is_some() {
        *waiting = Waiting::default();
        return Ok(Poll::Ready(Lent::Lacking));
    }
    Ok(Poll::Ready(Lent::Done(value_of(&answer))))
}

fn value_of(answer: &Value) -> Value {
    field(answer, "value").cloned().unwrap_or_default()
}

/// Asks the host and waits; throws what it throws.
fn ask<const N: usize>(
    context: &mut Context<'_>,
    waiting: &mut Waiting,
    asked: [(&str, Value); N],
) -> Result<Poll<Value>, Failure> {
    let session = context.strand().values.get(AGENT_SESSION).cloned();
    let request = || {
        let mut asked = Value::dict(asked);
        if let (Value::Dict(asked), Some(session)) = (&mut asked, session) {
            asked.insert("session".into(), session);
        }
        Request::Other {
            kind: EFFECT,
            payload: encode(&asked),
        }
    };
    waiting.stops_at_once = true;
    let answer = match waiting.effect(context, request) {
        None => return Ok(Poll::Pending),
        Some(Answer::Text(Some(answer))) => json::parse(&answer).map_err(Fault::runtime)?,
        Some(Answer::Failed(failure)) => return Err(Fault::runtime(failure.message)),
        Some(_) => return thrown("no host bridge is attached"),
    };
    let said = |name: &str| field(&answer, name).map(|text| text.to_text().to_string());
    if let (Some(category), Some(message)) = (said("category"), said("message")) {
        return Err(Fault::categorised(category, message));
    }
    if let Some(problem) = said("runtime") {
        return Err(Fault::runtime(problem));
    }
    match said("plain") {
        Some(problem) => thrown(problem),
        None => Ok(Poll::Ready(value_of(&answer))),
    }
}

/// `host_tool_call(name, arguments)`
pub(super) fn tool_call(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let name = match argument(arguments, 0) {
        Value::Text(name) if !name.is_empty() => name.clone(),
        _ => return thrown("host_tool_call: tool name is required"),
    };
    if !waiting.is_resumed() && !is_attached(context) {
        return thrown("host_tool_call: no host bridge is attached");
    }
    let given = match argument(arguments, 1) {
        Value::Nil => Value::dict([]),
        given => given.clone(),
    };
    let asked = [
        ("do", "tool".into()),
        ("name", Value::Text(name)),
        ("args", given),
    ];
    Ok(ask(context, waiting, asked)?.map(|answer| value_of(&answer)))
}

/// `__host_builtin(name, arguments)`: what a program calls and nobody here has defined.
pub(super) fn builtin_call(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let name = argument(arguments, 0).to_text();
    if !waiting.is_resumed() && !is_attached(context) {
        return Err(undefined_builtin(&name));
    }
    let asked = [
        ("do", "builtin".into()),
        ("name", Value::Text(name.clone())),
        ("args", argument(arguments, 1).clone()),
    ];
    let Poll::Ready(answer) = ask(context, waiting, asked)? else {
        return Ok(Poll::Pending);
    };
    match field(&answer, "lacks").is_some() {
        true => Err(undefined_builtin(&name)),
        false => Ok(Poll::Ready(value_of(&answer))),
    }
}

/// `host_tool_list()`
pub(super) fn tool_list(
    context: &mut Context<'_>,
    _: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if !waiting.is_resumed() && !is_attached(context) {
        return Ok(Poll::Ready(Value::list(Vec::new())));
    }
    let asked = [("do", "tools".into())];
    Ok(ask(context, waiting, asked)?.map(|answer| value_of(&answer)))
}

/// The operations that the host lends, by capability, as far as it was asked.
pub(super) fn known(context: &mut Context<'_>) -> Vec<(Text, Text)> {
    let asked = Request::Other {
        kind: EFFECT,
        payload: "{\"do\":\"known\"}".to_owned(),
    };
    let Answer::Pairs(pairs) = context.perform(&asked) else {
        return Vec::new();
    };
    let pairs = pairs.into_iter();
    pairs
        .map(|(capability, operation)| (Text::new(&capability), Text::new(&operation)))
        .collect()
}

/// Learns what the host lends.
pub(super) fn learn(context: &mut Context<'_>, waiting: &mut Waiting) -> Result<Poll<()>, Failure> {
    if !waiting.is_resumed() && !is_attached(context) {
        return Ok(Poll::Ready(()));
    }
    Ok(ask(context, waiting, [("do", "capabilities".into())])?.map(|_| ()))
}
