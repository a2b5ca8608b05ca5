//! Web sockets, whether a program opened them or accepted them.

mod connect;
mod message;
mod table;

use std::task::Poll;

use harn_machine::value::{Dict, Text};
use harn_machine::{
    Answer, Context, Failure, NetAnswer, NetFailureKind, NetRequest, Registry, Request,
    SocketMessage, Value, Waiting, argument, thrown,
};

use super::calls::{self, Call};
use crate::expect::text;
use crate::http::mock::Pattern;
use crate::tasks::patience;
use crate::transport::handles::handle;
use message::{described, length, listed, message};
use table::{Mock, Source, Table};

pub(crate) use table::{SocketLimits, adopt};

/// How long somebody waits who does not say.
const PATIENCE_MS: i64 = 30_000;

type Polled = Result<Poll<Value>, Failure>;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[("websocket_mock", websocket_mock)]);
    registry.waiting(&[
        ("websocket_close", websocket_close),
        ("websocket_connect", connect::websocket_connect),
        ("websocket_receive", websocket_receive),
        ("websocket_send", websocket_send),
    ]);
}

/// `websocket_send(socket, message, options)`: false if it is closed.
fn websocket_send(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Polled {
    let builtin = "websocket_send";
    let handle = handle(builtin, arguments)?;
    let Some(socket) = Table::of(context).find(builtin, &handle)? else {
        return Ok(Poll::Ready(false.into()));
    };
    let empty = Dict::default();
    let options = match arguments.get(2) {
        Some(Value::Dict(options)) => options,
        _ => &empty,
    };
    let what = || message(builtin, argument(arguments, 1), options);
    let number = match &mut socket.source {
        Source::Wire(number) => *number,
        Source::Mock(mock) => {
            let message = what()?;
            mock.echo(&message);
            let url = socket.url.clone();
            note_sent(context, handle, url, &message);
            return Ok(Poll::Ready(true.into()));
        }
    };
    waiting.stops_at_once = true;
    let message = what()?;
    let is_last = matches!(message, SocketMessage::Close(_));
    let sent = waiting.effect(context, || {
        Request::Net(NetRequest::SendMessage {
            socket: number,
            message,
        })
    });
    match sent {
        None => Ok(Poll::Pending),
        Some(Answer::Net(NetAnswer::Sent(is_sent))) => {
            if !is_sent || is_last {
                Table::of(context).stop_sending(&handle);
            }
            Ok(Poll::Ready(is_sent.into()))
        }
        Some(Answer::Net(NetAnswer::Failed(failure))) if failure.kind == NetFailureKind::Full => {
            thrown("websocket_send: send buffer full")
        }
        Some(Answer::Net(NetAnswer::Failed(failure))) => {
            thrown(format!("websocket_send: failed: {}", failure.reason))
        }
        Some(_) => thrown("websocket_send: failed: the world does not know web sockets"),
    }
}

fn note_sent(context: &mut Context<'_>, handle: Text, url: Text, message: &SocketMessage) {
    let call = Call {
        kind: "websocket_send",
        url,
        handle: handle.clone(),
        message: Some(listed(message)),
    };
    calls::note(context, call);
    if matches!(message, SocketMessage::Close(_)) {
        Table::of(context).close(&handle);
    }
}

/// Nobody can use a socket any more.
fn forget(context: &mut Context<'_>, handle: &Text) {
    if let Some(number) = Table::of(context).close(handle) {
        context.perform(&Request::Net(NetRequest::CloseSocket(number)));
    }
}

/// `websocket_receive(socket, timeout)`: nil if it is closed.
fn websocket_receive(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Polled {
    let builtin = "websocket_receive";
    let handle = handle(builtin, arguments)?;
    let Some(socket) = Table::of(context).find(builtin, &handle)? else {
        return Ok(Poll::Ready(Value::Nil));
    };
    let socket = match &mut socket.source {
        Source::Wire(number) => *number,
        Source::Mock(mock) => {
            // Nobody else can send anything, so there is nothing to wait for.
            let answer = match mock.messages.pop_front() {
                Some(message) => NetAnswer::Message(Some(message)),
                None => NetAnswer::Nothing,
            };
            return received(context, &handle, Answer::Net(answer)).map(Poll::Ready);
        }
    };
    waiting.stops_at_once = true;
    let time = patience(argument(arguments, 1)).unwrap_or(PATIENCE_MS);
    let timeout_ms = Some(time.unsigned_abs());
    let answer = waiting.effect(context, || {
        Request::Net(NetRequest::ReceiveMessage { socket, timeout_ms })
    });
    match answer {
        None => Ok(Poll::Pending),
        Some(answer) => received(context, &handle, answer).map(Poll::Ready),
    }
}

/// What arrived, as the program sees it.
fn received(context: &mut Context<'_>, handle: &Text, answer: Answer) -> Result<Value, Failure> {
    let answer = match answer {
        Answer::Net(answer) => answer,
        Answer::Failed(failure) => {
            return thrown(format!("websocket_receive: failed: {}", failure.message));
        }
        _ => return thrown("websocket_receive: failed: the world does not know web sockets"),
    };
    let message = match answer {
        NetAnswer::Nothing => return Ok(Value::dict([("type", "timeout".into())])),
        NetAnswer::Message(Some(message)) => message,
        NetAnswer::Failed(failure) if failure.kind == NetFailureKind::Message => {
            return too_large(context, handle);
        }
        NetAnswer::Failed(failure) => {
            return thrown(format!("websocket_receive: failed: {}", failure.reason));
        }
        _ => {
            forget(context, handle);
            return Ok(Value::Nil);
        }
    };
    let Some(socket) = Table::of(context).find("websocket_receive", handle)? else {
        return Ok(described(message));
    };
    if socket.messages >= socket.limits.messages_max {
        return thrown(format!(
            "websocket_receive: socket '{handle}' exceeded max_messages"
        ));
    }
    if length(&message) > socket.limits.message_bytes_max {
        return too_large(context, handle);
    }
    socket.messages += 1;
    if matches!(message, SocketMessage::Close(_)) {
        forget(context, handle);
    }
    Ok(described(message))
}

/// A message was too large: nothing more comes from the socket, but the program can close it.
fn too_large(context: &mut Context<'_>, handle: &Text) -> Result<Value, Failure> {
    let socket = Table::of(context).find("websocket_receive", handle)?;
    let max = socket.map_or(0, |socket| socket.limits.message_bytes_max);
    if let Some(number) = Table::of(context).refuse(handle) {
        context.perform(&Request::Net(NetRequest::CloseSocket(number)));
    }
    thrown(format!(
        "websocket_receive: message exceeded max_message_bytes ({max})"
    ))
}

/// `websocket_close(socket)`: whether it was open.
fn websocket_close(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Polled {
    let builtin = "websocket_close";
    let handle = handle(builtin, arguments)?;
    if let Some(number) = waiting
        .note
        .as_ref()
        .and_then(|note| note.downcast_ref::<u64>())
    {
        let number = *number;
        let closed = waiting.effect(context, || Request::Net(NetRequest::CloseSocket(number)));
        return Ok(closed.map_or(Poll::Pending, |_| Poll::Ready(true.into())));
    }
    let Some(socket) = Table::of(context).find(builtin, &handle)? else {
        return Ok(Poll::Ready(close_refused(context, handle).into()));
    };
    let url = socket.url.clone();
    let Some(number) = Table::of(context).close(&handle) else {
        note_closed(context, handle, url);
        return Ok(Poll::Ready(true.into()));
    };
    // Saying farewell takes a moment.
    waiting.note = Some(Box::new(number));
    let closed = waiting.effect(context, || Request::Net(NetRequest::CloseSocket(number)));
    Ok(closed.map_or(Poll::Pending, |_| Poll::Ready(true.into())))
}

/// Whether a socket that is closed still waited for the program to close it.
fn close_refused(context: &mut Context<'_>, handle: Text) -> bool {
    let Some(refused) = Table::of(context).close_refused(&handle) else {
        return false;
    };
    if refused.is_mocked {
        note_closed(context, handle, refused.url);
    }
    true
}

fn note_closed(context: &mut Context<'_>, handle: Text, url: Text) {
    let call = Call {
        kind: "websocket_close",
        url,
        handle,
        message: None,
    };
    calls::note(context, call);
}

/// `websocket_mock(pattern, messages)`
fn websocket_mock(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let builtin = "websocket_mock";
    let pattern = text(arguments, 0);
    if pattern.is_empty() || argument(arguments, 0).is_nil() {
        return thrown("websocket_mock: URL pattern is required");
    }
    let (messages, echoes) = match argument(arguments, 1) {
        Value::Dict(mock) => (
            mock.get("messages").cloned().unwrap_or_default(),
            mock.get("echo").is_some_and(Value::is_truthy),
        ),
        messages => (messages.clone(), false),
    };
    let empty = Dict::default();
    let described = |one: &Value| match one {
        Value::Dict(fields) => {
            let data = fields.get("data").cloned().unwrap_or_default();
            message(builtin, &data, fields)
        }
        one => message(builtin, one, &empty),
    };
    let messages = match &messages {
        Value::List(messages) => messages.iter().map(described).collect::<Result<_, _>>()?,
        _ => Default::default(),
    };
    let mock = Mock { messages, echoes };
    Table::of(context).mocks.set(Pattern::new(&pattern), mock);
    Ok(Value::Nil)
}

/// Forgets mocks and closes every socket.
pub(super) fn clear(context: &mut Context<'_>) {
    for number in Table::of(context).clear() {
        context.perform(&Request::Net(NetRequest::CloseSocket(number)));
    }
}
