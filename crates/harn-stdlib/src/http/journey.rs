//! The way of a request to its answer.
//!
//! ```text
//!            ┌────────────── wait ◄─────────────┐
//!            ▼                                  │ worth another attempt
//!        begin attempt ─► mock? ───────────────►┤
//!            │ no                               ├─► arrived, or failed
//!            ▼                                  │
//!    ┌► may it go there? ─► send ─► answer ────►┘
//!    └───────────── redirect ────────┘
//! ```

use std::task::Poll;

use harn_machine::{
    Answer, Context, Failure, NetAnswer, NetFailure, NetFailureKind, NetRequest, Request, Value,
    Waiting, thrown,
};

use super::egress::check_outgoing;
use super::mock;
use super::options::Options;
use super::redirect::followed;
use super::reply::{Head, Reply};
use super::request::{Asked, Prepared};
use super::sessions;
use crate::dates::clock::advance;

/// What a builtin wants of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// All of it, in memory.
    Whole,
    /// What stands before the body, which is read later.
    Stream,
}

/// What came of a request.
#[derive(Debug)]
pub(super) enum Arrived {
    /// The whole answer, of a mock or a server.
    Whole(Reply),
    /// An answer whose body is still to be read.
    Opened { stream: u64, head: Head },
}

/// A request on its way.
pub(super) struct Journey {
    builtin: &'static str,
    goal: Goal,
    request: Prepared,
    pub(super) options: Options,
    /// Where redirects have led in this attempt.
    redirected: Option<Prepared>,
    hops: i64,
    /// How many attempts were begun.
    attempts: i64,
    /// When the last one must be over.
    until: i64,
    phase: Phase,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Begin,
    Send,
    Delay,
}

/// What one attempt came to.
enum End {
    Answer(Arrived),
    Failure(NetFailure),
}

impl Journey {
    /// A request that has not begun. Whether it may go to its place at all is found out here
    /// for those who must not see a mock otherwise.
    pub(super) fn new(
        context: &mut Context<'_>,
        goal: Goal,
        asked: &Asked<'_>,
    ) -> Result<Self, Failure> {
        if goal == Goal::Whole {
            Prepared::check_scheme("http", asked.url)?;
        }
        let (options, session) = sessions::of_options(context, asked.builtin, asked.options)?;
        let asked = Asked {
            options: &options,
            body: asked.body.clone(),
            ..*asked
        };
        let request = Prepared::of(context, &asked)?;
        if goal == Goal::Whole {
            check_outgoing(context, asked.builtin, &request.url)?;
        }
        Ok(Self {
            builtin: asked.builtin,
            goal,
            request,
            options: Options::of(context, &options, session),
            redirected: None,
            hops: 0,
            attempts: 0,
            until: 0,
            phase: Phase::Begin,
        })
    }

