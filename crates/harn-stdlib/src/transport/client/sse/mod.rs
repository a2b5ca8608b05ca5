//! Streams of events.

mod feed;
mod parser;

use std::collections::{BTreeMap, VecDeque};
use std::task::Poll;

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Registry, Value, Waiting, argument, thrown};

use super::calls::{self, Call};
use super::mocked::Mocked;
use crate::expect::text;
use crate::http::mock::Pattern;
use crate::http::options::number;
use crate::transport::handles::{handle, new_handle};
use feed::Feed;
use parser::Event;

/// How many streams may be open.
const STREAMS_MAX: usize = 64;

const EVENTS_MAX: i64 = 10_000;
const MESSAGE_BYTES_MAX: i64 = 1 << 20;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("sse_close", sse_close),
        ("sse_connect", sse_connect),
        ("sse_mock", sse_mock),
    ]);
    registry.waiting(&[("sse_receive", sse_receive)]);
}

/// The streams of a run, and what stands for servers.
#[derive(Default)]
struct State {
    open: BTreeMap<Text, Stream>,
    mocks: Mocked<Vec<Event>>,
}

struct Stream {
    source: Source,
    /// Whether the program was told that it is open.
    is_told: bool,
    /// How many events the program has got.
    events: i64,
    events_max: i64,
    bytes_max: usize,
}

enum Source {
    Mock(VecDeque<Event>),
    Wire(Box<Feed>),
}

/// `sse_connect(method, url, options)`: the connection is made meanwhile.
fn sse_connect(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if context.state::<State>().open.len() >= STREAMS_MAX {
        return thrown(format!(
            "sse_connect: maximum open streams ({STREAMS_MAX}) reached"
        ));
    }
    let options = match argument(arguments, 2) {
        Value::Dict(options) => options.clone(),
        _ => Dict::default(),
    };
    let request = feed::request(context, arguments, &options)?;
    let limit = |name: &str, usual: i64| number(&options, name).unwrap_or(usual).max(0);
    let bytes_max = limit("max_message_bytes", MESSAGE_BYTES_MAX);
    let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
    let mock = context.state::<State>().mocks.find(&request.url);
    let mock = mock.map(|events| events.iter().cloned().collect());
    let url = Text::from(request.url.clone());
    let is_mocked = mock.is_some();
    let source = match mock {
        Some(events) => Source::Mock(events),
        None => Source::Wire(Box::new(Feed::open(context, request, &options, bytes_max)?)),
    };
    let stream = Stream {
        source,
        is_told: false,
        events: 0,
        events_max: limit("max_events", EVENTS_MAX),
        bytes_max,
    };
    let handle = new_handle(context, "sse");
    context.state::<State>().open.insert(handle.clone(), stream);
    if is_mocked {
        let call = Call {
            kind: "sse_connect",
            url,
            handle: handle.clone(),
            message: None,
        };
        calls::note(context, call);
    }
    Ok(handle.into())
}

/// `sse_receive(stream, timeout)`
fn sse_receive(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let handle = stream_handle("sse_receive", arguments)?;
    let Some(stream) = context.state::<State>().open.get_mut(&handle) else {
        return thrown(format!("sse_receive: unknown stream '{handle}'"));
    };
    let event = match &mut stream.source {
        Source::Mock(_) if !stream.is_told => Some(Received::Open),
        Source::Mock(events) => Some(match events.pop_front() {
            Some(event) => Received::Event(event),
            None => Received::End,
        }),
        Source::Wire(_) => None,
    };
    let received = match event {
        Some(event) => event,
        None => {
            waiting.stops_at_once = true;
            let patience = argument(arguments, 1);
            match feed::receive(context, waiting, &handle, patience)? {
                Poll::Pending => return Ok(Poll::Pending),
                Poll::Ready(received) => received,
            }
        }
    };
    match context.state::<State>().open.get_mut(&handle) {
        Some(stream) => stream.told(&handle, received).map(Poll::Ready),
        None => Ok(Poll::Ready(Value::Nil)),
    }
}

/// What arrived.
enum Received {
    Open,
    Event(Event),
    Timeout,
    End,
}

impl Stream {
    /// Tells the program what arrived.
    fn told(&mut self, handle: &Text, received: Received) -> Result<Value, Failure> {
        let only = |kind: &str| Value::dict([("type", kind.into())]);
        let event = match received {
            Received::Open => {
                self.is_told = true;
                return Ok(only("open"));
            }
            Received::Timeout => return Ok(only("timeout")),
            Received::End => return Ok(Value::Nil),
            Received::Event(event) => event,
        };
        if self.events >= self.events_max {
            return thrown(format!(
                "sse_receive: stream '{handle}' exceeded max_events"
            ));
        }
        if event.data.len() > self.bytes_max {
            return too_large(self.bytes_max);
        }
        self.events += 1;
        let name = event.event.as_deref().unwrap_or("message");
        Ok(Value::dict([
            ("type", "event".into()),
            ("event", name.into()),
            ("data", event.data.into()),
            ("id", event.id.into()),
            ("retry_ms", event.retry_ms.into()),
        ]))
    }
}

fn too_large<T>(bytes_max: usize) -> Result<T, Failure> {
    thrown(format!(
        "sse_receive: message exceeded max_message_bytes ({bytes_max})"
    ))
}

fn stream_handle(builtin: &str, arguments: &[Value]) -> Result<Text, Failure> {
    match arguments.is_empty() {
        true => thrown(format!("{builtin}: requires a stream handle")),
        false => handle(builtin, arguments),
    }
}

/// `sse_close(stream)`: whether it was open.
fn sse_close(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let handle = stream_handle("sse_close", arguments)?;
    let stream = context.state::<State>().open.remove(&handle);
    let is_open = stream.is_some();
    if let Some(Stream {
        source: Source::Wire(feed),
        ..
    }) = stream
    {
        feed.close(context);
    }
    Ok(is_open.into())
}

/// `sse_mock(pattern, events)`
fn sse_mock(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let pattern = text(arguments, 0);
    if pattern.is_empty() || argument(arguments, 0).is_nil() {
        return thrown("sse_mock: URL pattern is required");
    }
    let events = match argument(arguments, 1) {
        Value::Dict(mock) => mock.get("events").cloned().unwrap_or_default(),
        events => events.clone(),
    };
    let events = match &events {
        Value::List(events) => events.iter().map(mocked).collect(),
        _ => Vec::new(),
    };
    let mocks = &mut context.state::<State>().mocks;
    mocks.set(Pattern::new(&pattern), events);
    Ok(Value::Nil)
}

/// An event as a mock describes it.
fn mocked(described: &Value) -> Event {
    let Value::Dict(fields) = described else {
        return Event {
            data: described.to_text().to_string(),
            ..Event::default()
        };
    };
    let shown = |name: &str| {
        let value = fields.get(name).filter(|value| !value.is_nil())?;
        Some(value.to_text().to_string())
    };
    Event {
        event: shown("event").or_else(|| shown("type")),
        data: shown("data").unwrap_or_default(),
        id: shown("id"),
        retry_ms: number(fields, "retry_ms"),
    }
}

/// Forgets mocks and closes every stream.
pub(super) fn clear(context: &mut Context<'_>) {
    let state = context.state::<State>();
    state.mocks.clear();
    for stream in std::mem::take(&mut state.open).into_values() {
        if let Source::Wire(feed) = stream.source {
            feed.close(context);
        }
    }
}
