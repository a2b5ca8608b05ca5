//! The bus: who reads which session, and the way from one to the other.
//!
//! A bus is an ordinary value. Two of them share nothing, so a test makes its
//! own, and an embedder can have one per tenant. Programs that want just one use
//! the [process default](crate::default_bus) behind the free functions.
//!
//! ```text
//!                    ┌ durable sink        (opened with the session, stays until it is closed)
//! emit ─► session ───┼ sinks               (registration order)
//!                    ├ observers           (of all sessions)
//!                    ├ loop sink           (of the task that emits)
//!                    └ closures            (awaited, subscription order)
//! ```
//!
//! | file          | what it holds                                         |
//! |---------------|-------------------------------------------------------|
//! | `session`     | what the bus knows of a session                       |
//! | `emit`        | the order of events and their delivery                |
//! | `nesting`     | how deep readers answer each other                    |
//! | `reader`      | one sink, its panics and its cost                     |
//! | `subscribers` | closures and their backlog                            |
//! | `register`    | sinks and observers coming and going                  |
//! | `inbox`, `feedback` | messages for the loop                           |
//! | `open`        | open sessions, their number and their end             |
//! | `run`         | what has to happen at the end of a run, however it ends |
//! | `host`        | events that programs and hosts publish                |
//! | `health`      | all the counters                                      |

mod config;
mod emit;
mod feedback;
mod health;
mod host;
mod inbox;
mod nesting;
mod open;
mod reader;
mod register;
mod run;
mod session;
mod subscribers;
mod task;

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

pub use config::{BusConfig, DEFAULT_SESSION_CAP, DurableSinks};
pub use health::{BusHealth, HostIssue, HostIssueKind, SessionHealth};
pub use host::HostEmitError;
pub use inbox::{InboxItem, InboxSource};
pub use open::{CloseSession, OpenSessionError};
pub use register::{ObserverGuard, RedactionGuard, SinkGuard, WildcardSinkHandle};
pub use run::{HitlWait, RunGuard, SessionEndHook, SessionEndHookGuard};
pub use subscribers::{
    AgentEventSubscriber, SubscriberCall, SubscriberError, SubscriberFuture, SubscriberOutcome,
    SubscriptionId,
};
pub use task::{ContextGuard, LoopSinkGuard};

use crate::ambient::Ambient;
use crate::redact::RedactionPolicy;
use health::Counters;
use nesting::Nesting;
use open::OpenTable;
use reader::Reader;
use run::Hooks;
use session::{Session, Shards};
use subscribers::SubscriberCounters;

/// Carries events from whoever emits them to whoever reads them. Cheap to clone;
/// all clones are one bus.
#[derive(Clone)]
pub struct EventBus {
    inner: Arc<Inner>,
}

struct Inner {
    config: BusConfig,
    shards: Shards,
    /// Readers of every session, copied on write.
    observers: RwLock<Arc<Vec<Arc<Reader>>>>,
    /// Policies pushed on top of the configured one; the last one rules.
    policies: RwLock<Vec<(u64, Arc<RedactionPolicy>)>>,
    configured_policy: Arc<RedactionPolicy>,
    open: Mutex<OpenTable>,
    hooks: Mutex<Hooks>,
    ambient: Arc<Ambient>,
    counters: Counters,
    subscriber_counters: SubscriberCounters,
    next_id: AtomicU64,
    /// How deep each thread is in deliveries.
    nesting: Nesting,
    next_sequence: AtomicU64,
    /// Latest time given to an emission; times never go back behind it.
    last_ms: AtomicI64,
}

impl Default for EventBus {
    fn default() -> Self {
        Self::new(BusConfig::default())
    }
}

impl EventBus {
    /// A bus without readers.
    pub fn new(config: BusConfig) -> Self {
        let open = Mutex::new(OpenTable::new(config.sessions_max));
        let configured_policy = Arc::new(config.redaction.clone());
        let inner = Inner {
            config,
            shards: Shards::default(),
            observers: RwLock::default(),
            policies: RwLock::default(),
            configured_policy,
            open,
            hooks: Mutex::default(),
            ambient: Arc::default(),
            counters: Counters::default(),
            subscriber_counters: SubscriberCounters::default(),
            next_id: AtomicU64::new(1),
            nesting: Nesting::default(),
            next_sequence: AtomicU64::new(0),
            last_ms: AtomicI64::new(i64::MIN),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// The time by the clock that stamps events.
    pub fn now_ms(&self) -> i64 {
        self.inner.config.clock.now_ms()
    }

    /// Changes a session, making it if it is not there.
    fn with_session<T>(&self, session_id: &str, change: impl FnOnce(&mut Session) -> T) -> T {
        let mut sessions = self.inner.shards.lock(session_id);
        change(session::entry(&mut sessions, session_id, || {
            self.inner.next_id()
        }))
    }

    /// Changes a session that exists, and forgets it if nothing depends on it any
    /// more. What `change` returns is dropped by the caller, after the lock.
    fn update_session<T>(
        &self,
        session_id: &str,
        change: impl FnOnce(&mut Session) -> T,
    ) -> Option<T> {
        let mut sessions = self.inner.shards.lock(session_id);
        let outcome = change(sessions.get_mut(session_id)?);
        let forgotten = session::prune(&mut sessions, session_id);
        drop(sessions);
        drop(forgotten);
        Some(outcome)
    }
}

impl Inner {
    /// Numbers that are never used twice on this bus.
    fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }
}
