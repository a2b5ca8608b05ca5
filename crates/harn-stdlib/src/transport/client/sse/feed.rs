//! A stream of events that comes over the network.

use std::task::Poll;

use harn_machine::value::{Dict, Text};
use harn_machine::{
    Answer, Context, Failure, NetAnswer, NetRequest, Request, Value, Waiting, argument, thrown,
};

use super::parser::{Parser, TooLarge};
use super::{Received, Source, State};
use crate::expect::text;
use crate::http::egress::check_outgoing;
use crate::http::header;
use crate::http::options::Options;
use crate::http::redirect::followed;
use crate::http::reply::Head;
use crate::http::request::{Asked, Prepared};
use crate::http::sessions;
use crate::tasks::patience;

const BUILTIN: &str = "sse_connect";

/// How much is read at once.
const PIECE_BYTES_MAX: usize = 64 << 10;

/// How long somebody waits who does not say.
const PATIENCE_MS: i64 = 30_000;

/// A stream of events that comes over the network.
pub(super) struct Feed {
    request: Prepared,
    options: Options,
    hops: i64,
    /// What the network calls it.
    stream: u64,
    is_open: bool,
    is_over: bool,
    parser: Parser,
}

/// The request that arguments describe.
pub(super) fn request(
    context: &mut Context<'_>,
    arguments: &[Value],
    options: &Dict,
) -> Result<Prepared, Failure> {
    let given = |at: usize| match argument(arguments, at) {
        Value::Nil => Text::new(""),
        _ => text(arguments, at),
    };
    let (method, url) = (given(0), given(1));
    if url.is_empty() {
        return thrown("sse_connect: URL is required");
    }
    let (options, _) = sessions::of_options(context, BUILTIN, options)?;
    Prepared::of(
        context,
        &Asked {
            builtin: BUILTIN,
            method: if method.is_empty() { "GET" } else { &method },
            url: &url,
            body: None,
            options: &options,
        },
    )
}

impl Feed {
    /// Begins to connect.
    pub(super) fn open(
        context: &mut Context<'_>,
        mut request: Prepared,
        options: &Dict,
        bytes_max: usize,
    ) -> Result<Self, Failure> {
        Prepared::check_scheme(BUILTIN, &request.url)?;
        check_outgoing(context, BUILTIN, &request.url)?;
        let (options, session) = sessions::of_options(context, BUILTIN, options)?;
        let options = Options::of(context, &options, session);
        if header::find(&request.headers, "accept").is_none() {
            header::set(&mut request.headers, "accept", "text/event-stream")?;
        }
        let stream = connect(context, &request, &options)?;
        Ok(Self {
            request,
            options,
            hops: 0,
            stream,
            is_open: false,
            is_over: false,
            parser: Parser::new(bytes_max),
        })
    }

    pub(super) fn close(&self, context: &mut Context<'_>) {
        context.perform(&Request::Net(NetRequest::Close(self.stream)));
    }

    /// What is to be waited for next.
    fn next_request(&self, timeout_ms: u64) -> Request {
        let (stream, timeout_ms) = (self.stream, Some(timeout_ms));
        Request::Net(match self.is_open {
            false => NetRequest::Head { stream, timeout_ms },
            true => NetRequest::Read {
                stream,
                bytes_max: PIECE_BYTES_MAX,
                timeout_ms,
            },
        })
    }

    /// Whether an answer is a stream of events.
    fn check(&self, head: &Head) -> Result<(), String> {
        if head.status != 200 {
            return Err(format!("unexpected status {}", head.status));
        }
        let kind = head.header("content-type").unwrap_or_else(|| Text::new(""));
        let kind = kind.split(';').next().unwrap_or_default().trim();
        match kind.eq_ignore_ascii_case("text/event-stream") {
            true => Ok(()),
            false => Err(format!("unexpected content type '{kind}'")),
        }
    }
}

/// Begins to connect without waiting for it.
fn connect(
    context: &mut Context<'_>,
    request: &Prepared,
    options: &Options,
) -> Result<u64, Failure> {
    // Events may come for as long as somebody listens, so the time ends with the head.
    let request = request.wire(options, Some(options.timeout_ms));
    let opened = context.perform(&Request::Net(NetRequest::OpenLater(request)));
    let reason = match opened {
        Answer::Net(NetAnswer::Opened { stream, .. }) => return Ok(stream),
        Answer::Net(NetAnswer::Failed(failure)) => failure.reason,
        Answer::Failed(failure) => failure.message,
        _ => "the world does not know HTTP".to_owned(),
    };
    thrown(format!("sse_connect: failed to create stream: {reason}"))
}