    /// Who speaks in errors.
    fn prefix(&self) -> &'static str {
        match self.goal {
            Goal::Whole => "http",
            Goal::Stream => self.builtin,
        }
    }

    /// Goes on as far as it gets without waiting.
    pub(super) fn go_on(
        &mut self,
        context: &mut Context<'_>,
        waiting: &mut Waiting,
    ) -> Result<Poll<Arrived>, Failure> {
        loop {
            let end = match self.phase {
                Phase::Begin => self.begin(context)?,
                Phase::Delay if !waiting.is_over(context) => return Ok(Poll::Pending),
                Phase::Delay => {
                    waiting.until = None;
                    self.phase = Phase::Begin;
                    None
                }
                Phase::Send => {
                    let now = context.elapsed();
                    match waiting.effect(context, || self.wire(now)) {
                        None => return Ok(Poll::Pending),
                        Some(answer) => self.answered(context, answer)?,
                    }
                }
            };
            if let Some(end) = end
                && let Some(arrived) = self.ended(context, waiting, end)?
            {
                return Ok(Poll::Ready(arrived));
            }
        }
    }

    /// Begins an attempt. A mock ends it at once.
    fn begin(&mut self, context: &mut Context<'_>) -> Result<Option<End>, Failure> {
        self.attempts += 1;
        self.hops = 0;
        self.redirected = None;
        if let Some(reply) = mock::answer(context, &self.request) {
            return Ok(Some(End::Answer(Arrived::Whole(reply))));
        }
        if self.goal == Goal::Stream {
            Prepared::check_scheme(self.builtin, &self.request.url)?;
            check_outgoing(context, self.builtin, &self.request.url)?;
        }
        let time = i64::try_from(self.options.timeout_ms).unwrap_or(i64::MAX);
        self.until = context.elapsed().saturating_add(time);
        self.phase = Phase::Send;
        Ok(None)
    }

    /// The request of this hop.
    fn hop(&self) -> &Prepared {
        self.redirected.as_ref().unwrap_or(&self.request)
    }

    /// What the network is asked for, in the time that is left after redirects.
    fn wire(&self, now: i64) -> Request {
        let left = u64::try_from(self.until.saturating_sub(now)).unwrap_or(0);
        let request = self.hop().wire(&self.options, Some(left));
        Request::Net(match self.goal {
            Goal::Whole => NetRequest::Exchange(request),
            Goal::Stream => NetRequest::Open(request),
        })
    }

    fn answered(
        &mut self,
        context: &mut Context<'_>,
        answer: Answer,
    ) -> Result<Option<End>, Failure> {
        let arrived = match answer {
            Answer::Net(NetAnswer::Response(head, body)) => {
                Arrived::Whole(Reply::received(head, body))
            }
            Answer::Net(NetAnswer::Opened { stream, head }) => Arrived::Opened {
                stream,
                head: head.into(),
            },
            Answer::Net(NetAnswer::Failed(failure)) => return Ok(Some(End::Failure(failure))),
            Answer::Failed(failure) => return self.failed(&failure.message),
            _ => return self.failed("the world does not know HTTP"),
        };
        let next = match self.options.redirects_max {
            Some(_) => followed(self.hop(), arrived.head()),
            None => None,
        };
        match next {
            None => Ok(Some(End::Answer(arrived))),
            Some(next) => {
                arrived.drop_body(context);
                self.redirect(context, next).map(|()| None)
            }
        }
    }

    fn redirect(&mut self, context: &mut Context<'_>, next: Prepared) -> Result<(), Failure> {
        let max = self.options.redirects_max.unwrap_or(0);
        if self.hops >= max {
            return self.failed("too many redirects");
        }
        Prepared::check_scheme(self.prefix(), &next.url)?;
        check_outgoing(context, self.builtin, &next.url)?;
        self.hops += 1;
        self.redirected = Some(next);
        Ok(())
    }

    fn failed<T>(&self, reason: &str) -> Result<T, Failure> {
        thrown(format!("{}: request failed: {reason}", self.prefix()))
    }

    /// What an attempt came to, unless there is another.
    fn ended(
        &mut self,
        context: &mut Context<'_>,
        waiting: &mut Waiting,
        end: End,
    ) -> Result<Option<Arrived>, Failure> {
        let is_worth_it = match &end {
            End::Answer(arrived) => self.options.retries.is_worth_it(arrived.head().status),
            End::Failure(failure) => matches!(
                failure.kind,
                NetFailureKind::Timeout | NetFailureKind::Connection
            ),
        };
        let retries = &self.options.retries;
        if !is_worth_it || !retries.allow(&self.request.method, self.attempts) {
            return match end {
                End::Answer(arrived) => Ok(Some(arrived)),
                End::Failure(failure) => self.broke(&failure),
            };
        }
        let head = match &end {
            End::Answer(arrived) => Some(arrived.head()),
            End::Failure(_) => None,
        };
        let delay = retries.delay_ms(context, self.attempts, head);
        if let End::Answer(arrived) = end {
            arrived.drop_body(context);
        }
        self.phase = Phase::Begin;
        if delay > 0 && advance(context, delay).is_none() {
            waiting.until = Some(context.elapsed().saturating_add(delay));
            self.phase = Phase::Delay;
        }
        Ok(None)
    }

    fn broke<T>(&self, failure: &NetFailure) -> Result<T, Failure> {
        let (prefix, reason) = (self.prefix(), &failure.reason);
        match failure.kind {
            NetFailureKind::Body => {
                thrown(format!("{prefix}: failed to read response body: {reason}"))
            }
            NetFailureKind::Pin => thrown("http: TLS SPKI pin mismatch"),
            NetFailureKind::Proxy => {
                let proxy = self.options.route.proxy.as_ref();
                let url = proxy.map(|proxy| proxy.url.as_str()).unwrap_or_default();
                thrown(format!("http: invalid proxy '{url}': {reason}"))
            }
            _ => self.failed(reason),
        }
    }
}

impl Arrived {
    pub(super) fn head(&self) -> &Head {
        match self {
            Self::Whole(reply) => &reply.head,
            Self::Opened { head, .. } => head,
        }
    }

    /// Nobody wants the rest of it.
    fn drop_body(&self, context: &mut Context<'_>) {
        if let Self::Opened { stream, .. } = self {
            context.perform(&Request::Net(NetRequest::Close(*stream)));
        }
    }
}

/// Goes on with the journey that `waiting` remembers, or begins it.
pub(super) fn travel(
    context: &mut Context<'_>,
    waiting: &mut Waiting,
    begin: impl FnOnce(&mut Context<'_>) -> Result<Journey, Failure>,
) -> Result<Poll<(Box<Journey>, Arrived)>, Failure> {
    let known = waiting.note.take().and_then(|note| note.downcast().ok());
    let mut journey: Box<Journey> = match known {
        Some(journey) => journey,
        None => Box::new(begin(context)?),
    };
    waiting.stops_at_once = true;
    match journey.go_on(context, waiting)? {
        Poll::Ready(arrived) => Ok(Poll::Ready((journey, arrived))),
        Poll::Pending => {
            waiting.note = Some(journey);
            Ok(Poll::Pending)
        }
    }
}

/// Options of a builtin, or none.
pub(super) fn options(value: &Value) -> harn_machine::value::Dict {
    match value {
        Value::Dict(options) => options.clone(),
        _ => harn_machine::value::Dict::default(),
    }
}
