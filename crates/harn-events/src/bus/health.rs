//! All the counters, in one picture.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::EventBus;
use super::session::Shard;
use crate::lock::{Recover, RecoverShared};
use crate::sink::DurableHealth;

/// Kinds of host mistakes that are told apart by session and type. More than
/// that are added up under one entry.
const HOST_ISSUES_MAX: usize = 1024;

#[derive(Default)]
pub(super) struct Counters {
    pub(super) emitted: AtomicU64,
    pub(super) unheard: AtomicU64,
    pub(super) unattributed: AtomicU64,
    pub(super) too_deep: AtomicU64,
    pub(super) refused: AtomicU64,
    pub(super) stale: AtomicU64,
    pub(super) panics: AtomicU64,
    pub(super) hook_panics: AtomicU64,
    pub(super) evicted: AtomicU64,
    pub(super) attach_failures: AtomicU64,
    pub(super) feedback_dropped: AtomicU64,
    pub(super) host_issues: Mutex<BTreeMap<IssueKey, u64>>,
}

type IssueKey = (String, String, HostIssueKind);

/// What a host got wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HostIssueKind {
    /// Keys that the type does not have; they were ignored.
    UnknownKeys,
    /// A payload that is not an object; it was read as an empty one.
    NotAnObject,
    /// The event was refused.
    Refused,
}

/// How often a host got something wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostIssue {
    /// Session it published to.
    pub session_id: String,
    /// Type it published.
    pub event_type: String,
    /// What was wrong.
    pub kind: HostIssueKind,
    /// How often.
    pub count: u64,
}

/// The state of a bus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BusHealth {
    /// Sessions the bus knows anything of.
    pub sessions: usize,
    /// Sessions that are open.
    pub open_sessions: usize,
    /// Sinks over all sessions, durable ones included.
    pub sinks: usize,
    /// Closures over all sessions.
    pub subscribers: usize,
    /// Readers of every session.
    pub observers: usize,
    /// Session-end hooks.
    pub hooks: usize,
    /// Feedback items that wait.
    pub feedback_waiting: usize,
    /// Events emitted.
    pub emitted: u64,
    /// Events that nobody listened to.
    pub unheard: u64,
    /// Events that had no session to go to.
    pub unattributed: u64,
    /// Events dropped because readers answered each other without end.
    pub too_deep: u64,
    /// Reports of calls that had ended already; nobody was told.
    pub stale: u64,
    /// Events of readers dropped because the session's queue was full.
    pub refused: u64,
    /// Times a sink panicked.
    pub sink_panics: u64,
    /// Times a session-end hook panicked.
    pub hook_panics: u64,
    /// Sessions that had to make room.
    pub evicted_sessions: u64,
    /// Durable sinks that could not be opened.
    pub attach_failures: u64,
    /// Feedback items dropped because an inbox was full.
    pub feedback_dropped: u64,
    /// Deliveries to closures that went well.
    pub subscriber_deliveries: u64,
    /// Deliveries to closures that failed.
    pub subscriber_failures: u64,
    /// Deliveries to closures without an interpreter to run them.
    pub subscriber_skips: u64,
    /// Events closures missed because their backlog was full.
    pub subscriber_drops: u64,
    /// Events closures missed because closures answered each other without end.
    pub subscriber_too_deep: u64,
    /// Deliveries to closures that took longer than allowed.
    pub subscriber_overruns: u64,
    /// What hosts got wrong.
    pub host_issues: Vec<HostIssue>,
}

/// The state of one session's readers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionHealth {
    /// Events delivered to sinks, one count per sink.
    pub delivered: u64,
    /// Time spent in sinks.
    pub sink_time: Duration,
    /// Time spent in closures.
    pub subscriber_time: Duration,
    /// Times a sink panicked.
    pub sink_panics: u64,
    /// Sinks that were detached because they went on panicking.
    pub detached_sinks: usize,
    /// Events that closures have not seen yet.
    pub subscriber_backlog: usize,
    /// What became of the events that were to be kept, if any were.
    pub durable: Option<DurableHealth>,
}

