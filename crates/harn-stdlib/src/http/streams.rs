//! Answers that are read in pieces.

use std::collections::BTreeMap;
use std::task::Poll;

use harn_machine::value::{Bytes, Text};
use harn_machine::{
    Answer, Context, Failure, NetAnswer, NetRequest, Registry, Request, Value, Waiting, argument,
    thrown,
};

use super::header::shown;
use super::journey::{Arrived, Goal, Journey, options, travel};
use super::reply::Head;
use super::request::Asked;
use super::requests::required_url;
use crate::expect::{count, int_or};
use crate::transport::handles::{handle, new_handle};

/// How many streams may be open.
const STREAMS_MAX: usize = 64;

/// How much is read at once unless it is said.
const PIECE_BYTES: i64 = 1 << 20;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("http_stream_close", http_stream_close),
        ("http_stream_info", http_stream_info),
    ]);
    registry.waiting(&[
        ("http_stream_open", http_stream_open),
        ("http_stream_read", http_stream_read),
    ]);
}

/// The open streams of a run, by their handles.
#[derive(Default)]
struct Streams(BTreeMap<Text, Stream>);

struct Stream {
    head: Head,
    source: Source,
    /// How long a piece may take.
    patience_ms: u64,
}

enum Source {
    /// The body of a mock, and how much of it was read.
    Mock { body: Text, read: usize },
    /// A stream of the network.
    Wire(u64),
}

/// `http_stream_open(url, options)`
fn http_stream_open(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let arrived = travel(context, waiting, |context| {
        check_room(context)?;
        opening(
            context,
            "http_stream_open",
            arguments,
            argument(arguments, 1),
        )
    })?;
    let Poll::Ready((journey, arrived)) = arrived else {
        return Ok(Poll::Pending);
    };
    let options = &journey.options;
    let stream = Stream {
        head: arrived.head().clone(),
        patience_ms: options.read_timeout_ms.unwrap_or(options.timeout_ms),
        source: match arrived {
            Arrived::Whole(reply) => Source::Mock {
                body: reply.body,
                read: 0,
            },
            Arrived::Opened { stream, .. } => Source::Wire(stream),
        },
    };
    // Others may have opened theirs meanwhile.
    if let Err(failure) = check_room(context) {
        close(context, &stream);
        return Err(failure);
    }
    let handle = new_handle(context, "http-stream");
    context.state::<Streams>().0.insert(handle.clone(), stream);
    Ok(Poll::Ready(handle.into()))
}

/// The journey of a builtin whose method is an option.
pub(super) fn opening(
    context: &mut Context<'_>,
    builtin: &'static str,
    arguments: &[Value],
    given: &Value,
) -> Result<Journey, Failure> {
    let url = required_url(builtin, arguments, 0)?;
    let options = options(given);
    let method = match shown(&options, "method") {
        method if method.is_empty() => "GET".to_owned(),
        method => method,
    };
    Journey::new(
        context,
        Goal::Stream,
        &Asked {
            builtin,
            method: &method,
            url: &url,
            body: None,
            options: &options,
        },
    )
}

fn check_room(context: &mut Context<'_>) -> Result<(), Failure> {
    match context.state::<Streams>().0.len() < STREAMS_MAX {
        true => Ok(()),
        false => thrown(format!(
            "http_stream_open: maximum open streams ({STREAMS_MAX}) reached"
        )),
    }
}

/// `http_stream_read(stream, max_bytes)`
fn http_stream_read(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let bytes_max = count(int_or(arguments, 1, PIECE_BYTES)).max(1);
    let stream = known(context, "http_stream_read", arguments)?;
    let patience_ms = stream.patience_ms;
    let stream = match &mut stream.source {
        Source::Mock { body, read } => {
            let left = &body.as_bytes()[*read..];
            let piece = &left[..left.len().min(bytes_max)];
            *read += piece.len();
            let piece = (!piece.is_empty()).then(|| piece.to_vec());
            return Ok(Poll::Ready(bytes(piece)));
        }
        Source::Wire(stream) => *stream,
    };
    waiting.stops_at_once = true;
    let answer = waiting.effect(context, || {
        Request::Net(NetRequest::Read {
            stream,
            bytes_max,
            timeout_ms: Some(patience_ms),
        })
    });
    let reason = match answer {
        None => return Ok(Poll::Pending),
        Some(Answer::Net(NetAnswer::Piece(piece))) => return Ok(Poll::Ready(bytes(piece))),
        Some(Answer::Net(NetAnswer::Failed(failure))) => failure.reason,
        Some(_) => format!("timed out after {patience_ms}ms"),
    };
    thrown(format!(
        "http_stream_read: failed to read response body: {reason}"
    ))
}

fn bytes(piece: Option<Vec<u8>>) -> Value {
    piece.map_or(Value::Nil, |piece| Value::Bytes(Bytes::from(piece)))
}

fn known<'a>(
    context: &'a mut Context<'_>,
    builtin: &str,
    arguments: &[Value],
) -> Result<&'a mut Stream, Failure> {
    let handle = handle(builtin, arguments)?;
    match context.state::<Streams>().0.get_mut(&handle) {
        Some(stream) => Ok(stream),
        None => thrown(format!("{builtin}: unknown stream '{handle}'")),
    }
}

/// `http_stream_info(stream)`
fn http_stream_info(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let stream = known(context, "http_stream_info", arguments)?;
    Ok(stream.head.clone().described([]))
}

/// `http_stream_close(stream)`: whether it was open.
fn http_stream_close(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let handle = handle("http_stream_close", arguments)?;
    let stream = context.state::<Streams>().0.remove(&handle);
    if let Some(stream) = &stream {
        close(context, stream);
    }
    Ok(stream.is_some().into())
}

fn close(context: &mut Context<'_>, stream: &Stream) {
    if let Source::Wire(stream) = stream.source {
        context.perform(&Request::Net(NetRequest::Close(stream)));
    }
}

/// Closes every stream.
pub(crate) fn close_all(context: &mut Context<'_>) {
    for stream in std::mem::take(&mut context.state::<Streams>().0).values() {
        close(context, stream);
    }
}