fn broken<T>(reason: &str) -> Result<T, Failure> {
    thrown(format!("sse_receive: stream error: {reason}"))
}

/// Waits for what comes next.
pub(super) fn receive(
    context: &mut Context<'_>,
    waiting: &mut Waiting,
    handle: &Text,
    time: &Value,
) -> Result<Poll<Received>, Failure> {
    let now = context.elapsed();
    let known = waiting.note.take().and_then(|note| note.downcast().ok());
    let until: Box<i64> = known.unwrap_or_else(|| {
        let time = patience(time).unwrap_or(PATIENCE_MS);
        Box::new(now.saturating_add(time))
    });
    let left = u64::try_from(until.saturating_sub(now)).unwrap_or(0);
    loop {
        let Some(feed) = feed(context, handle) else {
            return Ok(Poll::Ready(Received::End));
        };
        if feed.is_open {
            match feed.parser.next() {
                Ok(Some(event)) => return Ok(Poll::Ready(Received::Event(event))),
                Ok(None) if feed.is_over => return Ok(Poll::Ready(Received::End)),
                Ok(None) => {}
                Err(TooLarge) => return give_up(context, handle, None),
            }
        }
        let request = feed.next_request(left);
        let Some(answer) = waiting.effect(context, || request) else {
            waiting.note = Some(until);
            return Ok(Poll::Pending);
        };
        if let Some(received) = take(context, handle, answer)? {
            return Ok(Poll::Ready(received));
        }
    }
}

fn feed<'a>(context: &'a mut Context<'_>, handle: &Text) -> Option<&'a mut Feed> {
    match &mut context.state::<State>().open.get_mut(handle)?.source {
        Source::Wire(feed) => Some(feed),
        Source::Mock(_) => None,
    }
}

/// Takes an answer of the network. Gives what the program is to know at once.
fn take(
    context: &mut Context<'_>,
    handle: &Text,
    answer: Answer,
) -> Result<Option<Received>, Failure> {
    let Some(feed) = feed(context, handle) else {
        return Ok(Some(Received::End));
    };
    match answer {
        Answer::Net(NetAnswer::Nothing) => Ok(Some(Received::Timeout)),
        Answer::Net(NetAnswer::Piece(piece)) => {
            match piece {
                Some(piece) => feed.parser.push(&piece),
                None => feed.is_over = true,
            }
            Ok(None)
        }
        Answer::Net(NetAnswer::Opened { head, .. }) => arrived(context, handle, &head.into()),
        Answer::Net(NetAnswer::Failed(failure)) => give_up(context, handle, Some(failure.reason)),
        _ => give_up(
            context,
            handle,
            Some("the world does not know HTTP".to_owned()),
        ),
    }
}

/// The head of an answer has arrived: it is the stream, a redirect, or something else.
fn arrived(
    context: &mut Context<'_>,
    handle: &Text,
    head: &Head,
) -> Result<Option<Received>, Failure> {
    let Some(feed) = feed(context, handle) else {
        return Ok(Some(Received::End));
    };
    let next = match feed.options.redirects_max {
        Some(max) if feed.hops < max => followed(&feed.request, head),
        _ => None,
    };
    let Some(next) = next else {
        return match feed.check(head) {
            Ok(()) => {
                feed.is_open = true;
                Ok(Some(Received::Open))
            }
            Err(reason) => give_up(context, handle, Some(reason)),
        };
    };
    let (before, options) = (feed.stream, feed.options.clone());
    context.perform(&Request::Net(NetRequest::Close(before)));
    Prepared::check_scheme(BUILTIN, &next.url)?;
    check_outgoing(context, BUILTIN, &next.url)?;
    let stream = connect(context, &next, &options)?;
    if let Some(feed) = self::feed(context, handle) {
        feed.hops += 1;
        feed.request = next;
        feed.stream = stream;
    }
    Ok(None)
}

/// Nothing more will come, because something broke or, without a reason, is too large.
fn give_up<T>(
    context: &mut Context<'_>,
    handle: &Text,
    reason: Option<String>,
) -> Result<T, Failure> {
    let mut bytes_max = 0;
    if let Some(stream) = context.state::<State>().open.get_mut(handle) {
        bytes_max = stream.bytes_max;
    }
    if let Some(feed) = feed(context, handle) {
        feed.is_open = true;
        feed.is_over = true;
        feed.parser = Parser::new(bytes_max);
        let stream = feed.stream;
        context.perform(&Request::Net(NetRequest::Close(stream)));
    }
    match reason {
        Some(reason) => broken(&reason),
        None => super::too_large(bytes_max),
    }
}