impl EventBus {
    /// All counters at once. They are read one after another, so they may
    /// disagree by what happens meanwhile.
    pub fn health(&self) -> BusHealth {
        let inner = &self.inner;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (counters, closures) = (&inner.counters, &inner.subscriber_counters);
        let mut health = BusHealth {
            open_sessions: inner.open.recover().len(),
            observers: inner.observers.recover_read().len(),
            hooks: inner.hooks.recover().len(),
            emitted: read(&counters.emitted),
            unheard: read(&counters.unheard),
            unattributed: read(&counters.unattributed),
            too_deep: read(&counters.too_deep),
            refused: read(&counters.refused),
            stale: read(&counters.stale),
            sink_panics: read(&counters.panics),
            hook_panics: read(&counters.hook_panics),
            evicted_sessions: read(&counters.evicted),
            attach_failures: read(&counters.attach_failures),
            feedback_dropped: read(&counters.feedback_dropped),
            subscriber_deliveries: read(&closures.delivered),
            subscriber_failures: read(&closures.failed),
            subscriber_skips: read(&closures.skipped),
            subscriber_drops: read(&closures.dropped),
            subscriber_too_deep: read(&closures.too_deep),
            subscriber_overruns: read(&closures.overran),
            host_issues: self.host_issues(),
            ..BusHealth::default()
        };
        for sessions in inner.shards.all().map(Shard::lock) {
            health.sessions += sessions.len();
            for session in sessions.values() {
                health.sinks += session.sinks.len() + usize::from(session.durable.is_some());
                health.subscribers += session.subscribers.len();
                health.feedback_waiting += session.inbox.len();
            }
        }
        health
    }

    /// The readers of one session; `None` when the bus knows nothing of it.
    pub fn session_health(&self, session_id: &str) -> Option<SessionHealth> {
        let (mut health, durable, sinks) = self.update_session(session_id, |session| {
            let health = SessionHealth {
                subscriber_time: session.backlog.busy,
                subscriber_backlog: session.backlog.len(),
                ..SessionHealth::default()
            };
            (health, session.durable.clone(), Arc::clone(&session.sinks))
        })?;
        for reader in durable.iter().chain(sinks.iter()) {
            health.delivered += reader.delivered();
            health.sink_time += Duration::from_nanos(reader.busy_ns());
            health.sink_panics += u64::from(reader.panics());
            health.detached_sinks += usize::from(!reader.is_attached());
        }
        health.durable = durable.and_then(|reader| reader.sink.durable_health());
        Some(health)
    }

    pub(super) fn note_host_issue(
        &self,
        session_id: &str,
        event_type: &str,
        kind: HostIssueKind,
        detail: &str,
    ) {
        let mut issues = self.inner.counters.host_issues.recover();
        let mut key = (session_id.to_owned(), event_type.to_owned(), kind);
        if issues.len() >= HOST_ISSUES_MAX && !issues.contains_key(&key) {
            key = (String::new(), String::new(), kind);
        }
        let count = issues.entry(key).or_insert(0);
        *count += 1;
        let is_first = *count == 1;
        drop(issues);
        // Whoever listens to the log may ask for our health.
        if is_first {
            tracing::warn!(
                target: "agent.events",
                session_id, event_type, kind = ?kind, detail, "a host event has a problem"
            );
        }
    }

    pub(super) fn forget_host_issues(&self, session_id: &str) {
        let mut issues = self.inner.counters.host_issues.recover();
        issues.retain(|(session, _, _), _| session != session_id);
    }

    fn host_issues(&self) -> Vec<HostIssue> {
        let issues = self.inner.counters.host_issues.recover();
        let issue = |((session_id, event_type, kind), count): (&IssueKey, &u64)| HostIssue {
            session_id: session_id.clone(),
            event_type: event_type.clone(),
            kind: *kind,
            count: *count,
        };
        issues.iter().map(issue).collect()
    }
}
