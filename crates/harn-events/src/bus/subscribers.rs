//! Readers that have to be awaited: closures of a program.
//!
//! Closures run inside an interpreter, and most places that emit cannot wait for
//! one. So an event is put into the session's backlog where it is emitted, and
//! the backlog is emptied wherever the loop can await: at the end of an async
//! emission or at a safe point. Either way a closure sees every event, once, in
//! the order of emission.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::EventBus;
use super::session::{self, Closing, Session};
use crate::ambient::{Fact, TaskContext};
use crate::contain::contained;
use crate::event::AgentEvent;

/// A closure, seen from the bus.
pub trait AgentEventSubscriber: Send + Sync {
    /// What to call it in a log line, for instance where it was written.
    fn name(&self) -> Cow<'_, str>;

    /// Handles one event. An error is logged and counted; delivery goes on.
    fn on_event<'a>(&'a self, call: SubscriberCall<'a>) -> SubscriberFuture<'a>;
}

/// One call of a closure.
#[derive(Clone, Copy, Debug)]
pub struct SubscriberCall<'a> {
    /// What happened.
    pub event: &'a AgentEvent,
    /// How long the closure may take. The interpreter that runs it stops it in
    /// time; the bus counts a call that took longer all the same.
    pub time_limit: Option<Duration>,
    /// How many closures deep it is, counted from one. The bus knows this of the task that makes
    /// the call; what the closure begins elsewhere has to run inside
    /// [`EventBus::scope_subscriber`] with it, or answers to answers would never end.
    pub depth: u32,
}

/// What [`AgentEventSubscriber::on_event`] returns.
pub type SubscriberFuture<'a> =
    Pin<Box<dyn Future<Output = Result<SubscriberOutcome, SubscriberError>> + Send + 'a>>;

/// How a delivery to a closure went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubscriberOutcome {
    /// The closure ran.
    Ran,
    /// There was no interpreter to run it in.
    NoInterpreter,
}

/// A closure failed; the text is for the log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SubscriberError(pub String);

/// Names a subscription, to end it before the session does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubscriptionId(u64);

/// One registered closure.
pub(super) struct Subscription {
    id: SubscriptionId,
    subscriber: Arc<dyn AgentEventSubscriber>,
}

/// What closures of a session have not seen, and what delivering cost so far.
#[derive(Default)]
pub(super) struct Backlog {
    events: VecDeque<Unseen>,
    /// Somebody is emptying it right now.
    pub(super) is_draining: bool,
    pub(super) busy: Duration,
}

/// An event that closures have not seen.
struct Unseen {
    event: Arc<AgentEvent>,
    /// How many closures deep it was emitted.
    depth: u32,
    /// The youngest closure there was; later ones do not see it.
    youngest: SubscriptionId,
    /// Who sees it, where that are not the closures that the session has now.
    audience: Option<Arc<Vec<Arc<Subscription>>>>,
}

impl Backlog {
    /// Adds an event; says whether an old one had to go for it.
    pub(super) fn push(
        &mut self,
        event: Arc<AgentEvent>,
        depth: u32,
        youngest: &Subscription,
        events_max: usize,
    ) -> bool {
        let is_full = self.events.len() >= events_max.max(1);
        if is_full {
            self.events.pop_front();
        }
        let youngest = youngest.id;
        self.events.push_back(Unseen {
            event,
            depth,
            youngest,
            audience: None,
        });
        is_full
    }

    /// Everything that is in it now is for these closures, whichever the session gets.
    pub(super) fn belongs_to(&mut self, subscribers: &Arc<Vec<Arc<Subscription>>>) {
        for unseen in &mut self.events {
            unseen
                .audience
                .get_or_insert_with(|| Arc::clone(subscribers));
        }
    }

    pub(super) fn len(&self) -> usize {
        self.events.len()
    }
}

/// Counters of closure deliveries, over all sessions.
#[derive(Default)]
pub(super) struct SubscriberCounters {
    pub(super) delivered: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) skipped: AtomicU64,
    pub(super) dropped: AtomicU64,
    pub(super) too_deep: AtomicU64,
    pub(super) overran: AtomicU64,
}

impl EventBus {
    /// Adds a closure to a session. It sees the events that follow, after the
    /// sinks, and goes away with the session.
    pub fn subscribe(
        &self,
        session_id: &str,
        subscriber: Arc<dyn AgentEventSubscriber>,
    ) -> SubscriptionId {
        let id = SubscriptionId(self.inner.next_id());
        self.with_session(session_id, |session| {
            Arc::make_mut(&mut session.subscribers).push(Arc::new(Subscription { id, subscriber }));
        });
        id
    }

    /// Removes one closure. An unknown id is ignored.
    pub fn unsubscribe(&self, session_id: &str, id: SubscriptionId) {
        self.update_session(session_id, |session| {
            session::take_out(&mut session.subscribers, |subscription| {
                subscription.id == id
            })
        });
    }

