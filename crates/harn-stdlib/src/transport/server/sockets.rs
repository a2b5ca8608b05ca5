//! Servers of web sockets. They listen for real, so that is done outside; here are the handles
//! of programs.

use std::collections::HashMap;
use std::task::Poll;

use harn_machine::value::{Dict, Text};
use harn_machine::{
    Answer, Context, Failure, NetRequest, Registry, Request, Value, Waiting, argument, thrown,
};

use crate::expect::{int_or, text, text_or};
use crate::json;
use crate::tasks::milliseconds;
use crate::transport::client::websocket::{SocketLimits, adopt};
use crate::transport::handles::{handle, new_handle};

/// The kind of effects that are for servers.
pub const EFFECT: &str = "web_server";

/// So many servers may be open at a time.
const SERVERS_MAX: usize = 16;

/// How long `websocket_accept` waits unless it is told.
const ACCEPT_MS: i64 = 30_000;

/// What sockets may do unless the program says otherwise.
const MESSAGES_MAX: i64 = 10_000;
const MESSAGE_BYTES_MAX: i64 = 1 << 20;
const SEND_BUFFER_MESSAGES: i64 = 64;
const IDLE_MS: i64 = 30_000;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("websocket_route", websocket_route),
        ("websocket_server", websocket_server),
        ("websocket_server_close", websocket_server_close),
    ]);
    registry.waiting(&[("websocket_accept", websocket_accept)]);
}

/// The servers of a run.
#[derive(Default)]
struct Servers(HashMap<Text, Server>);

struct Server {
    /// What it is called outside.
    number: i64,
    url: String,
    /// What the sockets of each path may receive.
    limits: HashMap<String, SocketLimits>,
}

/// Closes them all.
pub(super) fn clear(context: &mut Context<'_>) {
    let servers = std::mem::take(&mut context.state::<Servers>().0);
    for server in servers.into_values() {
        let request = request([("do", "close".into()), ("server", server.number.into())]);
        context.perform(&request);
    }
}

fn request<const N: usize>(fields: [(&str, Value); N]) -> Request {
    let mut payload = String::new();
    json::write(&Value::dict(fields), &mut payload);
    Request::Other {
        kind: EFFECT,
        payload,
    }
}

fn answered(builtin: &str, answer: Answer) -> Result<Value, Failure> {
    match answer {
        Answer::Text(Some(text)) => match json::parse(&text) {
            Ok(answer) => Ok(answer),
            Err(reason) => thrown(format!("{builtin}: failed: {reason}")),
        },
        Answer::Failed(failure) => thrown(format!("{builtin}: failed: {}", failure.message)),
        _ => thrown(format!("{builtin}: failed")),
    }
}

fn server<'a>(
    builtin: &str,
    context: &'a mut Context<'_>,
    arguments: &[Value],
) -> Result<&'a mut Server, Failure> {
    let id = handle(builtin, arguments)?;
    match context.state::<Servers>().0.get_mut(&id) {
        Some(server) => Ok(server),
        None => thrown(format!("{builtin}: unknown server '{id}'")),
    }
}

fn options(arguments: &[Value], at: usize) -> Dict {
    match argument(arguments, at) {
        Value::Dict(options) => options.clone(),
        _ => Dict::default(),
    }
}

fn field(answer: &Value, name: &str) -> Value {
    match answer {
        Value::Dict(fields) => fields.get(name).cloned().into(),
        _ => Value::Nil,
    }
}

/// `websocket_server(address = "127.0.0.1:0", options?)`
fn websocket_server(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let builtin = "websocket_server";
    if context.state::<Servers>().0.len() >= SERVERS_MAX {
        return thrown(format!(
            "{builtin}: maximum open servers ({SERVERS_MAX}) reached"
        ));
    }
    let address = text_or(arguments, 0, "127.0.0.1:0");
    let listen = request([("do", "listen".into()), ("address", address.into())]);
    let answer = context.perform(&listen);
    let opened = answered(builtin, answer)?;
    let number = int_or(&[field(&opened, "server")], 0, 0);
    let address = field(&opened, "address").to_text();
    let id = new_handle(context, "websocket-server");
    let url = format!("ws://{address}");
    let server = Server {
        number,
        url: url.clone(),
        limits: HashMap::new(),
    };
    context.state::<Servers>().0.insert(id.clone(), server);
    let options = options(arguments, 1);
    let path = match options.get("path") {
        None | Some(Value::Nil) => Text::new("/"),
        Some(path) => path.to_text(),
    };
    let handle = [Value::Text(id.clone())];
    add_route(builtin, context, &handle, &path, &options)?;
    Ok(Value::dict([
        ("id", id.into()),
        ("url", url.into()),
        ("addr", address.into()),
    ]))
}

