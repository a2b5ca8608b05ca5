//! Responses of events. What is sent waits in line for its reader.

use std::collections::{HashMap, VecDeque};

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Registry, Value, argument, thrown};

use super::event::Event;
use crate::expect::{int_or, text_or};
use crate::transport::handles::{handle, new_handle};

/// So many responses may be open at a time.
const RESPONSES_MAX: usize = 64;

/// How many bytes a frame may have, and how many frames may wait, unless the program says
/// otherwise.
const EVENT_BYTES_MAX: i64 = 1 << 20;
const BUFFERED_EVENTS_MAX: i64 = 10_000;

const HEADERS: [(&str, &str); 4] = [
    ("content-type", "text/event-stream; charset=utf-8"),
    ("cache-control", "no-cache"),
    ("connection", "keep-alive"),
    ("x-accel-buffering", "no"),
];

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("sse_server_response", open),
        ("sse_server_send", send),
        ("sse_server_heartbeat", heartbeat),
        ("sse_server_flush", flush),
        ("sse_server_close", |context, arguments| {
            end("sse_server_close", context, arguments, |_| {})
        }),
        ("sse_server_cancel", |context, arguments| {
            let reason = match argument(arguments, 1) {
                Value::Nil => None,
                reason => Some(reason.to_text()),
            };
            end("sse_server_cancel", context, arguments, |response| {
                response.is_cancelled = true;
                response.cancel_reason = reason;
            })
        }),
        ("sse_server_mock_disconnect", |context, arguments| {
            let builtin = "sse_server_mock_disconnect";
            end(builtin, context, arguments, |response| {
                response.is_disconnected = true;
            })
        }),
        ("sse_server_status", status),
        ("sse_server_cancelled", |context, arguments| {
            let (_, response) = response("sse_server_cancelled", context, arguments)?;
            Ok(response.is_cancelled.into())
        }),
        ("sse_server_disconnected", |context, arguments| {
            let (_, response) = response("sse_server_disconnected", context, arguments)?;
            Ok(response.is_disconnected.into())
        }),
        ("sse_server_mock_receive", receive),
    ]);
}

/// The responses of a run.
#[derive(Default)]
struct Responses(HashMap<Text, Response>);

/// Forgets them all.
pub(super) fn clear(context: &mut Context<'_>) {
    context.state::<Responses>().0.clear();
}

struct Response {
    status: i64,
    headers: Dict,
    event_bytes_max: i64,
    buffered_events_max: i64,
    /// What was sent and not read yet: each event with its frame.
    waiting: VecDeque<(Event, String)>,
    sent: i64,
    flushed: i64,
    /// Nothing more can be sent.
    is_closed: bool,
    is_cancelled: bool,
    is_disconnected: bool,
    cancel_reason: Option<Text>,
}

/// The response of a handle.
fn response<'a>(
    builtin: &str,
    context: &'a mut Context<'_>,
    arguments: &[Value],
) -> Result<(Text, &'a mut Response), Failure> {
    if arguments.is_empty() {
        return thrown(format!("{builtin}: requires a stream handle"));
    }
    let id = handle(builtin, arguments)?;
    match context.state::<Responses>().0.get_mut(&id) {
        Some(response) => Ok((id, response)),
        None => thrown(format!("{builtin}: unknown stream '{id}'")),
    }
}

/// `sse_server_response(options?)`
fn open(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let responses = &context.state::<Responses>().0;
    let open = responses.values().filter(|response| !response.is_closed);
    if open.count() >= RESPONSES_MAX {
        return thrown(format!(
            "sse_server_response: maximum open streams ({RESPONSES_MAX}) reached"
        ));
    }
    let options = match argument(arguments, 0) {
        Value::Dict(options) => options.clone(),
        _ => Dict::default(),
    };
    let number = |name: &str, fallback| {
        let given = options.get(name).cloned().unwrap_or_default();
        int_or(&[given], 0, fallback)
    };
    let response = Response {
        status: number("status", 200),
        headers: headers(options.get("headers")),
        event_bytes_max: number("max_event_bytes", EVENT_BYTES_MAX),
        buffered_events_max: number("max_buffered_events", BUFFERED_EVENTS_MAX),
        waiting: VecDeque::new(),
        sent: 0,
        flushed: 0,
        is_closed: false,
        is_cancelled: false,
        is_disconnected: false,
        cancel_reason: None,
    };
    let id = new_handle(context, "sse-server");
    let described = Value::dict([
        ("id", id.clone().into()),
        ("type", "sse_response".into()),
        ("status", response.status.into()),
        ("headers", response.headers.clone().into()),
        ("body", Value::Nil),
        ("streaming", true.into()),
        ("max_event_bytes", response.event_bytes_max.into()),
        ("max_buffered_events", response.buffered_events_max.into()),
    ]);
    context.state::<Responses>().0.insert(id, response);
    Ok(described)
}