    /// How many closures the session has.
    pub fn subscriber_count(&self, session_id: &str) -> usize {
        let sessions = self.inner.shards.lock(session_id);
        sessions
            .get(session_id)
            .map_or(0, |session| session.subscribers.len())
    }

    /// Whether there is something that the session's closures have not seen yet.
    pub fn has_unseen(&self, session_id: &str) -> bool {
        let sessions = self.inner.shards.lock(session_id);
        let session = sessions.get(session_id);
        session.is_some_and(|session| session.backlog.len() > 0)
    }

    /// Delivers to the session's closures what they have not seen yet. The loop
    /// calls this at its safe points.
    ///
    /// # Cancel safety
    /// An event whose delivery is cancelled is not delivered again; the ones
    /// behind it stay for the next call.
    pub async fn deliver_to_subscribers(&self, session_id: &str) {
        let Some(draining) = Draining::begin(self, session_id) else {
            return;
        };
        while let Some((unseen, subscribers)) = draining.next() {
            for subscription in subscribers.iter() {
                if subscription.id <= unseen.youngest {
                    self.deliver_to(subscription, unseen.depth, &unseen.event)
                        .await;
                }
            }
        }
    }

    async fn deliver_to(&self, subscription: &Subscription, depth: u32, event: &Arc<AgentEvent>) {
        let counters = &self.inner.subscriber_counters;
        let started = Instant::now();
        let context = TaskContext::child_of(self.inner.ambient.current());
        let depth = depth + 1;
        context.state(Fact::SubscriberDepth(depth));
        context.state(Fact::Session(Arc::from(event.session_id())));
        let time_limit = self.inner.config.subscriber_time_limit;
        let call = SubscriberCall {
            event,
            time_limit,
            depth,
        };
        let call = contained(async { subscription.subscriber.on_event(call).await });
        let outcome = self.inner.ambient.scope(context, call).await;
        let error = match outcome {
            Ok(Ok(SubscriberOutcome::Ran)) => {
                counters.delivered.fetch_add(1, Ordering::Relaxed);
                None
            }
            Ok(Ok(SubscriberOutcome::NoInterpreter)) => {
                counters.skipped.fetch_add(1, Ordering::Relaxed);
                None
            }
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("it panicked".to_owned()),
        };
        if let Some(error) = error {
            counters.failed.fetch_add(1, Ordering::Relaxed);
            let name = catch_unwind(AssertUnwindSafe(|| {
                subscription.subscriber.name().into_owned()
            }));
            let (session, name) = (event.session_id(), name.unwrap_or_default());
            tracing::warn!(
                target: "agent.subscriber",
                session, event = event.tag(), subscriber = name, error, "a subscriber failed"
            );
        }
        let busy = started.elapsed();
        if time_limit.is_some_and(|limit| busy > limit) {
            counters.overran.fetch_add(1, Ordering::Relaxed);
        }
        self.update_session(event.session_id(), |session| session.backlog.busy += busy);
    }
}

/// The right to empty a session's backlog, given back when dropped.
struct Draining<'a> {
    bus: &'a EventBus,
    session_id: &'a str,
    /// The session it was given for; a later one of the same id is another.
    generation: u64,
}

type Due = (Unseen, Arc<Vec<Arc<Subscription>>>);

impl<'a> Draining<'a> {
    /// `None` when there is nothing to do or somebody is at it already.
    fn begin(bus: &'a EventBus, session_id: &'a str) -> Option<Self> {
        let mut sessions = bus.inner.shards.lock(session_id);
        let session = sessions.get_mut(session_id)?;
        if session.backlog.is_draining || session.backlog.len() == 0 {
            return None;
        }
        session.backlog.is_draining = true;
        Some(Self {
            bus,
            session_id,
            generation: session.generation,
        })
    }

    fn next(&self) -> Option<Due> {
        self.of_session(|session| {
            let mut unseen = session.backlog.events.pop_front()?;
            let audience = unseen.audience.take();
            let audience = audience.unwrap_or_else(|| Arc::clone(&session.subscribers));
            Some((unseen, audience))
        })?
    }

    fn of_session<T>(&self, change: impl FnOnce(&mut Session) -> T) -> Option<T> {
        let is_ours = |session: &Session| session.generation == self.generation;
        self.bus.update_session(self.session_id, |session| {
            is_ours(session).then(|| change(session))
        })?
    }
}

impl Drop for Draining<'_> {
    fn drop(&mut self) {
        let is_due = self.of_session(|session| {
            session.backlog.is_draining = false;
            session.closing == Closing::Due
        });
        if is_due == Some(true) {
            self.bus.remove_closed(self.session_id);
        }
    }
}
