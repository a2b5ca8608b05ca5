//! Opening a web socket.

use std::task::Poll;

use harn_machine::value::{Dict, Text};
use harn_machine::{
    Answer, Context, Failure, NetAnswer, NetFailureKind, NetRequest, Request, SocketRequest, Value,
    Waiting, argument, thrown,
};

use super::table::{SocketLimits, Source, Table, adopt};
use crate::expect::text;
use crate::http::egress::check_outgoing;
use crate::http::header::{headers, shown};
use crate::http::options::{number, proxy, tls};
use crate::tasks::milliseconds;
use crate::transport::client::calls::{self, Call};
use crate::transport::handles::new_handle;

const BUILTIN: &str = "websocket_connect";
const TIMEOUT_MS: u64 = 30_000;
const MESSAGES_MAX: i64 = 10_000;
const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// `websocket_connect(url, options)`
pub(super) fn websocket_connect(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let url = match argument(arguments, 0) {
        Value::Nil => Text::new(""),
        _ => text(arguments, 0),
    };
    let options = match argument(arguments, 1) {
        Value::Dict(options) => options.clone(),
        _ => Dict::default(),
    };
    let limits = limits(&options);
    let timeout_ms = timeout_ms(&options);
    if !waiting.is_resumed() {
        if url.is_empty() {
            return thrown("websocket_connect: URL is required");
        }
        Table::of(context).check_room(BUILTIN)?;
        if let Some(handle) = mocked(context, &url, limits) {
            return Ok(Poll::Ready(handle.into()));
        }
        check(context, &url)?;
    }
    let request = SocketRequest {
        url: url.to_string(),
        headers: headers(&with_bearer(&options))?,
        timeout_ms,
        message_bytes_max: limits.message_bytes_max,
        proxy: proxy(&options),
        tls: tls(context, &options),
    };
    waiting.stops_at_once = true;
    let opened = waiting.effect(context, || {
        Request::Net(NetRequest::ConnectSocket(Box::new(request)))
    });
    let reason = match opened {
        None => return Ok(Poll::Pending),
        Some(Answer::Net(NetAnswer::Connected(number))) => {
            let handle = adopted(context, url, number, limits)?;
            return Ok(Poll::Ready(handle.into()));
        }
        Some(Answer::Net(NetAnswer::Failed(failure))) => match failure.kind {
            NetFailureKind::Timeout => {
                return thrown(format!("websocket_connect: timed out after {timeout_ms}ms"));
            }
            _ => failure.reason,
        },
        Some(Answer::Failed(failure)) => failure.message,
        Some(_) => "the world does not know web sockets".to_owned(),
    };
    thrown(format!("websocket_connect: failed: {reason}"))
}

/// Others may have opened theirs meanwhile.
fn adopted(
    context: &mut Context<'_>,
    url: Text,
    number: u64,
    limits: SocketLimits,
) -> Result<Text, Failure> {
    let adopted = adopt(context, BUILTIN, url, number, limits);
    if adopted.is_err() {
        context.perform(&Request::Net(NetRequest::CloseSocket(number)));
    }
    adopted
}

/// A socket to what stands for a server, if something does.
fn mocked(context: &mut Context<'_>, url: &Text, limits: SocketLimits) -> Option<Text> {
    let mock = Table::of(context).mocks.find(url)?.clone();
    let handle = new_handle(context, "websocket");
    let table = Table::of(context);
    table.add(handle.clone(), url.clone(), Source::Mock(mock), limits);
    let call = Call {
        kind: "websocket_connect",
        url: url.clone(),
        handle: handle.clone(),
        message: None,
    };
    calls::note(context, call);
    Some(handle)
}

fn check(context: &mut Context<'_>, url: &str) -> Result<(), Failure> {
    match url.split_once("://").map(|(scheme, _)| scheme) {
        Some("ws" | "wss") => check_outgoing(context, BUILTIN, url),
        _ => thrown(format!(
            "websocket_connect: URL must start with ws:// or wss://, got '{url}'"
        )),
    }
}

fn limits(options: &Dict) -> SocketLimits {
    let bytes = number(options, "max_message_bytes").map(|max| usize::try_from(max).unwrap_or(0));
    SocketLimits {
        messages_max: number(options, "max_messages").unwrap_or(MESSAGES_MAX),
        message_bytes_max: bytes.unwrap_or(MESSAGE_BYTES_MAX),
    }
}

fn timeout_ms(options: &Dict) -> u64 {
    let given = options.get("timeout_ms").or_else(|| options.get("timeout"));
    let given = given.and_then(milliseconds);
    given.map_or(TIMEOUT_MS, |time| u64::try_from(time).unwrap_or(0))
}

/// Options in which `auth`, if it is only a token, says that it is one.
fn with_bearer(options: &Dict) -> Dict {
    let mut options = options.clone();
    let token = shown(&options, "auth");
    if matches!(options.get("auth"), Some(Value::Text(_))) && !token.contains(' ') {
        let bearer = Value::dict([("bearer", token.into())]);
        options.insert(Text::new("auth"), bearer);
    }
    options
}