/// `websocket_route(server, path, options?)`
fn websocket_route(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let path = text(arguments, 1);
    let options = options(arguments, 2);
    add_route("websocket_route", context, arguments, &path, &options)?;
    Ok(true.into())
}

fn add_route(
    builtin: &str,
    context: &mut Context<'_>,
    handle: &[Value],
    path: &str,
    options: &Dict,
) -> Result<(), Failure> {
    let server = server(builtin, context, handle)?;
    let number = |name: &str, fallback: i64| {
        let given = options.get(name).and_then(milliseconds);
        given.unwrap_or(fallback).max(0)
    };
    let bearer = match options.get("auth") {
        Some(Value::Dict(auth)) => auth.get("bearer").map(Value::to_text),
        _ => None,
    };
    let route = request([
        ("do", "route".into()),
        ("server", server.number.into()),
        ("path", path.into()),
        ("bearer", bearer.into()),
        (
            "message_bytes_max",
            number("max_message_bytes", MESSAGE_BYTES_MAX).into(),
        ),
        (
            "outgoing_max",
            number("send_buffer_messages", SEND_BUFFER_MESSAGES).into(),
        ),
        ("idle_ms", number("idle_timeout_ms", IDLE_MS).into()),
    ]);
    let message_bytes_max = number("max_message_bytes", MESSAGE_BYTES_MAX);
    let limits = SocketLimits {
        messages_max: number("max_messages", MESSAGES_MAX),
        message_bytes_max: usize::try_from(message_bytes_max).unwrap_or(usize::MAX),
    };
    server.limits.insert(path.to_owned(), limits);
    let answer = context.perform(&route);
    answered(builtin, answer).map(|_| ())
}

/// `websocket_accept(server, timeout = 30000)`
fn websocket_accept(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let builtin = "websocket_accept";
    let number = match server(builtin, context, arguments) {
        Ok(server) => server.number,
        // It was closed meanwhile, so nobody comes any more.
        Err(_) if waiting.is_resumed() => {
            waiting.give_up(context);
            return Ok(Poll::Ready(Value::Nil));
        }
        Err(unknown) => return Err(unknown),
    };
    let timeout = milliseconds(argument(arguments, 1)).unwrap_or(ACCEPT_MS);
    waiting.stops_at_once = true;
    let accept = || {
        request([
            ("do", "accept".into()),
            ("server", number.into()),
            ("timeout_ms", timeout.max(0).into()),
        ])
    };
    let Some(answer) = waiting.effect(context, accept) else {
        return Ok(Poll::Pending);
    };
    let accepted = answered(builtin, answer)?;
    if accepted.is_nil() {
        return Ok(Poll::Ready(Value::dict([("type", "timeout".into())])));
    }
    adopted(builtin, context, arguments, &accepted).map(Poll::Ready)
}

/// A socket that somebody else has opened, as one of the program.
fn adopted(
    builtin: &str,
    context: &mut Context<'_>,
    arguments: &[Value],
    accepted: &Value,
) -> Result<Value, Failure> {
    let path = field(accepted, "path").to_text();
    let server = server(builtin, context, arguments)?;
    let url = Text::from(format!("{}{path}", server.url));
    let limits = server.limits.get(path.as_str()).copied();
    let limits = limits.unwrap_or(SocketLimits {
        messages_max: MESSAGES_MAX,
        message_bytes_max: 0,
    });
    let number = int_or(&[field(accepted, "socket")], 0, 0).unsigned_abs();
    let id = match adopt(context, builtin, url, number, limits) {
        Ok(id) => id,
        Err(too_many) => {
            context.perform(&Request::Net(NetRequest::CloseSocket(number)));
            return Err(too_many);
        }
    };
    Ok(Value::dict([
        ("id", id.into()),
        ("path", path.into()),
        ("peer", field(accepted, "peer")),
        ("headers", field(accepted, "headers")),
    ]))
}

/// `websocket_server_close(server)`: whether it was open.
fn websocket_server_close(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let builtin = "websocket_server_close";
    let id = handle(builtin, arguments)?;
    let Some(server) = context.state::<Servers>().0.remove(&id) else {
        return Ok(false.into());
    };
    let close = request([("do", "close".into()), ("server", server.number.into())]);
    let answer = context.perform(&close);
    answered(builtin, answer)
}