/// The headers that a program gives, and the usual ones that it does not.
fn headers(given: Option<&Value>) -> Dict {
    let mut headers = Dict::default();
    if let Some(Value::Dict(given)) = given {
        for (name, value) in given.iter() {
            headers.insert(name.clone(), value.to_text().into());
        }
    }
    for (name, value) in HEADERS {
        if !headers.keys().any(|one| one.eq_ignore_ascii_case(name)) {
            headers.insert(Text::new(name), value.into());
        }
    }
    headers
}

/// `sse_server_send(response, event, options?)`
fn send(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let builtin = "sse_server_send";
    if arguments.len() < 2 {
        return thrown(format!("{builtin}: requires stream and event"));
    }
    let (_, response) = response(builtin, context, arguments)?;
    let event = Event::read(argument(arguments, 1), argument(arguments, 2))?;
    response.push(builtin, event)
}

/// `sse_server_heartbeat(response, comment = "heartbeat")`
fn heartbeat(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let builtin = "sse_server_heartbeat";
    let (_, response) = response(builtin, context, arguments)?;
    let comment = text_or(arguments, 1, "heartbeat");
    response.push(builtin, Event::comment(&comment))
}

impl Response {
    /// Puts an event in line; whether anybody may still read it.
    fn push(&mut self, builtin: &str, event: Event) -> Result<Value, Failure> {
        if self.is_closed {
            return Ok(false.into());
        }
        let frame = event.frame();
        let count = |size: usize| i64::try_from(size).unwrap_or(i64::MAX);
        let (bytes, limit) = (count(frame.len()), self.event_bytes_max);
        if bytes > limit {
            return thrown(format!(
                "{builtin}: event exceeded max_event_bytes ({limit})"
            ));
        }
        let limit = self.buffered_events_max;
        if count(self.waiting.len()) >= limit {
            return thrown(format!(
                "{builtin}: buffered events exceeded max_buffered_events ({limit})"
            ));
        }
        self.waiting.push_back((event, frame));
        self.sent += 1;
        Ok(true.into())
    }
}

fn flush(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (_, response) = response("sse_server_flush", context, arguments)?;
    if !response.is_closed {
        response.flushed = response.sent;
    }
    Ok((!response.is_closed).into())
}

/// Ends a response in one of several ways; whether it was open.
fn end(
    builtin: &str,
    context: &mut Context<'_>,
    arguments: &[Value],
    note: impl FnOnce(&mut Response),
) -> Result<Value, Failure> {
    let (_, response) = response(builtin, context, arguments)?;
    if response.is_closed {
        return Ok(false.into());
    }
    response.is_closed = true;
    note(response);
    Ok(true.into())
}

fn status(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (id, response) = response("sse_server_status", context, arguments)?;
    Ok(Value::dict([
        ("id", id.into()),
        ("status", response.status.into()),
        ("headers", response.headers.clone().into()),
        ("buffered_events", response.waiting.len().into()),
        ("sent_events", response.sent.into()),
        ("flushed_events", response.flushed.into()),
        ("closed", response.is_closed.into()),
        ("disconnected", response.is_disconnected.into()),
        ("cancelled", response.is_cancelled.into()),
        ("cancel_reason", response.cancel_reason.clone().into()),
        ("max_event_bytes", response.event_bytes_max.into()),
        ("max_buffered_events", response.buffered_events_max.into()),
    ]))
}

/// `sse_server_mock_receive(response)`: what its reader would see next.
fn receive(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (_, response) = response("sse_server_mock_receive", context, arguments)?;
    Ok(match response.waiting.pop_front() {
        Some((event, frame)) => event.received(&frame),
        None if response.is_closed => {
            Value::dict([("type", "close".into()), ("server_closed", true.into())])
        }
        None => Value::dict([("type", "timeout".into())]),
    })
}
